#include "ticks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

double ns_per_tick = 1;
int has_counter;

/* A counter whose speed changes with the processor's, or that stops with it, measures no time. */
static int counts_evenly(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8) != 0;
#else
    return 0;
#endif
}

void calibrate_ticks(void)
{
    const uint64_t span_ns = 50000000;
    has_counter = counts_evenly();
    uint64_t start_ns = wall_ns(), start = ticks(), ns = 0;
    while (ns < span_ns)
        ns = wall_ns() - start_ns;
    ns_per_tick = (double)ns / (double)(ticks() - start);
}
