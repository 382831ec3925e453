/** What gzip has packed. */
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { UscopeError } from '../base/errors.js';

const OUTPUT_BYTES = 256 * 1024;

/**
 * The bytes in pieces. What could be unpacked before the end of a cut file comes first.
 * @throws UscopeError CONVERT_FORMAT, CONVERT_TRUNCATED (the packed data are not whole), and what the pieces throw
 */
export async function* gunzip(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: OUTPUT_BYTES });
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
