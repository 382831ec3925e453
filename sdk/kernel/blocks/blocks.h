/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows that a tracker hands out, as columns: what test/oracle/blocks/from-tracked.ts makes of
 * objects. Two steps, so that the owner can provide memory of the right size: blocks_measure sorts what the
 * logs say by row, and finds what the columns need; blocks_write writes them.
 */
#ifndef USCOPE_BLOCKS_H
#define USCOPE_BLOCKS_H

#include "tracker.h"

/* What the columns need. Numbers are in the order of SHAPE in sdk/src/semantics/blocks/kernel/columns.ts. */
struct block_shape {
    uint32_t rows, stages, long_stays;
    uint32_t paths, path_values;
    uint32_t statics;
    uint32_t sides[SIDE_KINDS];
    uint32_t foreign;
    /* The largest of each column. */
    uint32_t max_id, max_slot, max_thread, max_value, max_type, max_stall, max_flush, max_string, max_pc_hi;
    uint32_t slots_are_ids, has_threads, is_in_sequence, is_long;
    uint32_t first_ordinal;
    uint64_t tick_ps;
    uint64_t base;                  /* in ticks of tick_ps */
    uint64_t max_delay[SIDE_KINDS]; /* between the birth of a row and what happened to it */
};

/* Bytes of memory that blocks_measure needs for `rows` rows. */
uint32_t blocks_scratch(const struct tracker *t, uint32_t rows);

/* The rows are marked by tracker_take or tracker_take_first, which said how many they are. `scratch` is kept
 * until blocks_write. `first_ordinal` is for blocks without births. */
void blocks_measure(const struct tracker *t, uint32_t rows, uint32_t first_ordinal, uint8_t *scratch,
                    struct block_shape *shape);

/* Where a column goes, and the bytes of one of its values (8: ticks as floating point); 0: there is none. */
struct block_column {
    uint8_t *at;
    uint32_t width;
};

enum block_columns {
    COLUMN_BIRTH,
    COLUMN_END,
    COLUMN_FLAGS,
    COLUMN_NUMBERS,
    COLUMN_ID,
    COLUMN_SLOT,
    COLUMN_THREAD,
    COLUMN_STATICS,
    COLUMN_STATIC_PC_LO,
    COLUMN_STATIC_PC_HI,
    COLUMN_STATIC_BITS,
    COLUMN_STATIC_KNOWN,
    COLUMN_PATH,
    COLUMN_PATH_START,
    COLUMN_PATH_VALUES,
    COLUMN_STAGE_START,
    COLUMN_STAGE_TICKS,
    COLUMN_LONG_INDEX,
    COLUMN_LONG_TICKS,
    COLUMN_SIDE_ROW, /* one for each side_kind */
    COLUMN_SIDE_DELAY = COLUMN_SIDE_ROW + SIDE_KINDS,
    COLUMN_PRODUCER = COLUMN_SIDE_DELAY + SIDE_KINDS,
    COLUMN_TYPE,
    COLUMN_FOREIGN_AT,
    COLUMN_FOREIGN_ON,
    COLUMN_FOREIGN_KNOWN,
    COLUMN_FOREIGN_PC_LO,
    COLUMN_FOREIGN_PC_HI,
    COLUMN_STALL,
    COLUMN_STRING,
    COLUMN_ANNOTATION_KIND,
    COLUMN_FLUSH,
    COLUMN_TRAP_KNOWN,
    COLUMN_TRAP_WORDS,
    BLOCK_COLUMNS,
};

void blocks_write(const struct tracker *t, const uint8_t *scratch, const struct block_shape *shape,
                  const struct block_column *columns);

#endif
