/* SPDX-License-Identifier: Apache-2.0 */
/* A plan, and random segments by it. */
#ifndef USCOPE_TEST_SEGMENTS_H
#define USCOPE_TEST_SEGMENTS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../constants.h"
#include "../test_random.h"
#include "plan.h"

enum { SLOTS = 12, COLUMNS = 16, MAX_FRAMES = 1 << 16 };

struct test_plan {
    struct plan_head head;
    struct plan_group groups[1];
    struct plan_storage storages[3];
    struct plan_event events[3];
    struct plan_core cores[1];
    uint8_t map[PLAN_MAP_BYTES]; /* of stages: all are the first */
};

static struct test_plan make_plan(void)
{
    struct test_plan plan = {
        .head = {PLAN_LAYOUT, 3, 3, 1, 1, 12, 16, 40, 64, 97, 161, 0},
        .groups = {{.period = 10, .columns = COLUMNS}},
        .storages = {{STORAGE_SPARSE, 0, 0, SLOTS, 6, 1, 2, 0},
                     {STORAGE_DENSE_BUFFER, 0, 5, 5, 1, 0, 1, 0},
                     {STORAGE_COUNTER, 0, 10, 1, 8, 0, 1, 0}},
        .events = {{5, 0, 11, 0, PLAN_NONE, EVENT_FLUSH, 0, 1},
                   {1, 0, 12, 0, PLAN_NONE, EVENT_STALL, 0, 0},
                   {5, PLAN_NONE, 0, 0, PLAN_NONE, EVENT_STAGE, 0, 0}},
        .cores = {{.catalogue = 0,
                   .slots = SLOTS,
                   .id_bytes = 4,
                   .flush_id = 1,
                   .flush_id_bytes = 4,
                   .flush_map = PLAN_NONE,
                   .retired = 13,
                   .squashed = 14,
                   .flushes = 15,
                   .flush_columns = 1,
                   .stalls = 12,
                   .stall_columns = 1,
                   .stall_map = PLAN_NONE,
                   .pc_field = 1,
                   .pc_offset = 4,
                   .pc_bytes = 2,
                   .bits_field = PLAN_NONE,
                   .stage_id = 1,
                   .stage_id_bytes = 4,
                   .stage = 5,
                   .stage_bytes = 1,
                   .stage_map = 0,
                   .stages = 5,
                   .stall_id = 1,
                   .stall_id_bytes = 1}},
    };
    assert(offsetof(struct test_plan, map) == 97 * 4);
    return plan;
}

/* Of sizes that are exactly allocated, so that the sanitizer sees what is read beyond. */
struct bytes {
    uint8_t *at;
    uint32_t size;
};

static struct bytes copy_of(const uint8_t *bytes, uint32_t size)
{
    struct bytes copy = {malloc(size ? size : 1), size};
    assert(copy.at);
    if (size) memcpy(copy.at, bytes, size);
    return copy;
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t size)
{
    memcpy(at, bytes, size);
    return at + size;
}

static uint8_t *put_item(uint8_t *at)
{
    uint16_t id = (uint16_t)random_below(3), slot = (uint16_t)random_below(SLOTS),
             field = (uint16_t)random_below(2);
    uint64_t value = random_below(SLOTS + 3);
    if (random_below(3) == 0) {
        uint32_t size = id == 1 ? 1 : 5;
        uint16_t type = id;
        *at++ = TAG_EVENT, *at++ = 0;
        at = put(put(at, &type, 2), &size, 4);
        return put(at, &value, size);
    }
    if (id == 1) slot %= 5;
    if (id == 2) slot = 0;
    *at++ = TAG_WIDE;
    *at++ = (uint8_t)(1 + random_below(3));
    return put(put(put(put(at, &id, 2), &slot, 2), &field, 2), &value, 8);
}

static struct bytes random_frames(void)
{
    static uint8_t bytes[MAX_FRAMES];
    uint8_t *at = bytes;
    for (uint32_t frames = random_below(60); frames > 0; frames--) {
        *at++ = (uint8_t)random_below(100);
        uint16_t items = (uint16_t)random_below(8);
        at = put(at, &items, 2);
        while (items--)
            at = put_item(at);
    }
    return copy_of(bytes, (uint32_t)(at - bytes));
}

static struct bytes random_checkpoint(void)
{
    uint8_t bytes[200], *at = bytes;
    uint16_t mask = (uint16_t)random_below(1 << SLOTS);
    uint32_t taken = (uint32_t)__builtin_popcount(mask), heads[] = {0, 2 + taken * 6, 1, 5, 2, 8};
    at = put(put(at, heads, 8), &mask, 2);
    for (uint32_t i = 0; i < taken; i++) {
        uint32_t id = random_below(SLOTS + 3);
        uint16_t pc = (uint16_t)random_below(50);
        at = put(put(at, &id, 4), &pc, 2);
    }
    at = put(at, heads + 2, 8);
    for (uint32_t i = 0; i < 5; i++)
        *at++ = (uint8_t)random_below(2);
    uint64_t value = random_below(99);
    at = put(put(at, heads + 4, 8), &value, 8);
    return copy_of(bytes, (uint32_t)(at - bytes));
}

#endif
