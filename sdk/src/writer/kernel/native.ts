/**
 * The writer's compiled loops as machine code: the addon that `make -C sdk/kernel/native` builds from the C of which the WebAssembly beside
 * this file was made. It is faster; but it needs a C compiler where it is used, so that WebAssembly is what everybody has.
 */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { SOURCES_SHA256 as FRAME_RUN_SOURCES } from './frame-run-wasm.js';
import type { KernelExports, KernelImports, Lz4Compress } from './kernel-exports.js';
import { SOURCES_SHA256 as LZ4_SOURCES } from './lz4-wasm.js';

/** From here, in src as in dist. */
const ADDON = '../../../kernel/native/build/kernel.node';

/** An open run. */
type Handle = object;
type TakeBucket = (source: number) => void;

/** See sdk/kernel/native/addon.c. */
interface Addon {
  readonly frameRunSources: string;
  readonly lz4Sources: string;
  openRun(memory: Uint8Array, run: number): Handle;
  frameRun(handle: Handle, takeString: (word: number) => void, takeBucket: TakeBucket): void;
  sumsAdd(handle: Handle, source: number, lo: number, hi: number): void;
  sumsEndFrame(handle: Handle, lo: number, hi: number, takeBucket: TakeBucket): void;
  sumsAbortFrame(handle: Handle): void;
  sumsClose(handle: Handle, takeBucket: TakeBucket): void;
  lz4Compress(memory: Uint8Array, table: number, source: number, size: number, target: number): number;
}

let addon: Addon | null | undefined;

/** Where the addon is, if it is built, for this machine, and from the same sources as the WebAssembly. */
export function nativeAddonPath(): string | null {
  return loadAddon() === null ? null : fileURLToPath(new URL(ADDON, import.meta.url));
}

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
    frame_run: () => native.frameRun(handle, take_string, take_bucket),
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

function loadAddon(): Addon | null {
  if (addon === undefined) addon = tryLoad();
  return addon;
}

function tryLoad(): Addon | null {
  try {
    const found = createRequire(import.meta.url)(ADDON) as Addon;
    const current = found.frameRunSources === FRAME_RUN_SOURCES && found.lz4Sources === LZ4_SOURCES;
    return current ? found : null;
  } catch {
    return null; // not built, or for another machine
  }
}
