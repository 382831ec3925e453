/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lane records unfolded, under the sanitizers: item by item, and on records that make no sense or change
 * meanwhile. That it does what the loop in TypeScript does is checked in
 * sdk/src/bridge/session/unfold-lanes.test.ts.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test_random.h"
#include "../test_record.h"
#include "unfold.h"

enum { WORDS = 4096, ROOM = UNFOLDED_WORDS_MAX + 64, RUNS = 20000, CHANGING_RUNS = 3000 };

/* The records become these, in one piece. */
static bool becomes(const uint32_t *words, const uint32_t *end, const uint32_t *expected, uint32_t length)
{
    uint32_t piece[ROOM];
    struct unfold unfold = {0};
    uint32_t size = (uint32_t)(end - words);
    return unfold_lanes(&unfold, words, size, piece, ROOM) == UNFOLD_PIECE && unfold.at == size &&
           unfold.length == length && memcmp(piece, expected, length * sizeof *piece) == 0;
}

static bool every_kind_becomes_its_items(void)
{
    uint32_t words[64], expected[64], *in = words, *out = expected;
    in = record(in, 0x10, 0, 7, 0);
    in = record(in, 0x04 | 40 << 16, 0, 1u << 31, 1);
    in = record(in, 0x05 | 0x82 << 8 | 2 << 16, 9 | 3 << 16, 0x4433ff11, 0x88776655);
    in = record(in, 0x06 | 0x05 << 8 | 6 << 16, 8 | 62 << 8, 0x00aa0001, 0);
    in = record(in, 0x06 | 0x80 << 8 | 6 << 16, 2 | 7 << 8, 0, 0xff000000);
    in = record(in, 0x11, 4, 5, 6);
    out = record(out, 0x10, 0, 7, 0);
    out = record(out, 0x301 | 71 << 16, 0, 1, 0);
    out = record(out, 0x301 | 72 << 16, 0, 1, 0);
    out = record(out, 0x101 | 2 << 16, 10 | 3 << 16, 0xff, 0);
    out = record(out, 0x101 | 2 << 16, 16 | 3 << 16, 0x88, 0);
    out = record(out, 0x03 | 6 << 16, 8, 1, 0);
    out = record(out, 0x03 | 6 << 16, 8, 0xaa, 0x80000000);
    out = record(out, 0x03 | 6 << 16, 2, 0x3ff, 0);
    out = record(out, 0x11, 7, 5, 6);
    return becomes(words, in, expected, (uint32_t)(out - expected));
}

/* `refused` is not allowed, and is where the piece ends; `allowed`, which differs by one, is. */
static bool is_limit(uint32_t allowed0, uint32_t allowed1, uint32_t refused0, uint32_t refused1,
                     uint64_t value)
{
    uint32_t words[8], piece[ROOM], lo = (uint32_t)value, hi = (uint32_t)(value >> 32);
    struct unfold unfold = {0};
    record(record(words, allowed0, allowed1, lo, hi), refused0, refused1, lo, hi);
    return unfold_lanes(&unfold, words, 8, piece, ROOM) == UNFOLD_REFUSED && unfold.at == 4 &&
           unfold.length > 0 && memcmp(unfold.refused, words + 4, 16) == 0;
}

static bool what_is_not_allowed_ends_a_piece(void)
{
    uint32_t add = 0x04, set = 0x05 | 0x80 << 8, event = 0x06 | 1 << 8;
    return is_limit(add | 0xffc0u << 16, 0, add | 0xffc1u << 16, 0, UINT64_C(1) << 63) &&
           is_limit(add, 0, add | 1 << 8, 0, 1) && is_limit(add, 0, add, 1, 1) &&
           is_limit(add, 0, add, 1u << 31, 1) && is_limit(set, 0xfff8, set, 0xfff9, 0) &&
           is_limit(event, 8, event, 9, 0) && is_limit(event, 63 << 8, event, 64 << 8, 0) &&
           is_limit(event, 0, event, 1 << 16, 0);
}

