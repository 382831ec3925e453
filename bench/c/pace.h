/* A model that works for a while in each cycle, as one does that simulates something. */
#ifndef BENCH_PACE_H
#define BENCH_PACE_H

#include "ticks.h"

/* How long each cycle lasts at least, with its records; 0: as long as it takes. */
extern uint64_t pace_ticks;

/* Now, or a later time when the cycle that began at `last` has not yet lasted for the pace. */
static inline uint64_t paced(uint64_t last)
{
    uint64_t now = ticks();
    while (now - last < pace_ticks)
        now = ticks();
    return now;
}

#endif
