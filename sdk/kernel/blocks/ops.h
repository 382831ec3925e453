/* SPDX-License-Identifier: Apache-2.0 */
/* Ops on the storage of the instructions. */
#ifndef USCOPE_BLOCKS_OPS_H
#define USCOPE_BLOCKS_OPS_H

#include "lives.h"

INLINE void set_field(const struct tracker_plan *plan, struct row *row, uint32_t field, uint64_t value)
{
    if (field == plan->pc_field) {
        row->pc = value;
        row->flags |= ROW_HAS_PC;
    } else if (field == plan->bits_field) {
        row->bits = (uint32_t)value;
        row->flags |= ROW_HAS_BITS;
    } else if (field == plan->compressed_field) {
        row->flags &= (uint8_t)~ROW_COMPRESSED;
        row->flags |= (uint32_t)value ? ROW_HAS_COMPRESSED | ROW_COMPRESSED : ROW_HAS_COMPRESSED;
    } else if (field == plan->thread_field) {
        row->thread = (uint32_t)value;
        row->flags |= ROW_HAS_THREAD;
    }
}

static inline void set_id(struct tracker *t, uint32_t slot, uint32_t holder, uint32_t id)
{
    if (holder && !(holder & PENDING)) {
        if (t->rows[holder - 1].id == id) return;
        leave(t, holder - 1, ROW_LOST);
    }
    uint32_t number = new_row(t, slot, id);
    if (holder & PENDING) {
        struct row before = give_pending(t, holder & ~(uint32_t)PENDING), *row = t->rows + number;
        row->pc = before.pc;
        row->bits = before.bits;
        row->thread = before.thread;
        row->flags = before.flags;
    }
    birth(t, number);
}

INLINE void on_set(struct tracker *t, const struct item *op)
{
    const struct tracker_plan *plan = t->plan;
    uint32_t holder = t->by_slot[op->slot];
    if (op->field == plan->id_field) {
        set_id(t, op->slot, holder, (uint32_t)op->value);
        return;
    }
    struct row *row;
    if (holder & PENDING)
        row = t->pending + ((holder & ~(uint32_t)PENDING) - 1);
    else if (holder)
        row = t->rows + (holder - 1);
    else if (plan->id_field == TRACKER_NO_FIELD) {
        uint32_t number = new_row(t, op->slot, op->slot);
        birth(t, number);
        row = t->rows + number;
    } else
        row = take_pending(t, op->slot);
    set_field(plan, row, op->field, op->value);
}

INLINE void on_clear(struct tracker *t, uint32_t slot)
{
    uint32_t holder = t->by_slot[slot];
    if (!holder) return;
    t->by_slot[slot] = 0;
    if (holder & PENDING) {
        give_pending(t, holder & ~(uint32_t)PENDING);
        return;
    }
    struct row *row = t->rows + (holder - 1);
    leave(t, holder - 1, row->flush ? ROW_SQUASHED : ROW_RETIRED);
    struct id_entry *entry = add_id(t, row->id);
    entry->closed = holder;
    entry->frame = t->frame;
}

/* Every op makes one row at most; early events are applied to it. */
static inline bool has_room_for_early(const struct tracker *t, uint32_t items_left, struct tracker_need *need)
{
    uint32_t number = t->num_early + items_left + 1;
    if (t->stages_capacity - t->num_stages >= number && t->sides_capacity - t->num_sides >= number)
        return true;
    *need = (struct tracker_need){.stages = number, .sides = number};
    return false;
}

INLINE bool follow_op(struct tracker *t, const struct item *op, uint32_t items_left,
                      struct tracker_need *need)
{
    if (op->storage != t->plan->storage || op->action == ACTION_PROP_SET) return true;
    if (op->action == ACTION_CLEAR) {
        on_clear(t, op->slot);
        return true;
    }
    if (RARE(t->num_early > 0) && !has_room_for_early(t, items_left, need)) return false;
    on_set(t, op);
    return true;
}

#endif
