/* SPDX-License-Identifier: Apache-2.0 */
#include "tracker.h"

#define COPY(to, from, size) __builtin_memcpy(to, from, size)
#define CLEAR(at, size)      __builtin_memset(at, 0, size)
/* The loop over items takes them in, and keeps an item in registers. */
#define INLINE               static inline __attribute__((always_inline))
#define APART                static __attribute__((noinline))
#define RARE(condition)      __builtin_expect((condition) != 0, 0)

enum {
    PENDING = 0x80000000,     /* in by_slot: an entry of `pending` + 1 */
    GONE_FLUSH = 0xffffffff,  /* flushed, but the entry of the log has been removed */
    WITHOUT_LOG = 0x80000000, /* while rows are removed: it stays, what the logs say of it does not */
    /* Stamps of entries of the table of ids; those of frames follow. */
    NEVER_USED = 0,
    NEVER_CLOSED = 1,
};

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* -- ids */

APART struct id_entry *find_moved_id(const struct tracker *t, uint32_t id)
{
    uint32_t mask = t->ids_capacity - 1;
    for (uint32_t at = (id + 1) & mask;; at = (at + 1) & mask) {
        struct id_entry *entry = t->ids + at;
        if (entry->frame == NEVER_USED) return 0;
        if (entry->id == id) return entry;
    }
}

INLINE struct id_entry *find_id(const struct tracker *t, uint32_t id)
{
    struct id_entry *entry = t->ids + (id & (t->ids_capacity - 1));
    if (RARE(entry->frame == NEVER_USED)) return 0;
    return entry->id == id ? entry : find_moved_id(t, id);
}

/* There is room: tracker_frame has seen to that. */
static struct id_entry *add_id(struct tracker *t, uint32_t id)
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

void tracker_rebuild_ids(struct tracker *t)
{
    CLEAR(t->ids, t->ids_capacity * sizeof *t->ids);
    t->num_ids = 0;
    for (uint32_t row = 0; row < t->num_rows; row++)
        if (t->rows[row].flags & ROW_NAMED) add_id(t, t->rows[row].id)->live = row + 1;
}

/* At a frame, when what was cleared in the one before no longer matters. */
static bool has_ids(struct tracker *t, uint32_t number)
{
    uint32_t most = t->ids_capacity - t->ids_capacity / 4;
    if (t->num_ids + number <= most) return true;
    tracker_rebuild_ids(t);
    /* Half empty, or it would be rebuilt again soon. */
    return t->num_ids + number <= t->ids_capacity / 2;
}

/* -- time */

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void scale(uint64_t *tick, uint64_t factor)
{
    if (*tick != TRACKER_NO_TICK) *tick *= factor;
}

/* A time is no multiple of the tick: shorter ticks, in which everything so far is counted again. */
static void shorten_tick(struct tracker *t, uint64_t time)
{
    uint64_t tick_ps = greatest_divisor(t->tick_ps, time), factor = t->tick_ps / tick_ps;
    for (uint32_t i = 0; i < t->num_rows; i++) {
        scale(&t->rows[i].birth, factor);
        scale(&t->rows[i].end, factor);
    }
    for (uint32_t i = 0; i < t->num_stages; i++)
        t->stages[i].tick *= factor;
    for (uint32_t i = 0; i < t->num_sides; i++)
        t->sides[i].tick *= factor;
    for (uint32_t i = 0; i < t->num_early; i++)
        t->early[i].tick *= factor;
    t->tick_ps = tick_ps;
    t->off_grid = 1;
}

static void set_other_time(struct tracker *t, uint64_t time)
{
    if (time < t->time) t->went_back = 1;
    if (time % t->tick_ps) shorten_tick(t, time);
    t->time = time;
    t->tick = time / t->tick_ps;
    t->step = 0;
    t->step_ticks = 0;
}

static inline void set_time(struct tracker *t, uint64_t time)
{
    uint64_t step = time - t->time;
    if (step != t->step) {
        uint64_t ticks = step / t->tick_ps;
        if (RARE(time < t->time || ticks * t->tick_ps != step)) {
            set_other_time(t, time);
            return;
        }
        t->step = step;
        t->step_ticks = ticks;
    }
    t->time = time;
    t->tick += t->step_ticks;
}

/* -- logs */

