/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random bytes that look like frames, in memory of exactly their size, and trackers with the least memory
 * that they say they need, under the sanitizers: nothing is read or written elsewhere, and what is handed out
 * adds up. That it is also right is held against objects in sdk/src/semantics/blocks/kernel-blocks.test.ts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test_random.h"
#include "blocks.h"

enum { RUNS = 4000, MAX_BYTES = 4000, SLOTS = 5, EVENTS = 8 };

static const uint32_t event_sizes[EVENTS] = {5, 8, 9, 5, 6, 25, 1, 3};
static const uint8_t event_kinds[EVENTS] = {TRACKER_STAGE,   TRACKER_ANNOTATE, TRACKER_DEPENDENCY,
                                            TRACKER_FLUSH,   TRACKER_STALL,    TRACKER_TRAP,
                                            TRACKER_CONTROL, TRACKER_OTHER};

static struct tracker_plan plan = {
    .storage = 0,
    .slots = SLOTS,
    .pc_field = 1,
    .bits_field = 2,
    .compressed_field = 3,
    .thread_field = 4,
    .num_events = EVENTS,
    .event_kinds = event_kinds,
    .event_sizes = event_sizes,
    .fields = {[TRACKER_STAGE] = {{0, 4}, {4, 1}},
               [TRACKER_ANNOTATE] = {{0, 4}, {4, 4}},
               [TRACKER_DEPENDENCY] = {{4, 4}, {0, 4}, {8, 1}},
               [TRACKER_FLUSH] = {{0, 4}, {4, 1}},
               [TRACKER_STALL] = {{0, 4}, {4, 2}},
               [TRACKER_TRAP] = {{0, 4}, {4, 8}, {12, 8}, {20, 4}}},
    .period_ps = 10,
};

static uint32_t random_id(void)
{
    uint32_t kind = random_below(12);
    return kind < 9 ? random_below(SLOTS) : kind < 11 ? random_below(20) : random_below(UINT32_MAX);
}

static uint32_t put_frame(uint8_t *at, uint32_t items)
{
    uint32_t size = 0, step = random_below(8) ? random_below(5) * 10 : random_below(1u << 28);
    for (; step >= 0x80; step >>= 7)
        at[size++] = (uint8_t)(step | 0x80);
    at[size++] = (uint8_t)step;
    at[size] = (uint8_t)items;
    at[size + 1] = 0;
    return size + 2;
}

static uint32_t put_item(uint8_t *at)
{
    uint32_t id = random_id();
    if (random_below(2)) {
        uint32_t type = random_below(EVENTS), size = event_sizes[type];
        memset(at, 0, 8);
        at[0] = TAG_EVENT;
        at[2] = (uint8_t)type;
        at[4] = (uint8_t)size;
        for (uint32_t i = 0; i < size; i++)
            at[8 + i] = (uint8_t)random_below(4);
        if (size >= 4) memcpy(at + 8, &id, 4);
        return 8 + size;
    }
    uint16_t slot = (uint16_t)(random_below(30) ? random_below(SLOTS) : random_below(0x10000));
    uint16_t field = random_below(2) ? 0 : (uint16_t)random_below(6);
    uint64_t value = id;
    at[0] = TAG_WIDE;
    at[1] = (uint8_t)(1 + random_below(random_below(8) ? 2 : 4));
    at[2] = random_below(12) == 0;
    at[3] = 0;
    memcpy(at + 4, &slot, 2);
    memcpy(at + 6, &field, 2);
    memcpy(at + 8, &value, 8);
    return 16;
}

/* Memory is as large as it must be, so that the sanitizer sees what lies beyond it. */
static void *resize(void *memory, uint32_t number, uint32_t size, uint32_t *capacity)
{
    *capacity = number;
    return realloc(memory, (size_t)number * size + 1);
}

