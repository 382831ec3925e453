/**
 * Wide records: the 16-byte form in which items travel from a model to the writer, in memory and on the bridge
 * (docs/reference/bridge-protocol.md#records). An OP record equals a wide op of an interleaved frame (docs/reference/format.md#interleaved-frames) byte for byte.
 *
 * Code that walks records reads them as a little-endian Uint32Array, four words per record:
 *   word 0  kind | action << 8 | storage or event type << 16
 *   word 1  slot | field << 16            (EVENT, STRING, SNAPSHOT: payload size; END: number of items)
 *   word 2  value, low half               (BEGIN: time; END: ordinal; STRING: index; EVENT: payload bytes 0..3; SNAPSHOT: part offset)
 *   word 3  value, high half              (EVENT: payload bytes 4..7; SNAPSHOT: total size)
 */
import { EVENT_INLINE_BYTES, RECORD_BYTES, RECORD_WORDS, RecordKind } from './constants.js';

export {
  EVENT_INLINE_BYTES,
  MAX_EVENT_PAYLOAD,
  MAX_ITEMS_PER_FRAME,
  MAX_STRING_BYTES,
  RECORD_BYTES,
  RECORD_WORDS,
  RecordKind,
} from './constants.js';

/** The same once more for this module alone, as in frame-cursor.ts. */
const { EVENT, STRING, SNAPSHOT } = RecordKind;
const [BYTES, WORDS, INLINE_BYTES] = [RECORD_BYTES, RECORD_WORDS, EVENT_INLINE_BYTES];

/** Records (of 16 bytes) that follow an EVENT record of this payload size. */
export function eventExtraRecords(payloadSize: number): number {
  return payloadSize <= INLINE_BYTES ? 0 : (payloadSize - INLINE_BYTES + BYTES - 1) >>> 4;
}

/** Records that follow a STRING or SNAPSHOT record of this payload size. */
export function payloadRecords(size: number): number {
  return (size + BYTES - 1) >>> 4;
}

/** Words of a record with its payload. */
export function recordLength(words: Uint32Array, at: number): number {
  switch (words[at] & 0xff) {
    case EVENT:
      return WORDS * (1 + eventExtraRecords(words[at + 1]));
    case STRING:
    case SNAPSHOT:
      return WORDS * (1 + payloadRecords(words[at + 1]));
    default:
      return WORDS;
  }
}
