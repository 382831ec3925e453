/* SPDX-License-Identifier: Apache-2.0 */
#include "pass.h"

#include "../constants.h"
#include "bytes.h"
#include "columns.h"
#include "output.h"
#include "plan.h"
#include "rows.h"
#include "slots.h"

enum {
    INDEX_MAGIC = 0x58444975, /* "uIDX" */
    INDEX_ID = 0xff10,
    INDEX_LAYOUT = 1,
    HEAD_BYTES = 32,
    ENTRY_BYTES = 8,
    PART_TIME = 1,
    PART_CARRY = 6,
    PART_OCCUPANCY = 7,
    PART_DROPPED = 8,
    FLAG_UNKNOWN_BEFORE = 1,
    FLAG_ALIGNED = 2,
    CARRY_SECTION_TIME = 1,
    BLOCK_HEAD_BYTES = 8,
    EVENT_HEAD_BYTES = 8,
    WIDE_BYTES = 16,
    COMPACT_BYTES = 9,
    ALL_SLOTS = 0x10000,
    MAX_SCRATCH = 1 << 28,
};

/* What is followed of a storage; many are not. */
struct followed {
    uint8_t *taken;      /* by slot: 1 taken, 0 free; of a storage without such slots there are none */
    struct group *group; /* NULL: nothing of it is counted */
    struct track *track; /* NULL: its occupancy is not */
    struct slots *slots; /* of the core whose catalogue it is; NULL: of none */
    uint64_t value;      /* of a counter */
    uint32_t num_slots, fields;
    uint32_t id_field; /* whose SET in a taken slot says something */
    uint32_t column;
    uint32_t kind;
    uint32_t block_size;
    const uint8_t *block; /* in the checkpoint, behind the head; NULL: none */
};

/* What is counted of an event type, for one look at each event. */
struct counted_event {
    struct group *group;   /* NULL: nothing */
    const uint8_t *labels; /* value -> column, from the first one */
    uint32_t label; /* offset of the value in the item; without labels anything, of which all are column 0 */
    uint32_t column;
    uint32_t payload;
    uint32_t role;
};

struct pass {
    struct index_job *job;
    const struct plan_head *head;
    const struct plan_storage *storages;
    const struct plan_event *events;
    const struct plan_core *cores;
    struct followed *followed;
    struct counted_event *counted;
    struct group *groups;
    struct slots *slots; /* by core */
    struct closings closings;
    const uint8_t *no_labels;
    uint64_t from; /* what it answers for begins here, ps */
    uint64_t time; /* of the present frame; up to here it is accounted for, ps */
    bool is_exact;
};

/* -- memory */

struct arena {
    uint8_t *base; /* NULL: it is only measured */
    uint64_t used;
};

static void *take(struct arena *arena, uint64_t size)
{
    void *taken = arena->base ? arena->base + arena->used : 0;
    arena->used += (size + 7) & ~(uint64_t)7;
    return taken;
}

static void *take_zeros(struct arena *arena, uint64_t size)
{
    void *taken = take(arena, size);
    if (taken) clear_bytes(taken, size);
    return taken;
}

static uint32_t capacity_of(uint32_t columns)
{
    uint32_t rows = columns ? MAX_CELLS / columns : 1;
    return rows < MAX_ROWS ? rows : MAX_ROWS;
}

static bool has_occupancy(const struct plan_storage *storage)
{
    bool can = storage->kind == STORAGE_SPARSE || storage->kind == STORAGE_DENSE_BUFFER;
    return can && storage->group != PLAN_NONE;
}

static uint32_t mask_bytes(const struct plan_storage *storage)
{
    return (storage->slots + 7) / 8;
}

