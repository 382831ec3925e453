/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The coarser levels of a whole trace (docs/format.md#index-directory), from the parts of its segments in
 * their order, as test/oracle/index/levels.ts makes them. Memory does not grow with the
 * trace: what is finished is put out.
 */
#ifndef USCOPE_INDEX_DIRECTORY_H
#define USCOPE_INDEX_DIRECTORY_H

#include <stdint.h>

struct directory_job {
    const uint32_t *plan;
    uint8_t *scratch; /* directory_scratch_bytes, 8-aligned; the same from call to call */
    /* Parts of the next segment: struct given_part each, and their bytes. */
    const uint8_t *parts;
    uint8_t *out;
    uint32_t scratch_size, parts_size, num_parts, out_size;
    uint64_t start, end; /* of the trace, ps */
    /* Result: bytes in `out`. */
    uint32_t made, unused;
};

struct given_part {
    uint32_t kind, subject;
    uint32_t offset, size; /* from `parts` */
};

/*
 * What is put out: of the segment, births of each core as a double, not a number where they are not known;
 * then struct made_piece each, and its bytes, zeros up to a multiple of 8. Lists are the time of each group,
 * the rows of each core, the sets of each core, the strings. A piece of level 0: the list has no levels.
 */
struct made_piece {
    uint32_t list, level, rows, size;
    double first, end;
};

/* UINT32_MAX: the schema is too large. */
uint32_t directory_scratch_bytes(struct directory_job *job);
void directory_open(struct directory_job *job);
/* 0: `out` has too little room, or a number is beyond 64 bits. */
uint32_t directory_add(struct directory_job *job);
/* What is not finished yet: of one list after the other, until it returns 2. */
uint32_t directory_finish(struct directory_job *job);

#endif
