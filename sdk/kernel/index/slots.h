/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions in flight of one core, as far as it takes to tell those that retire from those that are
 * squashed: test/oracle/index/core-slots.ts.
 */
#ifndef USCOPE_INDEX_SLOTS_H
#define USCOPE_INDEX_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lives.h"
#include "texts.h"

enum { SPECIAL_HEADS = 1024 };

struct slots {
    struct life *life; /* by slot */
    /* Of those whose id is not their number: slot + 1 by hash, and the next one with the same hash. */
    uint32_t *heads, *next;
    uint32_t size;
    uint32_t known; /* slots of the catalog; others are those of files that are not ours */
    uint32_t id_field;
    uint32_t special;
    struct lives *lives;
    const struct slot_text *texts; /* by slot, whose machine code is counted by class; NULL: it is not */
};

struct closing {
    struct life life;
    uint32_t core;
    uint32_t bits;
};

/* Cleared in the present frame, of all cores. */
struct closings {
    struct closing *list;
    uint32_t count, capacity;
    bool before_flush; /* a flush is about one of these rather than about its successor */
};

void slots_bear(struct slots *slots, uint32_t slot, uint32_t id, bool flushed);
void slots_set(struct slots *slots, uint32_t slot, uint32_t field, uint32_t value);
/* False: there are more in one frame than a frame can hold. */
bool slots_clear(struct slots *slots, uint32_t slot, uint32_t core, struct closings *closings);
/* False: it has been squashed before, which counts once. */
bool slots_flush(struct slots *slots, uint32_t id, uint32_t core, struct closings *closings);
void slots_stall(struct slots *slots, uint32_t id, uint32_t core, struct closings *closings);
void slots_enter(struct slots *slots, uint32_t id, uint32_t core, struct closings *closings, uint32_t stage);
/* The slot of the one that is born last of those with a special id; UINT32_MAX: none. */
uint32_t slots_find_special(struct slots *slots, uint32_t id);

/* The slot of an instruction in flight; UINT32_MAX: there is none. */
static inline uint32_t slots_find(struct slots *slots, uint32_t id)
{
    if (id < slots->size && (slots->life[id].flags & SLOT_BORN) && slots->life[id].id == id) return id;
    return slots->special ? slots_find_special(slots, id) : UINT32_MAX;
}

/* An instruction that has this id, and that no flush has ended. */
static inline bool life_goes_on(const struct life *life, uint32_t id)
{
    return life->id == id && (life->flags & (SLOT_BORN | SLOT_FLUSHED)) == SLOT_BORN;
}

#endif