/* Of the stages outside of the range the last one takes the place of the one before. */
APART bool replace_stage(struct tracker *t, const struct row *row, uint64_t tick, uint32_t value)
{
    struct stage_entry *last = t->stages + row->last_stage;
    if (tick * t->tick_ps >= t->from && (t->to == UINT64_MAX || last->tick * t->tick_ps < t->to))
        return false;
    last->tick = tick;
    last->value = value;
    return true;
}

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

static struct side_entry *log_side(struct tracker *t, uint32_t number, enum side_kind kind, uint64_t tick)
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

static void log_annotation(struct tracker *t, uint32_t number, uint64_t tick, uint32_t string, uint32_t kind)
{
    struct row *row = t->rows + number;
    if (!has_room(row, &row->annotations)) return;
    struct side_entry *entry = log_side(t, number, SIDE_ANNOTATION, tick);
    entry->a = string;
    entry->b = kind;
}

/* -- lives */

INLINE uint32_t new_row(struct tracker *t, uint32_t slot, uint32_t id)
{
    struct row *row = t->rows + t->num_rows;
    *row = (struct row){
        .birth = TRACKER_NO_TICK, .end = TRACKER_NO_TICK, .slot = slot, .id = id, .ordinal = TRACKER_NONE};
    return t->num_rows++;
}

/* Some writers put events in front of the birth, in its frame. */
APART void apply_early(struct tracker *t, uint32_t number)
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

/* From here on events and ops find it. */
static void enter(struct tracker *t, uint32_t number)
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

static void birth(struct tracker *t, uint32_t number)
{
    t->rows[number].birth = t->tick;
    t->rows[number].ordinal = t->births++;
    enter(t, number);
}

static void leave(struct tracker *t, uint32_t number, enum row_end how)
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

/* Nothing says how it ended. */
static void lose(struct tracker *t, uint32_t number)
{
    t->rows[number].flags |= ROW_ABRIDGED;
    leave(t, number, ROW_LOST);
}

APART struct row *take_pending(struct tracker *t, uint32_t slot)
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

static struct row give_pending(struct tracker *t, uint32_t place)
{
    struct row row = t->pending[place - 1];
    t->pending[place - 1].id = t->free_pending;
    t->free_pending = place;
    return row;
}

INLINE void set_field(const struct tracker_plan *plan, struct row *row, uint32_t field, uint64_t value)
{
    if (field == plan->pc_field) {
        row->pc = value;
        row->flags |= ROW_HAS_PC;
    } else if (field == plan->bits_field) {
        row->bits = (uint32_t)value;
        row->flags |= ROW_HAS_BITS;
    } else if (field == plan->compressed_field) {
        row->flags &= (uint8_t)~ROW_COMPRESSED;
        row->flags |= (uint32_t)value ? ROW_HAS_COMPRESSED | ROW_COMPRESSED : ROW_HAS_COMPRESSED;
    } else if (field == plan->thread_field) {
        row->thread = (uint32_t)value;
        row->flags |= ROW_HAS_THREAD;
    }
}

static void set_id(struct tracker *t, uint32_t slot, uint32_t holder, uint32_t id)
{
    if (holder && !(holder & PENDING)) {
        if (t->rows[holder - 1].id == id) return;
        leave(t, holder - 1, ROW_LOST);
    }
    uint32_t number = new_row(t, slot, id);
    if (holder & PENDING) {
        struct row before = give_pending(t, holder & ~(uint32_t)PENDING), *row = t->rows + number;
        row->pc = before.pc;
        row->bits = before.bits;
        row->thread = before.thread;
        row->flags = before.flags;
    }
    birth(t, number);
}

INLINE void on_set(struct tracker *t, const struct item *op)
{
    const struct tracker_plan *plan = t->plan;
    uint32_t holder = t->by_slot[op->slot];
    if (op->field == plan->id_field) {
        set_id(t, op->slot, holder, (uint32_t)op->value);
        return;
    }
    struct row *row;
    if (holder & PENDING)
        row = t->pending + ((holder & ~(uint32_t)PENDING) - 1);
    else if (holder)
        row = t->rows + (holder - 1);
    else if (plan->id_field == TRACKER_NO_FIELD) {
        uint32_t number = new_row(t, op->slot, op->slot);
        birth(t, number);
        row = t->rows + number;
    } else
        row = take_pending(t, op->slot);
    set_field(plan, row, op->field, op->value);
}

