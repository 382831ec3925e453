/* SPDX-License-Identifier: Apache-2.0 */
/* What a pass has counted, as bytes: docs/format.md#index-containers. */
#include "columns.h"
#include "parts.h"
#include "state.h"

enum {
    INDEX_MAGIC = 0x58444975, /* "uIDX" */
    INDEX_ID = 0xff10,
    INDEX_LAYOUT = 1,
    HEAD_BYTES = 32,
    ENTRY_BYTES = 8,
    FLAG_UNKNOWN_BEFORE = 1,
    FLAG_ALIGNED = 2,
};

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
    struct table table = {group->cells, group->rows, group->columns + 1, group->columns + 1};
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

/* The entries of parts, and the parts: one after the other, moved to their place after the entries when all
 * are known. */
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

/* Groups of earlier segments of which there is something to say move up; their number. */
static uint32_t keep_late(struct lives *lives)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < lives->late; i++) {
        uint64_t *from = life_cells(lives, i), any = 0;
        for (uint32_t cell = LIFE_END; cell < lives->stride; cell++)
            any |= from[cell];
        if (!any) continue;
        __builtin_memmove(life_cells(lives, kept++), from, lives->stride * sizeof *from);
    }
    return kept;
}

static void put_rows_part(struct lives *lives, struct output *out)
{
    uint64_t *own = life_cells(lives, MAX_LATE);
    for (uint32_t i = 0; i < lives->groups; i++) {
        uint64_t *cells = own + (uint64_t)i * lives->stride;
        cells[LIFE_LAST] -= cells[LIFE_FIRST];
        if (cells[LIFE_END]) cells[LIFE_END] -= cells[LIFE_FIRST];
    }
    put_leb(out, lives->exact ? 0 : FLAG_UNKNOWN_BEFORE);
    put_leb(out, lives->births);
    struct table table = {own, lives->groups, lives->stride, lives->stride};
    if (lives->groups) put_columns(out, &table);
    struct table late = {lives->cells + LIFE_LAST, keep_late(lives), lives->stride - LIFE_LAST,
                         lives->stride};
    put_leb(out, late.rows);
    if (late.rows) put_columns(out, &late);
}

static void put_keys(struct output *out, const struct text *entries, uint32_t count)
{
    put_leb(out, count);
    uint64_t before = 0;
    for (uint32_t i = 0; i < count; i++) {
        put_leb(out, entries[i].key - before);
        before = entries[i].key;
    }
}

static void put_statics(struct output *out, const struct text *entries, uint32_t count)
{
    put_keys(out, entries, count);
    for (uint32_t i = 0; i < count; i++)
        put_u32(out, entries[i].bits);
}

static void put_drop(struct parts *parts, uint32_t kind, uint32_t subject)
{
    put_leb(&parts->out, kind);
    put_leb(&parts->out, subject);
}

static bool lacks_stats(const struct pass *pass, uint32_t core)
{
    return pass->lives[core].full || pass->stats[core].full;
}

static void put_dropped(struct pass *pass, struct parts *parts)
{
    begin_part(parts);
    for (uint32_t i = 0; i < pass->head->groups; i++) {
        if (!pass->groups[i].full || !pass->groups[i].columns) continue;
        put_drop(parts, PART_TIME, i);
    }
    for (uint32_t i = 0; i < pass->head->cores; i++)
        if (pass->lives[i].full) put_drop(parts, PART_ROWS, i);
    for (uint32_t i = 0; i < pass->head->cores; i++)
        if (pass->written[i].set.full) put_drop(parts, PART_PCS, i);
    if (pass->strings.full) put_drop(parts, PART_STRINGS, 0);
    for (uint32_t i = 0; i < pass->head->cores; i++)
        if (lacks_stats(pass, i)) put_drop(parts, PART_STATS, i);
    if (parts->out.at > parts->begun) end_part(parts, PART_DROPPED, 0);
}

static uint32_t most_parts(const struct pass *pass)
{
    return pass->head->groups * 2 + pass->head->cores * 3 + 3;
}

static void put_rows_and_texts(struct pass *pass, struct parts *parts)
{
    for (uint32_t i = 0; i < pass->head->cores; i++) {
        struct lives *lives = pass->lives + i;
        if (!lives->stages || lives->full) continue;
        begin_part(parts);
        put_rows_part(lives, &parts->out);
        end_part(parts, PART_ROWS, i);
    }
    for (uint32_t i = 0; i < pass->head->cores; i++) {
        struct text_set *set = &pass->written[i].set;
        if (!set->heads || set->full) continue;
        begin_part(parts);
        put_statics(&parts->out, text_set_sort(set, pass->spare), set->count);
        end_part(parts, PART_PCS, i);
    }
    if (pass->strings.heads && !pass->strings.full) {
        begin_part(parts);
        put_keys(&parts->out, text_set_sort(&pass->strings, pass->spare), pass->strings.count);
        end_part(parts, PART_STRINGS, 0);
    }
    for (uint32_t i = 0; i < pass->head->cores; i++) {
        if (!pass->lives[i].stages || lacks_stats(pass, i)) continue;
        begin_part(parts);
        put_stats(pass->stats + i, &parts->out);
        end_part(parts, PART_STATS, i);
    }
}

uint32_t put_container(struct pass *pass)
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
    put_rows_and_texts(pass, &parts);
    put_dropped(pass, &parts);
    begin_part(&parts);
    put_carry(pass, &parts.out);
    end_part(&parts, PART_CARRY, 0);
    if (parts.out.failed) return 0;
    uint8_t *behind_entries = parts.entries + parts.count * ENTRY_BYTES;
    uint64_t size = (uint64_t)(parts.out.at - (job->out + room));
    __builtin_memmove(behind_entries, job->out + room, (__SIZE_TYPE__)size);
    uint8_t *end = behind_entries + size;
    job->carry_length = (uint32_t)(parts.out.at - parts.begun);
    job->carry_at = (uint32_t)(end - job->out) - job->carry_length;
    struct output rest = {end, job->out + job->out_size, false};
    while ((rest.at - job->out) % 8 && !rest.failed)
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
