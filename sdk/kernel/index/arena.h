/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of one block of memory that the caller gives. */
#ifndef USCOPE_INDEX_ARENA_H
#define USCOPE_INDEX_ARENA_H

#include "bytes.h"

enum { MAX_SCRATCH = 1 << 28 };

struct arena {
    uint8_t *base; /* NULL: it is only measured */
    uint64_t used;
};

static inline void *take(struct arena *arena, uint64_t size)
{
    void *taken = arena->base ? arena->base + arena->used : 0;
    arena->used += (size + 7) & ~(uint64_t)7;
    return taken;
}

static inline void *take_zeros(struct arena *arena, uint64_t size)
{
    void *taken = take(arena, size);
    if (taken) clear_bytes(taken, size);
    return taken;
}

/* One of the things that were taken together. NULL: it is only measured. */
#define TAKEN(array, index) ((array) ? (array) + (index) : 0)

/* UINT32_MAX: it is too much. */
static inline uint32_t arena_bytes(const struct arena *arena)
{
    return arena->used <= MAX_SCRATCH ? (uint32_t)arena->used : UINT32_MAX;
}

#endif
