/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random columns in memory of exactly their size, under the sanitizers: what is packed is unpacked again by
 * decoders of its own, and takes no more bytes than the header says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test_random.h"
#include "columns.h"
#include "pack.h"

enum { RUNS = 3000, MAX_COUNT = 5000, MAX_ENTRIES = 4 };

static uint64_t get_varint(const uint8_t **at)
{
    uint64_t value = 0;
    for (uint32_t shift = 0;; shift += 7) {
        uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
}

static uint64_t get_bits(const uint8_t *bytes, uint64_t first, uint32_t width)
{
    uint64_t value = 0;
    for (uint32_t bit = 0; bit < width; bit++)
        value |= (uint64_t)(bytes[(first + bit) / 8] >> ((first + bit) % 8) & 1) << bit;
    return value;
}

static uint64_t unzigzag(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

static int delta_is(const int64_t *values, uint32_t count, const uint8_t *at, const uint8_t *end)
{
    uint64_t block = get_varint(&at), minis = get_varint(&at);
    if (block != BLOCK || minis != MINIBLOCKS || get_varint(&at) != count) return 0;
    uint64_t value = unzigzag(get_varint(&at));
    if (count > 0 && value != (uint64_t)values[0]) return 0;
    for (uint32_t i = 1; i < count;) {
        uint64_t least = unzigzag(get_varint(&at));
        const uint8_t *widths = at;
        at += MINIBLOCKS;
        for (uint32_t mini = 0; mini < MINIBLOCKS && i < count; mini++) {
            for (uint32_t k = 0; k < MINIBLOCK && i < count; k++, i++) {
                value += least + get_bits(at, (uint64_t)k * widths[mini], widths[mini]);
                if (value != (uint64_t)values[i]) return 0;
            }
            at += MINIBLOCK / 8 * widths[mini];
        }
    }
    return at == end;
}

static int runs_are(const uint32_t *values, uint32_t count, uint32_t width, const uint8_t *at,
                    const uint8_t *end)
{
    for (uint32_t i = 0; i < count;) {
        uint64_t header = get_varint(&at);
        if (header & 1) {
            uint64_t packed = (header >> 1) * GROUP;
            for (uint64_t k = 0; k < packed && i < count; k++, i++)
                if (get_bits(at, k * width, width) != values[i]) return 0;
            at += packed / 8 * width;
            continue;
        }
        uint64_t value = get_bits(at, 0, (width + 7) / 8 * 8);
        at += (width + 7) / 8;
        for (uint64_t k = 0; k < header >> 1; k++)
            if (i >= count || value != values[i++]) return 0;
    }
    return at == end;
}

static uint64_t random_word(void)
{
    return (uint64_t)random_below(UINT32_MAX) << 32 | random_below(UINT32_MAX);
}

static int check_delta(uint32_t count)
{
    static const uint64_t masks[] = {0, 1, 0xff, 0xffffffff, UINT64_MAX >> 8, UINT64_MAX};
    uint64_t mask = masks[random_below(6)];
    int64_t *values = malloc((count + 1) * sizeof *values);
    for (uint32_t i = 0; i < count; i++)
        values[i] = (int64_t)(random_word() & mask);
    uint32_t room = (count + BLOCK) * 8 + (count / BLOCK + 1) * 18 + 40;
    uint8_t *out = malloc(room);
    uint32_t size = delta_pack(values, count, out);
    int is_equal = size <= room && delta_is(values, count, out, out + size);
    if (count > 0) {
        int64_t found[2];
        bounds(values, count, found);
        for (uint32_t i = 0; i < count; i++)
            is_equal &= found[0] <= values[i] && values[i] <= found[1];
    }
    free(values);
    free(out);
    return is_equal;
}

static int check_runs(uint32_t count)
{
    uint32_t width = 1 + random_below(32), limit = (uint32_t)((1ull << width) - 1), stay = random_below(20);
    uint32_t *values = malloc((count + 1) * sizeof *values);
    for (uint32_t i = 0; i < count; i++)
        values[i] = i > 0 && random_below(20) < stay ? values[i - 1] : random_below(limit) + random_below(2);
    uint32_t room = (count / 8 + 2) * (width + 5);
    uint8_t *out = malloc(room);
    uint32_t size = runs_pack(values, count, width, out);
    int is_equal = size <= room && runs_are(values, count, width, out, out + size);
    free(values);
    free(out);
    return is_equal;
}

/* Rows are what the levels say again. */
static int check_lists(uint32_t rows)
{
    uint32_t *counts = malloc((rows + 1) * sizeof *counts), entries = 0, levels_size = 0;
    for (uint32_t row = 0; row < rows; row++) {
        counts[row] = random_below(MAX_ENTRIES);
        entries += counts[row];
        levels_size += counts[row] ? counts[row] : 1;
    }
    double *values = malloc((entries + 1) * sizeof *values);
    uint32_t *levels = malloc((entries + 1) * sizeof *levels);
    int64_t *present = malloc((entries + 1) * sizeof *present);
    for (uint32_t i = 0; i < entries; i++)
        values[i] = random_below(3) ? random_below(1000) : __builtin_nan("");
    uint32_t filled = present_numbers(values, entries, present, levels);
    uint32_t *repetition = malloc((levels_size + 1) * sizeof *repetition);
    uint32_t *definition = malloc((levels_size + 1) * sizeof *definition);
    uint32_t size = list_levels(counts, rows, levels, 4, repetition, definition);
    int is_equal = size == levels_size;
    uint32_t at = 0, entry = 0, taken = 0;
    for (uint32_t row = 0; is_equal && row < rows; row++) {
        is_equal &= repetition[at] == 0;
        if (counts[row] == 0) is_equal &= definition[at++] == 1;
        for (uint32_t i = 0; i < counts[row]; i++, at++, entry++) {
            int is_there = values[entry] == values[entry];
            is_equal &= repetition[at] == (i > 0) && definition[at] == (is_there ? 4 : 3);
            if (is_there) is_equal &= present[taken++] == (int64_t)values[entry];
        }
    }
    is_equal &= taken == filled;
    free(counts);
    free(values);
    free(levels);
    free(present);
    free(repetition);
    free(definition);
    return is_equal;
}

int main(void)
{
    for (int run = 0; run < RUNS; run++) {
        uint32_t count = random_below(run % 10 ? 300 : MAX_COUNT);
        const char *wrong = !check_delta(count) ? "delta" : !check_runs(count) ? "runs" : NULL;
        if (wrong == NULL && !check_lists(count)) wrong = "lists";
        if (wrong != NULL) {
            printf("run %d: %s of %u values\n", run, wrong, count);
            return 1;
        }
    }
    printf("parquet: %d columns\n", RUNS);
    return 0;
}
