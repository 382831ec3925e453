/* SPDX-License-Identifier: Apache-2.0 */
/* What a segment leaves to the next one. */
#include "state.h"

/* An instruction in flight. */
struct carried {
    uint64_t distance, since_entered, since_born;
    uint32_t slot, id;
    uint8_t stage; /* NO_STAGE: none */
};

/* -- read */

/* The section with a tag; of several the last. False: there is none, or the carry is damaged. */
static bool find_section(const struct index_job *job, uint32_t wanted, struct input *section)
{
    struct input all = {job->carry, job->carry + job->carry_size, false}, *carry = &all;
    bool found = false;
    while (carry->at < carry->end) {
        uint64_t tag = get_leb(carry), size = get_leb(carry);
        const uint8_t *bytes = get_bytes(carry, size);
        if (!bytes || carry->failed) return false;
        if (tag != wanted) continue;
        *section = (struct input){bytes, bytes + size, false};
        found = true;
    }
    return found;
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
 * Walks what a carry holds after its time, to check it, and with `apply` to take it over. Counts of slots in
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
            } else if (*flushed && life_goes_on(slots->life + key, id)) {
                slots->life[key].flags |= SLOT_FLUSHED;
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
bool load_carry(struct pass *pass, uint64_t *last)
{
    const struct index_job *job = pass->job;
    if (!job->carry_known || !job->carry_size) return false;
    struct input section;
    if (!find_section(job, CARRY_SECTION_TIME, &section)) return false;
    *last = get_leb(&section);
    uint64_t first;
    if (section.failed || (first_frame(job, &first) && *last > first)) return false;
    if (!walk_carry(pass, section, *last, false)) return false;
    return walk_carry(pass, section, *last, true);
}

static bool get_carried(struct input *in, uint64_t *next, const struct plan_core *core,
                        struct carried *carried)
{
    uint64_t by = get_leb(in), slot = *next + by, zigzagged = get_leb(in);
    int64_t beyond = (int64_t)(zigzagged >> 1 ^ (0 - (zigzagged & 1)));
    carried->distance = get_leb(in);
    uint64_t stage = get_leb(in);
    if (in->failed || by >= ALL_SLOTS || slot >= ALL_SLOTS) return false;
    if (beyond > UINT32_MAX || beyond < -(int64_t)ALL_SLOTS) return false;
    int64_t id = (int64_t)slot + beyond;
    if (id < 0 || id > UINT32_MAX || stage > core->stages || !carried->distance) return false;
    carried->since_entered = stage ? get_leb(in) : 0;
    carried->since_born = carried->since_entered + get_leb(in);
    carried->slot = (uint32_t)slot;
    carried->id = (uint32_t)id;
    carried->stage = stage ? (uint8_t)(stage - 1) : NO_STAGE;
    *next = slot + 1;
    return !in->failed;
}

/* Number of instructions of the next core, + 1. False: there are too many for so few bytes. */
static bool get_carried_count(struct input *in, uint64_t *count)
{
    *count = get_leb(in);
    bool has_room = !*count || (*count - 1 <= (uint64_t)(in->end - in->at) && *count - 1 <= MAX_CARRIED);
    return !in->failed && has_room;
}

/* Reads the groups of all instructions, to check the whole and to number them; false: it is damaged. */
static bool begin_rows(struct pass *pass, struct input in)
{
    for (uint32_t i = 0; i < pass->head->cores; i++) {
        uint64_t count, next = 0;
        if (!get_carried_count(&in, &count)) return false;
        struct lives *lives = pass->lives + i;
        lives->exact = count > 0;
        for (uint64_t left = 1; left < count; left++) {
            struct carried carried;
            if (!get_carried(&in, &next, pass->cores + i, &carried)) return false;
            if (lives->stages) lives->distances[left - 1] = carried.distance;
        }
        if (lives->stages && !lives_begin(lives, count ? (uint32_t)count - 1 : 0)) return false;
    }
    return true;
}

static void continue_rows(struct pass *pass, struct input in, uint64_t last)
{
    for (uint32_t i = 0; i < pass->head->cores; i++) {
        uint64_t count, next = 0;
        get_carried_count(&in, &count);
        const struct plan_core *core = pass->cores + i;
        struct slots *slots = pass->slots + i;
        for (uint64_t left = 1; left < count; left++) {
            struct carried carried;
            if (!get_carried(&in, &next, core, &carried)) return;
            if (!slots->size) continue;
            uint64_t cycle = last / pass->groups[core->group].period;
            uint32_t group = lives_earlier(slots->lives, carried.distance), slot = carried.slot;
            struct life *there = slot < slots->size ? slots->life + slot : 0;
            bool is_there = there && (there->flags & SLOT_BORN) && there->id == carried.id;
            struct life life = {cycle - carried.since_entered,
                                life_cells(slots->lives, group),
                                cycle - carried.since_born,
                                carried.id,
                                carried.stage,
                                is_there ? there->flags : 0};
            if (is_there) {
                *there = life;
            } else {
                life_end(slots->lives, &life, false);
                slots->lives->lost = true;
            }
        }
    }
}

void load_rows_carry(struct pass *pass, uint64_t last, uint64_t at)
{
    struct input section;
    if (!find_section(pass->job, CARRY_SECTION_ROWS, &section)) return;
    for (uint32_t i = 0; i < pass->head->groups; i++)
        pass->groups[i].now = at / pass->groups[i].period;
    bool is_whole = begin_rows(pass, section);
    if (is_whole) continue_rows(pass, section, last);
    for (uint32_t i = 0; !is_whole && i < pass->head->cores; i++) {
        pass->lives[i].exact = false;
        pass->lives[i].late = 0;
    }
}

/* -- written */

static uint8_t mask_byte(const struct followed *followed, uint32_t first)
{
    uint8_t byte = 0;
    for (uint32_t bit = 0; bit < 8 && first + bit < followed->num_slots; bit++)
        byte |= (uint8_t)(followed->taken[first + bit] << bit);
    return byte;
}

static void put_time_carry(struct pass *pass, struct output *out)
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
                uint8_t flags = slots->life[slot].flags;
                if (!(flags & SLOT_BORN) || !((flags & SLOT_FLUSHED) || slot >= pass->cores[i].slots))
                    continue;
                if (round == 0) {
                    entries++;
                    continue;
                }
                put_leb(out, slot - next);
                put_leb(out, slots->life[slot].id);
                put_byte(out, flags & SLOT_FLUSHED ? 1 : 0);
                next = slot + 1;
            }
            if (round == 0) put_leb(out, entries);
            if (!entries) break;
        }
    }
}

