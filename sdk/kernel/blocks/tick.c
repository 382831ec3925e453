/* SPDX-License-Identifier: Apache-2.0 */
#include "tick.h"

uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void scale(uint64_t *tick, uint64_t factor)
{
    if (*tick != TRACKER_NO_TICK) *tick *= factor;
}

/* A time is no multiple of the tick: shorter ticks, in which everything so far is counted again. */
static void shorten_tick(struct tracker *t, uint64_t time)
{
    uint64_t tick_ps = greatest_divisor(t->tick_ps, time), factor = t->tick_ps / tick_ps;
    for (uint32_t i = 0; i < t->num_rows; i++) {
        scale(&t->rows[i].birth, factor);
        scale(&t->rows[i].end, factor);
    }
    for (uint32_t i = 0; i < t->num_stages; i++)
        t->stages[i].tick *= factor;
    for (uint32_t i = 0; i < t->num_sides; i++)
        t->sides[i].tick *= factor;
    for (uint32_t i = 0; i < t->num_early; i++)
        t->early[i].tick *= factor;
    t->tick_ps = tick_ps;
    t->off_grid = 1;
}

void set_other_time(struct tracker *t, uint64_t time)
{
    if (time < t->time) t->went_back = 1;
    if (time % t->tick_ps) shorten_tick(t, time);
    t->time = time;
    t->tick = time / t->tick_ps;
    t->step = 0;
    t->step_ticks = 0;
}
