/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiled inner loop on random and on damaged records, natively under the sanitizers: whatever the
 * records say, it stays inside its memory. That it writes what the plain path writes is checked in
 * sdk/src/writer/record-writer.test.ts.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame_run.h"
#include "test_ops.h"
#include "test_random.h"
#include "test_record.h"

enum { WORDS = 4096, SOURCES = 2, OPS = 12, RUNS = 20000, CHANGING_RUNS = 3000, MOST_CHANGING_RUNS = 300000 };

static uint64_t buckets, strings;

void take_bucket(uint32_t source)
{
    if (source >= SOURCES) abort();
    buckets++;
}

void take_string(uint32_t word)
{
    if (word >= WORDS) abort();
    strings++;
}

/* Frames over two storages and two events; one word in `damage` is anything. */
static uint32_t fill(uint32_t *words, uint64_t ordinal, uint64_t time, uint32_t damage)
{
    uint32_t *at = words;
    while (at < words + WORDS - 256) {
        time += random_below(3) * 500;
        at = record(at, 0x10, 0, (uint32_t)time, (uint32_t)(time >> 32));
        uint32_t items = random_below(12), wide = random_below(8) == 0;
        for (uint32_t i = 0; i < items; i++) {
            uint32_t action = 1 + random_below(4), id = action == 4 ? 0 : random_below(2),
                     field = random_below(2);
            uint32_t value = wide ? random_below(UINT32_MAX) : random_below(65536);
            switch (random_below(6)) {
            case 0: at = record(at, 3, 5, value, 7); break;
            case 1: at = record(record(at, 3 | 1 << 16, 24, value, 1), 1, 2, 3, 4); break;
            default: at = record(at, 1 | action << 8 | id << 16, random_below(60) | field << 16, value, wide);
            }
        }
        if (random_below(9) == 0) at = record(record(at, 0x12, 5, 0, 0), 1, 2, 0, 0);
        at = record(at, 0x11, items, (uint32_t)ordinal, (uint32_t)(ordinal >> 32));
        ordinal++;
    }
    uint32_t length = (uint32_t)(at - words);
    if (damage && random_below(damage) == 0) words[random_below(length)] = random_below(UINT32_MAX);
    return length;
}

/* A frame with one record of each kind and action there could be: those of an item are taken, no others; as
 * an event it has this size. */
static uint32_t count_mistaken(struct run r, uint32_t *words, uint32_t size)
{
    uint32_t mistaken = 0;
    r.end = (uint32_t)(record(record(record(words, 0x10, 0, 0, 0), 0, size, 7, 0), 0x11, 1, 0, 0) - words);
    r.margin_begin = r.end;
    for (uint32_t head = 0; head <= 0xffff; head++) {
        words[4] = head;
        r.begin = 0;
        r.last = r.ordinal = 0;
        frame_run(&r);
        bool is_op = head == 0x101 || head == 0x201 || head == 0x301 || head == 0x401,
             fits = is_op || (head == 3 && size == 5);
        mistaken += r.frames != fits || r.dropped == fits || (fits && r.items != 1);
    }
    return mistaken;
}

/* A slot that is written, cleared and written again, in one frame or in two, is occupied: once. */
static bool is_occupied_again(struct run r, uint32_t *words, bool in_two)
{
    const struct storage *s = r.storages;
    uint32_t set = 0x101, clear = 0x201, slot = 7, *at = record(words, 0x10, 0, 0, 0);
    memset(s->mask, 0, 8);
    *s->occupied = 0;
    at = record(record(at, set, slot, 1, 0), clear, slot, 0, 0);
    if (in_two) at = record(record(at, 0x11, 2, 0, 0), 0x10, 0, 0, 0);
    at = record(record(at, set, slot, 2, 0), 0x11, in_two ? 1 : 3, in_two, 0);
    r.begin = 0;
    r.end = r.margin_begin = (uint32_t)(at - words);
    r.last = r.ordinal = 0;
    frame_run(&r);
    return r.items == 3 && *s->occupied == 1 && s->mask[slot / 8] == 1 << slot % 8;
}

/* How many frames that are cut are tried, or whole ones left, where the margin is all there is. */
static uint32_t count_misjudged(struct run r, uint32_t *words)
{
    uint32_t misjudged = 0;
    for (uint32_t i = 0; i < RUNS / 10; i++) {
        uint32_t frames = 0, at = 0, whole = 0, length = fill(words, 0, 0, 0);
        r.end = random_below(length + 1) & ~3u;
        while (at < r.end) {
            uint32_t kind = words[at] & 0xff;
            at += kind == 0x12 ? 8 : kind == 3 && words[at + 1] > 8 ? 8 : 4;
            if (kind != 0x11 || at > r.end) continue;
            whole = at;
            frames++;
        }
        r.begin = r.margin_begin = 0;
        r.last = r.ordinal = 0;
        frame_run(&r);
        misjudged += r.dropped || r.frames != frames || r.begin != whole;
    }
    return misjudged;
}

