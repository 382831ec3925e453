/** ZSTD of foreign formats: zstd-napi where it is installed, else, for reading only, the decoder in JavaScript. */

import { Decompress, decompress as decompressInJs } from 'fzstd';
import { zstdPackage } from '#platform/zstd';
import { concatBytes } from '../base/bytes.js';
import { UscopeError } from '../base/errors.js';
import type { ZstdPackage } from './platform/zstd.js';

const ZSTD_MAGIC = 0xfd2f_b528;
/** 128 MiB: what zstd itself takes unless configured otherwise. */
const MAX_WINDOW_LOG = 27;
const OUTPUT_BYTES = 256 * 1024;
/** The decoder in JavaScript hands out a whole input's output at once: small inputs bound it. */
const JS_INPUT_BYTES = 1024;

/** For whole frames, used again: each holds up to a megabyte outside the heap, which the collector does not see. */
let decoder: InstanceType<ZstdPackage['DCtx']> | undefined;
let encoder: InstanceType<ZstdPackage['CCtx']> | undefined;

/** Whether ZSTD can be written here. */
export function canCompressZstd(): boolean {
  return zstdPackage() !== null;
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
    const native = useNative ? zstdPackage() : null;
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
  const native = useNative ? zstdPackage() : null;
  yield* native ? decompressNative(native, chunks, offset) : decompressWithJs(chunks, offset);
}

async function* decompressNative(native: ZstdPackage, chunks: AsyncIterable<Uint8Array>, offset: number) {
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

/** What the beginning of ZSTD data holds: what comes out before it is cut or wrong. For looking at only. */
export function decompressZstdHead(head: Uint8Array): Uint8Array {
  const pieces: Uint8Array[] = [];
  const decoder = new Decompress((data) => pieces.push(data));
  try {
    decoder.push(head.slice());
  } catch {
    // The block is not whole, or there is no such thing: what came out before counts.
  }
  return concatBytes(pieces);
}

/** One frame. @throws UscopeError ENV_MISSING without zstd-napi */
export function compressFrame(data: Uint8Array, level: number): Uint8Array {
  const native = zstdPackage();
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
    throw new UscopeError('CONVERT_FORMAT', 'a zstd frame is expected here', { offset });
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