static void provide(struct tracker *t, const struct tracker_need *need)
{
    t->rows = resize(t->rows, t->num_rows + need->rows, sizeof *t->rows, &t->rows_capacity);
    t->stages = resize(t->stages, t->num_stages + need->stages, sizeof *t->stages, &t->stages_capacity);
    t->sides = resize(t->sides, t->num_sides + need->sides, sizeof *t->sides, &t->sides_capacity);
    t->pending = resize(t->pending, t->num_pending + need->pending, sizeof *t->pending, &t->pending_capacity);
    uint32_t ids = t->ids_capacity;
    while (ids < need->ids * 2)
        ids *= 2;
    if (ids == t->ids_capacity) return;
    t->ids = resize(t->ids, ids, sizeof *t->ids, &t->ids_capacity);
    tracker_rebuild_ids(t);
}

static uint32_t fill(uint8_t *bytes)
{
    uint32_t size = 0, frames = random_below(12);
    for (; frames; frames--) {
        uint32_t items = random_below(14);
        size += put_frame(bytes + size, items);
        for (; items; items--)
            size += put_item(bytes + size);
    }
    return size;
}

/* Columns as wide as the shape says. */
static void write_columns(const struct tracker *t, const uint8_t *scratch, const struct block_shape *shape)
{
    struct block_column columns[BLOCK_COLUMNS] = {0};
    void *memory[BLOCK_COLUMNS];
    const uint32_t n = shape->rows, wide = shape->is_long ? 8 : 4;
    uint32_t lengths[BLOCK_COLUMNS] = {n, n, n, n, n, n, n, n};
    for (uint32_t i = COLUMN_STATIC_PC_LO; i <= COLUMN_STATIC_KNOWN; i++)
        lengths[i] = shape->statics;
    lengths[COLUMN_PATH] = n;
    lengths[COLUMN_PATH_START] = shape->paths + 1;
    lengths[COLUMN_PATH_VALUES] = shape->path_values;
    lengths[COLUMN_STAGE_START] = n + 1;
    lengths[COLUMN_STAGE_TICKS] = shape->stages;
    lengths[COLUMN_LONG_INDEX] = lengths[COLUMN_LONG_TICKS] = shape->long_stays;
    for (uint32_t i = 0; i < SIDE_KINDS; i++)
        lengths[COLUMN_SIDE_ROW + i] = lengths[COLUMN_SIDE_DELAY + i] = shape->sides[i];
    lengths[COLUMN_PRODUCER] = lengths[COLUMN_TYPE] = shape->sides[SIDE_DEPENDENCY];
    for (uint32_t i = COLUMN_FOREIGN_AT; i <= COLUMN_FOREIGN_PC_HI; i++)
        lengths[i] = shape->foreign;
    lengths[COLUMN_STALL] = shape->sides[SIDE_STALL];
    lengths[COLUMN_STRING] = lengths[COLUMN_ANNOTATION_KIND] = shape->sides[SIDE_ANNOTATION];
    lengths[COLUMN_FLUSH] = shape->sides[SIDE_FLUSH];
    lengths[COLUMN_TRAP_KNOWN] = shape->sides[SIDE_TRAP];
    lengths[COLUMN_TRAP_WORDS] = shape->sides[SIDE_TRAP] * 6;
    for (uint32_t i = 0; i < BLOCK_COLUMNS; i++) {
        bool is_delay = i >= COLUMN_SIDE_DELAY && i < COLUMN_PRODUCER;
        uint32_t width = i <= COLUMN_END ? wide : i == COLUMN_LONG_TICKS || is_delay ? 8 : 4;
        if (i == COLUMN_FLAGS || i == COLUMN_STAGE_TICKS) width = 1;
        memory[i] = malloc((size_t)lengths[i] * width + 1);
        columns[i] = (struct block_column){memory[i], width};
    }
    blocks_write(t, scratch, shape, columns);
    for (uint32_t i = 0; i < BLOCK_COLUMNS; i++)
        free(memory[i]);
}

