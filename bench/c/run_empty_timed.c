/* The loop alone, with the time of each cycle: what reading the counter twice costs, or what the machine does
 * to a cycle that waits for `hold_ticks`. */
#include "pace.h"
#include "workloads.h"

static uint32_t *times;
static uint64_t began;
static uint32_t hold;

static inline uint32_t held(void)
{
    uint32_t n = ticks_since(began);
    while (n < hold)
        n = ticks_since(began);
    return n;
}

static inline void keep(uint64_t value)
{
    __asm__ volatile("" ::"r"(value));
}

#define B_BEGIN(t)          (keep(t), began = paced(began))
#define B_END()             (*times++ = held())
#define B_SET(st, sl, f, v) (keep(sl), keep(v))
#define B_CLR(st, sl)       keep(sl)
#define B_ADD(st, sl, f, v) keep(v)
#define B_PROP(st, p, v)    keep(v)
#define B_STAGE(id, s)      (keep(id), keep(s))
#define B_FLUSH(id, r)      (keep(id), keep(r))
#include "../workload.h"

uint64_t run_empty_timed(workload_t which, uint64_t cycles, uint32_t hold_ticks, uint32_t *ticks_of_cycle)
{
    hold = hold_ticks;
    times = ticks_of_cycle;
    return which == WORKLOAD_STD ? workload_std(cycles) : workload_ooo(cycles);
}