/* Another process, to which the memory of the records belongs. */
struct changer {
    uint32_t *words;
    atomic_bool stop;
};

static void *change(void *argument)
{
    struct changer *changer = argument;
    uint64_t state = 88172645463325252u;
    while (!atomic_load(&changer->stop)) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        volatile uint32_t *word = changer->words + (state >> 40) % WORDS;
        *word = state & 1 ? (uint32_t)(state >> 8) : *word ^ 1u << (state >> 3) % 32;
    }
    return NULL;
}

/* Takes records that change meanwhile; returns how many frames were given up. On a machine with one free
 * processor the other thread may change nothing in the first runs: then there are more of them. */
static uint32_t take_changing(struct run r, uint32_t *words)
{
    struct changer changer = {.words = words};
    pthread_t thread;
    uint32_t given_up = 0;
    if (pthread_create(&thread, NULL, change, &changer)) abort();
    for (uint32_t i = 0; i < (given_up ? CHANGING_RUNS : MOST_CHANGING_RUNS); i++) {
        r.ordinal = r.last = r.begin = 0;
        r.end = r.margin_begin = fill(words, 0, 0, 0);
        frame_run(&r);
        if (r.out_length > WORDS * 4 || r.begin > r.end) abort();
        given_up += r.dropped;
    }
    atomic_store(&changer.stop, true);
    pthread_join(thread, NULL);
    return given_up;
}

int main(void)
{
    /* everything in memory of exactly its size, so that the sanitizer sees the first byte too many */
    uint32_t *words = malloc(WORDS * 4), touched[SOURCES];
    uint64_t events[] = {3 | 5ull << 32, 3 | 1 << 16 | 24ull << 32};
    uint8_t *out = malloc(WORDS * 4 + OUT_SLACK), *mask = calloc(16, 1);
    uint64_t *cells = calloc(60 * 2 + 60 * 2 + 2, 8);
    uint32_t occupied[2] = {0};
    struct op ops[OPS + 1], *none = ops + OPS;
    struct storage storages[] = {{60, 2, 2, 7, 0, occupied, cells, cells + 240, mask, ops},
                                 {60, 2, 0, 9, 1, occupied + 1, cells + 120, cells + 242, mask + 8, ops + 8},
                                 {.slots = 0}};
    const uint64_t masks[OPS / 2] = {UINT32_MAX, 255, 65535, UINT64_MAX, UINT64_MAX, 65535};
    fill_ops(storages, 2, masks, none);
    ops[0].apart = SUMMED;
    ops[9].apart = ADDS | SUMMED;
    ops[9].source = 1;
    struct sum sums[SOURCES] = {{.period = 1000, .cycle_end = 1000, .min = UINT64_MAX, .counts = 1},
                                {.period = 700, .cycle_end = 700, .min = UINT64_MAX}};
    struct run r = {.words = words,
                    .out = out,
                    .storages = storages,
                    .events = events,
                    .num_storages = 2,
                    .num_events = 2,
                    .sums = {sums, touched, SOURCES, 0},
                    .hard_limit = UINT32_MAX,
                    .soft_limit = UINT32_MAX,
                    .grid = UINT64_MAX,
                    .compact = 1,
                    .none = none};
    uint64_t frames = 0, dropped = 0;
    for (uint32_t i = 0; i < RUNS; i++) {
        r.end = fill(words, r.ordinal, r.last, i % 4);
        if (i % 5 == 0) r.end = random_below(r.end + 1) & ~3u;
        r.begin = 0;
        r.margin_begin = random_below(r.end + 1) & ~3u;
        frame_run(&r);
        if (r.out_length > WORDS * 4 || r.begin > r.end) abort();
        frames += r.frames;
        dropped += r.dropped;
    }
    sums_close(&r);
    uint32_t mistaken = count_mistaken(r, words, 5) + count_mistaken(r, words, 0);
    uint32_t misjudged = count_misjudged(r, words);
    bool again = is_occupied_again(r, words, false) && is_occupied_again(r, words, true);
    uint32_t changed = take_changing(r, words);
    printf("%llu frames, %llu given up, %llu strings, %llu buckets\n", (unsigned long long)frames,
           (unsigned long long)dropped, (unsigned long long)strings, (unsigned long long)buckets);
    int good = frames > RUNS && dropped > 100 && buckets > 100 && strings > 100;
    printf("%u kinds mistaken for others\n", mistaken);
    printf("%u frames in the margin misjudged\n", misjudged);
    printf("a slot that was cleared is %soccupied again\n", again ? "" : "not ");
    printf("%u frames given up that changed while they were read\n", changed);
    printf("%d tests, %d failed\n", 5, !good + (mistaken != 0) + (misjudged != 0) + !again + !changed);
    free(words);
    free(out);
    free(mask);
    free(cells);
    return !good || mistaken || misjudged || !again || !changed;
}
