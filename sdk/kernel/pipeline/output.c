/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include "core.h"
#include "memory.h"

enum {
    FIRST_WORDS = 128 * 1024,
    /* Events of at most 24 bytes. */
    MOST_EVENT_WORDS = 2 * RECORD_WORDS,
};

static uint32_t *words;
static uint32_t length, capacity;

/* The frame of `now`. */
static uint32_t is_open, items, has_time;
static uint64_t now, frames;

const uint32_t *words_at(void)
{
    return words;
}

uint32_t words_length(void)
{
    return length;
}

void words_clear(void)
{
    length = 0;
}

/* Room for `count` words more. */
INLINE void reserve(uint32_t count)
{
    if (RARE(length + count > capacity)) {
        uint32_t larger = capacity == 0 ? FIRST_WORDS : 2 * capacity;
        while (larger < length + count)
            larger *= 2;
        words = memory_grow(words, length, larger, sizeof *words);
        capacity = larger;
    }
}

/* There is room for it. */
INLINE void put_record(uint64_t first, uint64_t second)
{
    uint8_t *at = (uint8_t *)(words + length);
    put64(at, first);
    put64(at + 8, second);
    length += RECORD_WORDS;
}

static void frame_open(void)
{
    reserve(RECORD_WORDS);
    has_time = 1;
    put_record(RECORD_BEGIN, now);
    is_open = 1;
    items = 0;
}

void frame_close(void)
{
    if (!is_open) return;
    reserve(RECORD_WORDS);
    put_record(RECORD_END | (uint64_t)items << 32, frames++);
    is_open = 0;
    items = 0;
}

/* One more item, in a frame that has room for it. */
INLINE void make_room(void)
{
    if (RARE(items >= MAX_ITEMS_PER_FRAME)) frame_close();
    if (!is_open) frame_open();
    items++;
}

uint32_t is_full(void)
{
    return length >= BATCH_WORDS && (!is_open || length >= MOST_WAITING_WORDS);
}

uint32_t is_full_before(uint64_t time)
{
    if (length < BATCH_WORDS) return 0;
    if (time != now) frame_close();
    return is_full();
}

void finish(void)
{
    if (!is_open) frame_open();
    frame_close();
}

void move_to(uint64_t time)
{
    if (has_time && time == now) return;
    slots_settle();
    frame_close();
    now = time;
    has_time = 1;
}

void put_op(uint32_t action, uint32_t storage, uint32_t slot, uint32_t field, uint64_t value)
{
    make_room();
    reserve(RECORD_WORDS);
    uint32_t low = RECORD_OP | action << 8 | storage << 16;
    put_record(low | (uint64_t)(slot | field << 16) << 32, value);
}

uint8_t *put_event(struct event event)
{
    make_room();
    reserve(MOST_EVENT_WORDS);
    uint8_t *payload = (uint8_t *)(words + length) + RECORD_BYTES - EVENT_INLINE_BYTES;
    put_record(RECORD_EVENT | event.id << 16 | (uint64_t)event.size << 32, 0);
    for (uint32_t size = EVENT_INLINE_BYTES; size < event.size; size += RECORD_BYTES)
        put_record(0, 0);
    return payload;
}

void put_string(uint64_t index, const uint8_t *text, uint32_t size)
{
    uint32_t records = (size + RECORD_BYTES - 1) / RECORD_BYTES;
    reserve((1 + records) * RECORD_WORDS);
    put_record(RECORD_STRING | (uint64_t)size << 32, index);
    uint8_t *to = (uint8_t *)(words + length);
    if (records == 0) return;
    length += records * RECORD_WORDS;
    put64(to + records * RECORD_BYTES - 16, 0);
    put64(to + records * RECORD_BYTES - 8, 0);
    __builtin_memcpy(to, text, size);
}
