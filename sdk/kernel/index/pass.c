/* SPDX-License-Identifier: Apache-2.0 */
#include "pass.h"

#include "state.h"

/* Not in the loop over items: there it would only cost registers. */
#define RARE __attribute__((noinline))

/* -- the start */

/* What the buffers held since the segment before ended, and what the checkpoint of this one has made of it.
 */
static void start_buffers(struct pass *pass)
{
    uint64_t at = pass->job->start > pass->time ? pass->job->start : pass->time;
    bool changed = false;
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t id = 0; id < pass->head->storages; id++) {
            struct followed *followed = pass->followed + id;
            struct track *track = followed->track;
            if (!track) continue;
            uint32_t count = slots_taken(followed);
            if (round == 0)
                changed = changed || count != track->count;
            else if (count != track->count)
                track_lasted(track, at, followed->group->row), track->count = count;
        }
        if (!changed) return;
        /* The model supplied states. */
        for (uint32_t i = 0; i < pass->head->cores; i++)
            pass->stats[i].exact = false;
        if (round == 1) break;
        for (uint32_t i = 0; i < pass->head->groups; i++) {
            struct group *group = pass->groups + i;
            if (at % group->period) group->aligned = false;
            if (at >= group->end) group_advance(group, at);
        }
    }
    pass->time = at;
}

/* Of all that is in flight at the start it is known since when. */
static bool is_followed(const struct slots *slots)
{
    for (uint32_t slot = 0; slot < slots->size; slot++)
        if ((slots->life[slot].flags & SLOT_BORN) && !slots->life[slot].cells) return false;
    return !slots->size || !slots->lives->lost;
}

static bool start(struct pass *pass)
{
    if (!load_checkpoint(pass)) return false;
    const struct index_job *job = pass->job;
    uint64_t last;
    bool is_known = load_carry(pass, &last);
    pass->is_exact = is_known || (job->carry_known && !job->carry_size);
    pass->from = pass->time = is_known ? last : job->start;
    for (uint32_t i = 0; i < pass->head->groups; i++) {
        struct group *group = pass->groups + i;
        group_open(group, pass->time);
        for (struct track *track = group->tracks; track; track = track->next)
            track->since = pass->time;
    }
    bool is_first = job->carry_known && !job->carry_size;
    for (uint32_t i = 0; i < pass->head->cores; i++)
        pass->lives[i].exact = is_first;
    if (is_known) load_rows_carry(pass, last, job->start > last ? job->start : last);
    for (uint32_t i = 0; i < pass->head->cores; i++)
        pass->stats[i].exact = pass->lives[i].exact && is_followed(pass->slots + i);
    start_buffers(pass);
    for (uint32_t i = 0; i < pass->head->groups; i++)
        pass->groups[i].now = pass->time / pass->groups[i].period;
    return true;
}

/* -- the frames */

static void settle_closings(struct pass *pass)
{
    for (uint32_t i = 0; i < pass->closings.count; i++) {
        const struct closing *closing = pass->closings.list + i;
        const struct plan_core *core = pass->cores + closing->core;
        bool is_retired = !(closing->life.flags & SLOT_FLUSHED);
        if (is_retired) {
            struct group *group = pass->groups + core->group;
            group->row[core->retired]++;
            stats_retire(pass->stats + closing->core, group->now, closing->bits);
        }
        life_end(pass->lives + closing->core, &closing->life, is_retired);
    }
    pass->closings.count = 0;
}

/* The frame is over, and something of it waits for that. */
static RARE void settle(struct pass *pass)
{
    pass->unsettled = false;
    settle_closings(pass);
    for (uint32_t i = 0; i < pass->head->cores; i++) {
        pass->lives[i].num_early = 0;
        stats_settle(pass->stats + i);
        written_settle(pass->written + i);
    }
}

