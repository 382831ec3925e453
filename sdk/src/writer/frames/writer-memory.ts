/**
 * The memory of one writer: shadow state, records and frames lie in one WebAssembly memory, on which the compiled loops work, and which
 * compression threads share. Blocks are taken from it and given back; a long trace needs a handful.
 *
 * A process that writes one trace after the other uses the memory of those that are over again: left to the garbage collector they would
 * pile up, as they are next to nothing to it, and to the threads that have seen them.
 */
import { appendAll, maxOf } from '../../base/arrays.js';
import { UscopeError } from '../../base/errors.js';

const PAGE_BYTES = 65_536;
/** Of the compiled code's own: below is its stack, which it hardly uses. */
const FIRST_FREE = 16_384;
/** Address space set aside. Pages cost memory when they are first written. */
const MAX_BYTES = 2 ** 31;
/** Compiled code copies in vectors: it reads and writes so far past what it is given. */
const SLACK_BYTES = 64;
/** Blocks are powers of two from here on, so that they fit again; larger than that one, eighths of them: half a block would be too much to waste. */
const MIN_BLOCK_BYTES = 4096;
const MAX_POWER_BYTES = 16 * 1024 * 1024;
/**
 * Memories kept for the next writers, and what they may have together, of which less than half is ever touched; beyond that the largest
 * go first.
 */
const MAX_IDLE = 32;
const MAX_IDLE_BYTES = 1024 * 1024 * 1024;
/** A larger one is not kept: to make it all zeros again takes longer than to get another. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

const idle: WriterMemory[] = [];
const idleBytes = (): number => idle.reduce((sum, { memory }) => sum + memory.buffer.byteLength, 0);

/** Of memories that no writer will use again, until the garbage collector has taken them. */
const dropped = new Set<{ bytes: number }>();
const collected = new FinalizationRegistry<{ bytes: number }>((tally) => dropped.delete(tally));

/** Bytes of memories that no writer has: kept for the next one, or given up and not collected yet. */
export function unusedWriterBytes(): number {
  let sum = idleBytes();
  for (const { bytes } of dropped) sum += bytes;
  return sum;
}

/** Releases what is kept for next writers to the garbage collector. Returns those memories. */
export function dropIdleMemories(): WriterMemory[] {
  const all = idle.splice(0);
  for (const memory of all) memory.abandon();
  return all;
}

/** Of the block that is taken for this number of bytes. */
export function blockBytes(bytes: number): number {
  const power = 2 ** Math.ceil(Math.log2(Math.max(bytes, MIN_BLOCK_BYTES)));
  if (power <= MAX_POWER_BYTES) return power;
  return Math.ceil(bytes / (power / 8)) * (power / 8);
}

/** What a memory may be, and who is asked before it becomes more. */
export interface MemoryAllowance {
  readonly bytes: number;
  /** Of a writer before, claimed for this one. */
  readonly claimed?: WriterMemory | null;
  /** @throws why there is no more */
  extend(bytes: number): void;
}