/* Lane records, payloads, frames, and in some runs anything. */
static uint32_t fill(uint32_t *words)
{
    uint32_t *at = words, *last = words + WORDS - 64, damage = random_below(4) == 0 ? 40 : 0;
    while (at < last) {
        uint32_t kind = 1 + random_below(6), lanes = random_below(256), id = random_below(300);
        switch (kind) {
        case 2: at = record(at, random_below(2) ? 0x10 : 0x11, random_below(9), 5, 6); break;
        case 3:
            at = record(at, random_below(3) ? 3 : 0x12 + random_below(2), random_below(140), lanes, id);
            at += 4 * random_below(3);
            break;
        case 4: at = record(at, 4 | id << 16, 0, random_below(UINT32_MAX), random_below(8)); break;
        default: at = record(at, kind | lanes << 8 | id << 16, random_below(9), id, lanes);
        }
        if (damage && random_below(damage) == 0) at[-(int)random_below(4) - 1] = random_below(UINT32_MAX);
    }
    return (uint32_t)(at - words);
}

/* Unfolds all of it, into memory where writing too far is an error that is seen; false: it does not continue.
 */
static bool goes_through(const uint32_t *words, uint32_t end)
{
    uint32_t room = UNFOLDED_WORDS_MAX + 4 * random_below(100);
    uint32_t *piece = malloc(room * sizeof *piece);
    struct unfold unfold = {.at = 0};
    bool good = true;
    while (good && unfold.at < end) {
        uint32_t before = unfold.at;
        enum unfold_stop stop = unfold_lanes(&unfold, words, end, piece, room);
        if (stop == UNFOLD_REFUSED) break;
        good = stop == UNFOLD_APART ? unfold.at == before && unfold.length > room : unfold.at > before;
        good = good && unfold.length <= (stop == UNFOLD_APART ? end - unfold.at : room);
        if (stop == UNFOLD_APART) unfold.at += unfold.length;
    }
    free(piece);
    return good;
}

static bool random_records_stay_inside(void)
{
    bool good = true;
    for (int i = 0; good && i < RUNS; i++) {
        static uint32_t filled[WORDS];
        uint32_t end = fill(filled);
        uint32_t *words = malloc(end * sizeof *words);
        memcpy(words, filled, end * sizeof *words);
        good = goes_through(words, end);
        free(words);
    }
    return good;
}

static uint32_t shared[WORDS];
static atomic_bool over;

/* Words of a record here and there become those of another. */
static void *spoil(void *unused)
{
    (void)unused;
    for (uint32_t i = 0; !atomic_load(&over); i = i * 1103515245 + 12345) {
        volatile uint32_t *word = shared + (i >> 8) % WORDS;
        uint32_t was = *word;
        *word = i;
        *word = was;
    }
    return NULL;
}

static bool records_that_change_stay_inside(void)
{
    pthread_t thread;
    bool good = true;
    uint32_t end = fill(shared);
    if (pthread_create(&thread, NULL, spoil, NULL) != 0) return false;
    for (int i = 0; good && i < CHANGING_RUNS; i++)
        good = goes_through(shared, end);
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    return good;
}

int main(void)
{
    bool (*const tests[])(void) = {every_kind_becomes_its_items, what_is_not_allowed_ends_a_piece,
                                   random_records_stay_inside, records_that_change_stay_inside};
    const char *const names[] = {"every kind becomes its items", "what is not allowed ends a piece",
                                 "random records stay inside their memory",
                                 "records that change meanwhile do too"};
    int failed = 0, count = sizeof tests / sizeof *tests;
    for (int i = 0; i < count; i++) {
        bool good = tests[i]();
        printf("%s %s\n", good ? "ok  " : "FAIL", names[i]);
        failed += !good;
    }
    printf("%d tests, %d failed\n", count, failed);
    return failed != 0;
}
