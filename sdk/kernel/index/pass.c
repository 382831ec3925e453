/* SPDX-License-Identifier: Apache-2.0 */
#include "pass.h"

#include "state.h"

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
        if ((slots->flags[slot] & SLOT_BORN) && !slots->life[slot].cells) return false;
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

static void settle(struct pass *pass)
{
    for (uint32_t i = 0; i < pass->closings.count; i++) {
        const struct closing *closing = pass->closings.list + i;
        const struct plan_core *core = pass->cores + closing->core;
        if (!closing->flushed) {
            struct group *group = pass->groups + core->group;
            group->row[core->retired]++;
            stats_retire(pass->stats + closing->core, group->now, closing->bits);
        }
        life_end(pass->lives + closing->core, &closing->life, !closing->flushed);
    }
    pass->closings.count = 0;
    for (uint32_t i = 0; i < pass->head->cores; i++) {
        pass->lives[i].num_early = 0;
        stats_settle(pass->stats + i);
        if (pass->written[i].listed) written_settle(pass->written + i);
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

/* An op as the first eight bytes of a wide one have it. */
static inline uint32_t action_of(uint64_t head)
{
    return (uint32_t)head >> 8 & 0xff;
}

static inline uint32_t storage_of(uint64_t head)
{
    return (uint32_t)head >> 16;
}

static inline uint32_t slot_of(uint64_t head)
{
    return (uint32_t)(head >> 32) & 0xffff;
}

static inline uint32_t field_of(uint64_t head)
{
    return (uint32_t)(head >> 48);
}

static bool take_slot_op(struct pass *pass, struct followed *followed, uint64_t head, uint64_t value)
{
    uint32_t slot = slot_of(head), field = field_of(head);
    bool is_clear = action_of(head) == ACTION_CLEAR;
    struct slots *slots = followed->slots;
    if (slots && slot < slots->size) {
        if (!is_clear)
            slots_set(slots, slot, field, (uint32_t)value);
        else if (!slots_clear(slots, slot, (uint32_t)(slots - pass->slots), &pass->closings))
            return false;
    }
    struct written *written = followed->written;
    if (slots && written && slot < slots->size) {
        if (is_clear || field == followed->id_field)
            written_leave(written, slot, is_clear);
        else if (field == followed->pc_field || field == followed->bits_field)
            written_set(written, slot, field, value);
    }
    if (slot < followed->num_slots && (is_clear || field < followed->fields))
        set_taken(followed, slot, !is_clear, pass->time);
    return true;
}

/* The same instruction again in its slot, as models say it that never clear one. */
static inline bool is_same_again(const struct followed *followed, uint32_t slot, uint32_t id)
{
    const struct slots *slots = followed->slots;
    if (slot >= slots->size || slots->ids[slot] != id) return false;
    return (slots->flags[slot] & (SLOT_BORN | SLOT_FLUSHED)) == SLOT_BORN;
}

/* A field of a slot that is taken; most of them say nothing new. False: it is to be looked at closely. */
static inline bool take_field(struct followed *followed, uint32_t slot, uint32_t field, uint64_t value)
{
    if (field >= FIELD_ROLES) return false;
    uint8_t role = followed->roles[field];
    if (role == FIELD_OTHER) return true;
    struct written *written = followed->written;
    if (role == FIELD_TEXT) {
        written_set(written, slot, field, value);
        return true;
    }
    if (!is_same_again(followed, slot, (uint32_t)value)) return false;
    if (written && (written->flags[slot] & (HAS_PC | HAS_BITS))) written_note(written, slot);
    return true;
}

/* False: it is none. */
static inline bool take_op(struct pass *pass, uint64_t head, uint64_t value)
{
    uint32_t action = action_of(head), storage = storage_of(head), slot = slot_of(head),
             field = field_of(head);
    if (storage >= pass->num_storages || action - 1 > ACTION_PROP_SET - 1) return false;
    struct followed *followed = pass->followed + storage;
    uint8_t effect = followed->effects[action];
    if (effect == OP_WRITE) {
        if (slot < followed->num_slots && followed->taken[slot] && take_field(followed, slot, field, value))
            return true;
        return take_slot_op(pass, followed, head, value);
    }
    if (effect == OP_CLEAR) return take_slot_op(pass, followed, head, value);
    if (effect == OP_COUNTER && slot == 0 && (action == ACTION_CLEAR || field == 0))
        change_counter(followed, action, value);
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

static inline void take_role(struct pass *pass, const struct plan_event *event, const uint8_t *payload)
{
    if (event->role == EVENT_FLUSH) take_flush(pass, event->core, payload);
    if (event->role == EVENT_STALL) {
        const struct plan_core *core = pass->cores + event->core;
        struct group *group = pass->groups + core->group;
        uint32_t reason =
            count_reason(pass, group, payload, core->stalls, core->stall_reason, core->stall_map);
        if (pass->slots[event->core].size) stats_stall(pass->stats + event->core, reason, group->now);
        if (!core->stall_id || !core->stages) return;
        uint32_t id = read_low(payload + core->stall_id - 1, core->stall_id_bytes);
        slots_stall(pass->slots + event->core, id, event->core, &pass->closings);
    }
}

/*
 * An event, of whose head there are enough bytes; returns where the next item is, NULL: it is none. What it
 * reads is within `READ_BEYOND` bytes after the event: the caller ensures that they exist.
 */
static inline const uint8_t *take_event(struct pass *pass, const uint8_t *at, uint64_t head, uint64_t left)
{
    uint32_t type = (uint32_t)(head >> 16) & 0xffff, size = (uint32_t)(head >> 32);
    if (size > left - EVENT_HEAD_BYTES) return 0;
    const uint8_t *next = at + EVENT_HEAD_BYTES + size;
    if (type >= pass->num_events) return next;
    const struct counted_event *event = pass->counted + type;
    if (size != event->payload) return 0;
    if (event->group) event->group->row[event->column + event->labels[at[event->label]]]++;
    if (event->string) text_set_add(&pass->strings, read_u32(at + event->string), 0);
    if (event->role == EVENT_STAGE) {
        uint32_t id = read_u32(at + event->id) & event->id_mask;
        uint32_t stage = read_u32(at + event->stage) & event->stage_mask;
        slots_enter(event->slots, id, event->core, &pass->closings, stage);
    } else if (event->role) {
        take_role(pass, pass->events + type, at + EVENT_HEAD_BYTES);
    }
    return next;
}

/* The same for an op of nine bytes: storage and value are shorter. */
static inline uint64_t wide_head(const uint8_t *at)
{
    return (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)read_u32(at + 3) << 32;
}

/* The item at `at`, of which there are `left` bytes; returns where the next one is, NULL: it is none. */
static inline const uint8_t *take_item(struct pass *pass, const uint8_t *at, uint64_t left)
{
    uint64_t head = read_u64(at);
    uint8_t tag = (uint8_t)head;
    if (tag == TAG_EVENT) return take_event(pass, at, head, left);
    if (tag == TAG_WIDE && left >= WIDE_BYTES)
        return take_op(pass, head, read_u64(at + 8)) ? at + WIDE_BYTES : 0;
    if (tag == TAG_COMPACT && left >= COMPACT_BYTES)
        return take_op(pass, wide_head(at), read_u16(at + 7)) ? at + COMPACT_BYTES : 0;
    return 0;
}

/* One of the last items: it is copied, so that what follows it can be read. */
static const uint8_t *take_last_item(struct pass *pass, const uint8_t *at, const uint8_t *end)
{
    uint64_t left = (uint64_t)(end - at);
    if (left < EVENT_HEAD_BYTES) return 0;
    copy_bytes(pass->last_item, at, left);
    const uint8_t *next = take_item(pass, pass->last_item, left);
    return next ? at + (next - pass->last_item) : 0;
}

/* Items of a frame; returns where they end, NULL: one is none. */
static const uint8_t *take_items(struct pass *pass, const uint8_t *at, const uint8_t *end, uint32_t count)
{
    for (; count > 0 && at; count--) {
        uint64_t left = (uint64_t)(end - at);
        at = left >= pass->longest ? take_item(pass, at, left) : take_last_item(pass, at, end);
    }
    return at;
}

static void enter_frame(struct pass *pass, uint64_t by)
{
    pass->time += by;
    for (uint32_t i = 0; i < pass->head->groups; i++) {
        struct group *group = pass->groups + i;
        /* Mostly a frame follows each cycle: no division for these. */
        if (group->aligned && by != group->period && pass->time % group->period) group->aligned = false;
        group->now = by == group->period ? group->now + 1 : pass->time / group->period;
        if (pass->time >= group->end) group_advance(group, pass->time);
    }
}

static bool walk(struct pass *pass)
{
    const struct index_job *job = pass->job;
    struct input in = {job->frames, job->frames + job->frames_size, false};
    uint64_t before = job->start;
    while (in.at < in.end) {
        uint64_t by = get_leb(&in);
        const uint8_t *count = get_bytes(&in, 2);
        if (in.failed || by > UINT64_MAX - before) return false;
        before += by;
        settle(pass);
        enter_frame(pass, before - pass->time);
        in.at = take_items(pass, in.at, in.end, read_u16(count));
        if (!in.at) return false;
    }
    settle(pass);
    for (uint32_t i = 0; i < pass->head->groups; i++)
        group_close(pass->groups + i, pass->time);
    return true;
}

uint32_t index_segment(struct index_job *job)
{
    if (index_scratch_bytes(job->plan, job->strange_slots) > job->scratch_size) return 0;
    struct pass pass;
    pass_open(&pass, job);
    return start(&pass) && walk(&pass) ? put_container(&pass) : 0;
}
