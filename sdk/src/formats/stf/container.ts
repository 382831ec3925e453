/** The packing of an STF file, recognized by its first bytes, and the uncompressed bytes of those that are read from front to end. */
import { gunzip } from '#platform/zlib';
import { unxz } from '../../codecs/xz.js';
import { decompressZstd, ZSTD_MAGIC } from '../../codecs/zstd.js';
import { MAGIC } from './types.js';

export type StfContainer = 'plain' | 'gzip' | 'xz' | 'zstd' | 'zstf';

const XZ_MAGIC = Uint8Array.of(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0);
const ZSTF_MAGIC = Uint8Array.of(0x5a, 0x53, 0x54, 0x46);

/** By the magic number, never by the name; null for bytes that are none of them. */
export function containerOf(head: Uint8Array): StfContainer | null {
  if (startsWith(head, MAGIC)) return 'plain';
  if (startsWith(head, ZSTF_MAGIC)) return 'zstf';
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip';
  if (startsWith(head, XZ_MAGIC)) return 'xz';
  if (head.length < 4) return null;
  const magic = new DataView(head.buffer, head.byteOffset).getUint32(0, true);
  return magic === ZSTD_MAGIC ? 'zstd' : null;
}

function startsWith(head: Uint8Array, magic: Uint8Array): boolean {
  return head.length >= magic.length && magic.every((byte, index) => head[index] === byte);
}

/**
 * The uncompressed bytes of a file that is not `.zstf`. What could be decompressed before the end of a cut file comes first.
 * @throws UscopeError CONVERT_FORMAT, CONVERT_TRUNCATED, CONVERT_LIMIT; the offset is that in the file
 */
export function decompressed(
  container: Exclude<StfContainer, 'zstf'>,
  pieces: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  if (container === 'plain') return pieces;
  if (container === 'gzip') return gunzip(pieces);
  return container === 'xz' ? unxz(pieces) : decompressZstd(pieces, 0);
}
