/** Reading traces in Node: the file source and native libraries. The only part of the reader that imports Node. */
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from '#platform/crc32';
import { nativeZstdDecoder } from '#platform/zstd';
import { UscopeError } from '../base/errors.js';
import { type Codec, DEFAULT_MAX_SEGMENT_BYTES, MAX_SEGMENT_VARIABLE } from './codec.js';
import { isHttpUrl } from './http-url.js';
import { type FileOptions, handleSource } from './node-file.js';
import type { OpenOptions } from './options.js';
import type { Source } from './source.js';
import { openTrace, type Trace } from './trace.js';

export type { FileOptions } from './node-file.js';

/** A source over a file. @throws UscopeError READER_OPEN when it cannot be opened */
export async function fileSource(path: string, options: FileOptions = {}): Promise<Source> {
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
  return handleSource(handle, path, options);
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
  throw new UscopeError(
    'ENV_VALUE',
    `${MAX_SEGMENT_VARIABLE}="${text}" is not a number of MiB from 1 to 9999`,
  );
}

/** Native ZSTD and CRC-32. LZ4 is the reader's own, which needs no separate memory for each segment. */
export const nodeCodec: Codec = {
  zstd: (frame, rawSize) => zstdDecoder()(frame, rawSize),
  crc32,
};

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