static void set_taken(struct followed *followed, uint32_t slot, uint8_t taken, uint64_t time)
{
    if (followed->taken[slot] == taken) return;
    followed->taken[slot] = taken;
    struct track *track = followed->track;
    if (!track) return;
    uint64_t *row = followed->group->row;
    row[followed->column + (taken ^ 1)]++;
    track_lasted(track, time, row);
    track->count += taken ? 1 : UINT32_MAX;
}

static void change_counter(struct followed *followed, uint32_t action, uint64_t value)
{
    uint64_t after = action == ACTION_ADD ? followed->value + value : action == ACTION_SET ? value : 0;
    if (followed->group) followed->group->row[followed->column] += after - followed->value;
    followed->value = after;
}

static RARE bool clear_slot(struct pass *pass, struct followed *followed, uint32_t slot)
{
    struct slots *slots = followed->slots;
    if (slots && slot < slots->size) {
        pass->unsettled = true;
        if (!slots_clear(slots, slot, followed->core, &pass->closings)) return false;
        if (followed->written) written_clear(followed->written, slot);
    }
    if (slot < followed->num_slots) set_taken(followed, slot, 0, pass->time);
    return true;
}

/* A field of a slot that may be free, or may get another instruction. */
static RARE void write_slot(struct pass *pass, struct followed *followed, uint32_t slot, uint32_t field,
                            uint64_t value)
{
    struct slots *slots = followed->slots;
    struct written *written = followed->written;
    if (slots && slot < slots->size) {
        slots_set(slots, slot, field, (uint32_t)value);
        if (written && field == followed->id_field)
            written_leave(written, slot);
        else if (field == followed->pc_field)
            written_pc(written, slot, value);
        else if (field == followed->bits_field)
            written_bits(written, slot, value);
    }
    if (slot < followed->num_slots && field < followed->fields) set_taken(followed, slot, 1, pass->time);
}

/* The same instruction again in its slot, as models say it that never clear one. */
static inline bool is_same_again(const struct followed *followed, uint32_t slot, uint32_t id)
{
    const struct slots *slots = followed->slots;
    return slot < slots->size && life_goes_on(slots->life + slot, id);
}

static enum op_effect effect_of(const struct followed *followed, uint32_t action, uint32_t field)
{
    if (action - 1 > ACTION_PROP_SET - 1) return OP_INVALID;
    if (followed->kind == STORAGE_OTHER || action == ACTION_PROP_SET) return OP_NONE;
    if (followed->kind == STORAGE_COUNTER) {
        if (action != ACTION_CLEAR && field) return OP_NONE;
        return action == ACTION_ADD && followed->group ? OP_ADD : OP_COUNTER;
    }
    if (action == ACTION_CLEAR) return OP_CLEAR;
    if (field == followed->id_field) return OP_WRITE_ID;
    if (field == followed->pc_field) return OP_WRITE_PC;
    return field == followed->bits_field ? OP_WRITE_BITS : OP_WRITE;
}

/* An op of a kind that has not been seen here. False: there is none. */
static RARE bool learn_kind(struct pass *pass, struct op_kind *kind, uint64_t key)
{
    uint32_t action = (uint8_t)(key >> 8);
    bool is_wide = (uint8_t)key == TAG_WIDE;
    uint32_t storage = is_wide ? (uint16_t)(key >> 16) : (uint8_t)(key >> 16);
    uint32_t field = is_wide ? (uint32_t)(key >> 48) : (uint16_t)(key >> 40);
    if (storage >= pass->num_storages) return false;
    struct followed *followed = pass->followed + storage;
    enum op_effect effect = effect_of(followed, action, field);
    if (effect == OP_INVALID) return false;
    *kind = (struct op_kind){key,
                             followed->taken,
                             followed,
                             followed->num_slots,
                             (uint16_t)field,
                             (uint8_t)action,
                             (uint8_t)effect};
    return true;
}

static inline bool is_taken(const struct op_kind *kind, uint32_t slot)
{
    return slot < kind->num_slots && kind->taken[slot];
}

