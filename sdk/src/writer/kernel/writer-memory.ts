/**
 * The memory of one writer: shadow state, records and frames lie in one WebAssembly memory, on which the compiled loops work, and which
 * compression threads share. Blocks are taken from it and given back; a long trace needs a handful.
 *
 * A process that writes one trace after the other uses the memory of those that are over again: left to the garbage collector they would
 * pile up, as they are next to nothing to it, and to the threads that have seen them.
 */
import { UscopeError } from '../../base/errors.js';

const PAGE_BYTES = 65_536;
/** Of the compiled code's own: below is its stack, which it hardly uses. */
const FIRST_FREE = 16_384;
/** Address space set aside. Pages cost memory when they are first written. */
const MAX_BYTES = 2 ** 31;
/** Compiled code copies in vectors: it reads and writes so far past what it is given. */
const SLACK_BYTES = 64;
/** Blocks are powers of two from here on, so that they fit again. */
const MIN_BLOCK_BITS = 12;
/**
 * Memories kept for the next writers, and what they may have together, of which less than half is ever touched; beyond that the largest
 * go first.
 */
const MAX_IDLE = 32;
const MAX_IDLE_BYTES = 1024 * 1024 * 1024;

const idle: WriterMemory[] = [];
const idleBytes = (): number => idle.reduce((sum, { memory }) => sum + memory.buffer.byteLength, 0);

export class WriterMemory {
  /** null without WebAssembly (a Node started with --jitless), or when the process has no address space left for one more (after some thousands). */
  static create(): WriterMemory | null {
    if (!('WebAssembly' in globalThis)) return null;
    const used = idle.pop();
    if (used) return used;
    try {
      const maximum = MAX_BYTES / PAGE_BYTES;
      return new WriterMemory(new WebAssembly.Memory({ initial: 1, maximum, shared: true }));
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
  }

  private next = FIRST_FREE;
  /** Up to here a writer before this one has written. */
  private usedEnd = FIRST_FREE;
  private readonly free: number[][] = [];
  private readonly bitsOf = new Map<number, number>();

  private constructor(readonly memory: WebAssembly.Memory) {}

  /**
   * At least so many bytes, 16-aligned, of zeros or of what was there before. Its `byteOffset` is its address.
   * @throws UscopeError WRITER_OVERRUN when there is no more
   */
  take(bytes: number): Uint8Array {
    const bits = Math.max(MIN_BLOCK_BITS, Math.ceil(Math.log2(Math.max(bytes, 1))));
    const address = this.free[bits]?.pop() ?? this.extend(2 ** bits);
    this.bitsOf.set(address, bits);
    return new Uint8Array(this.memory.buffer, address, 2 ** bits);
  }

  /** The block that `bytes` is, or is the start of, may be taken again. */
  giveBack({ byteOffset }: Uint8Array): void {
    const bits = this.bitsOf.get(byteOffset);
    if (bits === undefined) return;
    this.bitsOf.delete(byteOffset);
    this.free[bits] ??= [];
    this.free[bits].push(byteOffset);
  }

  /** Address of so many zero bytes, 16-aligned, that are never given back. */
  place(bytes: number): number {
    const address = this.extend(bytes);
    if (address < this.usedEnd) new Uint8Array(this.memory.buffer, address, bytes).fill(0);
    return address;
  }

  /**
   * The writer is done, and nobody reads or writes here any more, no thread either: another writer may get this memory. Returns the
   * memories that nobody will.
   */
  retire(): WriterMemory[] {
    this.usedEnd = Math.max(this.usedEnd, this.next + SLACK_BYTES);
    this.next = FIRST_FREE;
    this.free.length = 0;
    this.bitsOf.clear();
    idle.push(this);
    const dropped: WriterMemory[] = [];
    while (idle.length > MAX_IDLE || idleBytes() > MAX_IDLE_BYTES) dropped.push(...idle.splice(largest(), 1));
    return dropped;
  }

  private extend(bytes: number): number {
    const address = (this.next + 15) & ~15;
    const missing = address + bytes + SLACK_BYTES - this.memory.buffer.byteLength;
    if (missing > 0) this.grow(missing);
    this.next = address + bytes;
    return address;
  }

  private grow(bytes: number): void {
    try {
      this.memory.grow(Math.ceil(bytes / PAGE_BYTES));
    } catch (cause) {
      const detail = `the writer needs more than ${MAX_BYTES} bytes, or the process has none left; lower the checkpoint interval or the cut sizes`;
      throw new UscopeError('WRITER_OVERRUN', detail, {}, { cause });
    }
  }
}

function largest(): number {
  const sizes = idle.map(({ memory }) => memory.buffer.byteLength);
  return sizes.indexOf(Math.max(...sizes));
}