static void lay_out_groups(struct pass *pass, struct arena *arena, const uint32_t *plan)
{
    const struct plan_group *planned = plan_groups(plan);
    pass->groups = take_zeros(arena, pass->head->groups * sizeof *pass->groups);
    for (uint32_t i = 0; i < pass->head->groups; i++) {
        uint32_t columns = planned[i].columns, capacity = capacity_of(columns);
        uint64_t *cells = take(arena, (uint64_t)(capacity + 1) * (columns + 1) * sizeof *cells);
        uint64_t *counted = take_zeros(arena, columns * sizeof *counted);
        if (!arena->base) continue;
        struct group *group = pass->groups + i;
        group->period = planned[i].period;
        group->bucket_ps = group->period * PLAN_BUCKET_CYCLES;
        group->columns = columns;
        group->capacity = capacity;
        group->cells = cells;
        group->counted = counted;
        group->last_track = &group->tracks;
    }
}

static void lay_out_storage(struct pass *pass, struct arena *arena, uint32_t id)
{
    const struct plan_storage *storage = pass->storages + id;
    bool has_slots = storage->kind == STORAGE_SPARSE || storage->kind == STORAGE_DENSE_BUFFER;
    uint8_t *taken = has_slots ? take_zeros(arena, storage->slots) : 0;
    struct track *track = 0;
    uint64_t *histogram = 0;
    if (has_occupancy(storage)) {
        track = take_zeros(arena, sizeof *track);
        histogram = take_zeros(arena, (storage->slots + 1) * sizeof *histogram);
    }
    if (!arena->base) return;
    struct followed *followed = pass->followed + id;
    followed->taken = taken;
    followed->kind = storage->kind;
    followed->num_slots = storage->slots;
    followed->fields = storage->fields;
    followed->column = storage->column;
    followed->id_field = storage->core ? pass->cores[storage->core - 1].id_field : PLAN_NONE;
    followed->group = storage->group == PLAN_NONE ? 0 : pass->groups + storage->group;
    followed->track = track;
    followed->slots = storage->core ? pass->slots + storage->core - 1 : 0;
    if (!track) return;
    track->histogram = histogram;
    track->slots = storage->slots;
    track->column = storage->column + 2;
    track->least = UINT32_MAX;
    *followed->group->last_track = track;
    followed->group->last_track = &track->next;
}

static void lay_out_core(struct pass *pass, struct arena *arena, uint32_t index, uint32_t strange_slots)
{
    const struct plan_core *core = pass->cores + index;
    if (core->group == PLAN_NONE || core->catalogue == PLAN_NONE) return;
    uint32_t size = strange_slots ? ALL_SLOTS : core->slots;
    uint8_t *flags = take_zeros(arena, size);
    uint32_t *ids = take(arena, size * sizeof *ids), *next = take(arena, size * sizeof *next);
    uint32_t *heads = take_zeros(arena, SPECIAL_HEADS * sizeof *heads);
    if (!arena->base) return;
    pass->slots[index] = (struct slots){flags, ids, heads, next, size, core->id_field, 0};
}

static void lay_out_events(struct pass *pass, struct arena *arena, const uint32_t *plan)
{
    pass->no_labels = take_zeros(arena, PLAN_MAP_BYTES);
    pass->counted = take_zeros(arena, pass->head->events * sizeof *pass->counted);
    if (!arena->base) return;
    for (uint32_t i = 0; i < pass->head->events; i++) {
        const struct plan_event *event = pass->events + i;
        pass->counted[i] = (struct counted_event){
            .group = event->group == PLAN_NONE ? 0 : pass->groups + event->group,
            .labels = event->label ? plan_labels(plan, event->map) : pass->no_labels,
            .label = event->label ? EVENT_HEAD_BYTES + event->label - 1 : 0,
            .column = event->column,
            .payload = event->payload,
            .role = event->role,
        };
    }
}