/* What most fields of a slot that is taken say is not new. False: there is no such op. */
static inline bool take_op(struct pass *pass, const struct op_kind *kind, uint32_t slot, uint64_t value)
{
    struct followed *followed = kind->followed;
    switch (kind->effect) {
    case OP_NONE: return true;
    case OP_ADD:
        if (slot) return true;
        followed->group->row[followed->column] += value;
        followed->value += value;
        return true;
    case OP_COUNTER:
        if (slot == 0) change_counter(followed, kind->action, value);
        return true;
    case OP_CLEAR: return clear_slot(pass, followed, slot);
    case OP_WRITE_ID:
        if (!is_taken(kind, slot) || !is_same_again(followed, slot, (uint32_t)value)) break;
        if (followed->written) written_leave(followed->written, slot);
        return true;
    case OP_WRITE_PC:
        if (!is_taken(kind, slot)) break;
        written_pc(followed->written, slot, value);
        return true;
    case OP_WRITE_BITS:
        if (!is_taken(kind, slot)) break;
        written_bits(followed->written, slot, value);
        return true;
    case OP_WRITE:
        if (is_taken(kind, slot)) return true;
        break;
    default: __builtin_unreachable();
    }
    write_slot(pass, followed, slot, kind->field, value);
    return true;
}

/* Returns the number of the reason. */
static uint32_t count_reason(struct pass *pass, struct group *group, const uint8_t *payload, uint32_t column,
                             uint32_t label, uint32_t map)
{
    count_cycle(group, pass->time, column);
    if (!label) return 0;
    uint32_t reason = plan_label(pass->job->plan, map, payload[label - 1]);
    count_cycle(group, pass->time, column + 1 + reason);
    return reason;
}

static void take_flush(struct pass *pass, uint32_t index, const uint8_t *payload)
{
    const struct plan_core *core = pass->cores + index;
    struct slots *slots = pass->slots + index;
    uint32_t id = core->flush_id ? read_low(payload + core->flush_id - 1, core->flush_id_bytes) : 0;
    if (slots->size && core->flush_id && !slots_flush(slots, id, index, &pass->closings)) return;
    struct group *group = pass->groups + core->group;
    group->row[core->squashed]++;
    uint32_t reason = count_reason(pass, group, payload, core->flushes, core->flush_reason, core->flush_map);
    if (slots->size) pass->stats[index].squashed[reason]++;
}

static void take_stall(struct pass *pass, uint32_t index, const uint8_t *payload)
{
    const struct plan_core *core = pass->cores + index;
    struct slots *slots = pass->slots + index;
    struct group *group = pass->groups + core->group;
    uint32_t reason = count_reason(pass, group, payload, core->stalls, core->stall_reason, core->stall_map);
    if (slots->size) stats_stall(pass->stats + index, reason, group->now);
    if (!core->stall_id || !core->stages) return;
    uint32_t id = read_low(payload + core->stall_id - 1, core->stall_id_bytes);
    slots_stall(slots, id, index, &pass->closings);
}

static inline void take_stage(struct pass *pass, const struct counted_event *event, const uint8_t *at)
{
    uint32_t id = read_u32(at + event->id) & event->id_mask;
    uint32_t stage = read_u32(at + event->stage) & event->stage_mask;
    slots_enter(event->slots, id, event->core, &pass->closings, stage);
}

/* A string, a flush, a stall. */
static RARE void take_more(struct pass *pass, const struct counted_event *event, const uint8_t *at)
{
    if (event->string) text_set_add(&pass->strings, read_u32(at + event->string), 0);
    if (event->role == EVENT_STAGE) take_stage(pass, event, at);
    if (event->role == EVENT_FLUSH) take_flush(pass, event->core, at + EVENT_HEAD_BYTES);
    if (event->role == EVENT_STALL) take_stall(pass, event->core, at + EVENT_HEAD_BYTES);
}

