/* SPDX-License-Identifier: Apache-2.0 */
#include "stats.h"

/* Longer than that counts as that. */
static const uint64_t MAX_STAY = (uint64_t)1 << 52;
/* Counts that are looked at together. */
enum { AT_A_TIME = 32 };

static uint32_t reasons_of(uint32_t columns)
{
    return columns > 1 ? columns - 1 : columns;
}

void stats_lay_out(struct stats *stats, struct arena *arena, const struct plan_core *core)
{
    uint32_t histograms = core->stages + 1, stalls = reasons_of(core->stall_columns),
             squashed = reasons_of(core->flush_columns);
    struct stats made = {
        .counts = take_zeros(arena, (uint64_t)histograms * LINEAR * sizeof *made.counts),
        .stays = take_zeros(arena, histograms * sizeof *made.stays),
        .cut = take_zeros(arena, core->stages * sizeof *made.cut),
        .large = take_zeros(arena, LARGE_CELLS * sizeof *made.large),
        .stalls = take_zeros(arena, stalls * sizeof *made.stalls),
        .squashed = take_zeros(arena, squashed * sizeof *made.squashed),
        .widths = take_zeros(arena, (MAX_WIDTH + 1) * sizeof *made.widths),
        .stages = core->stages,
        .num_stalls = stalls,
        .num_squashed = squashed,
        .xlen = core->mix_xlen,
    };
    if (arena->base) *stats = made;
}

/* -- histograms */

/* Values of an octave [2^n, 2^(n+1)) have PER_OCTAVE classes. */
static uint32_t class_of(uint64_t value)
{
    uint32_t octave = 0;
    for (; value >= LINEAR; value >>= 1)
        octave++;
    return LINEAR + (octave - 1) * PER_OCTAVE + ((uint32_t)value - PER_OCTAVE);
}

void stats_add_large(struct stats *stats, uint32_t number, uint64_t value)
{
    struct histogram *histogram = stats->stays + number;
    if (value > MAX_STAY) value = MAX_STAY;
    histogram->sum += value;
    if (!histogram->larger || value < histogram->least) histogram->least = value;
    if (value > histogram->most) histogram->most = value;
    histogram->larger++;
    uint32_t key = (number << 16 | class_of(value)) + 1, at = key * 2654435761u >> 22;
    while (stats->large[at].key && stats->large[at].key != key)
        at = (at + 1) & (LARGE_CELLS - 1);
    if (!stats->large[at].key) {
        if (stats->num_large == MAX_LARGE) {
            stats->full = true;
            return;
        }
        stats->num_large++;
        stats->large[at].key = key;
    }
    stats->large[at].count++;
}

/* The next class of a histogram from `key` on; NULL: there is none. */
static const struct large *next_large(const struct stats *stats, uint32_t number, uint32_t key)
{
    const struct large *found = 0;
    for (uint32_t i = 0; i < LARGE_CELLS; i++) {
        const struct large *one = stats->large + i;
        if (one->key < key || (one->key - 1) >> 16 != number) continue;
        if (!found || one->key < found->key) found = one;
    }
    return found;
}

static void put_entry(struct output *out, uint32_t *next, uint32_t value_class, uint32_t count)
{
    put_leb(out, value_class - *next);
    put_leb(out, count);
    *next = value_class + 1;
}

static bool any_of(const uint32_t *counts)
{
    uint32_t any = 0;
    for (uint32_t i = 0; i < AT_A_TIME; i++)
        any |= counts[i];
    return any != 0;
}

/* The next value from `value` on that has a count; LINEAR: there is none. Most have none. */
static uint32_t next_counted(const uint32_t *counts, uint32_t value)
{
    while (value < LINEAR && !counts[value])
        value += value % AT_A_TIME == 0 && !any_of(counts + value) ? AT_A_TIME : 1;
    return value;
}