/* Instructions of a core whose rows are known; UINT32_MAX: they are too many, or of too many groups. */
static uint32_t count_carried(const struct slots *slots)
{
    struct lives *lives = slots->lives;
    if (!slots->size || lives->full) return UINT32_MAX;
    uint32_t rows = 0, groups = 0;
    clear_bytes(lives->marks, MAX_LATE + lives->groups);
    for (uint32_t slot = 0; slot < slots->size; slot++) {
        const struct life *life = slots->life + slot;
        if (!(life->flags & SLOT_BORN) || !life->cells) continue;
        uint32_t group = life_group(lives, life);
        rows++;
        groups += !lives->marks[group];
        lives->marks[group] = 1;
    }
    return rows <= MAX_CARRIED && groups <= MAX_LATE ? rows : UINT32_MAX;
}

static void put_core_rows(const struct slots *slots, struct output *out)
{
    const struct lives *lives = slots->lives;
    uint32_t next = 0;
    for (uint32_t slot = 0; slot < slots->size; slot++) {
        const struct life *life = slots->life + slot;
        if (!(life->flags & SLOT_BORN) || !life->cells) continue;
        put_leb(out, slot - next);
        put_leb(out, zigzag((uint64_t)life->id - slot));
        put_leb(out, life_distance(lives, life));
        bool has_stage = life->stage != NO_STAGE;
        put_leb(out, has_stage ? life->stage + 1u : 0);
        if (has_stage) put_leb(out, *lives->now - life->entered);
        put_leb(out, (has_stage ? life->entered : *lives->now) - life->born);
        next = slot + 1;
    }
}

static void put_rows_carry(struct pass *pass, struct output *out)
{
    for (uint32_t i = 0; i < pass->head->cores; i++) {
        uint32_t count = count_carried(pass->slots + i);
        put_leb(out, (uint32_t)(count + 1));
        if (count != UINT32_MAX) put_core_rows(pass->slots + i, out);
    }
}

typedef void put_section(struct pass *pass, struct output *out);

/* Its size comes first: it is put where there is room for that, and moved to its place. */
static void put_sized(struct pass *pass, struct output *out, uint32_t tag, put_section *put, uint64_t most)
{
    enum { HEAD_ROOM = 16 };
    if (out->end - out->at < HEAD_ROOM) {
        out->failed = true;
        return;
    }
    uint8_t *begun = out->at + HEAD_ROOM;
    struct output section = {begun, out->end, false};
    put(pass, &section);
    uint64_t size = (uint64_t)(section.at - begun);
    if (section.failed) out->failed = true;
    if (size > most) return;
    put_leb(out, tag);
    put_leb(out, size);
    __builtin_memmove(out->at, begun, (__SIZE_TYPE__)size);
    out->at += size;
}

void put_carry(struct pass *pass, struct output *out)
{
    put_sized(pass, out, CARRY_SECTION_TIME, put_time_carry, UINT64_MAX);
    bool has_rows = false;
    for (uint32_t i = 0; i < pass->head->cores; i++)
        has_rows = has_rows || pass->slots[i].size;
    if (has_rows)
        put_sized(pass, out, CARRY_SECTION_ROWS, put_rows_carry, pass->job->frames_size / CARRY_SHARE);
}
