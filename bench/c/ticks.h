/*
 * The clock for the span of a cycle: the processor's counter. Reading the system's clock is a longer part of
 * such a span, and what stops the core strikes a longer span more often.
 */
#ifndef BENCH_TICKS_H
#define BENCH_TICKS_H

#include "measure.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* A tick is a nanosecond where the processor has no counter that always runs at one speed. */
extern double ns_per_tick;
extern int has_counter;

/* Finds out; before anything is timed. */
void calibrate_ticks(void);

static inline uint64_t ticks(void)
{
#if defined(__x86_64__)
    if (has_counter) {
        _mm_lfence(); /* not before what came before it has been done */
        return __rdtsc();
    }
#endif
    return wall_ns();
}

static inline uint64_t ticks_of_ns(uint64_t ns)
{
    return (uint64_t)((double)ns / ns_per_tick);
}

static inline uint32_t ns_of_ticks(uint32_t n)
{
    double ns = (double)n * ns_per_tick;
    return ns > (double)UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

/* From `began` until now; of more than a second, as many as fit. */
static inline uint32_t ticks_since(uint64_t began)
{
    uint64_t n = ticks() - began;
    return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

#endif
