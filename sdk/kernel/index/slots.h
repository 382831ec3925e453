/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions in flight of one core, as far as it takes to tell those that retire from those that are
 * squashed: sdk/src/trace-index/reference/core-slots.ts.
 */
#ifndef USCOPE_INDEX_SLOTS_H
#define USCOPE_INDEX_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lives.h"

enum { SLOT_TAKEN = 1, SLOT_BORN = 2, SLOT_FLUSHED = 4, SLOT_SPECIAL = 8 };
enum { SPECIAL_HEADS = 1024 };

struct slots {
    uint8_t *flags;
    uint32_t *ids;
    /* Of those whose id is not their number: slot + 1 by hash, and the next one with the same hash. */
    uint32_t *heads, *next;
    uint32_t size;
    uint32_t known; /* slots of the catalog; others are those of files that are not ours */
    uint32_t id_field;
    uint32_t special;
    struct life *life; /* by slot */
    struct lives *lives;
    const uint32_t *bits; /* machine code by slot; NULL: none is known */
};

struct closing {
    uint32_t id, core;
    uint32_t bits;
    bool flushed;
    struct life life;
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
void slots_stall(struct slots *slots, uint32_t id, uint32_t core, struct closings *closings);
/* Of an instruction that is in no slot. */
void slots_enter_closed(struct slots *slots, uint32_t id, uint32_t core, struct closings *closings,
                        uint32_t stage);
/* The slot of the one that is born last of those with a special id; UINT32_MAX: none. */
uint32_t slots_find_special(struct slots *slots, uint32_t id);

/* The slot of an instruction in flight; UINT32_MAX: there is none. */
static inline uint32_t slots_find(struct slots *slots, uint32_t id)
{
    if (id < slots->size && (slots->flags[id] & SLOT_BORN) && slots->ids[id] == id) return id;
    return slots->special ? slots_find_special(slots, id) : UINT32_MAX;
}

static inline void slots_enter(struct slots *slots, uint32_t id, uint32_t core, struct closings *closings,
                               uint32_t stage)
{
    uint32_t slot = slots_find(slots, id);
    if (slot == UINT32_MAX)
        slots_enter_closed(slots, id, core, closings, stage);
    else if (!(slots->flags[slot] & SLOT_FLUSHED))
        life_enter(slots->lives, slots->life + slot, stage);
}

#endif
