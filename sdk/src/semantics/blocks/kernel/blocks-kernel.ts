/** The compiled code (sdk/kernel/blocks) with its own memory, which only grows: places in it are given out until it is taken the next time. */

import { UscopeError } from '../../../base/errors.js';
import { instanceOf, moduleOnce, reserved } from '../../../base/webassembly.js';
import { bytes } from '../../../wasm/blocks.wasm.js';

const PAGE_BYTES = 64 * 1024;
const ALIGNMENT = 64;
/** Kernels kept for the next user, at most this number and none with a larger memory. */
const MAX_FREE = 2;
const MAX_FREE_BYTES = 64 * 1024 * 1024;
const MAX_BYTES = 2 ** 31;

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  readonly __heap_base: { readonly value: number };
  tracker_reset(tracker: number): void;
  tracker_rebuild_ids(tracker: number): void;
  tracker_run(tracker: number, items: number, maxBytes: number, need: number): number;
  tracker_continue(
    tracker: number,
    taken: number,
    listed: number,
    time: bigint,
    isFirst: number,
    need: number,
  ): number;
  tracker_watch(tracker: number, rows: number): void;
  tracker_unfollow(tracker: number): void;
  tracker_take(tracker: number, all: number, maxHeld: number, from: bigint, dropped: number): number;
  tracker_take_first(tracker: number, rows: number): number;
  tracker_remove(tracker: number): void;
  blocks_scratch(tracker: number, rows: number): number;
  blocks_measure(tracker: number, rows: number, firstOrdinal: number, scratch: number, shape: number): void;
  blocks_write(tracker: number, scratch: number, shape: number, columns: number): void;
}

/** A place that can be replaced by a larger one. */
export interface Region {
  at: number;
  bytes: number;
}

export class BlocksKernel {
  readonly code: Exports;
  private end: number;

  constructor(module: WebAssembly.Module) {
    this.code = instanceOf(module);
    this.end = 0;
    this.clear();
  }

  /** Another one once the memory has grown. */
  get buffer(): ArrayBuffer {
    return this.code.memory.buffer;
  }

  words(at: number, length: number): Uint32Array {
    return new Uint32Array(this.buffer, at, length);
  }

  /** Gives up everything that was placed. */
  clear(): void {
    this.end = aligned(this.code.__heap_base.value);
  }

  /** @throws UscopeError ENV_MEMORY when there is not so much memory */
  place(bytes: number): Region {
    const at = this.end;
    const end = at + aligned(bytes);
    const missing = end - this.buffer.byteLength;
    if (end > MAX_BYTES) throw new UscopeError('ENV_MEMORY', `${end} bytes are too many for compiled code`);
    if (missing > 0) reserved(() => this.code.memory.grow(Math.ceil(missing / PAGE_BYTES)));
    this.end = end;
    return { at, bytes: end - at };
  }

  /** Makes a region as large as needed; its contents move with it, or are lost. */
  enlarge(region: Region, bytes: number, keep: number): void {
    if (bytes <= region.bytes) return;
    const { at } = region;
    const isLast = at + region.bytes === this.end;
    if (isLast) this.end = at;
    Object.assign(region, this.place(Math.max(bytes, region.bytes * 2)));
    if (keep > 0 && region.at !== at) new Uint8Array(this.buffer).copyWithin(region.at, at, at + keep);
  }
}

const free: BlocksKernel[] = [];
const compiled = moduleOnce(bytes);

/** @throws UscopeError ENV_KERNEL, ENV_MEMORY */
export function takeBlocksKernel(): BlocksKernel {
  const kernel = free.pop() ?? new BlocksKernel(compiled());
  kernel.clear();
  return kernel;
}

export function giveBlocksKernelBack(kernel: BlocksKernel): void {
  if (free.length < MAX_FREE && kernel.buffer.byteLength <= MAX_FREE_BYTES) free.push(kernel);
}

const aligned = (address: number): number => Math.ceil(address / ALIGNMENT) * ALIGNMENT;
