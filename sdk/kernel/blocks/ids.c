/* SPDX-License-Identifier: Apache-2.0 */
#include "ids.h"

struct id_entry *find_moved_id(const struct tracker *t, uint32_t id)
{
    uint32_t mask = t->ids_capacity - 1;
    for (uint32_t at = (id + 1) & mask;; at = (at + 1) & mask) {
        struct id_entry *entry = t->ids + at;
        if (entry->frame == NEVER_USED) return 0;
        if (entry->id == id) return entry;
    }
}

void tracker_rebuild_ids(struct tracker *t)
{
    CLEAR(t->ids, t->ids_capacity * sizeof *t->ids);
    t->num_ids = 0;
    for (uint32_t row = 0; row < t->num_rows; row++)
        if (t->rows[row].flags & ROW_NAMED) add_id(t, t->rows[row].id)->live = row + 1;
}
