/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heap for values that mostly come in the order of their ticks: those wait in a line, only the others in a
 * heap. What comes out is the same.
 */
#ifndef USCOPE_PIPELINE_QUEUE_H
#define USCOPE_PIPELINE_QUEUE_H

#include "heap.h"

struct queue {
    struct heap late;
    /* A ring of `capacity` nodes, a power of two. */
    struct node *line;
    uint32_t capacity, from, to;
};

/* More room: of memory for `capacity` nodes each, a power of two. What waits in the line is copied; the
 * heap's has been. */
void queue_grow(struct queue *queue, struct node *line, struct node *late, uint32_t capacity);
/* `node.order` is above that of all before it; there is room. */
void queue_push(struct queue *queue, struct node node);
/* There must be one. Returns its value. */
uint32_t queue_pop(struct queue *queue);

static inline const struct node *queue_first(const struct queue *queue)
{
    const struct node *late = queue->late.size > 0 ? queue->late.nodes : 0;
    if (queue->from == queue->to) return late;
    const struct node *first = &queue->line[queue->from & (queue->capacity - 1)];
    return late && node_is_after(first, late) ? late : first;
}

/* Of the least; infinite when there is none. */
static inline double queue_next(const struct queue *queue)
{
    const struct node *first = queue_first(queue);
    return first ? first->tick : __builtin_inf();
}

#endif