static uint32_t hand_out(struct tracker *t, bool all, uint32_t first)
{
    uint32_t dropped = 0;
    free(t->marks);
    t->marks = malloc((size_t)t->num_rows * sizeof *t->marks + 1);
    uint32_t rows = first ? tracker_take_first(t, first)
                          : tracker_take(t, all, random_below(8), random_below(200), &dropped);
    uint8_t *scratch = malloc(blocks_scratch(t, rows) + 1);
    struct block_shape shape;
    blocks_measure(t, rows, 0, scratch, &shape);
    write_columns(t, scratch, &shape);
    free(scratch);
    tracker_remove(t);
    return rows + dropped;
}

static void list(struct tracker *t, uint64_t time, bool is_first)
{
    uint8_t taken = (uint8_t)random_below(1 << SLOTS);
    struct listed listed[SLOTS] = {0};
    struct tracker_need need;
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        listed[slot].id = random_below(4) ? slot : random_id();
    while (tracker_continue(t, &taken, listed, time, is_first, &need) == TRACKER_ROOM)
        provide(t, &need);
}

/* The segments of a trace; the number of instructions handed out, or -1 where they do not add up. */
static int64_t follow(struct tracker *t)
{
    int64_t handed_out = 0;
    uint64_t time = 0;
    struct tracker_need need;
    for (uint32_t segment = random_below(6); segment; segment--) {
        uint8_t *source = malloc(MAX_BYTES * 4), *bytes;
        uint32_t size = fill(source);
        for (uint32_t damage = random_below(6) == 0; damage && size; damage--)
            source[random_below(size)] = (uint8_t)random_below(256);
        bytes = malloc(size + 1);
        memcpy(bytes, source, size);
        bytes = realloc(bytes, size ? size : 1);
        free(source);
        if (random_below(2)) list(t, time, time == 0);
        struct items items = {
            .bytes = bytes, .end = size, .num_events = EVENTS, .event_sizes = event_sizes, .time = time};
        enum tracker_result result;
        do {
            result = tracker_run(t, &items, 1 + random_below(2000), &need);
            if (result == TRACKER_ROOM)
                provide(t, &need);
            else
                handed_out += hand_out(t, false, random_below(3) == 0 ? random_below(t->num_rows + 1) : 0);
        } while (result == TRACKER_ROOM || result == TRACKER_PAUSE || result == TRACKER_SLICE);
        time = items.time;
        free(bytes);
        if (result == TRACKER_IRREGULAR || result == TRACKER_DONE) break;
    }
    handed_out += hand_out(t, true, 0);
    return t->num_followed == 0 && t->in_flight == 0 && t->num_stages == 0 && t->num_sides == 0 ? handed_out
                                                                                                : -1;
}

int main(void)
{
    uint64_t total = 0;
    for (int run = 0; run < RUNS; run++) {
        struct tracker t = {.plan = &plan, .to = random_below(2) ? UINT64_MAX : random_below(3000)};
        plan.id_field = random_below(8) ? 0 : TRACKER_NO_FIELD;
        plan.adopts_strangers = random_below(2);
        t.stage_range = random_below(2);
        t.from = random_below(2) * random_below(2000);
        t.stops_at_frames = random_below(2);
        t.ids_capacity = 64;
        t.ids = calloc(t.ids_capacity, sizeof *t.ids);
        t.by_slot = calloc(TRACKER_SLOTS, sizeof *t.by_slot);
        t.early = calloc(TRACKER_MAX_ENTRIES, sizeof *t.early);
        tracker_reset(&t);
        int64_t rows = follow(&t);
        if (rows < 0) {
            printf("run %d: %u rows are followed, %u in flight, after all have been handed out\n", run,
                   t.num_followed, t.in_flight);
            return 1;
        }
        total += (uint64_t)rows;
        void *memory[] = {t.rows, t.stages, t.sides, t.pending, t.ids, t.by_slot, t.early, t.marks};
        for (uint32_t i = 0; i < sizeof memory / sizeof *memory; i++)
            free(memory[i]);
    }
    printf("blocks: %d traces, %llu instructions\n", RUNS, (unsigned long long)total);
    return total < RUNS;
}
