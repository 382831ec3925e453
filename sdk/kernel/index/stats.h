/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part STATS of one core: what the analysis of a whole trace adds up, as
 * test/oracle/index/stats-walk.ts has it.
 */
#ifndef USCOPE_INDEX_STATS_H
#define USCOPE_INDEX_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "output.h"
#include "plan.h"

enum {
    LINEAR = 2048, /* values below have a class each */
    PER_OCTAVE = LINEAR / 2,
    MAX_WIDTH = 256,
    INSTRUCTION_CLASSES = 16,
    LARGE_CELLS = 1024, /* classes of greater values, of all histograms together */
    MAX_LARGE = LARGE_CELLS / 2,
};

/* The values of LINEAR and more of a histogram of cycles: sdk/src/semantics/cpu/analysis/histogram.ts. */
struct histogram {
    uint64_t sum, least, most, larger;
};

/* A class of values of LINEAR and more. */
struct large {
    uint32_t key; /* number of the histogram and of the class; 0: free */
    uint32_t count;
};

/* Cycles with a stall for one reason, and the runs of them. */
struct runs {
    uint64_t events, episodes, longest, first, last, head, run;
};

struct stats {
    /* By stage; the last one is that of the lifetimes: LINEAR counts each, and what is larger. */
    uint32_t *counts;
    struct histogram *stays;
    uint64_t *cut;       /* by stage: stays ended by a flush */
    struct large *large; /* LARGE_CELLS */
    struct runs *stalls; /* by reason */
    uint64_t *squashed;  /* by reason */
    uint64_t *widths;    /* MAX_WIDTH + 1: cycles by instructions retired in them */
    uint64_t births, lost, busy, first, last;
    uint64_t mix[INSTRUCTION_CLASSES];
    uint32_t stages, num_stalls, num_squashed, num_large;
    uint32_t first_width, width;
    uint32_t xlen;   /* 0: machine code says nothing */
    uint32_t unborn; /* slots that are taken, and whose instruction is not known yet */
    bool exact, full;
};

void stats_lay_out(struct stats *stats, struct arena *arena, const struct plan_core *core);
/* An instruction retires. `bits`: its machine code, 0: not known. */
void stats_retire(struct stats *stats, uint64_t cycle, uint32_t bits);
void stats_stall(struct stats *stats, uint32_t reason, uint64_t cycle);
void stats_add_large(struct stats *stats, uint32_t histogram, uint64_t value);
void put_stats(struct stats *stats, struct output *out);
/* Number of the class of an instruction: sdk/src/semantics/cpu/analysis/instruction-class.ts. */
uint32_t instruction_class(uint32_t bits, uint32_t xlen);

static inline void stats_add(struct stats *stats, uint32_t histogram, uint64_t value)
{
    if (value >= LINEAR) {
        stats_add_large(stats, histogram, value);
        return;
    }
    stats->counts[histogram * LINEAR + value]++;
}

/* The frame is over. */
static inline void stats_settle(struct stats *stats)
{
    /* Such slots are not instructions in flight, though they are taken. */
    if (stats->unborn) stats->exact = false;
}

#endif