/* Everything that a pass needs besides its job, in one block. */
static void lay_out(struct pass *pass, struct arena *arena, const uint32_t *plan, uint32_t strange_slots)
{
    pass->head = plan_head(plan);
    pass->storages = plan_storages(plan);
    pass->events = plan_events(plan);
    pass->cores = plan_cores(plan);
    lay_out_groups(pass, arena, plan);
    pass->slots = take_zeros(arena, pass->head->cores * sizeof *pass->slots);
    pass->followed = take_zeros(arena, pass->head->storages * sizeof *pass->followed);
    for (uint32_t i = 0; i < pass->head->cores; i++)
        lay_out_core(pass, arena, i, strange_slots);
    for (uint32_t i = 0; i < pass->head->storages; i++)
        lay_out_storage(pass, arena, i);
    lay_out_events(pass, arena, plan);
    pass->closings.capacity = ALL_SLOTS;
    pass->closings.list = take(arena, ALL_SLOTS * sizeof *pass->closings.list);
}

uint32_t index_scratch_bytes(const uint32_t *plan, uint32_t strange_slots)
{
    struct pass pass;
    clear_bytes(&pass, sizeof pass);
    struct arena arena = {0, 0};
    lay_out(&pass, &arena, plan, strange_slots);
    return arena.used <= MAX_SCRATCH ? (uint32_t)arena.used : UINT32_MAX;
}

/* -- the checkpoint */

static uint32_t bits_in(uint32_t byte)
{
    return (uint32_t)__builtin_popcount(byte);
}

static uint32_t count_taken(const uint8_t *mask, uint32_t size)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < size; i++)
        count += bits_in(mask[i]);
    return count;
}

/* No bits are set behind the last slot. */
static bool is_mask(const uint8_t *mask, const struct plan_storage *storage)
{
    uint32_t bytes = mask_bytes(storage), spare = bytes * 8 - storage->slots;
    return !spare || !(mask[bytes - 1] >> (8 - spare));
}

/* Occupied: slots with data. What of the others is, only ops have told. */
static void take_dense(struct followed *followed, const struct plan_storage *storage)
{
    for (uint32_t slot = 0; slot < storage->slots; slot++) {
        const uint8_t *bytes = followed->block + (uint64_t)slot * storage->slot_bytes;
        for (uint32_t i = 0; i < storage->slot_bytes; i++)
            if (bytes[i]) followed->taken[slot] = 1;
    }
}

static void take_mask(struct followed *followed, const uint8_t *mask)
{
    for (uint32_t slot = 0; slot < followed->num_slots; slot++)
        followed->taken[slot] = mask[slot >> 3] >> (slot & 7) & 1;
}

static uint32_t slots_taken(const struct followed *followed)
{
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < followed->num_slots; slot++)
        count += followed->taken[slot];
    return count;
}

static bool load_block(struct pass *pass, uint32_t id, const uint8_t *block, uint32_t size)
{
    const struct plan_storage *storage = pass->storages + id;
    struct followed *followed = pass->followed + id;
    followed->block = block;
    followed->block_size = size;
    if (storage->kind == STORAGE_SPARSE) {
        uint32_t bytes = mask_bytes(storage);
        if (size < bytes) return false;
        if (!is_mask(block, storage)) return false;
        uint64_t slots = count_taken(block, bytes);
        if (size < bytes + slots * storage->slot_bytes) return false;
        take_mask(followed, block);
    } else if (size < (uint64_t)storage->slots * storage->slot_bytes) {
        return false;
    }
    if (storage->kind == STORAGE_DENSE_BUFFER) take_dense(followed, storage);
    if (storage->kind == STORAGE_COUNTER) followed->value = read_u64(block);
    return true;
}

static bool load_checkpoint(struct pass *pass)
{
    const uint8_t *at = pass->job->checkpoint, *end = at + pass->job->checkpoint_size;
    while (at < end) {
        if (end - at < BLOCK_HEAD_BYTES) return false;
        uint32_t id = read_u16(at), size = read_u32(at + 4);
        at += BLOCK_HEAD_BYTES;
        if (size > (uint64_t)(end - at) || id >= pass->head->storages) return false;
        if (!load_block(pass, id, at, size)) return false;
        at += size;
    }
    for (uint32_t id = 0; id < pass->head->storages; id++) {
        struct followed *followed = pass->followed + id;
        if (!followed->track) continue;
        followed->track->count = slots_taken(followed);
    }
    return true;
}