export class WriterMemory {
  /** null without WebAssembly (a Node started with --jitless), or when the process has no address space left for one more (after some thousands). */
  static create(allowance: MemoryAllowance | null = null): WriterMemory | null {
    if (!('WebAssembly' in globalThis)) return null;
    const used = allowance ? allowance.claimed : idle.pop();
    if (used) return used.allow(allowance);
    try {
      const maximum = MAX_BYTES / PAGE_BYTES;
      const memory = new WebAssembly.Memory({ initial: 1, maximum, shared: true });
      return new WriterMemory(memory).allow(allowance);
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
  }

  /** A memory that a writer before has left, of at most this number of bytes: it is not unused any more. null: there is none. */
  static claim(bytes: number): WriterMemory | null {
    const fitting = idle.findLastIndex(({ memory }) => memory.buffer.byteLength <= bytes);
    return fitting < 0 ? null : idle.splice(fitting, 1)[0];
  }

  /** What was claimed is not needed after all. */
  unclaim(): void {
    idle.push(this);
  }

  private next = FIRST_FREE;
  /** Up to here a writer before this one has written. */
  private usedEnd = FIRST_FREE;
  /** Addresses by size, and the sizes of those that are taken. */
  private readonly free = new Map<number, number[]>();
  private readonly sizeOf = new Map<number, number>();
  private readonly tally: { bytes: number };
  private allowance: MemoryAllowance | null = null;
  private allowedBytes = Number.POSITIVE_INFINITY;

  private constructor(readonly memory: WebAssembly.Memory) {
    this.tally = { bytes: memory.buffer.byteLength };
    collected.register(memory, this.tally);
  }

  private allow(allowance: MemoryAllowance | null): this {
    this.allowance = allowance;
    this.allowedBytes = allowance?.bytes ?? Number.POSITIVE_INFINITY;
    return this;
  }

  /**
   * At least this number of bytes, 16-aligned, of zeros or of what was there before. Its `byteOffset` is its address.
   * @throws UscopeError WRITER_OVERRUN when there is no more, and what the allowance throws
   */
  take(bytes: number): Uint8Array {
    const size = blockBytes(bytes);
    const address = this.free.get(size)?.pop() ?? this.extend(size);
    this.sizeOf.set(address, size);
    return new Uint8Array(this.memory.buffer, address, size);
  }

  /** As `take`, of zeros that nobody has written: they cost no memory before they are. null: there are none. */
  takeFresh(bytes: number): Uint8Array | null {
    if (this.next < this.usedEnd || this.free.get(blockBytes(bytes))?.length) return null;
    const block = this.take(bytes);
    block.fill(0, 0, SLACK_BYTES); // of the block before it
    return block;
  }

  /** The block that `bytes` is, or is the start of, may be taken again. */
  giveBack({ byteOffset }: Uint8Array): void {
    const size = this.sizeOf.get(byteOffset);
    if (size === undefined) return;
    this.sizeOf.delete(byteOffset);
    const addresses = this.free.get(size);
    if (addresses) addresses.push(byteOffset);
    else this.free.set(size, [byteOffset]);
  }

  /** Address of zero bytes, 16-aligned, that are never given back. */
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
    this.free.clear();
    this.sizeOf.clear();
    this.allow(null);
    const over: WriterMemory[] = [];
    if (this.memory.buffer.byteLength > MAX_KEPT_BYTES) over.push(this);
    else idle.push(this);
    while (idle.length > MAX_IDLE || idleBytes() > MAX_IDLE_BYTES) appendAll(over, idle.splice(largest(), 1));
    for (const memory of over) memory.abandon();
    return over;
  }

  /** The writer is about to end: what it still needs for that is little, and saves what it has. */
  allowLast(): void {
    this.allow(null);
  }

  /** Nobody will use it again: the garbage collector takes it when no thread needs it any more. */
  abandon(): void {
    this.allow(null);
    this.tally.bytes = this.memory.buffer.byteLength;
    dropped.add(this.tally);
  }

  private extend(bytes: number): number {
    const address = (this.next + 15) & ~15;
    const missing = address + bytes + SLACK_BYTES - this.memory.buffer.byteLength;
    if (missing > 0) this.grow(missing);
    this.next = address + bytes;
    return address;
  }

  private grow(bytes: number): void {
    const pages = Math.ceil(bytes / PAGE_BYTES);
    const more = this.memory.buffer.byteLength + pages * PAGE_BYTES - this.allowedBytes;
    if (more > 0) {
      this.allowance?.extend(more);
      this.allowedBytes += more;
    }
    try {
      this.memory.grow(pages);
    } catch (cause) {
      const detail = `the writer needs more than ${MAX_BYTES} bytes, or the process has none left; lower the checkpoint interval or the cut sizes`;
      throw new UscopeError('WRITER_OVERRUN', detail, {}, { cause });
    }
  }
}

function largest(): number {
  const sizes = idle.map(({ memory }) => memory.buffer.byteLength);
  return sizes.indexOf(maxOf(sizes));
}
