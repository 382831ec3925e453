/* SPDX-License-Identifier: Apache-2.0 */
/* The index of one trace's segments, made on the threads of pool.h in their order: each needs the carry of
 * the one before. */
#ifndef USCOPE_INDEXER_H
#define USCOPE_INDEXER_H

#include <stdbool.h>
#include <stdint.h>

#include "pool.h"

struct indexer;

struct index_task {
    struct block block; /* first: the pool knows it as this */
    struct indexer *indexer;
    uint32_t ticket;
    const uint8_t *frames, *checkpoint;
    uint32_t frames_size, checkpoint_size;
    uint64_t start;
    uint8_t *copy; /* of the frames, where the caller does not keep them; else NULL */
    /* result: NULL: there is no index */
    uint8_t *container;
};

/* A copy of plan and carry is taken. carry NULL: not known. NULL: no memory, or the schema is too large. */
struct indexer *indexer_open(const uint32_t *plan, uint32_t words, uint32_t plan_crc, const uint8_t *carry,
                             uint32_t carry_size);
/* It is freed when its last task is. */
void indexer_close(struct indexer *indexer);

/* To be submitted in this order. NULL: no memory. */
struct index_task *index_task_make(struct indexer *indexer, const uint8_t *frames, uint32_t frames_size,
                                   const uint8_t *checkpoint, uint32_t checkpoint_size, uint64_t start,
                                   bool copy);

#endif
