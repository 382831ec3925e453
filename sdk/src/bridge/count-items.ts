/** How many items a run of records holds: asked when they are lost. */
import { RecordKind, recordLength } from '../format/record.js';

/** OP and EVENT records in `words`; stops at the end, however long the last record claims to be. */
export function countItems(words: Uint32Array): bigint {
  let items = 0;
  for (let at = 0; at < words.length; at += recordLength(words, at)) {
    const kind = words[at] & 0xff;
    if (kind === RecordKind.OP || kind === RecordKind.EVENT) items++;
  }
  return BigInt(items);
}
