/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a pass. */
#include "arena.h"
#include "state.h"

static uint32_t capacity_of(uint32_t columns)
{
    uint32_t rows = columns ? MAX_CELLS / columns : 1;
    return rows < MAX_ROWS ? rows : MAX_ROWS;
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

static uint32_t mask_of(uint32_t bytes)
{
    return bytes >= 4 ? UINT32_MAX : ((uint32_t)1 << 8 * bytes) - 1;
}

static void lay_out_catalogue(struct pass *pass, struct followed *followed, uint32_t index)
{
    const struct plan_core *core = pass->cores + index;
    followed->core = index;
    followed->slots = pass->slots + index;
    followed->id_field = core->id_field;
    if (!pass->written[index].slots) return;
    followed->written = pass->written + index;
    followed->pc_field = core->pc_field;
    followed->bits_field = core->bits_field;
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
    followed->group = storage->group == PLAN_NONE ? 0 : pass->groups + storage->group;
    followed->track = track;
    followed->id_field = followed->pc_field = followed->bits_field = PLAN_NONE;
    if (storage->core) lay_out_catalogue(pass, followed, storage->core - 1);
    if (!track) return;
    track->histogram = histogram;
    track->slots = storage->slots;
    track->column = storage->column + 2;
    track->least = UINT32_MAX;
    *followed->group->last_track = track;
    followed->group->last_track = &track->next;
}

static void lay_out_slots(struct pass *pass, struct arena *arena, uint32_t index, uint32_t strange_slots)
{
    const struct plan_core *core = pass->cores + index;
    uint32_t size = strange_slots ? ALL_SLOTS : core->slots;
    struct life *life = take_zeros(arena, size * sizeof *life);
    uint32_t *next = take(arena, size * sizeof *next);
    uint32_t *heads = take_zeros(arena, SPECIAL_HEADS * sizeof *heads);
    if (!arena->base) return;
    struct lives *lives = pass->lives + index;
    pass->slots[index] = (struct slots){
        .life = life,
        .heads = heads,
        .next = next,
        .size = size,
        .known = core->slots,
        .id_field = core->id_field,
        .lives = lives,
    };
}

/* 0: memory is only measured. */
static uint32_t frames_size_of(const struct pass *pass)
{
    return pass->job ? pass->job->frames_size : 0;
}

static uint32_t entries_for(uint32_t frames_size)
{
    uint32_t entries = frames_size / BYTES_PER_ENTRY;
    return entries < LEAST_SET ? LEAST_SET : entries > MAX_SET ? MAX_SET : entries;
}

static void lay_out_set(struct text_set *set, struct arena *arena, uint32_t frames_size)
{
    struct text *entries = take(arena, MAX_SET * sizeof *entries);
    uint16_t *heads = take_zeros(arena, SET_HEADS * sizeof *heads);
    if (arena->base) *set = (struct text_set){entries, heads, 0, entries_for(frames_size), false};
}

static void lay_out_texts(struct pass *pass, struct arena *arena, uint32_t index, uint32_t strange_slots)
{
    const struct plan_core *core = pass->cores + index;
    if (core->pc_field == PLAN_NONE && core->bits_field == PLAN_NONE) return;
    uint32_t size = strange_slots ? ALL_SLOTS : core->slots;
    struct slot_text *slots = take_zeros(arena, size * sizeof *slots);
    uint16_t *list = take(arena, size * sizeof *list);
    struct text_set set = {0};
    lay_out_set(&set, arena, frames_size_of(pass));
    if (!arena->base) return;
    pass->written[index] = (struct written){set, slots, list, 0, &pass->unsettled};
    if (core->mix_xlen) pass->slots[index].texts = slots;
}

static void lay_out_lives(struct pass *pass, struct arena *arena, uint32_t index, const uint32_t *plan)
{
    const struct plan_core *core = pass->cores + index;
    uint32_t stride = LIFE_STAGES + 2 * core->stages, most = capacity_of(stride);
    uint32_t capacity = most < MAX_GROUPS ? most : MAX_GROUPS;
    uint64_t *cells = take(arena, (uint64_t)(MAX_LATE + capacity) * stride * sizeof *cells);
    struct early *early = take(arena, MAX_EARLY * sizeof *early);
    uint64_t *distances = take(arena, MAX_CARRIED * sizeof *distances);
    uint8_t *marks = take(arena, MAX_LATE + capacity);
    if (!arena->base) return;
    pass->lives[index] = (struct lives){
        .cells = cells,
        .early = early,
        .distances = distances,
        .marks = marks,
        .stage_of = core->stage_map == PLAN_NONE ? pass->no_labels : plan_labels(plan, core->stage_map),
        .now = &pass->groups[core->group].now,
        .unsettled = &pass->unsettled,
        .stages = core->stages,
        .stride = stride,
        .capacity = capacity,
        .stats = pass->stats + index,
    };
}

static void lay_out_core(struct pass *pass, struct arena *arena, uint32_t index, const uint32_t *plan,
                         uint32_t strange_slots)
{
    const struct plan_core *core = pass->cores + index;
    if (core->group == PLAN_NONE || core->catalogue == PLAN_NONE) return;
    lay_out_slots(pass, arena, index, strange_slots);
    lay_out_lives(pass, arena, index, plan);
    lay_out_texts(pass, arena, index, strange_slots);
    stats_lay_out(TAKEN(pass->stats, index), arena, core);
}

static uint32_t longest_item(const struct pass *pass)
{
    uint32_t longest = WIDE_BYTES;
    for (uint32_t i = 0; i < pass->head->events; i++) {
        uint32_t size = EVENT_HEAD_BYTES + pass->events[i].payload;
        longest = size > longest ? size : longest;
    }
    return longest;
}

static void lay_out_events(struct pass *pass, struct arena *arena, const uint32_t *plan)
{
    pass->num_storages = pass->head->storages;
    pass->num_events = pass->head->events;
    pass->longest = longest_item(pass) + READ_BEYOND;
    pass->last_item = take_zeros(arena, pass->longest);
    pass->no_row = take_zeros(arena, sizeof *pass->no_row);
    pass->counted = take_zeros(arena, pass->head->events * sizeof *pass->counted);
    struct text_set strings = {0};
    lay_out_set(&strings, arena, frames_size_of(pass));
    if (!arena->base) return;
    bool any_strings = false;
    for (uint32_t i = 0; i < pass->head->events; i++) {
        const struct plan_event *event = pass->events + i;
        bool is_counted = event->group != PLAN_NONE, has_labels = is_counted && event->label;
        bool is_plain = !event->string && event->role == EVENT_OTHER;
        pass->counted[i] = (struct counted_event){
            .row = is_counted ? &pass->groups[event->group].row : &pass->no_row,
            .labels = has_labels ? plan_labels(plan, event->map) : pass->no_labels,
            .label = has_labels ? EVENT_HEAD_BYTES + event->label - 1 : 0,
            .column = is_counted ? event->column : 0,
            .payload = event->payload,
            .effect = is_plain ? EVENT_COUNTED : EVENT_IS_MORE,
            .role = event->role,
            .string = event->string ? EVENT_HEAD_BYTES + event->string - 1 : 0,
        };
        any_strings = any_strings || event->string;
        struct counted_event *counted = pass->counted + i;
        counted->core = event->core;
        if (event->role != EVENT_STAGE) continue;
        const struct plan_core *core = pass->cores + event->core;
        counted->slots = pass->slots + event->core;
        counted->id = EVENT_HEAD_BYTES + core->stage_id - 1;
        counted->id_mask = mask_of(core->stage_id_bytes);
        counted->stage = EVENT_HEAD_BYTES + core->stage - 1;
        counted->stage_mask = mask_of(core->stage_bytes);
        bool is_usual = core->stage_id_bytes == 4 && core->stage_bytes == 1;
        if (is_usual && !event->string) counted->effect = EVENT_ENTERS;
    }
    if (any_strings) pass->strings = strings;
}

/* Everything that a pass needs besides its job, in one block. */
static void lay_out(struct pass *pass, struct arena *arena, const uint32_t *plan, uint32_t strange_slots)
{
    pass->head = plan_head(plan);
    pass->storages = plan_storages(plan);
    pass->events = plan_events(plan);
    pass->cores = plan_cores(plan);
    lay_out_groups(pass, arena, plan);
    pass->no_labels = take_zeros(arena, PLAN_MAP_BYTES);
    pass->slots = take_zeros(arena, pass->head->cores * sizeof *pass->slots);
    pass->lives = take_zeros(arena, pass->head->cores * sizeof *pass->lives);
    pass->written = take_zeros(arena, pass->head->cores * sizeof *pass->written);
    pass->stats = take_zeros(arena, pass->head->cores * sizeof *pass->stats);
    pass->followed = take_zeros(arena, pass->head->storages * sizeof *pass->followed);
    pass->kinds = take_zeros(arena, OP_KINDS * sizeof *pass->kinds);
    for (uint32_t i = 0; i < pass->head->cores; i++)
        lay_out_core(pass, arena, i, plan, strange_slots);
    for (uint32_t i = 0; i < pass->head->storages; i++)
        lay_out_storage(pass, arena, i);
    lay_out_events(pass, arena, plan);
    pass->spare = take(arena, MAX_SET * sizeof *pass->spare);
    pass->closings.capacity = ALL_SLOTS;
    pass->closings.list = take(arena, ALL_SLOTS * sizeof *pass->closings.list);
}

uint32_t index_scratch_bytes(const uint32_t *plan, uint32_t strange_slots)
{
    struct pass pass;
    clear_bytes(&pass, sizeof pass);
    struct arena arena = {0, 0};
    lay_out(&pass, &arena, plan, strange_slots);
    return arena_bytes(&arena);
}

void pass_open(struct pass *pass, struct index_job *job)
{
    clear_bytes(pass, sizeof *pass);
    struct arena arena = {job->scratch, 0};
    pass->job = job;
    lay_out(pass, &arena, job->plan, job->strange_slots);
    pass->closings.before_flush = job->events_last;
}
