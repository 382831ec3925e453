/* SPDX-License-Identifier: Apache-2.0 */
/* Events about instructions. */
#ifndef USCOPE_BLOCKS_EVENTS_H
#define USCOPE_BLOCKS_EVENTS_H

#include "lives.h"

/* All but entries into stages. */
void on_event(struct tracker *t, uint32_t kind, const uint8_t *payload);

/* Where strangers are adopted, they are new rows. */
uint32_t adopt(struct tracker *t, uint32_t id);

/* Until the birth of the instruction that it is about, in this frame. */
void postpone(struct tracker *t, uint32_t id, uint32_t value, bool is_annotation, uint32_t annotation_kind);

INLINE uint32_t read_field(const uint8_t *payload, struct tracker_field field)
{
    const uint8_t *at = payload + field.offset;
    if (field.size == 1) return at[0];
    if (field.size == 2) return at[0] | (uint32_t)at[1] << 8;
    uint32_t value;
    COPY(&value, at, 4);
    return value;
}

/* The row that an id means, now or until it was cleared in this frame; TRACKER_NONE. */
INLINE uint32_t known_row(const struct tracker *t, uint32_t id)
{
    const struct id_entry *entry = find_id(t, id);
    if (!entry) return TRACKER_NONE;
    if (entry->live) return entry->live - 1;
    return entry->closed && entry->frame == t->frame ? entry->closed - 1 : TRACKER_NONE;
}

INLINE void on_stage(struct tracker *t, const uint8_t *payload)
{
    const struct tracker_field *fields = t->plan->fields[TRACKER_STAGE];
    uint32_t id = read_field(payload, fields[0]), value = read_field(payload, fields[1]),
             row = known_row(t, id);
    if (RARE(row == TRACKER_NONE)) row = adopt(t, id);
    if (RARE(row == TRACKER_NONE))
        postpone(t, id, value, false, 0);
    else if (t->rows[row].flags & ROW_FOLLOWED)
        log_stage(t, row, t->tick, value);
}

INLINE void follow_event(struct tracker *t, const struct item *event)
{
    uint32_t kind = event->type < t->plan->num_events ? t->plan->event_kinds[event->type] : TRACKER_OTHER;
    if (kind == TRACKER_STAGE)
        on_stage(t, event->payload);
    else if (kind != TRACKER_OTHER)
        on_event(t, kind, event->payload);
}

#endif
