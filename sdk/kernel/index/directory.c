/* SPDX-License-Identifier: Apache-2.0 */
#include "directory.h"

#include "parts.h"
#include "row_levels.h"
#include "time_levels.h"
#include "unions.h"

struct directory {
    struct time_levels *times; /* by group */
    struct row_levels *rows;   /* by core */
    struct unions *statics;    /* by core */
    struct unions strings;
    uint32_t segments;
    uint32_t next; /* list to be finished */
};

/* In front of `scratch`. */
static struct directory *lay_out(struct arena *arena, const struct directory_job *job)
{
    const uint32_t *plan = job->plan;
    const struct plan_head *head = plan_head(plan);
    struct directory *directory = take_zeros(arena, sizeof *directory);
    struct time_levels *times = take_zeros(arena, head->groups * sizeof *times);
    struct row_levels *rows = take_zeros(arena, head->cores * sizeof *rows);
    struct unions *statics = take_zeros(arena, head->cores * sizeof *statics);
    for (uint32_t i = 0; i < head->groups; i++)
        time_levels_lay_out(TAKEN(times, i), arena, plan, i, job->start, job->end);
    for (uint32_t i = 0; i < head->cores; i++) {
        uint32_t stages = plan_cores(plan)[i].stages;
        if (stages) row_levels_lay_out(TAKEN(rows, i), arena, head->groups + i, stages);
        unions_lay_out(TAKEN(statics, i), arena, head->groups + head->cores + i, true);
    }
    struct unions strings = {0};
    unions_lay_out(&strings, arena, head->groups + 2 * head->cores, false);
    if (!arena->base) return 0;
    *directory = (struct directory){times, rows, statics, strings, 0, 0};
    return directory;
}

uint32_t directory_scratch_bytes(struct directory_job *job)
{
    struct arena arena = {0, 0};
    lay_out(&arena, job);
    return arena_bytes(&arena);
}

void directory_open(struct directory_job *job)
{
    struct arena arena = {job->scratch, 0};
    lay_out(&arena, job);
}

static const struct given_part *find_part(const struct directory_job *job, uint32_t kind, uint32_t subject)
{
    const struct given_part *parts = (const struct given_part *)(const void *)job->parts;
    for (uint32_t i = 0; i < job->num_parts; i++)
        if (parts[i].kind == kind && parts[i].subject == subject) return parts + i;
    return 0;
}

static const uint8_t *bytes_of(const struct directory_job *job, const struct given_part *part)
{
    return part ? job->parts + part->offset : 0;
}

static double unknown_births(void)
{
    return __builtin_nan("");
}

/* The instructions of a core that were born in the segment: by its time, else by its rows. */
static double births_of(struct directory *directory, const struct directory_job *job, uint32_t index)
{
    const struct plan_core *core = plan_cores(job->plan) + index;
    if (core->group == PLAN_NONE || core->catalogue == PLAN_NONE) return 0;
    const struct plan_storage *storage = plan_storages(job->plan) + core->catalogue;
    if (storage->group != core->group) return 0;
    const struct time_levels *time = directory->times + core->group;
    if (time->part_rows) return time_levels_sum(time, storage->column);
    const struct given_part *part = find_part(job, PART_ROWS, index);
    double births = part && core->stages
                        ? row_levels_births(directory->rows + index, bytes_of(job, part), part->size)
                        : -1;
    return births < 0 ? unknown_births() : births;
}

static struct output output_of(const struct directory_job *job)
{
    return (struct output){job->out, job->out + job->out_size, false};
}

static uint32_t put_out(struct directory_job *job, const struct output *out, uint32_t result)
{
    job->made = (uint32_t)(out->at - job->out);
    return out->failed ? 0 : result;
}

static void add_core(struct directory *directory, const struct directory_job *job, uint32_t index,
                     struct output *out)
{
    const struct plan_core *core = plan_cores(job->plan) + index;
    if (core->stages && core->group != PLAN_NONE) {
        const struct given_part *part = find_part(job, PART_ROWS, index);
        double births;
        __builtin_memcpy(&births, job->out + index * sizeof births, sizeof births);
        row_levels_add(directory->rows + index, bytes_of(job, part), part ? part->size : 0,
                       directory->segments, births, out);
    }
    const struct given_part *part = find_part(job, PART_PCS, index);
    unions_add(directory->statics + index, bytes_of(job, part), part ? part->size : 0, out);
}

uint32_t directory_add(struct directory_job *job)
{
    struct directory *directory = (struct directory *)(void *)job->scratch;
    const struct plan_head *head = plan_head(job->plan);
    struct output out = output_of(job);
    uint8_t *births = out.at;
    if ((uint64_t)(out.end - out.at) < head->cores * sizeof(double)) return 0;
    out.at += head->cores * sizeof(double);
    for (uint32_t i = 0; i < head->groups; i++) {
        const struct given_part *part = find_part(job, PART_TIME, i);
        time_levels_add(directory->times + i, bytes_of(job, part), part ? part->size : 0, &out);
    }
    for (uint32_t i = 0; i < head->cores; i++) {
        double count = births_of(directory, job, i);
        copy_bytes(births + i * sizeof count, &count, sizeof count);
    }
    for (uint32_t i = 0; i < head->cores; i++)
        add_core(directory, job, i, &out);
    const struct given_part *strings = find_part(job, PART_STRINGS, 0);
    unions_add(&directory->strings, bytes_of(job, strings), strings ? strings->size : 0, &out);
    directory->segments++;
    return put_out(job, &out, 1);
}

uint32_t directory_finish(struct directory_job *job)
{
    struct directory *directory = (struct directory *)(void *)job->scratch;
    const struct plan_head *head = plan_head(job->plan);
    struct output out = output_of(job);
    uint32_t list = directory->next++, core = list - head->groups, cores = head->cores;
    if (list < head->groups) {
        time_levels_finish(directory->times + list, job->end, &out);
    } else if (core < cores) {
        if (plan_cores(job->plan)[core].stages) row_levels_finish(directory->rows + core, &out);
    } else if (core < 2 * cores) {
        unions_finish(directory->statics + core - cores, &out);
    } else {
        unions_finish(&directory->strings, &out);
        return put_out(job, &out, 2);
    }
    return put_out(job, &out, 1);
}
