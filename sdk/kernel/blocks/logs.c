/* SPDX-License-Identifier: Apache-2.0 */
#include "logs.h"

bool replace_stage(struct tracker *t, const struct row *row, uint64_t tick, uint32_t value)
{
    struct stage_entry *last = t->stages + row->last_stage;
    if (tick * t->tick_ps >= t->from && (t->to == UINT64_MAX || last->tick * t->tick_ps < t->to))
        return false;
    last->tick = tick;
    last->value = value;
    return true;
}

void log_annotation(struct tracker *t, uint32_t number, uint64_t tick, uint32_t string, uint32_t kind)
{
    struct row *row = t->rows + number;
    if (!has_room(row, &row->annotations)) return;
    struct side_entry *entry = log_side(t, number, SIDE_ANNOTATION, tick);
    entry->a = string;
    entry->b = kind;
}
