/** LZ4, compiled (sdk/kernel/lz4.c): what it reads and writes are addresses in the memory of one writer. */
import { instanceOf } from '../base/webassembly.js';
import { bytes } from '../wasm/lz4.wasm.js';
import type { Lz4Compress } from './kernel-exports.js';
import { bindNativeLz4 } from './native.js';

export const LZ4_TABLE_BYTES = 32_768;
/** What LZ4 adds at most to `size` bytes, with the size before it and the slack that the code may write after it. */
export const lz4Room = (size: number): number => size + Math.ceil(size / 255) + 64;
/** Bytes in front of a block: its raw size as u32, the framing of µScope files (docs/reference/format.md#compression). */
export const LZ4_PREFIX_BYTES = 4;

/** One LZ4 block: addresses in a writer's memory. */
export interface Lz4Job {
  readonly table: number;
  readonly source: number;
  readonly size: number;
  readonly target: number;
  /** Bytes in front of the block that its CRC is to include. */
  readonly prefix: number;
}

/** Of a result; the CRC where the thread has computed it. */
export interface Compressed {
  readonly size: number;
  readonly crc?: number | undefined;
}

/** What the type of a browser's `buffer` does not say: the memory is shared. */
export const sharedBuffer = (memory: WebAssembly.Memory): SharedArrayBuffer =>
  memory.buffer as ArrayBufferLike as SharedArrayBuffer;

export function bindLz4(memory: WebAssembly.Memory): Lz4Compress {
  return bindNativeLz4(sharedBuffer(memory)) ?? bindWasmLz4(memory);
}

let compiled: WebAssembly.Module | null = null;

export function bindWasmLz4(memory: WebAssembly.Memory): Lz4Compress {
  compiled ??= new WebAssembly.Module(bytes());
  return instanceOf<{ lz4_compress: Lz4Compress }>(compiled, { env: { memory } }).lz4_compress;
}
