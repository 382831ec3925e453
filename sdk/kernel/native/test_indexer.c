/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes of several traces made by several threads are those that one thread makes. */
#include "indexer.h"

#include <stdio.h>
#include <unistd.h>

#include "../index/pass.h"
#include "../index/test_segments.h"

enum { TRACES = 3, SEGMENTS = 40, OUT_BYTES = 1 << 14 };

struct segment {
    struct bytes frames, checkpoint;
    uint8_t out[OUT_BYTES];
    uint32_t size;
};

static struct segment segments[TRACES][SEGMENTS];
static int written[2];

static uint64_t start_of(uint32_t segment)
{
    return segment * 6000;
}

/* What the tasks have to make: each segment with the carry of the one before. */
static void make_expected(const struct test_plan *plan, uint32_t trace)
{
    const uint32_t *words = (const uint32_t *)(const void *)plan;
    uint32_t scratch_size = index_scratch_bytes(words, 0);
    uint8_t *scratch = malloc(scratch_size);
    const uint8_t *carry = scratch;
    uint32_t carry_size = 0;
    for (uint32_t i = 0; i < SEGMENTS; i++) {
        struct segment *segment = &segments[trace][i];
        segment->frames = random_frames();
        segment->checkpoint = random_checkpoint();
        struct index_job job = {
            .plan = words,
            .checkpoint = segment->checkpoint.at,
            .checkpoint_size = segment->checkpoint.size,
            .frames = segment->frames.at,
            .frames_size = segment->frames.size,
            .carry = carry,
            .carry_size = carry_size,
            .carry_known = CARRY_KNOWN,
            .scratch = scratch,
            .scratch_size = scratch_size,
            .out = segment->out,
            .out_size = OUT_BYTES,
            .start = start_of(i),
        };
        segment->size = index_segment(&job);
        assert(segment->size);
        carry = segment->out + job.carry_at;
        carry_size = job.carry_length;
    }
    free(scratch);
}

/* Through a pipe, as the threads of the pool share nothing else with this one. */
static void note_done(void *receiver, struct block *block)
{
    if (write(*(int *)receiver, &block, sizeof block) != sizeof block) abort();
}

static void check_one(void)
{
    struct block *block;
    if (read(written[0], &block, sizeof block) != sizeof block) abort();
    struct index_task *task = (struct index_task *)block;
    struct segment *segment = &segments[block->number / SEGMENTS][block->number % SEGMENTS];
    assert(task->container && block->length == segment->size);
    assert(memcmp(task->container, segment->out, segment->size) == 0);
    block->drop(block);
}

int main(void)
{
    static const uint8_t nothing[1];
    struct test_plan plan = make_plan();
    if (pipe(written) != 0) return 1;
    struct pool *pool = pool_open(3, note_done, &written[1]);
    struct indexer *indexers[TRACES];
    for (uint32_t trace = 0; trace < TRACES; trace++) {
        make_expected(&plan, trace);
        indexers[trace] = indexer_open((const uint32_t *)(const void *)&plan, sizeof plan / 4, 0, nothing, 0);
        assert(indexers[trace]);
    }
    for (uint32_t i = 0; i < SEGMENTS; i++) {
        for (uint32_t trace = 0; trace < TRACES; trace++) {
            struct segment *segment = &segments[trace][i];
            struct index_task *task =
                index_task_make(indexers[trace], segment->frames.at, segment->frames.size,
                                segment->checkpoint.at, segment->checkpoint.size, start_of(i), i % 2 == 0);
            assert(task);
            task->block.number = trace * SEGMENTS + i;
            pool_submit(pool, &task->block);
        }
    }
    /* Those who opened them are done with them before their tasks are. */
    for (uint32_t trace = 0; trace < TRACES; trace++)
        indexer_close(indexers[trace]);
    for (uint32_t i = 0; i < TRACES * SEGMENTS; i++)
        check_one();
    assert(!pool_close(pool));
    for (uint32_t trace = 0; trace < TRACES; trace++)
        for (uint32_t i = 0; i < SEGMENTS; i++)
            free(segments[trace][i].frames.at), free(segments[trace][i].checkpoint.at);
    printf("ok   %d containers of %d traces\n", TRACES * SEGMENTS, TRACES);
    return 0;
}