static void put_histogram(const struct stats *stats, uint32_t number, struct output *out)
{
    const struct histogram *histogram = stats->stays + number;
    const uint32_t *counts = stats->counts + number * LINEAR;
    uint32_t entries = 0, next = 0, key = number << 16 | 1;
    for (uint32_t value = next_counted(counts, 0); value < LINEAR; value = next_counted(counts, value + 1))
        entries++;
    const struct large *large = 0;
    if (histogram->larger)
        for (uint32_t at = key; (large = next_large(stats, number, at)); at = large->key + 1)
            entries++;
    put_leb(out, entries);
    for (uint32_t value = next_counted(counts, 0); value < LINEAR; value = next_counted(counts, value + 1))
        put_entry(out, &next, value, counts[value]);
    if (!histogram->larger) return;
    for (uint32_t at = key; (large = next_large(stats, number, at)); at = large->key + 1)
        put_entry(out, &next, (large->key - 1) & 0xffff, large->count);
    put_leb(out, histogram->sum);
    put_leb(out, histogram->least);
    put_leb(out, histogram->most);
}

/* -- what happens */

static void close_width(struct stats *stats)
{
    if (!stats->width) return;
    if (!stats->busy) {
        stats->first = stats->last;
        stats->first_width = stats->width;
    }
    stats->widths[stats->width]++;
    stats->busy++;
    stats->width = 0;
}

void stats_retire(struct stats *stats, uint64_t cycle, uint32_t bits)
{
    if (cycle != stats->last) close_width(stats);
    stats->last = cycle;
    if (stats->width < MAX_WIDTH) stats->width++;
    if (stats->xlen && bits) stats->mix[instruction_class(bits, stats->xlen)]++;
}

void stats_stall(struct stats *stats, uint32_t reason, uint64_t cycle)
{
    struct runs *runs = stats->stalls + reason;
    if (runs->events++ && cycle == runs->last) return;
    if (runs->episodes && cycle == runs->last + 1) {
        runs->run++;
    } else {
        if (!runs->episodes) runs->first = cycle;
        runs->episodes++;
        runs->run = 1;
    }
    if (runs->episodes == 1) runs->head = runs->run;
    if (runs->run > runs->longest) runs->longest = runs->run;
    runs->last = cycle;
}

/* -- the part */

static void put_widths(struct stats *stats, struct output *out)
{
    uint32_t last_width = stats->width, most = 0;
    close_width(stats);
    for (uint32_t width = 1; width <= MAX_WIDTH; width++)
        if (stats->widths[width]) most = width;
    put_leb(out, most);
    for (uint32_t width = 1; width <= most; width++)
        put_leb(out, stats->widths[width]);
    if (!most) return;
    put_leb(out, stats->first);
    put_leb(out, stats->first_width);
    put_leb(out, stats->last - stats->first);
    put_leb(out, last_width);
}

static void put_mix(const struct stats *stats, struct output *out)
{
    uint32_t entries = 0, next = 0;
    for (uint32_t i = 0; i < INSTRUCTION_CLASSES; i++)
        entries += stats->mix[i] != 0;
    put_leb(out, entries);
    for (uint32_t i = 0; i < INSTRUCTION_CLASSES; i++) {
        if (!stats->mix[i]) continue;
        put_leb(out, i - next);
        put_leb(out, stats->mix[i]);
        next = i + 1;
    }
}

static void put_runs(const struct runs *runs, struct output *out)
{
    put_leb(out, runs->events);
    if (!runs->events) return;
    put_leb(out, runs->episodes);
    put_leb(out, runs->longest);
    put_leb(out, runs->first);
    put_leb(out, runs->last - runs->first);
    put_leb(out, runs->head);
    put_leb(out, runs->run);
}

void put_stats(struct stats *stats, struct output *out)
{
    put_leb(out, stats->exact ? 0 : 1);
    put_leb(out, stats->births);
    put_leb(out, stats->lost);
    put_widths(stats, out);
    put_mix(stats, out);
    for (uint32_t i = 0; i < stats->stages; i++) {
        put_leb(out, stats->cut[i]);
        put_histogram(stats, i, out);
    }
    put_histogram(stats, stats->stages, out);
    for (uint32_t i = 0; i < stats->num_squashed; i++)
        put_leb(out, stats->squashed[i]);
    for (uint32_t i = 0; i < stats->num_stalls; i++)
        put_runs(stats->stalls + i, out);
}
