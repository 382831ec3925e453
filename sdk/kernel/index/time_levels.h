/* SPDX-License-Identifier: Apache-2.0 */
/* Coarser levels of the rows of a clock group, as sdk/src/trace-index/levels/coarsener.ts makes them. */
#ifndef USCOPE_INDEX_TIME_LEVELS_H
#define USCOPE_INDEX_TIME_LEVELS_H

#include "arena.h"
#include "output.h"
#include "plan.h"

enum { CHUNK_ROWS = 256, FAN_OUT = 4, MAX_LEVEL = 16, MAX_PART_LEVEL = 1 };

/* What the numbers of a column are. */
enum column_kind { COLUMN_SUM, COLUMN_SIGNED, COLUMN_TIME, COLUMN_LEAST, COLUMN_MOST };

struct level_row {
    uint64_t bucket, span;
    bool lacks; /* it does not have all that happened */
};

struct time_level {
    double *rows; /* finished, not yet in a chunk */
    struct level_row *heads;
    double *open, *between;
    struct level_row opened;
    uint64_t next; /* bucket after the last row */
    uint32_t count;
    bool has_open, has_next;
};

struct time_levels {
    struct time_level *levels;
    uint8_t *kinds, *is_signed; /* by column; in front of them one for the spans */
    uint32_t *occupancy;        /* first columns of them */
    double *cells;              /* of a part: rows of spans and columns */
    uint64_t *encoded;
    uint64_t period, known, missing_from; /* ps */
    uint32_t list, columns, stride, count, chunk_rows, num_occupancy;
    uint32_t part_rows; /* rows in `cells`: those of the part that was added last */
    bool is_missing, any, counted;
};

void time_levels_lay_out(struct time_levels *time, struct arena *arena, const uint32_t *plan, uint32_t index,
                         uint64_t start, uint64_t end);
/* NULL: the segment has no part. False: it has none that can be read. */
bool time_levels_add(struct time_levels *time, const uint8_t *bytes, uint32_t size, struct output *out);
void time_levels_finish(struct time_levels *time, uint64_t end, struct output *out);
/* Sum of a column of the part that was added last. */
double time_levels_sum(const struct time_levels *time, uint32_t column);

#endif
