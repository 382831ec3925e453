/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The items of interleaved frames (docs/format.md#delta-blobs) one after the other, for loops that are
 * compiled around it: what FrameCursor (sdk/src/format/frame-cursor.ts) does. Every valid frame and item is
 * returned, short or long; in front of damage the cursor stops for good, and FrameCursor says what is wrong
 * there.
 *
 * Form is checked, ids are not: a storage, slot, field or event type may lie beyond the schema.
 */
#ifndef USCOPE_ITEMS_H
#define USCOPE_ITEMS_H

#include <stdbool.h>
#include <stdint.h>

#include "../constants.h"

enum item_kind {
    ITEM_END,       /* the last item of the last frame has been returned */
    ITEM_IRREGULAR, /* damage, or an event whose size is not that of its type */
    ITEM_FRAME,
    ITEM_OP,
    ITEM_EVENT,
};

struct items {
    const uint8_t *bytes;
    uint32_t end;
    uint32_t at;
    uint32_t items_left; /* of the present frame */
    uint32_t num_events;
    const uint32_t *event_sizes; /* packed payload bytes by event type; 0: not checked */
    uint64_t time;               /* of the present frame, ps; at first the start of the segment */
};

/* What belongs to its kind is valid. */
struct item {
    uint32_t action, storage, slot, field; /* of an op */
    uint64_t value;
    uint32_t type, size; /* of an event; the type may be unknown */
    const uint8_t *payload;
};

static inline uint64_t items_load64(const uint8_t *from)
{
    uint64_t value;
    __builtin_memcpy(&value, from, 8);
    return value;
}

/* Two words from a place near the end: zeros follow the last byte. */
static __attribute__((noinline, unused)) void items_load_last(const struct items *s, uint64_t words[2])
{
    uint8_t bytes[16] = {0};
    for (uint32_t i = 0; i < s->end - s->at && i < 16; i++)
        bytes[i] = s->bytes[s->at + i];
    words[0] = items_load64(bytes);
    words[1] = items_load64(bytes + 8);
}

/* A frame whose time delta has any length. */
static __attribute__((noinline, unused)) enum item_kind items_long_frame(struct items *s)
{
    uint64_t delta = 0;
    uint32_t at = s->at;
    for (uint32_t group = 0; group < 10; group++) {
        if (at >= s->end) return ITEM_IRREGULAR;
        uint64_t byte = s->bytes[at++];
        if (group == 9 && (byte & 0x7f) > 1) return ITEM_IRREGULAR;
        delta |= (byte & 0x7f) << (7 * group);
        if (byte & 0x80) continue;
        if (s->end - at < 2 || s->time + delta < s->time) return ITEM_IRREGULAR;
        s->time += delta;
        s->items_left = s->bytes[at] | (uint32_t)s->bytes[at + 1] << 8;
        s->at = at + 2;
        return ITEM_FRAME;
    }
    return ITEM_IRREGULAR;
}

static inline __attribute__((always_inline)) enum item_kind items_frame(struct items *s)
{
    uint32_t left = s->end - s->at;
    if (left == 0) return ITEM_END;
    /* Nearly all deltas have up to three bytes. */
    if (left < 8) return items_long_frame(s);
    uint32_t word = (uint32_t)items_load64(s->bytes + s->at), size = 1;
    uint32_t delta = word & 0x7f;
    if (word & 0x80) {
        delta |= word >> 1 & 0x3f80;
        size = 2;
        if (word & 0x8000) {
            if (word & 0x800000) return items_long_frame(s);
            delta |= word >> 2 & 0x1fc000;
            size = 3;
        }
    }
    if (s->time + delta < s->time) return ITEM_IRREGULAR;
    s->time += delta;
    const uint8_t *count = s->bytes + s->at + size;
    s->items_left = count[0] | (uint32_t)count[1] << 8;
    s->at += size + 2;
    return ITEM_FRAME;
}

/* Moves on to the next frame or item, and says what it is. */
static inline __attribute__((always_inline)) enum item_kind items_next(struct items *s, struct item *item)
{
    if (s->items_left == 0) return items_frame(s);
    uint32_t left = s->end - s->at;
    uint64_t first, second;
    if (left >= 16) {
        first = items_load64(s->bytes + s->at);
        second = items_load64(s->bytes + s->at + 8);
    } else {
        uint64_t words[2];
        items_load_last(s, words);
        first = words[0];
        second = words[1];
    }
    uint32_t low = (uint32_t)first, tag = low & 0xff, action = low >> 8 & 0xff;
    if (tag == TAG_EVENT) {
        uint32_t size = (uint32_t)(first >> 32), type = low >> 16;
        if (left < EVENT_HEADER_SIZE || size > left - EVENT_HEADER_SIZE) return ITEM_IRREGULAR;
        if (s->event_sizes && type < s->num_events && size != s->event_sizes[type]) return ITEM_IRREGULAR;
        item->type = type;
        item->size = size;
        item->payload = s->bytes + s->at + EVENT_HEADER_SIZE;
        s->at += EVENT_HEADER_SIZE + size;
        s->items_left--;
        return ITEM_EVENT;
    }
    uint32_t size = tag == TAG_WIDE ? WIDE_OP_SIZE : TAGGED_COMPACT_OP_SIZE;
    if (tag != TAG_WIDE && tag != TAG_COMPACT) return ITEM_IRREGULAR;
    if (left < size || action < ACTION_SET || action > ACTION_PROP_SET) return ITEM_IRREGULAR;
    item->action = action;
    if (tag == TAG_WIDE) {
        item->storage = low >> 16;
        item->slot = (uint32_t)(first >> 32) & 0xffff;
        item->field = (uint32_t)(first >> 48);
        item->value = second;
    } else {
        /* tag, action, storage u8, slot u16, field u16, value u16 */
        item->storage = low >> 16 & 0xff;
        item->slot = (uint32_t)(first >> 24) & 0xffff;
        item->field = (uint32_t)(first >> 40) & 0xffff;
        item->value = first >> 56 | (second & 0xff) << 8;
    }
    s->at += size;
    s->items_left--;
    return ITEM_OP;
}

#endif