/* Where an item ends, and how many there are in the frame from it on. */
struct place {
    const uint8_t *at;
    uint32_t left;
};

/* Stage events of one type, which mostly follow each other: the first is at `at`, and the frame has `left`
 * items from there on. The place of the last one. */
static RARE struct place take_stages(struct pass *pass, const struct counted_event *event, const uint8_t *at,
                                     uint32_t left)
{
    const struct slots *slots = event->slots;
    const struct lives *lives = slots->lives;
    uint64_t *row = *event->row + event->column, now = *lives->now, head = read_u64(at);
    for (;; left--) {
        row[event->labels[at[event->label]]]++;
        uint32_t id = read_u32(at + event->id), stage = at[event->stage];
        /* Mostly the number of the slot is the id. */
        if (id < slots->size && life_goes_on(slots->life + id, id))
            life_enter(lives, slots->life + id, stage, now);
        else
            slots_enter(event->slots, id, event->core, &pass->closings, stage);
        at += EVENT_HEAD_BYTES + event->payload;
        if (left == 1 || at >= pass->last_items || read_u64(at) != head) break;
    }
    return (struct place){at, left};
}

/* There is no item here: what follows is not looked at. */
static RARE const uint8_t *fail(struct pass *pass, const uint8_t *end)
{
    pass->failed = true;
    return end;
}

/*
 * An event, of whose head there are enough bytes; returns where the next item is. What it reads is within
 * `READ_BEYOND` bytes after the event: the caller ensures that they exist.
 */
static inline const uint8_t *take_event(struct pass *pass, const uint8_t *at, uint64_t head,
                                        const uint8_t *end, uint32_t *left, bool is_last)
{
    uint32_t type = (uint32_t)(head >> 16) & 0xffff, size = (uint32_t)(head >> 32);
    bool is_counted = type < pass->num_events;
    /* One that is counted has the size that its type says: there is room for it in front of the last items.
     */
    if ((is_last || !is_counted) && size > (uint64_t)(end - at) - EVENT_HEAD_BYTES) return fail(pass, end);
    const uint8_t *next = at + EVENT_HEAD_BYTES + size;
    if (!is_counted) return next;
    const struct counted_event *event = pass->counted + type;
    if (size != event->payload) return fail(pass, end);
    if (event->effect == EVENT_ENTERS) {
        struct place last = take_stages(pass, event, at, *left);
        *left = last.left;
        return last.at;
    }
    (*event->row)[event->column + event->labels[at[event->label]]]++;
    if (event->effect == EVENT_IS_MORE) take_more(pass, event, at);
    return next;
}

/* Returns where the next item is. */
static inline const uint8_t *take_item(struct pass *pass, const uint8_t *at, const uint8_t *end,
                                       uint32_t *left, bool is_last)
{
    uint64_t head = read_u64(at);
    uint8_t tag = (uint8_t)head;
    if (tag == TAG_EVENT) return take_event(pass, at, head, end, left, is_last);
    uint64_t key, value;
    uint32_t slot, size;
    if (tag == TAG_WIDE) {
        if (is_last && end - at < WIDE_BYTES) return fail(pass, end);
        key = head & ~((uint64_t)0xffff << 32);
        slot = (uint16_t)(head >> 32);
        value = read_u64(at + 8);
        size = WIDE_BYTES;
    } else {
        /* Storage and value are shorter. */
        if (tag != TAG_COMPACT || (is_last && end - at < COMPACT_BYTES)) return fail(pass, end);
        key = head & 0x00ffff0000ffffff;
        slot = (uint16_t)(head >> 24);
        value = read_u16(at + 7);
        size = COMPACT_BYTES;
    }
    struct op_kind *kind = pass->kinds + (key * 0x9e3779b97f4a7c15ull >> (64 - OP_KINDS_BITS));
    if (kind->key != key && !learn_kind(pass, kind, key)) return fail(pass, end);
    return take_op(pass, kind, slot, value) ? at + size : fail(pass, end);
}