INLINE void on_clear(struct tracker *t, uint32_t slot)
{
    uint32_t holder = t->by_slot[slot];
    if (!holder) return;
    t->by_slot[slot] = 0;
    if (holder & PENDING) {
        give_pending(t, holder & ~(uint32_t)PENDING);
        return;
    }
    struct row *row = t->rows + (holder - 1);
    leave(t, holder - 1, row->flush ? ROW_SQUASHED : ROW_RETIRED);
    struct id_entry *entry = add_id(t, row->id);
    entry->closed = holder;
    entry->frame = t->frame;
}

/* Every op makes one row at most; early events are applied to it. */
static bool has_room_for_early(const struct tracker *t, uint32_t items_left, struct tracker_need *need)
{
    uint32_t number = t->num_early + items_left + 1;
    if (t->stages_capacity - t->num_stages >= number && t->sides_capacity - t->num_sides >= number)
        return true;
    *need = (struct tracker_need){.stages = number, .sides = number};
    return false;
}

INLINE bool follow_op(struct tracker *t, const struct item *op, uint32_t items_left,
                      struct tracker_need *need)
{
    if (op->storage != t->plan->storage || op->action == ACTION_PROP_SET) return true;
    if (op->action == ACTION_CLEAR) {
        on_clear(t, op->slot);
        return true;
    }
    if (RARE(t->num_early > 0) && !has_room_for_early(t, items_left, need)) return false;
    on_set(t, op);
    return true;
}

bool tracker_op(struct tracker *t, const struct item *op, uint32_t items_left, struct tracker_need *need)
{
    return follow_op(t, op, items_left, need);
}

/* -- events */

INLINE uint32_t read_field(const uint8_t *payload, struct tracker_field field)
{
    const uint8_t *at = payload + field.offset;
    if (field.size == 1) return at[0];
    if (field.size == 2) return at[0] | (uint32_t)at[1] << 8;
    uint32_t value;
    COPY(&value, at, 4);
    return value;
}

static uint64_t read_wide(const uint8_t *payload, struct tracker_field field)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < field.size && i < 8; i++)
        value |= (uint64_t)payload[field.offset + i] << 8 * i;
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

/* Where strangers are adopted, they are new rows. */
APART uint32_t adopt(struct tracker *t, uint32_t id)
{
    if (!t->plan->adopts_strangers || !t->accepts_births || id < t->plan->slots) return TRACKER_NONE;
    uint32_t row = new_row(t, id, id);
    /* What was in flight in a slot of that number is found by its id alone from now on. */
    if (id < TRACKER_SLOTS && t->by_slot[id] & PENDING) give_pending(t, t->by_slot[id] & ~(uint32_t)PENDING);
    enter(t, row);
    return row;
}

APART void postpone(struct tracker *t, uint32_t id, uint32_t value, bool is_annotation,
                    uint32_t annotation_kind)
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

/* Optional; clipped to what its column holds. */
static uint32_t annotation_kind(const struct tracker *t, const uint8_t *payload)
{
    const struct tracker_field field = t->plan->fields[TRACKER_ANNOTATE][2];
    uint32_t kind = field.size ? read_field(payload, field) : 0;
    return kind < 255 ? kind : 255;
}

/* All but entries into stages. */
APART void on_event(struct tracker *t, uint32_t kind, const uint8_t *payload)
{
    const struct tracker_field *fields = t->plan->fields[kind];
    if (kind == TRACKER_CONTROL) {
        if (payload[0] == 0) on_pause(t);
        return;
    }
    uint32_t id = read_field(payload, fields[0]), row = known_row(t, id);
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

void tracker_event(struct tracker *t, const struct item *event)
{
    follow_event(t, event);
}

/* -- frames and segments */

/* Every item makes one entry of each kind at most, but for early events. */
static bool has_room_for_items(struct tracker *t, uint32_t number, struct tracker_need *need)
{
    bool has = t->rows_capacity - t->num_rows >= number && t->stages_capacity - t->num_stages >= number &&
               t->sides_capacity - t->num_sides >= number && t->pending_capacity - t->num_pending >= number;
    if (has && has_ids(t, number)) return true;
    *need = (struct tracker_need){number, number, number, number, t->num_ids + number};
    return false;
}

static void next_stamp(struct tracker *t)
{
    if (++t->frame > NEVER_CLOSED) return;
    t->frame = NEVER_CLOSED + 1;
    tracker_rebuild_ids(t);
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

/* -- handing out */

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
