/* SPDX-License-Identifier: Apache-2.0 */
/* Written by scripts/constants.mjs: change scripts/constants-definition.mjs and run it. */
#ifndef USCOPE_CONSTANTS_H
#define USCOPE_CONSTANTS_H

/*
 * Kinds of records. ADD_LANES, SET_LANES and EVENT_LANES hold several items, one for each lane:
 * between client and daemon only, no writer takes them.
 */
enum {
    RECORD_OP = 0x01,
    RECORD_EVENT = 0x03,
    RECORD_ADD_LANES = 0x04,
    RECORD_SET_LANES = 0x05,
    RECORD_EVENT_LANES = 0x06,
    RECORD_BEGIN = 0x10,
    RECORD_END = 0x11,
    RECORD_STRING = 0x12,
    RECORD_SNAPSHOT = 0x13,
};

/* What an op does, in records as in frames. */
enum {
    ACTION_SET = 0x01,
    ACTION_CLEAR = 0x02,
    ACTION_ADD = 0x03,
    ACTION_PROP_SET = 0x04,
};

/* Tags of interleaved items in frames. */
enum {
    TAG_WIDE = 0x01,
    TAG_COMPACT = 0x02,
    TAG_EVENT = 0x03,
};

/* Types of fields, by their number on disk. */
enum {
    FT_U8 = 0x01,
    FT_U16 = 0x02,
    FT_U32 = 0x03,
    FT_U64 = 0x04,
    FT_I8 = 0x05,
    FT_I16 = 0x06,
    FT_I32 = 0x07,
    FT_I64 = 0x08,
    FT_BOOL = 0x09,
    FT_STRING_REF = 0x0a,
    FT_ENUM = 0x0b,
};

enum {
    RECORD_BYTES = 16,
    /* The same in 32-bit words. */
    RECORD_WORDS = 4,
    /* Payload bytes an EVENT record carries in itself. */
    EVENT_INLINE_BYTES = 8,
    MAX_ITEMS_PER_FRAME = 65535,
    /* Bytes. */
    MAX_EVENT_PAYLOAD = 65520,
    MAX_STRING_BYTES = 65520,
    /* Lanes of an ADD_LANES record. */
    ADD_LANES_MAX = 64,
    /* Bits by which EVENT_LANES may shift the number of a lane. */
    LANE_SHIFT_MAX = 63,
    /* Bytes of an op in an interleaved frame, with its tag. */
    WIDE_OP_SIZE = 16,
    /* The same of a compact op. */
    TAGGED_COMPACT_OP_SIZE = 9,
    /* Bytes of an event in an interleaved frame, in front of the payload. */
    EVENT_HEADER_SIZE = 8,
    /* Of the bridge. */
    PROTOCOL_VERSION = 1,
    /* Of a control message. */
    MAX_CONTROL_BYTES = 4194304,
    /* Records of one data message. */
    MAX_PAYLOAD_BYTES = 1048576,
    /* First bytes of a data header: uDAT. */
    DATA_MAGIC = 0x54414475,
    DATA_HEADER_BYTES = 48,
    /* Flag: the first record belongs to a frame begun in an earlier message. */
    DATA_CONTINUES = 1,
    /* Flag: the records are in the client's memory; the message has no second part. */
    DATA_IN_MEMORY = 2,
    /* Flag: there may be lane records. */
    DATA_LANES = 4,
    /* First bytes of a client's memory: uMEM. */
    MEMORY_MAGIC = 0x4d454d75,
    MEMORY_LAYOUT_VERSION = 1,
    /* The control page, in front of the entries. */
    MEMORY_CONTROL_BYTES = 512,
    /* What the control page says of one chunk. */
    MEMORY_ENTRY_BYTES = 64,
    /* A client's memory for records that are not durable yet. */
    DEFAULT_CREDIT_BYTES = 0x2000000,
};

#endif
