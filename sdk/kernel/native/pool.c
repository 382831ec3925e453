/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "../lz4.h"
#include "crc32.h"

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t submitted;
    struct block *first, **end; /* those that nobody has begun */
    bool closing;
    block_done *done;
    void *receiver;
    uint32_t count;
    pthread_t threads[];
};

/* The next block, as soon as there is one; NULL when the pool is to be closed. */
static struct block *wait_for_block(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (!pool->first && !pool->closing)
        pthread_cond_wait(&pool->submitted, &pool->lock);
    struct block *block = pool->closing ? NULL : pool->first;
    if (block) pool->first = block->next;
    if (!pool->first) pool->end = &pool->first;
    pthread_mutex_unlock(&pool->lock);
    return block;
}

static void compress(struct block *block)
{
    block->length = lz4_compress(block->table, block->source, block->size, block->target);
    /* While the block is in this processor's cache. */
    block->checksum = crc32_of(block->target - block->prefix, block->prefix + block->length);
}

static void *run_thread(void *argument)
{
    struct pool *pool = argument;
    for (struct block *block; (block = wait_for_block(pool));) {
        (block->work ? block->work : compress)(block);
        pool->done(pool->receiver, block);
    }
    return NULL;
}

/* Signals are for the process's other threads. */
static void start_threads(struct pool *pool, uint32_t threads)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->count < threads && pthread_create(pool->threads + pool->count, NULL, run_thread, pool) == 0)
        pool->count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void free_pool(struct pool *pool)
{
    pthread_cond_destroy(&pool->submitted);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

struct pool *pool_open(uint32_t threads, block_done *done, void *receiver)
{
    struct pool *pool = calloc(1, sizeof *pool + threads * sizeof *pool->threads);
    if (!pool) return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->submitted, NULL);
    pool->end = &pool->first;
    pool->done = done;
    pool->receiver = receiver;
    start_threads(pool, threads);
    if (pool->count > 0) return pool;
    free_pool(pool);
    return NULL;
}

void pool_submit(struct pool *pool, struct block *block)
{
    block->next = NULL;
    pthread_mutex_lock(&pool->lock);
    *pool->end = block;
    pool->end = &block->next;
    pthread_cond_signal(&pool->submitted);
    pthread_mutex_unlock(&pool->lock);
}

struct block *pool_close(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->submitted);
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->count; i++)
        pthread_join(pool->threads[i], NULL);
    struct block *rest = pool->first;
    free_pool(pool);
    return rest;
}
