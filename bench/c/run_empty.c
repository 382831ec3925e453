/* The loop alone. Each value passes through an empty asm, so that the compiler must compute it. */
#include "workloads.h"

static inline void keep(uint64_t value)
{
    __asm__ volatile("" ::"r"(value));
}

#define B_BEGIN(t)          keep(t)
#define B_END()             ((void)0)
#define B_SET(st, sl, f, v) (keep(sl), keep(v))
#define B_CLR(st, sl)       keep(sl)
#define B_ADD(st, sl, f, v) keep(v)
#define B_PROP(st, p, v)    keep(v)
#define B_STAGE(id, s)      (keep(id), keep(s))
#define B_FLUSH(id, r)      (keep(id), keep(r))
#include "../workload.h"

uint64_t run_empty(workload_t which, uint64_t cycles)
{
    return which == WORKLOAD_STD ? workload_std(cycles) : workload_ooo(cycles);
}
