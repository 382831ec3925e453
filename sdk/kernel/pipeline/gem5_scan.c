/* SPDX-License-Identifier: Apache-2.0 */
/* The first pass over a log of gem5; the reference is sdk/src/formats/gem5/summary.ts with windows.ts. */
#include "gem5.h"
#include "memory.h"

enum {
    FIRST_WINDOW = 64,
    FIRST_WINDOWS = 1024,
    MOST_WINDOWS = 262144,
};

/* The caller knows the order of the members. */
static struct scan {
    uint64_t instructions, squashed, micro_ops, stores;
    double first, last, step;
    /* Instructions of a window, number of windows, and of instructions in them. */
    uint32_t window, num_windows;
    uint64_t windowed;
    /* From when to when each window reaches. */
    const double *starts, *ends;
    /* The longest disassembly. */
    uint32_t longest;
} scan;

static double *starts, *ends;
static uint32_t capacity;

static void prepare(void)
{
    if (scan.window != 0) return;
    scan.window = FIRST_WINDOW;
    scan.first = __builtin_inf();
}

struct scan *gem5_scan_at(void)
{
    prepare();
    return &scan;
}

/* Two windows become one. */
static void merge(void)
{
    scan.num_windows /= 2;
    scan.window *= 2;
    for (uint32_t at = 0; at < scan.num_windows; at++) {
        const double *start = starts + 2 * at, *end = ends + 2 * at;
        starts[at] = start[0] < start[1] ? start[0] : start[1];
        ends[at] = end[0] > end[1] ? end[0] : end[1];
    }
}

static void grow(void)
{
    uint32_t larger = capacity == 0 ? FIRST_WINDOWS : 2 * capacity;
    scan.starts = starts = memory_grow(starts, capacity, larger, sizeof *starts);
    scan.ends = ends = memory_grow(ends, capacity, larger, sizeof *ends);
    capacity = larger;
}

/* The next instruction reaches from `start` to `end`. */
INLINE void add_window(double start, double end)
{
    /* A power of two. */
    if ((scan.windowed++ & (scan.window - 1)) == 0) {
        if (scan.num_windows == MOST_WINDOWS) merge();
        if (scan.num_windows == capacity) grow();
        starts[scan.num_windows] = start;
        ends[scan.num_windows++] = end;
        return;
    }
    uint32_t last = scan.num_windows - 1;
    if (start < starts[last]) starts[last] = start;
    if (end > ends[last]) ends[last] = end;
}

/* An instruction that the caller has read and counted. */
void gem5_scan_add(double start, double end, uint32_t size)
{
    prepare();
    add_window(start, end);
    if (size > scan.longest) scan.longest = size;
}

static double divisor(double tick)
{
    uint64_t a = (uint64_t)tick, b = (uint64_t)scan.step;
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return (double)a;
}

INLINE void add_tick(double tick)
{
    /* Nearly always a multiple already. */
    if (scan.step == 0 || __builtin_floor(tick / scan.step) * scan.step != tick) scan.step = divisor(tick);
    if (tick > scan.last) scan.last = tick;
}

/* 0: the caller has to look at it, as one of its ticks is wrong. */
INLINE int add(const struct block *block)
{
    double fetch = block->ticks[0];
    for (uint32_t stage = 0; stage < STAGES; stage++)
        if (block->ticks[stage] > 0 && block->ticks[stage] < fetch) return 0;
    for (uint32_t stage = 0; stage < STAGES; stage++)
        if (block->ticks[stage] > 0) add_tick(block->ticks[stage]);
    if (fetch < scan.first) scan.first = fetch;
    scan.instructions++;
    gem5_scan_add(fetch, gem5_end(block), block->size);
    scan.squashed += block->ticks[RETIRE_STAGE] <= 0;
    scan.micro_ops += block->micro_pc > 0;
    scan.stores += block->store_tick > 0;
    return 1;
}

/* Quick instructions; returns the number of bytes that it took. */
uint32_t gem5_scan(const uint8_t *text, uint32_t size)
{
    const uint8_t *at = text, *end = text + size;
    struct block block;
    prepare();
    while (at < end) {
        const uint8_t *next = gem5_take(at, end, &block);
        if (!next || !add(&block)) break;
        at = next;
    }
    return (uint32_t)(at - text);
}
