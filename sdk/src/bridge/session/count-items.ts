/** How many items a run of records holds: asked when they are lost. */
import { RecordKind, recordLength } from '../../format/record.js';
import { countLanes, isLaneRecord } from './unfold-lanes.js';

/** Items of OP, EVENT and lane records in `words`; stops at the end, however long the last record claims to be. */
export function countItems(words: Uint32Array): bigint {
  let items = 0;
  for (let at = 0; at < words.length; at += recordLength(words, at)) {
    const word0 = words[at];
    const kind = word0 & 0xff;
    if (kind === RecordKind.OP || kind === RecordKind.EVENT) items++;
    else if (isLaneRecord(kind)) items += countLanes(word0, words[at + 2], words[at + 3]);
  }
  return BigInt(items);
}
