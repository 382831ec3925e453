/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run laid out as TypeScript does it, in one memory of exactly its size, taken once through its image and
 * once with structures of our own: both give the same bytes, state, sums and results.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test_ops.h"
#include "../test_random.h"
#include "run_image.h"

enum {
    MESSAGES = 400,
    ITEMS = 12,
    WORDS = 4096,
    STORAGES = 2,
    OPS = 12,
    OP_WORDS = 14,
    STORAGE_WORDS = 10,
    SOURCES = 2,
    EVENTS = 2
};

/* What both have, as offsets into a memory. */
struct layout {
    uint32_t run, storages, ops, events, cells, mask, occupied, sums, touched, words, out, size;
};

static uint32_t place(uint32_t *next, uint32_t bytes)
{
    uint32_t at = (*next + 15) & ~15u;
    *next = at + bytes;
    return at;
}

static struct layout lay_out(void)
{
    uint32_t next = 0;
    struct layout l = {.run = place(&next, 28 * 4)};
    l.storages = place(&next, (STORAGES + 1) * STORAGE_WORDS * 4);
    l.ops = place(&next, (OPS + 1) * OP_WORDS * 4);
    l.events = place(&next, EVENTS * 8);
    l.cells = place(&next, (60 * 2 + 60 * 2 + 2) * 8);
    l.mask = place(&next, 16);
    l.occupied = place(&next, STORAGES * 4);
    l.sums = place(&next, SOURCES * sizeof(struct sum));
    l.touched = place(&next, SOURCES * 4);
    l.words = place(&next, WORDS * 4);
    l.out = place(&next, WORDS * 4 + OUT_SLACK);
    l.size = next;
    return l;
}

static const uint64_t MASKS[OPS / 2] = {UINT32_MAX, 255, 65535, UINT64_MAX, UINT64_MAX, 65535};
static const uint64_t EVENT_HEADS[EVENTS] = {3 | 5ull << 32, 3 | 1 << 16 | 24ull << 32};

/* Of an op of one storage without slots, or of the two, which have four fields and properties and two. */
static uint32_t storage_of(uint32_t op)
{
    return op < 8 ? 0 : op < OPS ? 1 : 2;
}

static uint32_t apart_of(uint32_t op)
{
    return (op & 1 ? ADDS : 0u) | (op == 0 || op == 9 ? SUMMED : 0u);
}

static uint64_t head_of(uint32_t op)
{
    uint32_t storage = storage_of(op), field = (op - 8 * storage) / 2;
    return 1 | (op & 1 ? 3u : 1u) << 8 | storage << 16 | (uint64_t)field << 48;
}

static void fill_sums(struct sum *sums)
{
    sums[0] = (struct sum){.period = 1000, .cycle_end = 1000, .min = UINT64_MAX, .counts = 1};
    sums[1] = (struct sum){.period = 700, .cycle_end = 700, .min = UINT64_MAX};
}

