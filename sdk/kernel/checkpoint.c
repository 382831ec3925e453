/* SPDX-License-Identifier: Apache-2.0 */
/* What encodeCheckpoint in sdk/src/state/checkpoint-state.ts does, for a state in a writer's memory. */
#include <stdbool.h>

#include "frame_run.h"

enum { BLOCK_HEADER_BYTES = 8 };

/* Bytes of a field, or property, of this op. */
static inline uint32_t size_of(const struct op *op)
{
    return (64 - (uint32_t)__builtin_clzll(op->mask)) / 8;
}

/* Cells one after the other, each in the size of its field. Writes in whole words, into the slack at last.
 */
static inline uint8_t *put_cells(uint8_t *at, const uint64_t *cells, const struct op *ops, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        __builtin_memcpy(at, cells + i, 8);
        at += size_of(ops + 2 * i);
    }
    return at;
}

static inline bool is_occupied(const struct storage *s, uint32_t slot)
{
    return s->mask[slot >> 3] >> (slot & 7) & 1;
}

static inline uint8_t *put_slots(uint8_t *at, const struct storage *s)
{
    if (s->sparse) {
        uint32_t mask_bytes = (s->slots + 7) / 8;
        __builtin_memcpy(at, s->mask, mask_bytes);
        at += mask_bytes;
    }
    for (uint32_t slot = 0; slot < s->slots; slot++) {
        if (s->sparse && !is_occupied(s, slot)) continue;
        at = put_cells(at, s->cells + slot * s->fields, s->ops, s->fields);
    }
    return at;
}

uint32_t encode_checkpoint(const struct run *r, uint8_t *out)
{
    uint8_t *at = out;
    for (uint32_t id = 0; id < r->num_storages; id++) {
        const struct storage *s = r->storages + id;
        uint8_t *payload = at + BLOCK_HEADER_BYTES;
        uint8_t *end = put_slots(payload, s);
        end = put_cells(end, s->property_cells, s->ops + 2 * s->fields, s->properties);
        uint32_t header[] = {s->number, (uint32_t)(end - payload)};
        __builtin_memcpy(at, header, BLOCK_HEADER_BYTES);
        at = end;
    }
    return (uint32_t)(at - out);
}
