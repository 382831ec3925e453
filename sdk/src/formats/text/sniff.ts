/** The beginning of a text file, packed or not, as far as `head` reaches. */
import { gunzipHead } from '#platform/zlib';
import { decompressZstdHead } from '../../codecs/zstd.js';
import { packingOf } from './unpack.js';

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
