/** The layout of the structures of sdk/kernel/blocks in WebAssembly's memory: offsets in words of 32 bits, sizes in bytes. */

/** `struct tracker_plan` */
export const Plan = {
  STORAGE: 0,
  SLOTS: 1,
  ID_FIELD: 2,
  PC_FIELD: 3,
  BITS_FIELD: 4,
  COMPRESSED_FIELD: 5,
  THREAD_FIELD: 6,
  NUM_EVENTS: 7,
  EVENT_KINDS: 8,
  EVENT_SIZES: 9,
  /** For each `EventKind` four times offset and size. */
  FIELDS: 10,
  ADOPTS_STRANGERS: 74,
  EVENTS_LAST: 75,
  PERIOD: 76,
  WORDS: 78,
} as const;

/** `enum tracker_event` */
export const EventKind = {
  STAGE: 1,
  ANNOTATE: 2,
  DEPENDENCY: 3,
  FLUSH: 4,
  STALL: 5,
  TRAP: 6,
  CONTROL: 7,
} as const;

/** `struct tracker` */
export const Tracker = {
  PLAN: 0,
  ROWS: 1,
  STAGES: 2,
  SIDES: 3,
  PENDING: 4,
  IDS: 5,
  BY_SLOT: 6,
  EARLY: 7,
  MARKS: 8,
  ROWS_CAPACITY: 9,
  STAGES_CAPACITY: 10,
  SIDES_CAPACITY: 11,
  PENDING_CAPACITY: 12,
  IDS_CAPACITY: 13,
  NUM_ROWS: 14,
  NUM_STAGES: 15,
  NUM_SIDES: 16,
  NUM_PENDING: 17,
  IN_FLIGHT: 22,
  ENDED: 23,
  BIRTHS: 24,
  ACCEPTS_BIRTHS: 25,
  STOPS_AT_FRAMES: 27,
  STAGE_RANGE: 33,
  FROM: 44,
  TO: 46,
  WORDS: 48,
} as const;

export const Bytes = {
  ROW: 72,
  STAGE: 16,
  SIDE: 48,
  ID: 16,
  EARLY: 24,
  LISTED: 40,
  MARK: 4,
} as const;

/** `struct row`, in bytes */
export const Row = { ORDINAL: 40, HOW: 64 } as const;

/** Slots that an op can name, and events of a frame that wait for a birth. */
export const SLOTS = 0x1_0000;
export const MAX_EARLY = 4096;

/** `struct items` */
export const Items = {
  BYTES: 0,
  END: 1,
  AT: 2,
  ITEMS_LEFT: 3,
  NUM_EVENTS: 4,
  EVENT_SIZES: 5,
  TIME: 6,
  WORDS: 8,
} as const;

/** `struct tracker_need` */
export const Need = { ROWS: 0, STAGES: 1, SIDES: 2, PENDING: 3, IDS: 4, WORDS: 5 } as const;

/** `enum tracker_result` */
export const Result = {
  MORE: 0,
  ROOM: 1,
  IRREGULAR: 2,
  PAUSE: 3,
  DONE: 4,
  SLICE: 5,
} as const;
export type Result = (typeof Result)[keyof typeof Result];

/** `struct block_shape` */
export const Shape = {
  ROWS: 0,
  STAGES: 1,
  LONG_STAYS: 2,
  PATHS: 3,
  PATH_VALUES: 4,
  STATICS: 5,
  /** Dependencies, stalls, annotations, flushes, traps. */
  SIDES: 6,
  FOREIGN: 11,
  MAX_ID: 12,
  MAX_SLOT: 13,
  MAX_THREAD: 14,
  MAX_VALUE: 15,
  MAX_TYPE: 16,
  MAX_STALL: 17,
  MAX_FLUSH: 18,
  MAX_STRING: 19,
  MAX_PC_HI: 20,
  SLOTS_ARE_IDS: 21,
  HAS_THREADS: 22,
  IS_IN_SEQUENCE: 23,
  IS_LONG: 24,
  FIRST_ORDINAL: 25,
  TICK_PS: 26,
  BASE: 28,
  /** Of 64 bits, one for each of `SIDES`. */
  MAX_DELAY: 30,
  WORDS: 40,
} as const;
