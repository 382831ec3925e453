/** Bytes of a text file, which may be packed with gzip or zstd: recognized by the first bytes, never by the name. */
import { gunzip, gunzipHead } from '#platform/zlib';
import { type ByteSource, readPieces, readReusedPieces } from '../../codecs/byte-source.js';
import { decompressZstd, decompressZstdHead } from '../../codecs/zstd.js';

export type { ByteSource };

export type Packing = 'plain' | 'gzip' | 'zstd';

export function packingOf(head: Uint8Array): Packing {
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip';
  const isZstd = head[0] === 0x28 && head[1] === 0xb5 && head[2] === 0x2f && head[3] === 0xfd;
  return isZstd ? 'zstd' : 'plain';
}

/**
 * The text's bytes, in pieces which are valid until the next one is fetched. What could be unpacked before the end of a cut file comes first.
 * @param onRead called with how many bytes of the file have been read
 * @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT, CONVERT_TRUNCATED (the packed data are not whole)
 */
export async function* unpack(
  source: ByteSource,
  onRead?: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const packing = packingOf(await source.read(0, 4));
  if (packing === 'plain') {
    yield* readReusedPieces(source, onRead);
    return;
  }
  const pieces = readPieces(source, 0, Number.POSITIVE_INFINITY, onRead);
  if (packing === 'gzip') yield* gunzip(pieces);
  else yield* decompressZstd(pieces, 0);
}

// The beginning of a text file, packed or not, as far as `head` reaches.

// Whatever the bytes are, sniffers look for ASCII.
const decoder = new TextDecoder('latin1');

/** Text that a sniffer may look at; '' for what cannot be unpacked. */
export async function sniffText(head: Uint8Array): Promise<string> {
  try {
    return decoder.decode(await unpacked(head));
  } catch {
    return '';
  }
}

async function unpacked(head: Uint8Array): Promise<Uint8Array> {
  const packing = packingOf(head);
  if (packing === 'plain') return head;
  return packing === 'gzip' ? gunzipHead(head) : decompressZstdHead(head);
}
