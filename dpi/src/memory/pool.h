/* SPDX-License-Identifier: Apache-2.0 */
/* The chunk memory of one trace. */
#ifndef USCOPE_POOL_H
#define USCOPE_POOL_H

#include "base/common.h"

#pragma GCC visibility push(hidden)

enum { CHUNK_CONTINUES = 1, MAX_CHUNK = 960 << 10 };

/** In the control page, one cache line each: what a reader of the memory needs
 * (docs/reference/bridge-protocol.md#memory-of-a-local-client). */
struct uscopei_chunk_entry {
    uint64_t order; /* position in the stream, from 1; 0: never used */
    uint64_t base_ordinal;
    uint32_t flags;
    uint32_t reserved0;
    _Atomic uint64_t published; /* bytes from the chunk's start that are complete */
    uint64_t reserved1[4];
};

/** What only this process needs to know of a chunk. */
struct uscopei_chunk {
    _Atomic uint32_t refs; /* messages in ZeroMQ's hands */
    _Atomic uint32_t sealed;
    uint32_t used;
    uint32_t next_free;   /* index + 1 */
    uint64_t end_ordinal; /* free when frames below this are durable */
};

struct uscopei_pool {
    unsigned char *region;
    size_t region_size;
    unsigned char *control; /* the control page and chunk table: start of the region */
    unsigned char *data;
    struct uscopei_chunk_entry *entries;
    struct uscopei_chunk *chunks;
    uint32_t chunk_size, num_chunks;
    uint64_t credit; /* bytes that may be held */
    char path[192];  /* of the shared memory file, "" for anonymous memory */
    /* chunks in the order of the stream; positions count without wrapping */
    uint32_t *ring;
    uint32_t ring_mask;
    _Atomic uint64_t ring_head; /* written by the trace's thread */
    _Atomic uint32_t free_top;  /* index + 1; pushed by the I/O thread, popped by the trace's thread */
    _Atomic uint64_t held;      /* bytes in sealed chunks */
    struct uscopei_pool *next_grave;
};

struct uscopei_pool_identity {
    const uint8_t *session, *run;
    uint32_t core;
    const char *name;
};

/** NULL when memory is exhausted. *note says why shared memory was not used, if it was wanted. */
struct uscopei_pool *uscopei_pool_create(uint64_t credit, const char *directory,
                                         const struct uscopei_pool_identity *identity, const char **note);
/** Unmaps. Only when no message refers to it any more. */
void uscopei_pool_destroy(struct uscopei_pool *pool);
void uscopei_pool_unlink(struct uscopei_pool *pool);
bool uscopei_pool_idle(const struct uscopei_pool *pool);
/** Takes a free chunk; false when there is none or the credit is used up. */
bool uscopei_pool_take(struct uscopei_pool *pool, uint32_t *index);
void uscopei_pool_give_back(struct uscopei_pool *pool, uint32_t index);
void uscopei_pool_set_durable(struct uscopei_pool *pool, uint64_t frames);
/** A cycle was completed after the trace had failed. By the trace's thread alone. */
void uscopei_pool_count_unrecorded(struct uscopei_pool *pool);

static inline unsigned char *chunk_base(const struct uscopei_pool *pool, uint32_t index)
{
    return pool->data + (size_t)index * pool->chunk_size;
}

#pragma GCC visibility pop

#endif
