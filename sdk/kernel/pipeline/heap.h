/* SPDX-License-Identifier: Apache-2.0 */
/* A binary heap by tick, and by order where ticks are equal; the reference is
 * sdk/src/formats/gem5/tick-heap.ts. */
#ifndef USCOPE_PIPELINE_HEAP_H
#define USCOPE_PIPELINE_HEAP_H

#include <stdint.h>

struct node {
    double tick;
    uint64_t order;
    uint32_t value;
};

/* `nodes` has room for what is pushed. */
struct heap {
    struct node *nodes;
    uint32_t size;
};

static inline int node_is_after(const struct node *a, const struct node *b)
{
    return a->tick > b->tick || (a->tick == b->tick && a->order > b->order);
}

/* Of the least; infinite when there is none. */
static inline double heap_next(const struct heap *heap)
{
    return heap->size > 0 ? heap->nodes[0].tick : __builtin_inf();
}

void heap_push(struct heap *heap, struct node node);
/* There must be one. */
void heap_pop(struct heap *heap);
/* The least gets a later tick. */
void heap_delay(struct heap *heap, double tick);

#endif
