/* The loop alone, with the time of each cycle: what reading the clock twice costs, or what the machine does
 * to a cycle that waits for `hold_ns`. */
#include "measure.h"
#include "pace.h"
#include "workloads.h"

static uint32_t *times;
static uint64_t began, hold;

static inline uint32_t held(void)
{
    uint64_t ns = wall_ns() - began;
    while (ns < hold)
        ns = wall_ns() - began;
    return ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
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

uint64_t run_empty_timed(workload_t which, uint64_t cycles, uint64_t hold_ns, uint32_t *ns)
{
    hold = hold_ns;
    times = ns;
    return which == WORKLOAD_STD ? workload_std(cycles) : workload_ooo(cycles);
}