static void load_core(struct pass *pass, uint32_t index)
{
    const struct plan_core *core = pass->cores + index;
    struct slots *slots = pass->slots + index;
    if (!slots->size) return;
    const struct followed *followed = pass->followed + core->catalogue;
    const struct plan_storage *storage = pass->storages + core->catalogue;
    if (!followed->block) return;
    const uint8_t *data = followed->block + mask_bytes(storage);
    for (uint32_t slot = 0; slot < storage->slots; slot++) {
        if (!followed->taken[slot]) continue;
        bool has_id = core->id_field != PLAN_NONE;
        slots_bear(slots, slot, has_id ? read_low(data + core->id_offset, core->id_bytes) : slot, false);
        data += storage->slot_bytes;
    }
}

/* -- the carry */

/* The section of this pass; false: there is none. */
static bool find_section(struct input *carry, struct input *section)
{
    while (carry->at < carry->end && !carry->failed) {
        uint64_t tag = get_leb(carry), size = get_leb(carry);
        const uint8_t *bytes = get_bytes(carry, size);
        if (!bytes || carry->failed) return false;
        if (tag != CARRY_SECTION_TIME) continue;
        *section = (struct input){bytes, bytes + size, false};
        return true;
    }
    return false;
}

/* Entries whose keys ascend; what follows a key is the caller's to read. */
struct entries {
    uint64_t left, next, limit;
};

static struct entries get_entries(struct input *in, uint64_t limit)
{
    uint64_t count = get_leb(in);
    if (count > (uint64_t)(in->end - in->at)) in->failed = true;
    return (struct entries){in->failed ? 0 : count, 0, limit};
}

static bool get_key(struct input *in, struct entries *entries, uint32_t *key)
{
    if (!entries->left || in->failed) return false;
    uint64_t by = get_leb(in), found = entries->next + by;
    if (by > UINT32_MAX || found >= entries->limit) in->failed = true;
    if (in->failed) return false;
    entries->left--;
    entries->next = found + 1;
    *key = (uint32_t)found;
    return true;
}

/*
 * Walks what a carry holds behind its time, to check it, and with `apply` to take it over. Counts of slots in
 * the carry are those before the segment's start: they go into the tracks, and what the checkpoint says is
 * applied later.
 */
static bool walk_carry(struct pass *pass, struct input in, uint64_t last, bool apply)
{
    uint32_t key;
    for (uint32_t i = 0; i < pass->head->groups; i++) {
        struct group *group = pass->groups + i;
        struct entries entries = get_entries(&in, group->columns);
        while (get_key(&in, &entries, &key))
            if (apply) group->counted[key] = last / group->period + 1;
    }
    for (uint32_t i = 0; i < pass->head->groups; i++) {
        for (uint32_t id = 0; id < pass->head->storages; id++) {
            const struct plan_storage *storage = pass->storages + id;
            if (!has_occupancy(storage) || storage->group != i) continue;
            uint64_t count = get_leb(&in);
            bool is_dense = storage->kind == STORAGE_DENSE_BUFFER;
            const uint8_t *mask = is_dense ? get_bytes(&in, mask_bytes(storage)) : 0;
            if (count > storage->slots || (mask && !is_mask(mask, storage))) in.failed = true;
            if (in.failed) return false;
            if (!apply) continue;
            pass->followed[id].track->count = (uint32_t)count;
            if (is_dense) take_mask(pass->followed + id, mask);
        }
    }
    for (uint32_t i = 0; i < pass->head->cores; i++) {
        struct slots *slots = pass->slots + i;
        struct entries entries = get_entries(&in, ALL_SLOTS);
        while (get_key(&in, &entries, &key)) {
            uint32_t id = (uint32_t)get_leb(&in);
            const uint8_t *flushed = get_bytes(&in, 1);
            if (in.failed) return false;
            if (!apply || !slots->size) continue;
            if (key >= pass->cores[i].slots) {
                if (key < slots->size) slots_bear(slots, key, id, *flushed != 0);
            } else if ((slots->flags[key] & SLOT_BORN) && slots->ids[key] == id && *flushed) {
                slots->flags[key] |= SLOT_FLUSHED;
            }
        }
    }
    return !in.failed;
}

