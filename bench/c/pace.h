/* A model that works for a while in each cycle, as one does that simulates something. */
#ifndef BENCH_PACE_H
#define BENCH_PACE_H

#include "measure.h"

/* Nanoseconds of each cycle before its records; 0: none, as fast as it goes. */
extern uint64_t pace_ns;

/* Returns `now`, or a later time when the cycle that began at `last` has not yet lasted for the pace. */
static inline uint64_t paced(uint64_t last)
{
    uint64_t now = wall_ns();
    while (now - last < pace_ns)
        now = wall_ns();
    return now;
}

#endif
