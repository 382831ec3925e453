/**
 * Compiled code (sdk/kernel/reader) with its own memory, in which one segment at a time is decompressed and replayed. The code that takes
 * a kernel has it alone until it is given back; kernels are kept for the next one, so that their memory is not fetched from the system and
 * cleared for each segment anew.
 */
import { instanceOf, moduleOnce } from '../../base/webassembly.js';
import { bytes } from '../../wasm/segment.wasm.js';

const PAGE_BYTES = 64 * 1024;
/** The code may read and write so far after what it is given: LZ4_SLACK. */
const SLACK_BYTES = 32;
const ALIGNMENT = 64;
/** Kernels kept for the next user, at most this number, and none with a larger memory. Each holds a segment, compressed and not. */
const MAX_FREE = 2;
const MAX_FREE_BYTES = 16 * 1024 * 1024;
/** Larger segments are for the plain paths, which need no second copy: a memory never shrinks. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A little more is wanted than for the segment before. */
const GROWTH = 1.125;

/** A segment as the file has it, in a kernel's memory. */
interface PackedHere {
  readonly owner: object;
  readonly index: number;
  readonly segment: object;
}

interface KernelExports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  readonly __heap_base: { readonly value: number };
  lz4_decompress(source: number, size: number, target: number, rawSize: number): number;
  replay(run: number): void;
  watch(run: number): void;
}

export class SegmentKernel {
  private readonly exports: KernelExports;
  /** The address of the bytes that `takeKernel` was asked for. */
  readonly spaceAt: number;
  private deltasAt: number;
  /** What was decompressed last, as long as it is still there. */
  private held: { readonly block: Uint8Array; readonly size: number } | null = null;
  /** The place of a segment as the file has it, and what its owner knows of it. */
  private packedMemory = new Uint8Array(0);
  private packed: PackedHere | null = null;

  constructor(module: WebAssembly.Module) {
    this.exports = instanceOf(module);
    this.spaceAt = aligned(this.exports.__heap_base.value);
    this.deltasAt = this.spaceAt;
  }

  /** Another one once the memory has grown. */
  get buffer(): ArrayBuffer {
    return this.exports.memory.buffer;
  }

  /**
   * False: that is too much.
   * @param keeps what is decompressed in the memory stays there if the space is in front of it
   */
  provide(space: number, keeps: boolean): boolean {
    const least = aligned(this.spaceAt + space);
    if (keeps && this.deltasAt >= least) return true;
    this.held = null;
    // It never moves forward again: the next user may want less space, and the segment that is decompressed now.
    const at = Math.max(this.deltasAt, least);
    if (!this.reserve(at)) return false;
    this.deltasAt = at;
    return true;
  }

  /** Memory for a segment as the file has it; what was in it before is lost. */
  memoryForPacked(bytes: number): Uint8Array {
    this.packed = null;
    this.held = null;
    if (this.packedMemory.length < bytes) this.packedMemory = new Uint8Array(Math.ceil(bytes * GROWTH));
    return this.packedMemory.subarray(0, bytes);
  }

  /** A segment has been read into `memoryForPacked`. */
  keepPacked(packed: PackedHere): void {
    this.packed = packed;
  }

  /** What `keepPacked` got, as long as it is still there. */
  packedOf(owner: object, index: number): object | null {
    const { packed } = this;
    return packed?.owner === owner && packed.index === index ? packed.segment : null;
  }

  /** Whether `decompressLz4` has nothing to do for a block: the very same array, which nobody has changed since. */
  holds(block: Uint8Array): boolean {
    return this.held?.block === block;
  }

  /**
   * The bytes of an LZ4 block, valid until the kernel is used for another one; null when it does not yield exactly `rawSize` bytes.
   * @param prefix bytes in front of the block
   */
  decompressLz4(framed: Uint8Array, rawSize: number, prefix = 0): Uint8Array | null {
    const { held } = this;
    if (held?.block === framed && held.size === rawSize)
      return new Uint8Array(this.buffer, this.deltasAt, rawSize);
    this.held = null;
    const block = framed.subarray(prefix);
    const source = aligned(this.deltasAt + rawSize + SLACK_BYTES);
    if (!this.reserve(source + block.length + SLACK_BYTES)) return null;
    new Uint8Array(this.buffer, source).set(block);
    const good = this.exports.lz4_decompress(source, block.length, this.deltasAt, rawSize);
    if (good !== 1) return null;
    this.held = { block: framed, size: rawSize };
    return new Uint8Array(this.buffer, this.deltasAt, rawSize);
  }

  /** The address of these bytes in the memory, to which they are copied unless they are there; 0: they are too many. */
  place(bytes: Uint8Array): number {
    if (bytes.buffer === this.buffer) return bytes.byteOffset;
    if (!this.reserve(this.deltasAt + bytes.length + SLACK_BYTES)) return 0;
    this.held = null;
    new Uint8Array(this.buffer, this.deltasAt).set(bytes);
    return this.deltasAt;
  }

  replay(run: number): void {
    this.exports.replay(run);
  }

  watch(run: number): void {
    this.exports.watch(run);
  }

  private reserve(bytes: number): boolean {
    const missing = bytes - this.buffer.byteLength;
    if (missing <= 0) return true;
    if (bytes > MAX_BYTES) return false;
    try {
      this.exports.memory.grow(Math.ceil(missing / PAGE_BYTES));
      return true;
    } catch {
      return false;
    }
  }
}

const free: SegmentKernel[] = [];
let inUse = 0;
const compiled = moduleOnce(bytes);

/**
 * @param space bytes needed besides the segment
 * @param has tells a kernel that holds what is going to be looked at
 * @returns null where there is no WebAssembly, or not so much memory
 * @throws UscopeError ENV_MEMORY: the process may not reserve a memory
 */
export function takeKernel(
  space = 0,
  has: (kernel: SegmentKernel) => boolean = () => false,
): SegmentKernel | null {
  const module = compiled();
  if (module === null) return null;
  const holder = free.findIndex(has);
  const kernel = (holder < 0 ? free.pop() : free.splice(holder, 1)[0]) ?? new SegmentKernel(module);
  inUse++;
  if (kernel.provide(space, holder >= 0)) return kernel;
  giveBack(kernel);
  return null;
}

/** Whether few kernels are in use: one may wait for a file then. */
export function hasIdleKernels(): boolean {
  return inUse < MAX_FREE;
}

export function giveBack(kernel: SegmentKernel | null): void {
  if (!kernel) return;
  inUse--;
  if (free.length < MAX_FREE && kernel.buffer.byteLength <= MAX_FREE_BYTES) free.push(kernel);
}

const aligned = (address: number): number => Math.ceil(address / ALIGNMENT) * ALIGNMENT;
