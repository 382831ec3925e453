/* SPDX-License-Identifier: Apache-2.0 */
/* Follows frames and segments. */
#include "tracker.h"

#include "events.h"
#include "ops.h"
#include "tick.h"

bool tracker_op(struct tracker *t, const struct item *op, uint32_t items_left, struct tracker_need *need)
{
    return follow_op(t, op, items_left, need);
}

void tracker_event(struct tracker *t, const struct item *event)
{
    follow_event(t, event);
}

/* Every item makes one entry of each kind at most, but for early events. */
static bool has_room_for_items(struct tracker *t, uint32_t number, struct tracker_need *need)
{
    bool has = t->rows_capacity - t->num_rows >= number && t->stages_capacity - t->num_stages >= number &&
               t->sides_capacity - t->num_sides >= number && t->pending_capacity - t->num_pending >= number;
    if (has && has_ids(t, number)) return true;
    *need = (struct tracker_need){number, number, number, number, t->num_ids + number};
    return false;
}

enum tracker_result tracker_frame(struct tracker *t, uint64_t time, uint32_t num_items,
                                  struct tracker_need *need)
{
    if (RARE(!has_room_for_items(t, num_items, need))) return TRACKER_ROOM;
    set_time(t, time);
    next_stamp(t);
    t->num_early = 0;
    if (!t->is_past && time >= t->to && t->to != UINT64_MAX) {
        t->is_past = 1;
        t->accepts_births = 0;
    }
    return TRACKER_MORE;
}

/* Why it may be time to stop at a frame that has begun. */
static inline enum tracker_result at_frame(struct tracker *t)
{
    if (t->watched && t->watch == 0) {
        t->watched = 0;
        return TRACKER_PAUSE;
    }
    if (!t->stops_at_frames) return TRACKER_MORE;
    bool is_batch = t->ended >= TRACKER_BATCH;
    if (t->is_past && t->in_flight == 0) {
        t->ended = 0;
        return TRACKER_DONE;
    }
    if (is_batch) t->ended = 0;
    return is_batch ? TRACKER_PAUSE : TRACKER_MORE;
}

enum tracker_result tracker_run(struct tracker *t, struct items *items, uint32_t max_bytes,
                                struct tracker_need *need)
{
    struct items s = *items;
    struct item item;
    uint32_t begin = s.at, storage = t->plan->storage;
    enum tracker_result result;
    for (;;) {
        uint32_t at = s.at, items_left = s.items_left;
        uint64_t time = s.time;
        enum item_kind kind = items_next(&s, &item);
        result = TRACKER_MORE;
        if (kind == ITEM_OP) {
            if (item.storage != storage || follow_op(t, &item, s.items_left, need)) continue;
            result = TRACKER_ROOM;
        } else if (kind == ITEM_EVENT) {
            follow_event(t, &item);
            continue;
        } else if (kind == ITEM_FRAME) {
            result = tracker_frame(t, s.time, s.items_left, need);
            if (result == TRACKER_MORE) result = at_frame(t);
            if (result == TRACKER_MORE && s.at - begin < max_bytes) continue;
            if (result == TRACKER_MORE) result = TRACKER_SLICE;
        } else if (kind == ITEM_IRREGULAR)
            result = TRACKER_IRREGULAR;
        if (result == TRACKER_ROOM) {
            s.at = at;
            s.items_left = items_left;
            s.time = time;
        }
        break;
    }
    *items = s;
    return result;
}

static void set_listed(struct tracker *t, uint32_t number, const struct listed *listed)
{
    const struct tracker_plan *plan = t->plan;
    struct row *row = t->rows + number;
    if (plan->pc_field != TRACKER_NO_FIELD) set_field(plan, row, plan->pc_field, listed->pc);
    if (plan->bits_field != TRACKER_NO_FIELD) set_field(plan, row, plan->bits_field, listed->bits);
    if (plan->compressed_field != TRACKER_NO_FIELD)
        set_field(plan, row, plan->compressed_field, listed->compressed != 0);
    if (plan->thread_field != TRACKER_NO_FIELD) set_field(plan, row, plan->thread_field, listed->thread);
}

static bool is_taken(const uint8_t *taken, uint32_t slot)
{
    return taken[slot >> 3] >> (slot & 7) & 1;
}

/* What has left a slot without an op. */
static void lose_unlisted(struct tracker *t, const uint8_t *taken, const struct listed *listed, uint64_t time)
{
    bool has_id = t->plan->id_field != TRACKER_NO_FIELD;
    for (uint32_t slot = 0; slot < TRACKER_SLOTS; slot++) {
        uint32_t holder = t->by_slot[slot];
        if (!holder) continue;
        uint32_t place = (holder & ~(uint32_t)PENDING) - 1;
        uint32_t id = holder & PENDING ? slot : t->rows[place].id;
        bool is_listed = slot < t->plan->slots && is_taken(taken, slot);
        if (is_listed && (!has_id || (uint32_t)listed[slot].id == id)) continue;
        t->by_slot[slot] = 0;
        if (holder & PENDING) {
            give_pending(t, place + 1);
            continue;
        }
        if (t->time != time) set_other_time(t, time);
        lose(t, place);
    }
}

enum tracker_result tracker_continue(struct tracker *t, const uint8_t *taken, const struct listed *listed,
                                     uint64_t time, bool is_first, struct tracker_need *need)
{
    const struct tracker_plan *plan = t->plan;
    if (!has_room_for_items(t, plan->slots, need)) return TRACKER_ROOM;
    next_stamp(t);
    t->num_early = 0;
    if (!is_first) lose_unlisted(t, taken, listed, time);
    for (uint32_t slot = 0; slot < plan->slots; slot++) {
        if (!is_taken(taken, slot) || t->by_slot[slot]) continue;
        uint32_t id = plan->id_field == TRACKER_NO_FIELD ? slot : (uint32_t)listed[slot].id;
        uint32_t row = new_row(t, slot, id);
        set_listed(t, row, listed + slot);
        enter(t, row);
    }
    return TRACKER_MORE;
}

void tracker_reset(struct tracker *t)
{
    CLEAR(t->by_slot, TRACKER_SLOTS * sizeof *t->by_slot);
    CLEAR(t->ids, t->ids_capacity * sizeof *t->ids);
    t->num_rows = t->num_stages = t->num_sides = t->num_pending = t->num_ids = t->num_early = 0;
    t->free_pending = 0;
    t->frame = NEVER_CLOSED + 1;
    t->in_flight = t->ended = t->births = t->num_followed = 0;
    t->accepts_births = 1;
    t->went_back = t->is_past = t->watch = t->watched = t->off_grid = 0;
    t->time = t->tick = t->step = t->step_ticks = 0;
    t->tick_ps = t->plan->period_ps;
}
