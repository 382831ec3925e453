/* SPDX-License-Identifier: Apache-2.0 */
#include "heap.h"

void heap_push(struct heap *heap, struct node node)
{
    uint32_t at = heap->size++;
    while (at > 0) {
        uint32_t parent = (at - 1) / 2;
        if (!node_is_after(&heap->nodes[parent], &node)) break;
        heap->nodes[at] = heap->nodes[parent];
        at = parent;
    }
    heap->nodes[at] = node;
}

/* From the top to where it belongs. */
static void sink(struct heap *heap, struct node node)
{
    uint32_t at = 0;
    for (uint32_t child = 1; child < heap->size; child = 2 * at + 1) {
        uint32_t right = child + 1;
        if (right < heap->size && node_is_after(&heap->nodes[child], &heap->nodes[right])) child = right;
        if (node_is_after(&heap->nodes[child], &node)) break;
        heap->nodes[at] = heap->nodes[child];
        at = child;
    }
    heap->nodes[at] = node;
}

void heap_pop(struct heap *heap)
{
    struct node last = heap->nodes[--heap->size];
    if (heap->size > 0) sink(heap, last);
}

void heap_delay(struct heap *heap, double tick)
{
    struct node top = heap->nodes[0];
    top.tick = tick;
    sink(heap, top);
}
