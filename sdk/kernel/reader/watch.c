/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <stdbool.h>

#include "frames.h"

static inline void find(struct watch *w, uint32_t slot)
{
    w->times[w->count] = w->time;
    w->slots[w->count++] = (uint16_t)slot;
}

/* False for an op that is not ordinary. */
static inline bool take_op(struct watch *w, struct op op)
{
    if (op.storage >= w->num_storages) return false;
    const struct watch_limits *limits = w->limits + op.storage;
    if (op.action == ACTION_PROP_SET) return op.field < limits->properties;
    if (op.action - 1 > ACTION_ADD - 1 || op.slot >= limits->slots) return false;
    bool is_clear = op.action == ACTION_CLEAR;
    if (!is_clear && op.field >= limits->fields) return false;
    if (op.storage != w->storage) return true;
    if (!is_clear && !w->taken[op.slot]) find(w, op.slot);
    w->taken[op.slot] = !is_clear;
    return true;
}

static inline bool is_wanted(const struct watch *w, const uint8_t *payload)
{
    return w->time >= w->from && (!w->label || w->wanted[payload[w->label - 1]]);
}

void watch(struct watch *w)
{
    const uint8_t *bytes = w->bytes;
    uint32_t at = w->at, left = w->items_left, end = w->end;
    while (end - at >= WIDE_OP_SIZE && w->count < w->capacity) {
        uint64_t first = load64(bytes + at);
        uint32_t tag = first & 0xff;
        if (left == 0) {
            uint32_t size = delta_size((uint32_t)first);
            uint64_t time = w->time + delta_of((uint32_t)first, size);
            if (size == 0 || time < w->time || time > w->until) break;
            w->time = time;
            w->frames++;
            left = (uint32_t)(first >> 8 * size) & 0xffff;
            at += size + 2;
        } else if (tag == TAG_WIDE) {
            if (!take_op(w, wide_op(first, 0))) break;
            at += WIDE_OP_SIZE;
            left--;
        } else if (tag == TAG_EVENT) {
            uint32_t type = (uint32_t)first >> 16, size = (uint32_t)(first >> 32);
            if (type >= w->num_events || size != w->event_sizes[type] || size > end - at - EVENT_HEADER_SIZE)
                break;
            if (type == w->event && is_wanted(w, bytes + at + EVENT_HEADER_SIZE)) find(w, 0);
            at += EVENT_HEADER_SIZE + size;
            left--;
        } else {
            if (tag != TAG_COMPACT || !take_op(w, compact_op(first, 0))) break;
            at += TAGGED_COMPACT_OP_SIZE;
            left--;
        }
    }
    w->at = at;
    w->items_left = left;
}
