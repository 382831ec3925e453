/** Bytes of a text file, which may be packed with gzip or zstd: told by the first bytes, never by the name. */
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { UscopeError } from '../../base/errors.js';
import { decompressZstd } from '../stf/zstd.js';

/** Where bytes come from; the sources of `uscope/reader` are such. */
export interface ByteSource {
  readonly name?: string | undefined;
  size(): Promise<number>;
  /** Fewer bytes at the end of the source. */
  read(offset: number, length: number): Promise<Uint8Array>;
}

export type Packing = 'plain' | 'gzip' | 'zstd';

const READ_BYTES = 256 * 1024;

export function packingOf(head: Uint8Array): Packing {
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip';
  const isZstd = head[0] === 0x28 && head[1] === 0xb5 && head[2] === 0x2f && head[3] === 0xfd;
  return isZstd ? 'zstd' : 'plain';
}

/**
 * The text's bytes, in pieces. What could be unpacked before the end of a cut file comes first.
 * @param onRead told how many bytes of the file have been read
 * @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT, CONVERT_TRUNCATED (the packed data are not whole)
 */
export async function* unpack(
  source: ByteSource,
  onRead?: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const packing = packingOf(await source.read(0, 4));
  const pieces = readPieces(source, onRead);
  if (packing === 'plain') yield* pieces;
  else if (packing === 'gzip') yield* gunzip(pieces);
  else yield* decompressZstd(pieces, 0);
}

async function* readPieces(source: ByteSource, onRead?: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  for (let at = 0; ; ) {
    const bytes = await source.read(at, READ_BYTES);
    if (bytes.length === 0) return;
    at += bytes.length;
    onRead?.(at);
    yield bytes;
  }
}

async function* gunzip(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: READ_BYTES });
  const input = Readable.from(pieces, { objectMode: true });
  input.on('error', (error) => gunzip.destroy(error));
  input.pipe(gunzip);
  try {
    for await (const bytes of gunzip) yield bytes as Uint8Array;
  } catch (cause) {
    if (cause instanceof UscopeError) throw cause;
    const { code, message } = cause as { code?: string; message: string };
    if (code === 'Z_BUF_ERROR')
      throw new UscopeError('CONVERT_TRUNCATED', 'the gzip data end early', {}, { cause });
    throw new UscopeError('CONVERT_FORMAT', `gzip: ${message}`, {}, { cause });
  } finally {
    input.destroy();
    gunzip.destroy();
  }
}
