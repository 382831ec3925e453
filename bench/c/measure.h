/* Clocks and order statistics for the benchmarks. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static inline uint64_t wall_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}
/* Time this thread was running: leaves out waiting and other threads on the same core. */
static inline uint64_t thread_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* The same of all threads of the process. */
static inline uint64_t process_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The value below which `share` (0..1) of the sorted values lie. */
static inline uint32_t percentile(const uint32_t *sorted, uint64_t n, double share)
{
    uint64_t at = (uint64_t)(share * (double)n);
    return sorted[at < n ? at : n - 1];
}

#endif
