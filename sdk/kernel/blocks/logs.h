/* SPDX-License-Identifier: Apache-2.0 */
/* The two logs of what happens to rows. */
#ifndef USCOPE_BLOCKS_LOGS_H
#define USCOPE_BLOCKS_LOGS_H

#include "compiler.h"
#include "tracker.h"

enum { GONE_FLUSH = 0xffffffff }; /* of a row: flushed, but the entry of the log has been removed */

/* Of the stages outside of the range the last one takes the place of the one before. */
bool replace_stage(struct tracker *t, const struct row *row, uint64_t tick, uint32_t value);

void log_annotation(struct tracker *t, uint32_t number, uint64_t tick, uint32_t string, uint32_t kind);

INLINE void log_stage(struct tracker *t, uint32_t number, uint64_t tick, uint32_t value)
{
    struct row *row = t->rows + number;
    if (RARE(t->stage_range) && row->stages > 0 && replace_stage(t, row, tick, value)) return;
    if (RARE(row->stages >= TRACKER_MAX_ENTRIES)) {
        row->flags |= ROW_ABRIDGED;
        return;
    }
    row->stages++;
    row->last_stage = t->num_stages;
    t->stages[t->num_stages++] = (struct stage_entry){tick, number, value};
}

static inline struct side_entry *log_side(struct tracker *t, uint32_t number, enum side_kind kind,
                                          uint64_t tick)
{
    struct side_entry *entry = t->sides + t->num_sides++;
    *entry = (struct side_entry){.tick = tick, .row = number, .kind = (uint8_t)kind};
    return entry;
}

static inline bool has_room(struct row *row, uint16_t *count)
{
    if (*count < TRACKER_MAX_ENTRIES) {
        ++*count;
        return true;
    }
    row->flags |= ROW_ABRIDGED;
    return false;
}

#endif
