/** The writer's compiled loops as machine code, from the C of which the WebAssembly next to this file was made. */
import { loadAddon } from '#platform/addon';
import type { KernelExports, KernelImports, Lz4Compress } from './kernel-exports.js';

/**
 * The compiled loop over a run whose tables are complete in `buffer`; null where there is no addon.
 * @param run address of its `struct run`
 */
export function openNativeKernel(
  buffer: SharedArrayBuffer,
  run: number,
  { take_string, take_bucket }: KernelImports,
): KernelExports | null {
  const native = loadAddon();
  if (native === null) return null;
  const memory = new Uint8Array(buffer); // held by what is returned, as long as the handle is
  const handle = native.openRun(memory, run);
  return {
    frame_run: (_, records) => native.frameRun(handle, records, take_string, take_bucket),
    encode_checkpoint: (_, target) => native.encodeCheckpoint(handle, target),
    sums_add: (_, source, lo, hi) => native.sumsAdd(handle, source, lo, hi),
    sums_end_frame: (_, lo, hi) => native.sumsEndFrame(handle, lo, hi, take_bucket),
    sums_abort_frame: () => native.sumsAbortFrame(handle),
    sums_close: () => native.sumsClose(handle, take_bucket),
  };
}

/** LZ4 of blocks in `buffer`; null where there is no addon. */
export function bindNativeLz4(buffer: SharedArrayBuffer): Lz4Compress | null {
  const native = loadAddon();
  if (native === null) return null;
  const memory = new Uint8Array(buffer);
  return (table, source, size, target) => native.lz4Compress(memory, table, source, size, target);
}
