/* The loop alone, with the time of each cycle: what reading the clock twice costs. */
#include "measure.h"
#include "pace.h"
#include "workloads.h"

static uint32_t *times;
static uint64_t began;

static inline void keep(uint64_t value)
{
    __asm__ volatile("" ::"r"(value));
}

#define B_BEGIN(t)          (keep(t), began = paced(began))
#define B_END()             (*times++ = (uint32_t)(wall_ns() - began))
#define B_SET(st, sl, f, v) (keep(sl), keep(v))
#define B_CLR(st, sl)       keep(sl)
#define B_ADD(st, sl, f, v) keep(v)
#define B_PROP(st, p, v)    keep(v)
#define B_STAGE(id, s)      (keep(id), keep(s))
#define B_FLUSH(id, r)      (keep(id), keep(r))
#include "../workload.h"

uint64_t run_empty_timed(workload_t which, uint64_t cycles, uint32_t *ns)
{
    times = ns;
    return which == WORKLOAD_STD ? workload_std(cycles) : workload_ooo(cycles);
}
