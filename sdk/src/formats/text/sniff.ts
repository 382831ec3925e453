/** The beginning of a text file, packed or not, as far as `head` reaches. */
import { constants, gunzipSync } from 'node:zlib';
import { Decompress } from 'fzstd';
import { packingOf } from './unpack.js';

/** Text that a sniffer may look at; '' for what cannot be unpacked. */
export function sniffText(head: Uint8Array): string {
  try {
    return Buffer.from(unpacked(head)).toString('latin1');
  } catch {
    return '';
  }
}

function unpacked(head: Uint8Array): Uint8Array {
  const packing = packingOf(head);
  if (packing === 'plain') return head;
  // `Z_SYNC_FLUSH`: what there is of cut data, without a complaint that they are cut.
  if (packing === 'gzip')
    return gunzipSync(head, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 16 * 1024 * 1024 });
  const pieces: Uint8Array[] = [];
  const decoder = new Decompress((data) => pieces.push(data));
  try {
    decoder.push(head.slice());
  } catch {
    // The block is not whole, or there is no such thing: what came out before counts.
  }
  return Buffer.concat(pieces);
}