/* One of the last items: it is copied, so that what follows it can be read. */
static RARE const uint8_t *take_last_item(struct pass *pass, const uint8_t *at, const uint8_t *end)
{
    uint64_t left = (uint64_t)(end - at);
    if (left < EVENT_HEAD_BYTES) return fail(pass, end);
    copy_bytes(pass->last_item, at, left);
    uint32_t one = 1;
    return at + (take_item(pass, pass->last_item, pass->last_item + left, &one, true) - pass->last_item);
}

/* Items of a frame; returns where they end. */
static inline const uint8_t *take_items(struct pass *pass, const uint8_t *at, const uint8_t *end,
                                        uint32_t count)
{
    for (; count > 0; count--)
        at = at < pass->last_items ? take_item(pass, at, end, &count, false) : take_last_item(pass, at, end);
    return at;
}

static inline void enter_frame(struct pass *pass, uint64_t by)
{
    uint64_t time = pass->time + by;
    pass->time = time;
    struct group *end = pass->groups + pass->head->groups;
    for (struct group *group = pass->groups; group < end; group++) {
        /* Mostly a frame follows each cycle: no division for these. */
        if (by == group->period) {
            group->now++;
        } else {
            group->now = time / group->period;
            if (time % group->period) group->aligned = false;
        }
        if (time >= group->end) group_advance(group, time);
    }
}

/* The head of a frame; false: there is none. */
static inline bool get_frame(struct input *in, uint64_t *by, uint32_t *count)
{
    if (in->end - in->at >= 4) {
        uint32_t bytes = read_u32(in->at);
        if (!(bytes & 0x80)) {
            *by = bytes & 0x7f;
            *count = (uint16_t)(bytes >> 8);
            in->at += 3;
            return true;
        }
        if (!(bytes & 0x8000)) {
            *by = (bytes & 0x7f) | (bytes >> 1 & 0x3f80);
            *count = bytes >> 16;
            in->at += 4;
            return true;
        }
    }
    *by = get_leb(in);
    const uint8_t *items = get_bytes(in, 2);
    *count = items ? read_u16(items) : 0;
    return !in->failed;
}

static bool walk(struct pass *pass)
{
    const struct index_job *job = pass->job;
    struct input in = {job->frames, job->frames + job->frames_size, false};
    uint64_t before = job->start;
    bool has_others = job->frames_size >= pass->longest;
    pass->last_items = has_others ? in.end - pass->longest + 1 : in.at;
    while (in.at < in.end) {
        uint64_t by;
        uint32_t count;
        if (!get_frame(&in, &by, &count) || by > UINT64_MAX - before) return false;
        before += by;
        if (pass->unsettled) settle(pass);
        enter_frame(pass, before - pass->time);
        in.at = take_items(pass, in.at, in.end, count);
        if (pass->failed) return false;
    }
    settle(pass);
    for (uint32_t i = 0; i < pass->head->groups; i++)
        group_close(pass->groups + i, pass->time);
    return true;
}

/* Rows have no part where cycles are no small numbers any more: MAX_ROW_CYCLES of rows-part.ts. */
static void limit_rows(struct pass *pass)
{
    for (uint32_t i = 0; i < pass->head->cores; i++) {
        struct lives *lives = pass->lives + i;
        if (lives->stages && pass->time / pass->groups[pass->cores[i].group].period >= MAX_ROW_CYCLES)
            lives->full = true;
    }
}

uint32_t index_segment(struct index_job *job)
{
    if (index_scratch_bytes(job->plan, job->strange_slots) > job->scratch_size) return 0;
    struct pass pass;
    pass_open(&pass, job);
    if (!start(&pass) || !walk(&pass)) return 0;
    limit_rows(&pass);
    return put_container(&pass);
}
