// @ts-check
/**
 * The one definition of the numbers that the SDK, the C client, the compiled loops, the Python client and the benchmarks share.
 * `node scripts/constants.mjs` writes the files of all languages from it; docs/reference/bridge-protocol.md and the format's
 * description say what the numbers mean.
 */

/**
 * Numbers that belong together: one object in TypeScript, names with a prefix in C and Python.
 * @typedef {object} NumberGroup
 * @property {string} name in TypeScript
 * @property {string} prefix in C and Python
 * @property {string} doc
 * @property {boolean} [isEnumClass] Python gets an IntEnum of this name besides.
 * @property {Record<string, number>} values
 */

/**
 * @typedef {object} Constant
 * @property {string} name in all languages
 * @property {string} [doc]
 * @property {number} value
 * @property {boolean} [isOfClients] The compiled loops of the SDK do not use it.
 */

/**
 * What one TypeScript file holds. C and Python have everything in one file.
 * @typedef {object} Room
 * @property {string} file in sdk/src
 * @property {string} doc
 * @property {readonly NumberGroup[]} groups
 * @property {readonly Constant[]} constants
 */

/** @type {Room} */
const FORMAT = {
  file: 'format/constants.ts',
  doc: 'Numbers of records, items and field types.',
  groups: [
    {
      name: 'RecordKind',
      prefix: 'RECORD',
      doc: 'Kinds of records. ADD_LANES, SET_LANES and EVENT_LANES hold several items, one for each lane: between client and daemon only, no writer takes them.',
      values: {
        OP: 0x01,
        EVENT: 0x03,
        ADD_LANES: 0x04,
        SET_LANES: 0x05,
        EVENT_LANES: 0x06,
        BEGIN: 0x10,
        END: 0x11,
        STRING: 0x12,
        SNAPSHOT: 0x13,
      },
    },
    {
      name: 'Action',
      prefix: 'ACTION',
      doc: 'What an op does, in records as in frames.',
      values: { SET: 1, CLEAR: 2, ADD: 3, PROP_SET: 4 },
    },
    {
      name: 'ItemTag',
      prefix: 'TAG',
      doc: 'Tags of interleaved items in frames.',
      values: { WIDE: 0x01, COMPACT: 0x02, EVENT: 0x03 },
    },
    {
      name: 'FieldType',
      prefix: 'FT',
      doc: 'Types of fields, by their number on disk.',
      isEnumClass: true,
      values: {
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
      },
    },
  ],
  constants: [
    { name: 'RECORD_BYTES', value: 16 },
    { name: 'RECORD_WORDS', doc: 'The same in 32-bit words.', value: 4 },
    { name: 'EVENT_INLINE_BYTES', doc: 'Payload bytes an EVENT record carries in itself.', value: 8 },
    { name: 'MAX_ITEMS_PER_FRAME', value: 65_535 },
    { name: 'MAX_EVENT_PAYLOAD', doc: 'Bytes.', value: 65_520 },
    { name: 'MAX_STRING_BYTES', value: 65_520 },
    { name: 'ADD_LANES_MAX', doc: 'Lanes of an ADD_LANES record.', value: 64 },
    { name: 'LANE_SHIFT_MAX', doc: 'Bits by which EVENT_LANES may shift the number of a lane.', value: 63 },
    { name: 'WIDE_OP_SIZE', doc: 'Bytes of an op in an interleaved frame, with its tag.', value: 16 },
    { name: 'TAGGED_COMPACT_OP_SIZE', doc: 'The same of a compact op.', value: 9 },
    {
      name: 'EVENT_HEADER_SIZE',
      doc: 'Bytes of an event in an interleaved frame, in front of the payload.',
      value: 8,
    },
  ],
};

/** @type {Room} */
const BRIDGE = {
  file: 'bridge/wire/constants.ts',
  doc: 'Numbers of the bridge protocol and of the memory of its clients.',
  groups: [],
  constants: [
    { name: 'PROTOCOL_VERSION', doc: 'Of the bridge.', value: 1 },
    { name: 'MAX_CONTROL_BYTES', doc: 'Of a control message.', value: 4 * 1024 * 1024 },
    { name: 'MAX_PAYLOAD_BYTES', doc: 'Records of one data message.', value: 1024 * 1024 },
    { name: 'DATA_MAGIC', doc: 'First bytes of a data header: uDAT.', value: 0x5441_4475 },
    { name: 'DATA_HEADER_BYTES', value: 48 },
    {
      name: 'DATA_CONTINUES',
      doc: 'Flag: the first record belongs to a frame begun in an earlier message.',
      value: 1,
    },
    {
      name: 'DATA_IN_MEMORY',
      doc: "Flag: the records are in the client's memory; the message has no second part.",
      value: 2,
    },
    { name: 'DATA_LANES', doc: 'Flag: there may be lane records.', value: 4 },
    { name: 'MEMORY_MAGIC', doc: "First bytes of a client's memory: uMEM.", value: 0x4d45_4d75 },
    { name: 'MEMORY_LAYOUT_VERSION', value: 1 },
    { name: 'MEMORY_CONTROL_BYTES', doc: 'The control page, in front of the entries.', value: 512 },
    { name: 'MEMORY_ENTRY_BYTES', doc: 'What the control page says of one chunk.', value: 64 },
    {
      name: 'DEFAULT_CREDIT_BYTES',
      doc: "A client's memory for records that are not durable yet.",
      value: 32 * 1024 * 1024,
      isOfClients: true,
    },
  ],
};

export const ROOMS = [FORMAT, BRIDGE];
