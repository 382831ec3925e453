/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows are handed out, and their removal. */
#include "ids.h"
#include "logs.h"

enum {
    WITHOUT_LOG = 0x80000000, /* while rows are removed: it stays, what the logs say of it does not */
};

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

void tracker_watch(struct tracker *t, uint32_t rows)
{
    t->watched = rows;
    t->watch = 0;
    for (uint32_t row = 0; row < smaller(rows, t->num_rows); row++)
        t->watch += t->rows[row].flags & ROW_FOLLOWED && t->rows[row].end == TRACKER_NO_TICK;
}

void tracker_unfollow(struct tracker *t)
{
    for (uint32_t row = 0; row < t->num_rows; row++) {
        struct row *r = t->rows + row;
        if (r->end == TRACKER_NO_TICK && r->flags & ROW_FOLLOWED) t->in_flight--;
        r->flags &= (uint8_t)~ROW_FOLLOWED;
        r->flush = r->flush ? GONE_FLUSH : 0;
        r->trap = 0;
    }
    t->num_followed = 0;
    t->num_stages = t->num_sides = 0;
}

/* Some writers flush without ever clearing: what was flushed before the range is no longer in flight either.
 */
static bool is_over_before(const struct tracker *t, const struct row *row, uint64_t from)
{
    uint64_t until = row->end;
    if (until == TRACKER_NO_TICK && row->flush && row->flush != GONE_FLUSH)
        until = t->sides[row->flush - 1].tick;
    return until != TRACKER_NO_TICK && until * t->tick_ps < from;
}

/* Of those that nobody follows only the ones in flight are kept. */
static uint32_t unfollowed_mark(const struct row *row)
{
    return row->end == TRACKER_NO_TICK ? MARK_KEEP : MARK_DROP;
}

uint32_t tracker_take(struct tracker *t, bool all, uint32_t max_held, uint64_t from, uint32_t *num_dropped)
{
    uint32_t taken = 0, queued = 0, row = 0;
    *num_dropped = 0;
    for (; row < t->num_rows; row++) {
        struct row *r = t->rows + row;
        if (!(r->flags & ROW_FOLLOWED)) {
            t->marks[row] = unfollowed_mark(r);
            continue;
        }
        if (!all && r->end == TRACKER_NO_TICK) break;
        queued++;
        bool is_over = is_over_before(t, r, from);
        *num_dropped += is_over;
        t->marks[row] = is_over ? MARK_DROP : taken++;
    }
    bool any_ended = t->num_followed - queued > max_held;
    for (; row < t->num_rows; row++) {
        struct row *r = t->rows + row;
        t->marks[row] = MARK_KEEP;
        if (!(r->flags & ROW_FOLLOWED))
            t->marks[row] = unfollowed_mark(r);
        else if (any_ended && r->end != TRACKER_NO_TICK) {
            bool is_over = is_over_before(t, r, from);
            *num_dropped += is_over;
            t->marks[row] = is_over ? MARK_DROP : taken++;
        }
    }
    return taken;
}

uint32_t tracker_take_first(struct tracker *t, uint32_t rows)
{
    uint32_t taken = 0;
    for (uint32_t row = 0; row < t->num_rows; row++) {
        struct row *r = t->rows + row;
        if (!(r->flags & ROW_FOLLOWED))
            t->marks[row] = unfollowed_mark(r);
        else
            t->marks[row] = row < rows ? taken++ : MARK_KEEP;
    }
    return taken;
}

/* Where a row goes: the marks become new numbers. */
static uint32_t renumber(struct tracker *t)
{
    uint32_t kept = 0;
    for (uint32_t row = 0; row < t->num_rows; row++) {
        struct row *r = t->rows + row;
        bool is_taken = t->marks[row] != MARK_KEEP, is_followed = r->flags & ROW_FOLLOWED;
        if (is_taken && is_followed) {
            t->num_followed--;
            if (r->end == TRACKER_NO_TICK) t->in_flight--;
            r->flags &= (uint8_t)~ROW_FOLLOWED;
        }
        if (is_taken && r->end != TRACKER_NO_TICK) {
            t->marks[row] = MARK_DROP;
            continue;
        }
        bool has_log = !is_taken && is_followed;
        if (!has_log) {
            r->flush = r->flush ? GONE_FLUSH : 0;
            r->trap = 0;
        }
        t->marks[row] = kept++ | (has_log ? 0 : WITHOUT_LOG);
    }
    return kept;
}

static void move_stages(struct tracker *t)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->num_stages; i++) {
        struct stage_entry entry = t->stages[i];
        uint32_t mark = t->marks[entry.row];
        if (mark & WITHOUT_LOG) continue;
        t->rows[entry.row].last_stage = kept;
        entry.row = mark;
        t->stages[kept++] = entry;
    }
    t->num_stages = kept;
}

static void move_producer(const struct tracker *t, struct side_entry *entry)
{
    const struct row *producer = t->rows + entry->w[0];
    uint32_t mark = t->marks[entry->w[0]];
    if (mark != MARK_DROP) {
        entry->w[0] = mark & ~(uint32_t)WITHOUT_LOG;
        return;
    }
    entry->producer = PRODUCER_GONE;
    entry->producer_flags = producer->flags;
    entry->w[0] = producer->ordinal;
    entry->w[1] = producer->pc;
}

static void move_sides(struct tracker *t)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->num_sides; i++) {
        struct side_entry entry = t->sides[i];
        uint32_t mark = t->marks[entry.row];
        if (mark & WITHOUT_LOG) continue;
        if (entry.kind == SIDE_FLUSH)
            t->rows[entry.row].flush = kept + 1;
        else if (entry.kind == SIDE_TRAP)
            t->rows[entry.row].trap = kept + 1;
        else if (entry.producer == PRODUCER_ROW)
            move_producer(t, &entry);
        entry.row = mark;
        t->sides[kept++] = entry;
    }
    t->num_sides = kept;
}

static void move_rows(struct tracker *t)
{
    for (uint32_t old = 0; old < t->num_rows; old++) {
        if (t->marks[old] == MARK_DROP) continue;
        uint32_t number = t->marks[old] & ~(uint32_t)WITHOUT_LOG;
        const struct row *row = t->rows + old;
        if (row->slot < TRACKER_SLOTS && t->by_slot[row->slot] == old + 1) t->by_slot[row->slot] = number + 1;
        if (row->flags & ROW_NAMED) {
            struct id_entry *entry = find_id(t, row->id);
            if (entry) entry->live = number + 1;
        }
        if (number != old) t->rows[number] = *row;
    }
}

void tracker_remove(struct tracker *t)
{
    uint32_t kept = renumber(t);
    move_stages(t);
    move_sides(t);
    move_rows(t);
    t->num_rows = kept;
    t->watched = 0;
    /* What was cleared in this frame may be gone. */
    next_stamp(t);
}
