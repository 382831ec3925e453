/* SPDX-License-Identifier: Apache-2.0 */
/* Births and ends of rows, and slots whose id is not known yet. */
#ifndef USCOPE_BLOCKS_LIVES_H
#define USCOPE_BLOCKS_LIVES_H

#include "ids.h"
#include "logs.h"

enum { PENDING = 0x80000000 }; /* in by_slot: an entry of `pending` + 1 */

/* Some writers put events in front of the birth, in its frame. */
void apply_early(struct tracker *t, uint32_t number);

/* Nothing says how it ended. */
void lose(struct tracker *t, uint32_t number);

struct row *take_pending(struct tracker *t, uint32_t slot);

INLINE uint32_t new_row(struct tracker *t, uint32_t slot, uint32_t id)
{
    struct row *row = t->rows + t->num_rows;
    *row = (struct row){
        .birth = TRACKER_NO_TICK, .end = TRACKER_NO_TICK, .slot = slot, .id = id, .ordinal = TRACKER_NONE};
    return t->num_rows++;
}

/* From here on events and ops find it. */
static inline void enter(struct tracker *t, uint32_t number)
{
    struct row *row = t->rows + number;
    if (row->slot < TRACKER_SLOTS) t->by_slot[row->slot] = number + 1;
    struct id_entry *entry = add_id(t, row->id);
    if (entry->live) t->rows[entry->live - 1].flags &= (uint8_t)~ROW_NAMED;
    entry->live = number + 1;
    row->flags |= ROW_NAMED;
    /* Born after the range it is not handed out, but others may depend on it. */
    if (!t->accepts_births) return;
    row->flags |= ROW_FOLLOWED;
    t->num_followed++;
    t->in_flight++;
    if (RARE(t->num_early > 0)) apply_early(t, number);
}

static inline void birth(struct tracker *t, uint32_t number)
{
    t->rows[number].birth = t->tick;
    t->rows[number].ordinal = t->births++;
    enter(t, number);
}

static inline void leave(struct tracker *t, uint32_t number, enum row_end how)
{
    struct row *row = t->rows + number;
    row->how = (uint8_t)how;
    row->end = t->tick;
    if (row->flags & ROW_NAMED) {
        struct id_entry *entry = find_id(t, row->id);
        if (entry) entry->live = 0;
        row->flags &= (uint8_t)~ROW_NAMED;
    }
    if (!(row->flags & ROW_FOLLOWED)) return;
    t->in_flight--;
    t->ended++;
    t->watch -= number < t->watched;
}

static inline struct row give_pending(struct tracker *t, uint32_t place)
{
    struct row row = t->pending[place - 1];
    t->pending[place - 1].id = t->free_pending;
    t->free_pending = place;
    return row;
}

#endif
