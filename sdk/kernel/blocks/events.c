/* SPDX-License-Identifier: Apache-2.0 */
#include "events.h"

static uint64_t read_wide(const uint8_t *payload, struct tracker_field field)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < field.size && i < 8; i++)
        value |= (uint64_t)payload[field.offset + i] << 8 * i;
    return value;
}

uint32_t adopt(struct tracker *t, uint32_t id)
{
    if (!t->plan->adopts_strangers || !t->accepts_births || id < t->plan->slots) return TRACKER_NONE;
    uint32_t row = new_row(t, id, id);
    /* What was in flight in a slot of that number is found by its id alone from now on. */
    if (id < TRACKER_SLOTS && t->by_slot[id] & PENDING) give_pending(t, t->by_slot[id] & ~(uint32_t)PENDING);
    enter(t, row);
    return row;
}

void postpone(struct tracker *t, uint32_t id, uint32_t value, bool is_annotation, uint32_t annotation_kind)
{
    if (t->num_early < TRACKER_MAX_ENTRIES)
        t->early[t->num_early++] = (struct early_entry){t->tick, id, value, is_annotation, annotation_kind};
}

APART void on_dependency(struct tracker *t, uint32_t consumer, const uint8_t *payload)
{
    const struct tracker_field *fields = t->plan->fields[TRACKER_DEPENDENCY];
    struct row *row = t->rows + consumer;
    if (!fields[1].size || !has_room(row, &row->dependencies)) return;
    struct side_entry *entry = log_side(t, consumer, SIDE_DEPENDENCY, t->tick);
    entry->a = read_field(payload, fields[1]);
    if (fields[2].size) entry->b = read_field(payload, fields[2]);
    uint32_t producer = known_row(t, entry->a);
    if (producer == TRACKER_NONE) return;
    entry->producer = PRODUCER_ROW;
    entry->w[0] = producer;
}

APART void on_flush(struct tracker *t, uint32_t number, const uint8_t *payload)
{
    const struct tracker_field *fields = t->plan->fields[TRACKER_FLUSH];
    struct row *row = t->rows + number;
    if (row->flush) return;
    if (row->how == ROW_RETIRED) row->how = ROW_SQUASHED;
    row->flush = GONE_FLUSH;
    if (!(row->flags & ROW_FOLLOWED)) return;
    row->flush = t->num_sides + 1;
    struct side_entry *entry = log_side(t, number, SIDE_FLUSH, t->tick);
    if (fields[1].size) entry->a = read_field(payload, fields[1]);
}

static void on_stall(struct tracker *t, uint32_t number, const uint8_t *payload)
{
    const struct tracker_field *fields = t->plan->fields[TRACKER_STALL];
    struct row *row = t->rows + number;
    if (fields[1].size && has_room(row, &row->stalls))
        log_side(t, number, SIDE_STALL, t->tick)->a = read_field(payload, fields[1]);
}

/* The last one counts. */
APART void on_trap(struct tracker *t, uint32_t number, const uint8_t *payload)
{
    const struct tracker_field *fields = t->plan->fields[TRACKER_TRAP];
    struct row *row = t->rows + number;
    struct side_entry *entry =
        row->trap ? t->sides + (row->trap - 1) : log_side(t, number, SIDE_TRAP, t->tick);
    row->trap = (uint32_t)(entry - t->sides) + 1;
    entry->tick = t->tick;
    for (uint32_t i = 0; i < 3; i++) {
        if (!fields[i + 1].size) continue;
        entry->known |= (uint8_t)(1 << i);
        entry->w[i] = read_wide(payload, fields[i + 1]);
    }
}

/* The trace is paused: nothing will say how those in flight end. */
APART void on_pause(struct tracker *t)
{
    bool any = false;
    for (uint32_t row = 0; row < t->num_rows; row++) {
        const struct row *r = t->rows + row;
        bool in_slot = r->slot < TRACKER_SLOTS && t->by_slot[r->slot] == row + 1;
        any = any || in_slot;
        if (r->end == TRACKER_NO_TICK && (in_slot || r->flags & ROW_NAMED)) lose(t, row);
    }
    if (!any && t->num_pending == 0) return;
    CLEAR(t->by_slot, TRACKER_SLOTS * sizeof *t->by_slot);
    t->num_pending = t->free_pending = 0;
}

/* The row that a flush is about, as known_row. */
static uint32_t flushed_row(const struct tracker *t, uint32_t id)
{
    const struct id_entry *entry = t->plan->events_last ? find_id(t, id) : 0;
    return entry && entry->closed && entry->frame == t->frame ? entry->closed - 1 : known_row(t, id);
}

/* Optional; clipped to what its column holds. */
static uint32_t annotation_kind(const struct tracker *t, const uint8_t *payload)
{
    const struct tracker_field field = t->plan->fields[TRACKER_ANNOTATE][2];
    uint32_t kind = field.size ? read_field(payload, field) : 0;
    return kind < 255 ? kind : 255;
}

void on_event(struct tracker *t, uint32_t kind, const uint8_t *payload)
{
    const struct tracker_field *fields = t->plan->fields[kind];
    if (kind == TRACKER_CONTROL) {
        if (payload[0] == 0) on_pause(t);
        return;
    }
    uint32_t id = read_field(payload, fields[0]),
             row = kind == TRACKER_FLUSH ? flushed_row(t, id) : known_row(t, id);
    if (row == TRACKER_NONE) row = adopt(t, id);
    if (row == TRACKER_NONE) {
        if (kind == TRACKER_ANNOTATE)
            postpone(t, id, read_field(payload, fields[1]), true, annotation_kind(t, payload));
        return;
    }
    if (kind == TRACKER_FLUSH)
        on_flush(t, row, payload);
    else if (!(t->rows[row].flags & ROW_FOLLOWED))
        return;
    else if (kind == TRACKER_ANNOTATE)
        log_annotation(t, row, t->tick, read_field(payload, fields[1]), annotation_kind(t, payload));
    else if (kind == TRACKER_DEPENDENCY)
        on_dependency(t, row, payload);
    else if (kind == TRACKER_STALL)
        on_stall(t, row, payload);
    else if (kind == TRACKER_TRAP)
        on_trap(t, row, payload);
}
