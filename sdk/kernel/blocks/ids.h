/* SPDX-License-Identifier: Apache-2.0 */
/* The table of ids: what each id means at present. */
#ifndef USCOPE_BLOCKS_IDS_H
#define USCOPE_BLOCKS_IDS_H

#include "compiler.h"
#include "tracker.h"

enum {
    /* Stamps of entries of the table; those of frames follow. */
    NEVER_USED = 0,
    NEVER_CLOSED = 1,
};

/* Not at the place that the id has first. */
struct id_entry *find_moved_id(const struct tracker *t, uint32_t id);

INLINE struct id_entry *find_id(const struct tracker *t, uint32_t id)
{
    struct id_entry *entry = t->ids + (id & (t->ids_capacity - 1));
    if (RARE(entry->frame == NEVER_USED)) return 0;
    return entry->id == id ? entry : find_moved_id(t, id);
}

/* There is room: tracker_frame has seen to that. */
static inline struct id_entry *add_id(struct tracker *t, uint32_t id)
{
    uint32_t mask = t->ids_capacity - 1;
    for (uint32_t at = id & mask;; at = (at + 1) & mask) {
        struct id_entry *entry = t->ids + at;
        if (entry->frame != NEVER_USED && entry->id != id) continue;
        if (entry->frame == NEVER_USED) {
            *entry = (struct id_entry){id, 0, 0, NEVER_CLOSED};
            t->num_ids++;
        }
        return entry;
    }
}

/* At a frame, when what was cleared in the one before no longer matters. */
static inline bool has_ids(struct tracker *t, uint32_t number)
{
    uint32_t most = t->ids_capacity - t->ids_capacity / 4;
    if (t->num_ids + number <= most) return true;
    tracker_rebuild_ids(t);
    /* Half empty, or it would be rebuilt again soon. */
    return t->num_ids + number <= t->ids_capacity / 2;
}

static inline void next_stamp(struct tracker *t)
{
    if (++t->frame > NEVER_CLOSED) return;
    t->frame = NEVER_CLOSED + 1;
    tracker_rebuild_ids(t);
}

#endif
