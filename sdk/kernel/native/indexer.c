/* SPDX-License-Identifier: Apache-2.0 */
#include "indexer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../index/pass.h"

enum { MAX_CONTAINER = 4 << 20 };

struct indexer {
    atomic_uint users; /* the owner and the tasks */
    uint32_t *plan, plan_crc;
    uint32_t tickets; /* of tasks made so far */
    pthread_mutex_t lock;
    pthread_cond_t turned;
    /* Under the lock. */
    uint32_t turn;
    /* Of the task whose turn it is. */
    uint8_t *carry, *scratch, *out;
    uint32_t carry_size, carry_known, scratch_size;
};

static void *copy_of(const void *bytes, size_t size)
{
    void *copy = malloc(size ? size : 1);
    if (copy && size) memcpy(copy, bytes, size);
    return copy;
}

static void let_go(struct indexer *indexer)
{
    if (atomic_fetch_sub(&indexer->users, 1) != 1) return;
    pthread_cond_destroy(&indexer->turned);
    pthread_mutex_destroy(&indexer->lock);
    free(indexer->plan);
    free(indexer->carry);
    free(indexer->scratch);
    free(indexer->out);
    free(indexer);
}

struct indexer *indexer_open(const uint32_t *plan, uint32_t words, uint32_t plan_crc, const uint8_t *carry,
                             uint32_t carry_size)
{
    struct indexer *indexer = calloc(1, sizeof *indexer);
    if (!indexer) return NULL;
    atomic_init(&indexer->users, 1);
    pthread_mutex_init(&indexer->lock, NULL);
    pthread_cond_init(&indexer->turned, NULL);
    indexer->plan_crc = plan_crc;
    indexer->plan = copy_of(plan, words * sizeof *plan);
    indexer->carry_known = carry != NULL;
    indexer->carry_size = carry ? carry_size : 0;
    indexer->carry = copy_of(carry, indexer->carry_size);
    indexer->scratch_size = indexer->plan ? index_scratch_bytes(indexer->plan, 0) : UINT32_MAX;
    if (indexer->scratch_size != UINT32_MAX) {
        /* Pages cost memory when they are first written. */
        indexer->scratch = malloc(indexer->scratch_size);
        indexer->out = malloc(MAX_CONTAINER);
    }
    if (indexer->carry && indexer->scratch && indexer->out) return indexer;
    let_go(indexer);
    return NULL;
}

void indexer_close(struct indexer *indexer)
{
    let_go(indexer);
}

static void keep_carry(struct indexer *indexer, const uint8_t *carry, uint32_t size)
{
    uint8_t *kept = carry ? realloc(indexer->carry, size ? size : 1) : NULL;
    indexer->carry_known = kept != NULL;
    indexer->carry_size = kept ? size : 0;
    if (!kept) return;
    memcpy(kept, carry, size);
    indexer->carry = kept;
}

static void make_container(struct indexer *indexer, struct index_task *task)
{
    struct index_job job = {
        .plan = indexer->plan,
        .checkpoint = task->checkpoint,
        .frames = task->frames,
        .carry = indexer->carry,
        .scratch = indexer->scratch,
        .out = indexer->out,
        .checkpoint_size = task->checkpoint_size,
        .frames_size = task->frames_size,
        .carry_size = indexer->carry_size,
        .carry_known = indexer->carry_known,
        .scratch_size = indexer->scratch_size,
        .out_size = MAX_CONTAINER,
        .plan_crc = indexer->plan_crc,
        .start = task->start,
    };
    uint32_t size = index_segment(&job);
    keep_carry(indexer, size ? indexer->out + job.carry_at : NULL, job.carry_length);
    task->container = size ? copy_of(indexer->out, size) : NULL;
    task->block.length = task->container ? size : 0;
}

/*
 * On a thread of the pool. Tasks are begun in the order of their tickets: the one that is waited for here is
 * at work on another thread.
 */
static void run_task(struct block *block)
{
    struct index_task *task = (struct index_task *)block;
    struct indexer *indexer = task->indexer;
    pthread_mutex_lock(&indexer->lock);
    while (indexer->turn != task->ticket)
        pthread_cond_wait(&indexer->turned, &indexer->lock);
    pthread_mutex_unlock(&indexer->lock);
    make_container(indexer, task);
    pthread_mutex_lock(&indexer->lock);
    indexer->turn++;
    pthread_cond_broadcast(&indexer->turned);
    pthread_mutex_unlock(&indexer->lock);
}

static void free_task(struct block *block)
{
    struct index_task *task = (struct index_task *)block;
    let_go(task->indexer);
    free(task->copy);
    free(task->container);
    free(task);
}

struct index_task *index_task_make(struct indexer *indexer, const uint8_t *frames, uint32_t frames_size,
                                   const uint8_t *checkpoint, uint32_t checkpoint_size, uint64_t start,
                                   bool copy)
{
    struct index_task *task = calloc(1, sizeof *task);
    if (!task) return NULL;
    if (copy && !(task->copy = copy_of(frames, frames_size))) {
        free(task);
        return NULL;
    }
    atomic_fetch_add(&indexer->users, 1);
    task->block.work = run_task;
    task->block.drop = free_task;
    task->indexer = indexer;
    task->ticket = indexer->tickets++;
    task->frames = copy ? task->copy : frames;
    task->frames_size = frames_size;
    task->checkpoint = checkpoint;
    task->checkpoint_size = checkpoint_size;
    task->start = start;
    return task;
}
