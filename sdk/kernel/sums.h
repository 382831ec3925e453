/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Per-cycle sums for the trace summary (docs/format.md#trace-summary): what a summarizer wants added up, per
 * cycle of a clock and per bucket of cycles. A full bucket is handed to TypeScript, which keeps the summary;
 * so most frames cost a few additions.
 */
#ifndef USCOPE_SUMS_H
#define USCOPE_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __wasm__
#define IMPORT(name) __attribute__((import_module("env"), import_name(name)))
#else
#define IMPORT(name)
#endif

enum { BUCKET_CYCLES = 1024 };

struct sum {
    uint64_t period;           /* of its clock, ps */
    uint64_t cycle, cycle_end; /* the cycle of its last amount, and the time in ps at which that ends */
    uint64_t amount;           /* in the frame being taken */
    uint64_t total;            /* in the cycle; wraps at 64 bits, as counters do */
    uint64_t bucket_end;       /* in cycles; 0: no cycle was closed yet */
    uint64_t min, max, sum;    /* of the totals that are not 0, in the open bucket */
    uint32_t counts;           /* every op counts as one, whatever its value */
    uint32_t touched;          /* the frame being taken has an amount */
};

struct sums {
    struct sum *sum;
    uint32_t *touched; /* sources with an amount in the frame being taken; room for all */
    uint32_t length, num_touched;
};

/* Provided by the caller: the bucket of this source is full or closed. */
IMPORT("take_bucket") void take_bucket(uint32_t source);

static inline void sums_add_to(struct sums *s, uint32_t source, uint64_t value)
{
    struct sum *sum = s->sum + source;
    if (!sum->touched) {
        sum->touched = 1;
        s->touched[s->num_touched++] = source;
    }
    sum->amount += sum->counts ? 1 : value;
}

static inline void close_bucket(struct sum *sum, uint32_t source)
{
    if (sum->max) take_bucket(source);
    sum->min = UINT64_MAX;
    sum->max = sum->sum = 0;
}

static inline void close_cycle(struct sum *sum, uint32_t source)
{
    uint64_t total = sum->total;
    if (!total) return;
    if (sum->cycle >= sum->bucket_end) {
        close_bucket(sum, source);
        sum->bucket_end = (sum->cycle / BUCKET_CYCLES + 1) * BUCKET_CYCLES;
    }
    if (total < sum->min) sum->min = total;
    if (total > sum->max) sum->max = total;
    sum->sum += total;
    sum->total = 0;
}

/* Most amounts come one cycle after the last one: that needs no division. */
static inline void go_to(struct sum *sum, uint64_t time)
{
    uint64_t start = sum->cycle_end, end;
    sum->cycle++;
    if (time - start >= sum->period) {
        sum->cycle = time / sum->period;
        start = sum->cycle * sum->period;
    }
    sum->cycle_end = __builtin_add_overflow(start, sum->period, &end) ? UINT64_MAX : end;
}

/* The frame is complete, its time in ps. Times never decrease. */
static inline void sums_end(struct sums *s, uint64_t time)
{
    for (uint32_t i = 0; i < s->num_touched; i++) {
        uint32_t source = s->touched[i];
        struct sum *sum = s->sum + source;
        if (time >= sum->cycle_end) {
            close_cycle(sum, source);
            go_to(sum, time);
        }
        sum->total += sum->amount;
        sum->amount = 0;
        sum->touched = 0;
    }
    s->num_touched = 0;
}

static inline void sums_drop(struct sums *s)
{
    for (uint32_t i = 0; i < s->num_touched; i++) {
        struct sum *sum = s->sum + s->touched[i];
        sum->amount = 0;
        sum->touched = 0;
    }
    s->num_touched = 0;
}

#endif
