/**
 * Numbers of records, items and field types.
 * Written by scripts/constants.mjs: change scripts/constants-definition.mjs and run it.
 */
/**
 * Kinds of records. ADD_LANES, SET_LANES and EVENT_LANES hold several items, one for each lane:
 * between client and daemon only, no writer takes them.
 */
export const RecordKind = {
  OP: 0x01,
  EVENT: 0x03,
  ADD_LANES: 0x04,
  SET_LANES: 0x05,
  EVENT_LANES: 0x06,
  BEGIN: 0x10,
  END: 0x11,
  STRING: 0x12,
  SNAPSHOT: 0x13,
} as const;
export type RecordKind = (typeof RecordKind)[keyof typeof RecordKind];

/** What an op does, in records as in frames. */
export const Action = {
  SET: 0x01,
  CLEAR: 0x02,
  ADD: 0x03,
  PROP_SET: 0x04,
} as const;
export type Action = (typeof Action)[keyof typeof Action];

/** Tags of interleaved items in frames. */
export const ItemTag = {
  WIDE: 0x01,
  COMPACT: 0x02,
  EVENT: 0x03,
} as const;
export type ItemTag = (typeof ItemTag)[keyof typeof ItemTag];

/** Types of fields, by their number on disk. */
export const FieldType = {
  U8: 0x01,
  U16: 0x02,
  U32: 0x03,
  U64: 0x04,
  I8: 0x05,
  I16: 0x06,
  I32: 0x07,
  I64: 0x08,
  BOOL: 0x09,
  STRING_REF: 0x0a,
  ENUM: 0x0b,
} as const;
export type FieldType = (typeof FieldType)[keyof typeof FieldType];

export const RECORD_BYTES = 16;
/** The same in 32-bit words. */
export const RECORD_WORDS = 4;
/** Payload bytes an EVENT record carries in itself. */
export const EVENT_INLINE_BYTES = 8;
export const MAX_ITEMS_PER_FRAME = 65535;
/** Bytes. */
export const MAX_EVENT_PAYLOAD = 65520;
export const MAX_STRING_BYTES = 65520;
/** Lanes of an ADD_LANES record. */
export const ADD_LANES_MAX = 64;
/** Bits by which EVENT_LANES may shift the number of a lane. */
export const LANE_SHIFT_MAX = 63;
/** Bytes of an op in an interleaved frame, with its tag. */
export const WIDE_OP_SIZE = 16;
/** The same of a compact op. */
export const TAGGED_COMPACT_OP_SIZE = 9;
/** Bytes of an event in an interleaved frame, in front of the payload. */
export const EVENT_HEADER_SIZE = 8;
