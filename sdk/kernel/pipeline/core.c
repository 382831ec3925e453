/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

enum { MOST_SLOTS = 1 << 16 };

struct core core;

/* Slots below this number have been taken. */
static uint32_t next_slot;
/* A queue: the one longest free first. */
static uint16_t free_slots[MOST_SLOTS];
static uint32_t free_from, free_to;
/* Free when time moves on. */
static uint16_t ended[MOST_SLOTS];
static uint32_t num_ended;

struct core *core_at(void)
{
    return &core;
}

uint32_t slots_left(void)
{
    return core.slots - next_slot + free_to - free_from;
}

uint32_t core_birth(void)
{
    uint32_t slot = next_slot < core.slots ? next_slot++ : free_slots[free_from++ % MOST_SLOTS];
    core_set(slot, core.entity_id, slot);
    return slot;
}

void slots_settle(void)
{
    for (uint32_t i = 0; i < num_ended; i++)
        free_slots[free_to++ % MOST_SLOTS] = ended[i];
    num_ended = 0;
}

void core_stage(uint32_t slot, uint32_t stage)
{
    uint8_t *payload = put_event(core.stage_transition);
    put32(payload, slot);
    put8(payload + 4, stage);
}

uint8_t *core_annotate(uint32_t slot, uint32_t string)
{
    uint8_t *payload = put_event(core.annotate);
    put32(payload, slot);
    put32(payload + 4, string);
    return payload;
}

void core_flush(uint32_t slot)
{
    uint8_t *payload = put_event(core.flush);
    put32(payload, slot);
    put8(payload + 4, core.flush_reason);
}

void core_commit(void)
{
    put_op(ACTION_ADD, core.committed, 0, 0, 1);
}

void core_clear(uint32_t slot)
{
    put_op(ACTION_CLEAR, core.entities, slot, 0, 0);
    ended[num_ended++ % MOST_SLOTS] = (uint16_t)slot;
}
