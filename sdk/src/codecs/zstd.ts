/** ZSTD for STF: zstd-napi where it is installed, else, for reading only, the decoder in JavaScript. */
import { createRequire } from 'node:module';
import { Decompress, decompress as decompressInJs } from 'fzstd';
import { UscopeError } from '../base/errors.js';

/** What is used of zstd-napi, told here: the package, and so its types, may be absent where this is compiled. */
interface Binding {
  DCtx: new () => {
    decompress(target: Uint8Array, frame: Uint8Array): number;
    decompressStream(
      target: Uint8Array,
      source: Uint8Array,
    ): [unknown: number, produced: number, consumed: number];
    setParameter(parameter: number, value: number): void;
  };
  CCtx: new () => {
    compress(target: Uint8Array, source: Uint8Array, level: number): number;
  };
  DParameter: { windowLogMax: number };
  compressBound(size: number): number;
}

export const ZSTD_MAGIC = 0xfd2f_b528;
/** 128 MiB: what zstd itself takes unless it is told otherwise. */
const MAX_WINDOW_LOG = 27;
/** No block of zstd expands more: 4 bytes can stand for 128 KiB. */
export const MAX_EXPANSION = 32_768;
const OUTPUT_BYTES = 256 * 1024;
/** The decoder in JavaScript hands out a whole input's output at once: small inputs bound it. */
const JS_INPUT_BYTES = 1024;

let found: Binding | null | undefined;
/** For whole frames, used again: each holds up to a megabyte outside the heap, which the collector does not see. */
let decoder: InstanceType<Binding['DCtx']> | undefined;
let encoder: InstanceType<Binding['CCtx']> | undefined;

function binding(): Binding | null {
  if (found !== undefined) return found;
  try {
    found = createRequire(import.meta.url)('zstd-napi/binding.js') as Binding;
  } catch {
    found = null;
  }
  return found;
}

/** Whether ZSTD can be written here. */
export function canCompressZstd(): boolean {
  return binding() !== null;
}

/**
 * A frame that decompresses to exactly `size` bytes, which the caller has found plausible.
 * @param offset of the frame in the file, for errors
 * @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT
 */
export function decompressFrame(
  frame: Uint8Array,
  size: number,
  offset: number,
  useNative = true,
): Uint8Array {
  checkWindow(frame, offset);
  const target = new Uint8Array(size);
  const length = guarded(offset, () => {
    const native = useNative ? binding() : null;
    if (!native) return decompressInJs(frame, target).length;
    decoder ??= new native.DCtx();
    return decoder.decompress(target, frame);
  });
  if (length === size) return target;
  throw new UscopeError('CONVERT_FORMAT', `a chunk decompresses to ${length} bytes, the index says ${size}`, {
    offset,
  });
}

/**
 * Frames one after the other, of sizes that are not known. What was decompressed before the end of a cut frame is handed out.
 * @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT, CONVERT_TRUNCATED (the last frame is not whole)
 */
export async function* decompressZstd(
  chunks: AsyncIterable<Uint8Array>,
  offset: number,
  useNative = true,
): AsyncGenerator<Uint8Array> {
  const native = useNative ? binding() : null;
  yield* native ? decompressNative(native, chunks, offset) : decompressWithJs(chunks, offset);
}

async function* decompressNative(native: Binding, chunks: AsyncIterable<Uint8Array>, offset: number) {
  const context = new native.DCtx();
  context.setParameter(native.DParameter.windowLogMax, MAX_WINDOW_LOG);
  let hint = 0;
  for await (const chunk of chunks) {
    let rest = chunk;
    for (;;) {
      const target = new Uint8Array(OUTPUT_BYTES);
      const [left, produced, consumed] = guarded(offset, () => context.decompressStream(target, rest));
      hint = left;
      rest = rest.subarray(consumed);
      if (produced > 0) yield target.subarray(0, produced);
      if (rest.length === 0 && (produced < target.length || left === 0)) break;
      if (produced === 0 && consumed === 0) throw truncated(offset);
    }
  }
  if (hint !== 0) throw truncated(offset);
}

async function* decompressWithJs(chunks: AsyncIterable<Uint8Array>, offset: number) {
  const outputs: Uint8Array[] = [];
  const decoder = new Decompress((data) => void (data.length && outputs.push(data)));
  let isFirst = true;
  for await (const chunk of chunks) {
    if (isFirst) checkWindow(chunk, offset);
    isFirst = false;
    for (let at = 0; at < chunk.length; at += JS_INPUT_BYTES) {
      guarded(offset, () => decoder.push(chunk.slice(at, at + JS_INPUT_BYTES)));
      yield* outputs.splice(0);
    }
  }
  try {
    decoder.push(new Uint8Array(0), true);
  } catch {
    throw truncated(offset);
  }
  yield* outputs.splice(0);
}

/** One frame. @throws UscopeError ENV_MISSING without zstd-napi */
export function compressFrame(data: Uint8Array, level: number): Uint8Array {
  const native = binding();
  if (!native) {
    throw new UscopeError(
      'ENV_MISSING',
      'writing .zstf needs the optional package zstd-napi, which is not installed: install it, or write plain .stf',
    );
  }
  const target = new Uint8Array(native.compressBound(data.length));
  encoder ??= new native.CCtx();
  return target.slice(0, encoder.compress(target, data, level));
}

/** A frame's header says how much of its output a decoder must keep: nothing is allocated on that word. */
function checkWindow(frame: Uint8Array, offset: number): void {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (frame.length < 6 || view.getUint32(0, true) !== ZSTD_MAGIC) {
    throw new UscopeError('CONVERT_FORMAT', 'where a zstd frame is due stands something else', { offset });
  }
  const isSingleSegment = (frame[4] & 0x20) !== 0;
  if (!isSingleSegment && (frame[5] >>> 3) + 10 > MAX_WINDOW_LOG) {
    throw new UscopeError(
      'CONVERT_LIMIT',
      `a zstd frame with a window above ${2 ** (MAX_WINDOW_LOG - 20)} MiB`,
      {
        offset,
      },
    );
  }
}

function guarded<T>(offset: number, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    if (cause instanceof UscopeError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UscopeError('CONVERT_FORMAT', `zstd: ${reason}`, { offset }, { cause });
  }
}

function truncated(offset: number): UscopeError {
  return new UscopeError('CONVERT_TRUNCATED', 'the file ends inside a zstd frame', { offset });
}
