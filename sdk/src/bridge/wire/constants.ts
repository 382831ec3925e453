/**
 * Numbers of the bridge protocol and of the memory of its clients.
 * Written by scripts/constants.mjs: change scripts/constants-definition.mjs and run it.
 */
/** Of the bridge. */
export const PROTOCOL_VERSION = 1;
/** Of a control message. */
export const MAX_CONTROL_BYTES = 4194304;
/** Records of one data message. */
export const MAX_PAYLOAD_BYTES = 1048576;
/** First bytes of a data header: uDAT. */
export const DATA_MAGIC = 0x54414475;
export const DATA_HEADER_BYTES = 48;
/** Flag: the first record belongs to a frame begun in an earlier message. */
export const DATA_CONTINUES = 1;
/** Flag: the records are in the client's memory; the message has no second part. */
export const DATA_IN_MEMORY = 2;
/** Flag: there may be lane records. */
export const DATA_LANES = 4;
/** First bytes of a client's memory: uMEM. */
export const MEMORY_MAGIC = 0x4d454d75;
export const MEMORY_LAYOUT_VERSION = 1;
/** The control page, in front of the entries. */
export const MEMORY_CONTROL_BYTES = 512;
/** What the control page says of one chunk. */
export const MEMORY_ENTRY_BYTES = 64;
/** A client's memory for records that are not durable yet. */
export const DEFAULT_CREDIT_BYTES = 0x2000000;
