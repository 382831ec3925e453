/**
 * Wide records: the 16-byte form in which items travel from a model to the writer, in memory and on the bridge
 * (docs/bridge-protocol.md#records). An OP record equals a wide op of an interleaved frame (docs/format.md#interleaved-frames) byte for byte.
 *
 * Code that walks records reads them as a little-endian Uint32Array, four words per record:
 *   word 0  kind | action << 8 | storage or event type << 16
 *   word 1  slot | field << 16            (EVENT, STRING, SNAPSHOT: payload size; END: number of items)
 *   word 2  value, low half               (BEGIN: time; END: ordinal; STRING: index; EVENT: payload bytes 0..3; SNAPSHOT: part offset)
 *   word 3  value, high half              (EVENT: payload bytes 4..7; SNAPSHOT: total size)
 */
export const RecordKind = {
  OP: 0x01,
  EVENT: 0x03,
  /** Several items of a kind, one for each lane (docs/bridge-protocol.md#lane-records): between client and daemon only, no writer takes them. */
  ADD_LANES: 0x04,
  SET_LANES: 0x05,
  EVENT_LANES: 0x06,
  BEGIN: 0x10,
  END: 0x11,
  STRING: 0x12,
  SNAPSHOT: 0x13,
} as const;

export const RECORD_BYTES = 16;
export const RECORD_WORDS = 4;
/** Payload bytes an EVENT record carries in itself. */
export const EVENT_INLINE_BYTES = 8;
export const MAX_ITEMS_PER_FRAME = 65_535;
export const MAX_EVENT_PAYLOAD = 65_520;
export const MAX_STRING_BYTES = 65_520;

/** Records (of 16 bytes) that follow an EVENT record of this payload size. */
export function eventExtraRecords(payloadSize: number): number {
  return payloadSize <= EVENT_INLINE_BYTES ? 0 : (payloadSize - EVENT_INLINE_BYTES + RECORD_BYTES - 1) >>> 4;
}

/** Records that follow a STRING or SNAPSHOT record of this payload size. */
export function payloadRecords(size: number): number {
  return (size + RECORD_BYTES - 1) >>> 4;
}

/** Words of a record with its payload. */
export function recordLength(words: Uint32Array, at: number): number {
  switch (words[at] & 0xff) {
    case RecordKind.EVENT:
      return RECORD_WORDS * (1 + eventExtraRecords(words[at + 1]));
    case RecordKind.STRING:
    case RecordKind.SNAPSHOT:
      return RECORD_WORDS * (1 + payloadRecords(words[at + 1]));
    default:
      return RECORD_WORDS;
  }
}