/* Time of the first frame; false: there is none. */
static bool first_frame(const struct index_job *job, uint64_t *time)
{
    struct input in = {job->frames, job->frames + job->frames_size, false};
    *time = job->start + get_leb(&in);
    return !in.failed;
}

/* False: nothing is known of what went before. */
static bool load_carry(struct pass *pass, uint64_t *last)
{
    const struct index_job *job = pass->job;
    if (!job->carry_known || !job->carry_size) return false;
    struct input carry = {job->carry, job->carry + job->carry_size, false}, section;
    if (!find_section(&carry, &section)) return false;
    *last = get_leb(&section);
    uint64_t first;
    if (section.failed || (first_frame(job, &first) && *last > first)) return false;
    if (!walk_carry(pass, section, *last, false)) return false;
    return walk_carry(pass, section, *last, true);
}

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
        if (round == 1) break;
        for (uint32_t i = 0; i < pass->head->groups; i++) {
            struct group *group = pass->groups + i;
            if (at % group->period) group->aligned = false;
            if (at >= group->end) group_advance(group, at);
        }
    }
    pass->time = at;
}

static bool start(struct pass *pass)
{
    if (!load_checkpoint(pass)) return false;
    for (uint32_t i = 0; i < pass->head->cores; i++)
        load_core(pass, i);
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
    start_buffers(pass);
    return true;
}

/* -- the frames */

static void settle(struct pass *pass)
{
    for (uint32_t i = 0; i < pass->closings.count; i++) {
        const struct closing *closing = pass->closings.list + i;
        const struct plan_core *core = pass->cores + closing->core;
        if (!closing->flushed) pass->groups[core->group].row[core->retired]++;
    }
    pass->closings.count = 0;
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
    if (slot < followed->num_slots && (is_clear || field < followed->fields))
        set_taken(followed, slot, !is_clear, pass->time);
    return true;
}

/* False: it is none. */
static inline bool take_op(struct pass *pass, uint64_t head, uint64_t value)
{
    uint32_t action = action_of(head), slot = slot_of(head);
    if (storage_of(head) >= pass->head->storages || action - 1 > ACTION_PROP_SET - 1) return false;
    struct followed *followed = pass->followed + storage_of(head);
    if (action == ACTION_PROP_SET || followed->kind == STORAGE_OTHER) return true;
    if (followed->kind == STORAGE_COUNTER) {
        if (slot == 0 && (action == ACTION_CLEAR || field_of(head) == 0))
            change_counter(followed, action, value);
        return true;
    }
    /* Most ops set a field of a slot that is taken, which tells nothing new. */
    bool is_known = slot < followed->num_slots && followed->taken[slot];
    if (is_known && action != ACTION_CLEAR && field_of(head) != followed->id_field) return true;
    return take_slot_op(pass, followed, head, value);
}

static void count_reason(struct pass *pass, struct group *group, const uint8_t *payload, uint32_t column,
                         uint32_t label, uint32_t map)
{
    count_cycle(group, pass->time, column);
    if (!label) return;
    count_cycle(group, pass->time, column + 1 + plan_label(pass->job->plan, map, payload[label - 1]));
}

static void take_flush(struct pass *pass, uint32_t index, const uint8_t *payload)
{
    const struct plan_core *core = pass->cores + index;
    struct slots *slots = pass->slots + index;
    uint32_t id = core->flush_id ? read_low(payload + core->flush_id - 1, core->flush_id_bytes) : 0;
    if (slots->size && core->flush_id && !slots_flush(slots, id, index, &pass->closings)) return;
    struct group *group = pass->groups + core->group;
    group->row[core->squashed]++;
    count_reason(pass, group, payload, core->flushes, core->flush_reason, core->flush_map);
}