/* Tables as sdk/src/writer/frames/frame-kernel.ts writes them. */
static void fill_tables(uint8_t *memory, const struct layout *l)
{
    uint32_t storage_rows[(STORAGES + 1) * STORAGE_WORDS] = {60,
                                                             2,
                                                             2,
                                                             7,
                                                             0,
                                                             l->occupied,
                                                             l->cells,
                                                             l->cells + 240 * 8,
                                                             l->mask,
                                                             l->ops,
                                                             60,
                                                             2,
                                                             0,
                                                             9,
                                                             1,
                                                             l->occupied + 4,
                                                             l->cells + 120 * 8,
                                                             l->cells + 242 * 8,
                                                             l->mask + 8,
                                                             l->ops + 8 * OP_WORDS * 4};
    uint32_t none = l->ops + OPS * OP_WORDS * 4, op_rows[(OPS + 1) * OP_WORDS] = {0};
    for (uint32_t i = 0; i <= OPS; i++) {
        uint32_t *row = op_rows + i * OP_WORDS, storage = storage_of(i);
        uint64_t head = i < OPS ? head_of(i) : 0;
        if (i < OPS) memcpy(row, &MASKS[i / 2], 8);
        memcpy(row + 2, &head, 8);
        row[4] = i < OPS ? apart_of(i) : ADDS;
        row[5] = i == 9;
        row[6] = l->storages + storage * STORAGE_WORDS * 4;
        row[7] = l->cells + 120 * 8 * storage + (i - 8 * storage) / 2 * 8;
        row[11] = row[12] = none;
    }
    uint32_t run[28] = {l->words,   l->out,  l->storages, l->events, STORAGES, EVENTS,     l->sums,
                        l->touched, SOURCES, 0,           0,         0,        UINT32_MAX, UINT32_MAX};
    run[15] = 1;
    run[21] = none;
    run[22] = run[23] = UINT32_MAX;
    memcpy(memory + l->storages, storage_rows, sizeof storage_rows);
    memcpy(memory + l->ops, op_rows, sizeof op_rows);
    memcpy(memory + l->events, EVENT_HEADS, sizeof EVENT_HEADS);
    memcpy(memory + l->run, run, sizeof run);
    fill_sums((struct sum *)(void *)(memory + l->sums));
}

static uint32_t buckets[2], strings[2], now;

void take_bucket(uint32_t source)
{
    buckets[now] = buckets[now] * 31 + source + 1;
}

void take_string(uint32_t word)
{
    strings[now] = strings[now] * 31 + word + 1;
}

static uint32_t *record(uint32_t *at, uint32_t word0, uint32_t word1, uint32_t lo, uint32_t hi)
{
    memcpy(at, (uint32_t[]){word0, word1, lo, hi}, 16);
    return at + 4;
}

/* Frames of any items; one message in eight is damaged. */
static uint32_t fill_message(uint32_t *words, uint64_t ordinal, uint64_t time)
{
    uint32_t *at = words;
    while (at < words + WORDS - 8 * ITEMS) {
        time += random_below(3) * 500;
        at = record(at, 0x10, 0, (uint32_t)time, (uint32_t)(time >> 32));
        uint32_t items = random_below(ITEMS), wide = random_below(8) == 0;
        for (uint32_t i = 0; i < items; i++) {
            uint32_t value = wide ? random_below(UINT32_MAX) : random_below(65536), kind = random_below(6),
                     action = 1 + random_below(4), id = action == 4 ? 0 : random_below(STORAGES);
            if (kind == 0)
                at = record(at, 3, 5, value, 7);
            else if (kind == 1)
                at = record(record(at, 3 | 1 << 16, 24, value, 1), 1, 2, 3, 4);
            else
                at = record(at, 1 | action << 8 | id << 16, random_below(60) | random_below(2) << 16, value,
                            wide);
        }
        if (random_below(9) == 0) at = record(record(at, 0x12, 5, 0, 0), 1, 2, 0, 0);
        at = record(at, 0x11, items, (uint32_t)ordinal, (uint32_t)(ordinal >> 32));
        ordinal++;
    }
    uint32_t length = (uint32_t)(at - words);
    if (random_below(8) == 0) words[random_below(length)] = random_below(UINT32_MAX);
    return length;
}

/* The same run with pointers from the start. */
struct plain {
    struct run run;
    struct storage storages[STORAGES + 1];
    struct op ops[OPS + 1];
    struct sum sums[SOURCES];
    uint32_t touched[SOURCES], occupied[STORAGES];
    uint64_t cells[60 * 2 + 60 * 2 + 2];
    uint8_t mask[16];
    uint32_t words[WORDS];
    uint8_t out[WORDS * 4 + OUT_SLACK];
};

