/** Reading traces in Node: the file source and native libraries. The only part of the reader that imports Node. */
import { fstatSync, readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from '#platform/crc32';
import { nativeZstdDecoder } from '#platform/zstd';
import { UscopeError } from '../base/errors.js';
import { type Codec, DEFAULT_MAX_SEGMENT_BYTES, MAX_SEGMENT_VARIABLE } from './codec.js';
import { isHttpUrl } from './http-url.js';
import type { OpenOptions } from './options.js';
import type { Source } from './source.js';
import { openTrace, type Trace } from './trace.js';

export interface FileOptions {
  /**
   * Small reads hold up the whole process, instead of a separate thread: a file in memory is then read sooner than another
   * thread would get the request. For programs that only read.
   */
  readonly blocking?: boolean | undefined;
}

/** Larger reads are worth doing something else meanwhile. */
const MAX_BLOCKING_BYTES = 64 * 1024;

/** A source over a file. @throws UscopeError READER_OPEN when it cannot be opened */
export async function fileSource(path: string, { blocking = false }: FileOptions = {}): Promise<Source> {
  let handle: FileHandle;
  try {
    handle = await open(path, 'r');
  } catch (cause) {
    throw new UscopeError(
      'READER_OPEN',
      `the file cannot be opened: ${reason(cause)}`,
      { file: path },
      { cause },
    );
  }
  return {
    name: path,
    size: async () => (blocking ? fstatSync(handle.fd) : await handle.stat()).size,
    read: (offset, length) => readAll(handle, offset, length, blocking && length <= MAX_BLOCKING_BYTES),
    readInto: (target, offset) =>
      fill(handle, target, offset, blocking && target.length <= MAX_BLOCKING_BYTES),
    close: () => handle.close(),
  };
}

/** A source over what a user names: a file, or an http or https URL. @throws UscopeError READER_OPEN */
export async function openSource(pathOrUrl: string, options: FileOptions = {}): Promise<Source> {
  if (!isHttpUrl(pathOrUrl)) return fileSource(pathOrUrl, options);
  const { httpSource } = await import('./http.js');
  return httpSource(pathOrUrl);
}

/**
 * Opens the trace at a path, at an http or https URL, or in a source, with native ZSTD and CRC-32.
 * @throws as `openTrace`, READER_OPEN, and ENV_VALUE (see `segmentLimit`); of URLs also what `httpSource` reports
 */
export async function openTraceFile(from: string | Source, options: OpenOptions = {}): Promise<Trace> {
  const source = typeof from === 'string' ? await openSource(from) : from;
  try {
    const maxSegmentBytes = options.maxSegmentBytes ?? segmentLimit();
    return await openTrace(source, { codec: nodeCodec, ...options, maxSegmentBytes });
  } catch (error) {
    await source.close?.();
    throw error;
  }
}

/** What one segment may decompress to, in bytes. @throws UscopeError ENV_VALUE: the environment has no number of MiB */
export function segmentLimit(environment: NodeJS.ProcessEnv = process.env): number {
  const text = environment[MAX_SEGMENT_VARIABLE];
  if (text === undefined || text === '') return DEFAULT_MAX_SEGMENT_BYTES;
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text) * 1024 ** 2;
  throw new UscopeError('ENV_VALUE', `${MAX_SEGMENT_VARIABLE}="${text}" is no number of MiB from 1 to 9999`);
}

/** Native ZSTD and CRC-32. LZ4 is the reader's own, which needs no separate memory for each segment. */
export const nodeCodec: Codec = {
  zstd: (frame, rawSize) => zstdDecoder()(frame, rawSize),
  crc32,
};

async function readAll(
  handle: FileHandle,
  offset: number,
  length: number,
  blocking: boolean,
): Promise<Uint8Array> {
  // All of it that is handed out is read into: zeros would be written for nothing.
  const buffer = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer);
  return buffer.subarray(0, await fill(handle, buffer, offset, blocking));
}

/** Returns the number of bytes, fewer at the end of the file. */
async function fill(
  handle: FileHandle,
  buffer: Uint8Array,
  offset: number,
  blocking: boolean,
): Promise<number> {
  let filled = 0;
  while (filled < buffer.length) {
    const [left, at] = [buffer.length - filled, offset + filled];
    const bytesRead = blocking
      ? readSync(handle.fd, buffer, filled, left, at)
      : (await handle.read(buffer, filled, left, at)).bytesRead;
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

type ZstdDecoder = (frame: Uint8Array, rawSize: number) => Uint8Array;

let decoder: ZstdDecoder | null = null;

/** @throws UscopeError READER_COMPRESSION */
function zstdDecoder(): ZstdDecoder {
  decoder ??= nativeZstdDecoder();
  if (decoder) return decoder;
  throw new UscopeError(
    'READER_COMPRESSION',
    'the trace is compressed with ZSTD; install the optional package zstd-napi, or use Node 22.15 or later',
  );
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