static void take_role(struct pass *pass, const struct plan_event *event, const uint8_t *payload)
{
    if (event->role == EVENT_FLUSH) take_flush(pass, event->core, payload);
    if (event->role == EVENT_STALL) {
        const struct plan_core *core = pass->cores + event->core;
        count_reason(pass, pass->groups + core->group, payload, core->stalls, core->stall_reason,
                     core->stall_map);
    }
}

/* An event, of whose head there are enough bytes; returns where the next item is, NULL: it is none. */
static inline const uint8_t *take_event(struct pass *pass, const uint8_t *at, uint64_t head, uint64_t left)
{
    uint32_t type = (uint32_t)(head >> 16) & 0xffff, size = (uint32_t)(head >> 32);
    if (size > left - EVENT_HEAD_BYTES) return 0;
    const uint8_t *next = at + EVENT_HEAD_BYTES + size;
    if (type >= pass->head->events) return next;
    const struct counted_event *event = pass->counted + type;
    if (size != event->payload) return 0;
    if (event->group) event->group->row[event->column + event->labels[at[event->label]]]++;
    if (event->role) take_role(pass, pass->events + type, at + EVENT_HEAD_BYTES);
    return next;
}

/* The same for an op of nine bytes: storage and value are shorter. */
static inline uint64_t wide_head(const uint8_t *at)
{
    return (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)read_u32(at + 3) << 32;
}

/* The item at `at`; returns where the next one is, NULL: it is none. */
static inline const uint8_t *take_item(struct pass *pass, const uint8_t *at, const uint8_t *end)
{
    uint64_t left = (uint64_t)(end - at);
    if (left < EVENT_HEAD_BYTES) return 0;
    uint64_t head = read_u64(at);
    uint8_t tag = (uint8_t)head;
    if (tag == TAG_EVENT) return take_event(pass, at, head, left);
    if (tag == TAG_WIDE && left >= WIDE_BYTES)
        return take_op(pass, head, read_u64(at + 8)) ? at + WIDE_BYTES : 0;
    if (tag == TAG_COMPACT && left >= COMPACT_BYTES)
        return take_op(pass, wide_head(at), read_u16(at + 7)) ? at + COMPACT_BYTES : 0;
    return 0;
}

static void enter_frame(struct pass *pass, uint64_t by)
{
    pass->time += by;
    for (uint32_t i = 0; i < pass->head->groups; i++) {
        struct group *group = pass->groups + i;
        /* Mostly a frame follows each cycle: no division for these. */
        if (group->aligned && by != group->period && pass->time % group->period) group->aligned = false;
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
        for (uint32_t left = read_u16(count); left > 0; left--) {
            const uint8_t *next = take_item(pass, in.at, in.end);
            if (!next) return false;
            in.at = next;
        }
    }
    settle(pass);
    for (uint32_t i = 0; i < pass->head->groups; i++)
        group_close(pass->groups + i, pass->time);
    return true;
}

/* -- the container */

static void divide_sums(const struct group *group, uint64_t unit)
{
    if (unit == 1) return;
    for (const struct track *track = group->tracks; track; track = track->next) {
        uint64_t *cell = group->cells + 1 + track->column;
        for (uint32_t row = 0; row < group->rows; row++, cell += group->columns + 1)
            *cell /= unit;
    }
}

static void sign_deltas(struct pass *pass, uint32_t index)
{
    const struct group *group = pass->groups + index;
    for (uint32_t id = 0; id < pass->head->storages; id++) {
        const struct plan_storage *storage = pass->storages + id;
        if (storage->kind != STORAGE_COUNTER || storage->group != index) continue;
        uint64_t *cell = group->cells + 1 + storage->column;
        for (uint32_t row = 0; row < group->rows; row++, cell += group->columns + 1)
            *cell = zigzag(*cell);
    }
}

static void put_times(struct pass *pass, struct output *out, const struct group *group)
{
    bool in_periods = group->aligned && group->period != 1;
    put_leb(out, (pass->is_exact ? 0u : FLAG_UNKNOWN_BEFORE) | (in_periods ? FLAG_ALIGNED : 0u));
    put_leb(out, pass->from);
    put_leb(out, pass->time - pass->from);
}

