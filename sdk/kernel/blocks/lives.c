/* SPDX-License-Identifier: Apache-2.0 */
#include "lives.h"

void apply_early(struct tracker *t, uint32_t number)
{
    for (uint32_t i = 0; i < t->num_early; i++) {
        const struct early_entry *early = t->early + i;
        if (early->id != t->rows[number].id) continue;
        if (early->is_annotation)
            log_annotation(t, number, early->tick, early->value, early->annotation_kind);
        else
            log_stage(t, number, early->tick, early->value);
    }
}

void lose(struct tracker *t, uint32_t number)
{
    t->rows[number].flags |= ROW_ABRIDGED;
    leave(t, number, ROW_LOST);
}

struct row *take_pending(struct tracker *t, uint32_t slot)
{
    uint32_t place = t->free_pending;
    if (place)
        t->free_pending = t->pending[place - 1].id;
    else
        place = ++t->num_pending;
    struct row *row = t->pending + (place - 1);
    *row = (struct row){.slot = slot, .id = slot};
    t->by_slot[slot] = place | PENDING;
    return row;
}
