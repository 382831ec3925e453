/** gzip and zlib in Node: the one place that imports `node:zlib` for them. browser/zlib.ts offers the same in browsers. */
import { Readable } from 'node:stream';
import * as zlib from 'node:zlib';
import {
  type DeflateFormat,
  type GzipStream,
  gzipFailure,
  MAX_HEAD_BYTES,
  OUTPUT_BYTES,
} from '../platform/zlib.js';

/**
 * The bytes in pieces. What could be unpacked before the end of a cut file comes first.
 * @throws UscopeError CONVERT_FORMAT, CONVERT_TRUNCATED (the packed data are not whole), and what the pieces throw
 */
export async function* gunzip(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = zlib.createGunzip({ chunkSize: OUTPUT_BYTES });
  const input = Readable.from(pieces, { objectMode: true });
  input.on('error', (error) => gunzip.destroy(error));
  input.pipe(gunzip);
  try {
    for await (const bytes of gunzip) yield bytes as Uint8Array;
  } catch (cause) {
    throw gzipFailure(cause, (cause as { code?: string }).code === 'Z_BUF_ERROR');
  } finally {
    input.destroy();
    gunzip.destroy();
  }
}

/** What the beginning of a gzip file holds, without an error where it is cut. @throws Error when it is not gzip */
export async function gunzipHead(head: Uint8Array): Promise<Uint8Array> {
  const finishFlush = zlib.constants.Z_SYNC_FLUSH;
  return zlib.gunzipSync(head, { finishFlush, maxOutputLength: MAX_HEAD_BYTES });
}

/** At most `maxBytes`. @throws Error when the data are malformed, cut or hold more */
export async function inflate(
  format: DeflateFormat,
  packed: Uint8Array,
  maxBytes: number,
): Promise<Uint8Array> {
  const unpack = format === 'gzip' ? zlib.gunzipSync : zlib.inflateSync;
  return unpack(packed, { maxOutputLength: maxBytes });
}

/** In Node only: browsers compress asynchronously. */
export function deflate(format: DeflateFormat, bytes: Uint8Array): Uint8Array {
  return format === 'gzip' ? zlib.gzipSync(bytes) : zlib.deflateSync(bytes);
}

export function gzipStream(): GzipStream {
  const gzip = zlib.createGzip();
  const ready: Uint8Array[] = [];
  gzip.on('data', (bytes: Uint8Array) => ready.push(bytes));
  return {
    async write(bytes) {
      await new Promise<void>((resolve, reject) => {
        const flushed = () => gzip.flush(zlib.constants.Z_NO_FLUSH, resolve);
        gzip.write(bytes, (error) => (error ? reject(error) : flushed()));
      });
      return ready.splice(0);
    },
    async end() {
      await new Promise<void>((resolve, reject) => gzip.once('error', reject).once('end', resolve).end());
      return ready.splice(0);
    },
  };
}
