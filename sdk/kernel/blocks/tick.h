/* SPDX-License-Identifier: Apache-2.0 */
/* The time of the present frame, in ticks of the clock. */
#ifndef USCOPE_BLOCKS_TICK_H
#define USCOPE_BLOCKS_TICK_H

#include "compiler.h"
#include "tracker.h"

uint64_t greatest_divisor(uint64_t a, uint64_t b);

/* Earlier than before, or no whole number of ticks later. */
void set_other_time(struct tracker *t, uint64_t time);

static inline void set_time(struct tracker *t, uint64_t time)
{
    uint64_t step = time - t->time;
    if (step != t->step) {
        uint64_t ticks = step / t->tick_ps;
        if (RARE(time < t->time || ticks * t->tick_ps != step)) {
            set_other_time(t, time);
            return;
        }
        t->step = step;
        t->step_ticks = ticks;
    }
    t->time = time;
    t->tick += t->step_ticks;
}

#endif