static void put_time_part(struct pass *pass, struct output *out, uint32_t index)
{
    struct group *group = pass->groups + index;
    put_times(pass, out, group);
    put_leb(out, 0); /* level */
    put_leb(out, group->rows);
    struct table table = {group->cells, group->rows, group->columns + 1};
    put_columns(out, &table);
}

static void put_occupancy_part(struct pass *pass, struct output *out, uint32_t index)
{
    const struct group *group = pass->groups + index;
    uint64_t unit = group->aligned ? group->period : 1;
    put_times(pass, out, group);
    for (const struct track *track = group->tracks; track; track = track->next) {
        uint32_t entries = 0, next = 0;
        for (uint32_t count = 0; count <= track->slots; count++)
            entries += track->histogram[count] / unit != 0;
        put_leb(out, entries);
        for (uint32_t count = 0; count <= track->slots; count++) {
            uint64_t time = track->histogram[count] / unit;
            if (!time) continue;
            put_leb(out, count - next);
            put_leb(out, time);
            next = count + 1;
        }
    }
}

static uint8_t mask_byte(const struct followed *followed, uint32_t first)
{
    uint8_t byte = 0;
    for (uint32_t bit = 0; bit < 8 && first + bit < followed->num_slots; bit++)
        byte |= (uint8_t)(followed->taken[first + bit] << bit);
    return byte;
}

static void put_carry(struct pass *pass, struct output *out)
{
    put_leb(out, pass->time);
    for (uint32_t i = 0; i < pass->head->groups; i++) {
        const struct group *group = pass->groups + i;
        uint64_t cycle = pass->time / group->period + 1;
        uint32_t count = 0, next = 0;
        for (uint32_t column = 0; column < group->columns; column++)
            count += group->counted[column] == cycle;
        put_leb(out, count);
        for (uint32_t column = 0; count && column < group->columns; column++) {
            if (group->counted[column] != cycle) continue;
            put_leb(out, column - next);
            next = column + 1;
        }
    }
    for (uint32_t i = 0; i < pass->head->groups; i++) {
        for (uint32_t id = 0; id < pass->head->storages; id++) {
            const struct plan_storage *storage = pass->storages + id;
            const struct followed *followed = pass->followed + id;
            if (!followed->track || storage->group != i) continue;
            put_leb(out, followed->track->count);
            if (storage->kind != STORAGE_DENSE_BUFFER) continue;
            for (uint32_t slot = 0; slot < storage->slots; slot += 8)
                put_byte(out, mask_byte(followed, slot));
        }
    }
    for (uint32_t i = 0; i < pass->head->cores; i++) {
        const struct slots *slots = pass->slots + i;
        uint32_t entries = 0, next = 0;
        for (uint32_t round = 0; round < 2; round++) {
            for (uint32_t slot = 0; slot < slots->size; slot++) {
                uint8_t flags = slots->flags[slot];
                if (!(flags & SLOT_BORN) || !((flags & SLOT_FLUSHED) || slot >= pass->cores[i].slots))
                    continue;
                if (round == 0) {
                    entries++;
                    continue;
                }
                put_leb(out, slot - next);
                put_leb(out, slots->ids[slot]);
                put_byte(out, flags & SLOT_FLUSHED ? 1 : 0);
                next = slot + 1;
            }
            if (round == 0) put_leb(out, entries);
            if (!entries) break;
        }
    }
}

/* The entries of parts and the parts, which are put one after the other and moved behind the entries at the
 * end. */
struct parts {
    struct output out;
    uint8_t *entries;
    uint8_t *begun;
    uint32_t count;
};

static void begin_part(struct parts *parts)
{
    parts->begun = parts->out.at;
}

