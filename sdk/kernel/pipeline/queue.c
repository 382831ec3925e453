/* SPDX-License-Identifier: Apache-2.0 */
#include "queue.h"

void queue_grow(struct queue *queue, struct node *line, struct node *late, uint32_t capacity)
{
    uint32_t count = queue->to - queue->from;
    for (uint32_t i = 0; i < count; i++)
        line[i] = queue->line[(queue->from + i) & (queue->capacity - 1)];
    queue->line = line;
    queue->from = 0;
    queue->to = count;
    queue->late.nodes = late;
    queue->capacity = capacity;
}

void queue_push(struct queue *queue, struct node node)
{
    uint32_t mask = queue->capacity - 1;
    int is_late = queue->from != queue->to && queue->line[(queue->to - 1) & mask].tick > node.tick;
    if (is_late)
        heap_push(&queue->late, node);
    else
        queue->line[queue->to++ & mask] = node;
}

uint32_t queue_pop(struct queue *queue)
{
    const struct node *first = queue_first(queue);
    uint32_t value = first->value;
    if (queue->late.size > 0 && first == queue->late.nodes)
        heap_pop(&queue->late);
    else
        queue->from++;
    return value;
}
