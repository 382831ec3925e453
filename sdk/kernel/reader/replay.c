/* SPDX-License-Identifier: Apache-2.0 */
#include "replay.h"

#include <stdbool.h>

#include "frames.h"

static inline void clear_slot(const struct storage *s, uint32_t slot)
{
    uint64_t *cell = s->cells + (uint64_t)slot * s->fields;
    for (uint32_t field = 0; field < s->fields; field++)
        cell[field] = 0;
    uint8_t *byte = s->mask + (slot >> 3), bit = (uint8_t)(1 << (slot & 7));
    *s->occupied -= (*byte & bit) != 0;
    *byte &= (uint8_t)~bit;
}

static inline void write_cell(const struct storage *s, struct op op)
{
    uint64_t *cell = s->cells + (uint64_t)op.slot * s->fields + op.field;
    *cell = (op.action == ACTION_ADD ? *cell + op.value : op.value) & s->value_mask[op.field];
    uint8_t *byte = s->mask + (op.slot >> 3), bit = (uint8_t)(1 << (op.slot & 7));
    *s->occupied += !(*byte & bit);
    *byte |= bit;
}

/* False for an op that is not ordinary. */
static inline bool apply(const struct replay *r, struct op op)
{
    if (op.storage >= r->num_storages) return false;
    const struct storage *s = r->storages + op.storage;
    if (op.action == ACTION_SET || op.action == ACTION_ADD) {
        if (op.slot >= s->slots || op.field >= s->fields) return false;
        write_cell(s, op);
        return true;
    }
    if (op.action == ACTION_CLEAR) {
        if (op.slot >= s->slots) return false;
        clear_slot(s, op.slot);
        return true;
    }
    if (op.action != ACTION_PROP_SET || op.field >= s->properties) return false;
    s->property_cells[op.field] = op.value & s->value_mask[s->fields + op.field];
    return true;
}

void replay(struct replay *r)
{
    const uint8_t *bytes = r->bytes;
    /* Two whole words can be read from here: no item but the last of a segment is too near its end for that.
     */
    uint32_t at = r->at, left = r->items_left, end = r->end;
    while (end - at >= WIDE_OP_SIZE) {
        uint64_t first = load64(bytes + at);
        uint32_t tag = first & 0xff;
        if (left == 0) {
            uint32_t size = delta_size((uint32_t)first);
            uint64_t time = r->time + delta_of((uint32_t)first, size);
            if (size == 0 || time < r->time || time > r->until) break;
            r->time = time;
            r->frames++;
            left = (uint32_t)(first >> 8 * size) & 0xffff;
            at += size + 2;
        } else if (tag == TAG_WIDE) {
            if (!apply(r, wide_op(first, load64(bytes + at + 8)))) break;
            at += WIDE_OP_SIZE;
            left--;
        } else if (tag == TAG_EVENT) {
            uint32_t type = (uint32_t)first >> 16, size = (uint32_t)(first >> 32);
            if (type >= r->num_events || size != r->event_sizes[type] || size > end - at - EVENT_HEADER_SIZE)
                break;
            at += EVENT_HEADER_SIZE + size;
            left--;
        } else {
            if (tag != TAG_COMPACT || !apply(r, compact_op(first, load64(bytes + at + 8)))) break;
            at += TAGGED_COMPACT_OP_SIZE;
            left--;
        }
    }
    r->at = at;
    r->items_left = left;
}