static void end_part(struct parts *parts, uint32_t kind, uint32_t subject)
{
    uint8_t *at = parts->entries + parts->count++ * ENTRY_BYTES;
    struct output entry = {at, at + ENTRY_BYTES, false};
    put_u16(&entry, kind);
    put_u16(&entry, subject);
    put_u32(&entry, (uint32_t)(parts->out.at - parts->begun));
}

static void put_dropped(struct pass *pass, struct parts *parts)
{
    bool any = false;
    begin_part(parts);
    for (uint32_t i = 0; i < pass->head->groups; i++) {
        if (!pass->groups[i].full || !pass->groups[i].columns) continue;
        any = true;
        put_leb(&parts->out, PART_TIME);
        put_leb(&parts->out, i);
    }
    if (any) end_part(parts, PART_DROPPED, 0);
}

static void put_carry_part(struct pass *pass, struct parts *parts)
{
    /* Its size comes first: it is put where it is thrown away, to be measured. */
    begin_part(parts);
    struct output measured = parts->out;
    put_carry(pass, &measured);
    uint64_t size = (uint64_t)(measured.at - parts->out.at);
    put_leb(&parts->out, CARRY_SECTION_TIME);
    put_leb(&parts->out, size);
    put_carry(pass, &parts->out);
    end_part(parts, PART_CARRY, 0);
}

static uint32_t most_parts(const struct pass *pass)
{
    return pass->head->groups * 2 + 2;
}

static uint32_t put_container(struct pass *pass)
{
    struct index_job *job = pass->job;
    uint32_t room = HEAD_BYTES + most_parts(pass) * ENTRY_BYTES;
    if (job->out_size < room) return 0;
    struct parts parts = {{job->out + room, job->out + job->out_size, false}, job->out + HEAD_BYTES, 0, 0};
    for (uint32_t i = 0; i < pass->head->groups; i++) {
        struct group *group = pass->groups + i;
        if (!group->columns || group->full) continue;
        divide_sums(group, group->aligned ? group->period : 1);
        sign_deltas(pass, i);
        begin_part(&parts);
        put_time_part(pass, &parts.out, i);
        end_part(&parts, PART_TIME, i);
    }
    for (uint32_t i = 0; i < pass->head->groups; i++) {
        if (!pass->groups[i].tracks) continue;
        begin_part(&parts);
        put_occupancy_part(pass, &parts.out, i);
        end_part(&parts, PART_OCCUPANCY, i);
    }
    put_dropped(pass, &parts);
    put_carry_part(pass, &parts);
    if (parts.out.failed) return 0;
    uint8_t *behind_entries = parts.entries + parts.count * ENTRY_BYTES;
    uint64_t size = (uint64_t)(parts.out.at - (job->out + room));
    __builtin_memmove(behind_entries, job->out + room, (__SIZE_TYPE__)size);
    uint8_t *end = behind_entries + size;
    job->carry_length = (uint32_t)(parts.out.at - parts.begun);
    job->carry_at = (uint32_t)(end - job->out) - job->carry_length;
    struct output rest = {end, job->out + job->out_size, false};
    while ((rest.at - job->out) % 8)
        put_byte(&rest, 0);
    if (rest.failed) return 0;
    struct output head = {job->out, job->out + HEAD_BYTES, false};
    put_u32(&head, INDEX_MAGIC);
    put_u32(&head, (uint32_t)(rest.at - job->out));
    put_u32(&head, 0);
    put_u16(&head, INDEX_ID);
    put_u16(&head, INDEX_LAYOUT);
    put_u32(&head, 0);
    put_u32(&head, 0);
    put_u32(&head, job->plan_crc);
    put_u32(&head, parts.count);
    return (uint32_t)(rest.at - job->out);
}

uint32_t index_segment(struct index_job *job)
{
    struct pass pass;
    clear_bytes(&pass, sizeof pass);
    struct arena arena = {job->scratch, 0};
    if (index_scratch_bytes(job->plan, job->strange_slots) > job->scratch_size) return 0;
    pass.job = job;
    lay_out(&pass, &arena, job->plan, job->strange_slots);
    return start(&pass) && walk(&pass) ? put_container(&pass) : 0;
}
