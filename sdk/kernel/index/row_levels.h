/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of the rows of a core, as sdk/src/trace-index/rows/row-levels.ts makes them. */
#ifndef USCOPE_INDEX_ROW_LEVELS_H
#define USCOPE_INDEX_ROW_LEVELS_H

#include "arena.h"
#include "lives.h"
#include "output.h"
#include "time_levels.h"

enum { CHUNK_GROUPS = 256, MAX_OPEN = 256 };
/* Those that wait, and those of one part more: a group of level 1 has at least two of a part's. */
enum { OPEN_GROUPS = MAX_OPEN + MAX_GROUPS + 2 };

/* Numbers of a group; stages follow: cycles of each, then the longest stay in each. */
enum {
    PLACE_ROWS,
    PLACE_SEGMENT,
    PLACE_FIRST_BIRTH,
    PLACE_LAST_BIRTH,
    PLACE_LAST_END, /* -1: none */
    PLACE_RETIRED,
    PLACE_FLUSHED,
    PLACE_ENDED,
    PLACE_STALLS,
    PLACE_UNKNOWN,
    PLACE_STAGES,
};

struct row_level {
    double *groups; /* finished, not yet in a chunk */
    double *open;
    double first_row, retired;
    uint32_t count, chunks;
    bool has_open;
};

struct row_levels {
    struct row_level levels[MAX_LEVEL];
    double *cells; /* of a part */
    /* Groups of level 1 that wait for their last instruction: a ring. */
    double *open, *open_first;
    uint64_t *encoded;
    double next;
    uint32_t list, stages, width, used, open_begin, open_count;
    bool is_known;
};

void row_levels_lay_out(struct row_levels *rows, struct arena *arena, uint32_t list, uint32_t stages);
/* Births in a part; less than 0: it is malformed. */
double row_levels_births(struct row_levels *rows, const uint8_t *bytes, uint32_t size);
/* Bytes NULL: the segment has no part. `births`: not a number where they are not known. */
void row_levels_add(struct row_levels *rows, const uint8_t *bytes, uint32_t size, uint32_t segment,
                    double births, struct output *out);
void row_levels_finish(struct row_levels *rows, struct output *out);

#endif
