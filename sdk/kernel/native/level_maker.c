/* SPDX-License-Identifier: Apache-2.0 */
#include "level_maker.h"

#include <stdlib.h>
#include <string.h>

enum { OUT_BYTES = 8 << 20 };

struct level_maker {
    struct directory_job job;
    uint32_t *plan;
};

void level_maker_close(struct level_maker *maker)
{
    free(maker->plan);
    free(maker->job.scratch);
    free(maker->job.out);
    free(maker);
}

struct level_maker *level_maker_open(const uint32_t *plan, uint32_t words, uint64_t start, uint64_t end)
{
    struct level_maker *maker = calloc(1, sizeof *maker);
    if (!maker) return NULL;
    struct directory_job *job = &maker->job;
    maker->plan = malloc((words ? words : 1) * sizeof *plan);
    if (maker->plan) {
        memcpy(maker->plan, plan, words * sizeof *plan);
        job->plan = maker->plan;
        job->start = start;
        job->end = end;
        job->scratch_size = directory_scratch_bytes(job);
        job->out_size = OUT_BYTES;
        /* Pages cost memory when they are first written. */
        if (job->scratch_size != UINT32_MAX) job->scratch = malloc(job->scratch_size);
        job->out = malloc(OUT_BYTES);
        if (job->scratch && job->out) {
            directory_open(job);
            return maker;
        }
    }
    level_maker_close(maker);
    return NULL;
}

const uint8_t *level_maker_add(struct level_maker *maker, const uint8_t *parts, uint32_t size, uint32_t count,
                               uint32_t *made)
{
    struct directory_job *job = &maker->job;
    if (count > size / sizeof(struct given_part)) return NULL;
    for (uint32_t i = 0; i < count; i++) {
        struct given_part part;
        memcpy(&part, parts + i * sizeof part, sizeof part);
        if (part.offset > size || part.size > size - part.offset) return NULL;
    }
    job->parts = parts;
    job->parts_size = size;
    job->num_parts = count;
    uint32_t result = directory_add(job);
    *made = job->made;
    return result ? job->out : NULL;
}

const uint8_t *level_maker_finish(struct level_maker *maker, uint64_t end, uint32_t *made)
{
    struct directory_job *job = &maker->job;
    job->end = end;
    uint32_t result = directory_finish(job);
    *made = job->made;
    return result ? job->out : NULL;
}
