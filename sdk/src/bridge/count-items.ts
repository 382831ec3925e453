/** How many items a run of records holds: asked when they are lost. */
import { eventExtraRecords, payloadRecords, RECORD_WORDS, RecordKind } from '../format/record.js';

/** OP and EVENT records in `words`; stops at the end, however long the last record claims to be. */
export function countItems(words: Uint32Array): bigint {
  let items = 0;
  for (let at = 0; at < words.length; at += RECORD_WORDS) {
    const kind = words[at] & 0xff;
    if (kind === RecordKind.OP || kind === RecordKind.EVENT) items++;
    if (kind === RecordKind.EVENT) at += RECORD_WORDS * eventExtraRecords(words[at + 1]);
    else if (kind === RecordKind.STRING || kind === RecordKind.SNAPSHOT) {
      at += RECORD_WORDS * payloadRecords(words[at + 1]);
    }
  }
  return BigInt(items);
}