static void fill_plain(struct plain *p)
{
    struct op *none = p->ops + OPS;
    p->storages[0] = (struct storage){60, 2, 2, 7, 0, p->occupied, p->cells, p->cells + 240, p->mask, p->ops};
    p->storages[1] = (struct storage){
        60, 2, 0, 9, 1, p->occupied + 1, p->cells + 120, p->cells + 242, p->mask + 8, p->ops + 8};
    fill_ops(p->storages, STORAGES, MASKS, none);
    for (uint32_t i = 0; i < OPS; i++)
        p->ops[i].apart = apart_of(i);
    p->ops[9].source = 1;
    fill_sums(p->sums);
    p->run = (struct run){.words = p->words,
                          .out = p->out,
                          .storages = p->storages,
                          .events = EVENT_HEADS,
                          .num_storages = STORAGES,
                          .num_events = EVENTS,
                          .sums = {p->sums, p->touched, SOURCES, 0},
                          .soft_limit = UINT32_MAX,
                          .hard_limit = UINT32_MAX,
                          .compact = 1,
                          .none = none,
                          .grid = UINT64_MAX};
}

/* Most bytes that a checkpoint has: two headers, a mask, all cells. */
enum { CHECKPOINT_MOST = 2 * 8 + 8 + 60 * 5 + 60 * 16 + 10 };

static bool same_checkpoint(const struct run *a, const struct run *b)
{
    uint8_t *one = malloc(CHECKPOINT_MOST + CHECKPOINT_SLACK),
            *other = malloc(CHECKPOINT_MOST + CHECKPOINT_SLACK);
    uint32_t size = encode_checkpoint(a, one);
    bool good = encode_checkpoint(b, other) == size && !memcmp(one, other, size);
    free(one);
    free(other);
    return good;
}

static bool same(const struct plain *p, const struct run_image *image, const struct layout *l)
{
    const uint8_t *memory = image->memory;
    const uint32_t *words = image->words;
    const struct run *r = &p->run;
    uint32_t results[] = {r->begin,         r->compact, r->out_length, r->frames,
                          r->active_frames, r->items,   r->dropped};
    uint64_t times[] = {r->last, r->ordinal};
    if (!same_checkpoint(r, &image->run)) return false;
    return !memcmp(words + 14, results, sizeof results) && !memcmp(words + 24, times, sizeof times) &&
           !memcmp(memory + l->out, p->out, r->out_length) &&
           !memcmp(memory + l->cells, p->cells, sizeof p->cells) &&
           !memcmp(memory + l->mask, p->mask, sizeof p->mask) &&
           !memcmp(memory + l->occupied, p->occupied, sizeof p->occupied) &&
           !memcmp(memory + l->sums, p->sums, sizeof p->sums) && buckets[0] == buckets[1] &&
           strings[0] == strings[1];
}

int main(void)
{
    struct layout l = lay_out();
    uint8_t *memory = calloc(1, l.size);
    struct plain *p = calloc(1, sizeof *p);
    struct run_image image;
    fill_tables(memory, &l);
    fill_plain(p);
    if (!run_image_open(&image, memory, l.run)) return 1;
    uint32_t differing = 0, *words = image.words;
    uint64_t frames = 0, dropped = 0;
    for (uint32_t i = 0; i < MESSAGES; i++) {
        uint32_t length = fill_message(p->words, p->run.ordinal, p->run.last);
        memcpy(memory + l.words, p->words, length * 4);
        p->run.begin = words[14] = 0;
        p->run.end = p->run.margin_begin = words[10] = words[11] = length;
        now = 0;
        frame_run(&p->run);
        now = 1;
        run_image_take(&image, (const uint32_t *)(const void *)(memory + l.words));
        differing += !same(p, &image, &l);
        frames += p->run.frames;
        dropped += p->run.dropped;
    }
    now = 0;
    sums_close(&p->run);
    now = 1;
    sums_close(&image.run);
    differing += !same(p, &image, &l);
    bool good = frames > MESSAGES && dropped > 10 && buckets[0] && strings[0];
    printf("%llu frames, %llu given up, %u messages differ\n", (unsigned long long)frames,
           (unsigned long long)dropped, differing);
    printf("%d tests, %d failed\n", 2, (differing != 0) + !good);
    run_image_close(&image);
    free(memory);
    free(p);
    return differing || !good;
}
