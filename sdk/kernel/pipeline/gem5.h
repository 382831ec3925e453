/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions of a log of gem5's O3PipeView. Quick ones are seven or more lines, from the fetch to the
 * retirement, each of which sdk/src/formats/gem5/quick-lines.ts takes; with a line of each stage. All others
 * the caller reads line by line, and gives as a block.
 */
#ifndef USCOPE_PIPELINE_GEM5_H
#define USCOPE_PIPELINE_GEM5_H

#include <stdint.h>

#include "bytes.h"

enum {
    STAGES = 7,
    RETIRE_STAGE = STAGES - 1,
    NO_LINE = -1,
};

/* What the log says of an instruction. The caller knows the order of the members. */
struct block {
    /* By stage; 0: not reached, NO_LINE: there is no line of it. */
    double ticks[STAGES];
    double store_tick;
    uint64_t seq, pc, micro_pc;
    uint32_t is_whole;
    /* The disassembly. */
    uint32_t size;
    const uint8_t *text;
};

/* The lines of an instruction at `at`, before `end`; returns where the next one begins, NULL: it is no quick
 * one. */
const uint8_t *gem5_take(const uint8_t *at, const uint8_t *end, struct block *block);

/* When an instruction ends, of which no other lines are known; infinite: the log does not say that it ends.
 */
INLINE double gem5_end(const struct block *block)
{
    if (!block->is_whole) return __builtin_inf();
    double end = 0;
    for (uint32_t stage = 0; stage < STAGES; stage++)
        if (block->ticks[stage] > end) end = block->ticks[stage];
    return end;
}

#endif
