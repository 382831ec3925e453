/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions in flight of one core, as far as it takes to tell those that retire from those that are
 * squashed: sdk/src/trace-index/reference/core-slots.ts.
 */
#ifndef USCOPE_INDEX_SLOTS_H
#define USCOPE_INDEX_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

enum { SLOT_TAKEN = 1, SLOT_BORN = 2, SLOT_FLUSHED = 4, SLOT_SPECIAL = 8 };
enum { SPECIAL_HEADS = 1024 };

struct slots {
    uint8_t *flags;
    uint32_t *ids;
    /* Of those whose id is not their number: slot + 1 by hash, and the next one with the same hash. */
    uint32_t *heads, *next;
    uint32_t size;
    uint32_t id_field;
    uint32_t special;
};

struct closing {
    uint32_t id, core;
    bool flushed;
};

/* Cleared in the present frame, of all cores. */
struct closings {
    struct closing *list;
    uint32_t count, capacity;
};

void slots_bear(struct slots *slots, uint32_t slot, uint32_t id, bool flushed);
void slots_set(struct slots *slots, uint32_t slot, uint32_t field, uint32_t value);
/* False: there are more in one frame than a frame can hold. */
bool slots_clear(struct slots *slots, uint32_t slot, uint32_t core, struct closings *closings);
/* False: it has been squashed before, which counts once. */
bool slots_flush(struct slots *slots, uint32_t id, uint32_t core, struct closings *closings);

#endif
