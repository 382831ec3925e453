/* SPDX-License-Identifier: Apache-2.0 */
#include "slots.h"

static uint32_t *head_of(struct slots *slots, uint32_t id)
{
    return slots->heads + (id * 2654435761u) % SPECIAL_HEADS;
}

/* The link to the slot with this special id; to 0 where there is none. */
static uint32_t *link_to(struct slots *slots, uint32_t id)
{
    uint32_t *link = head_of(slots, id);
    while (*link && slots->life[*link - 1].id != id)
        link = slots->next + (*link - 1);
    return link;
}

static void unlink_special(struct slots *slots, uint32_t *link)
{
    uint32_t slot = *link - 1;
    *link = slots->next[slot];
    slots->life[slot].flags &= (uint8_t)~SLOT_SPECIAL;
    slots->special--;
}

/* One whose id is not the number of its slot. The one that is born last has the id. */
static void link_special(struct slots *slots, uint32_t slot)
{
    uint32_t id = slots->life[slot].id, *link = link_to(slots, id);
    if (*link) unlink_special(slots, link);
    uint32_t *head = head_of(slots, id);
    slots->next[slot] = *head;
    *head = slot + 1;
    slots->life[slot].flags |= SLOT_SPECIAL;
    slots->special++;
}

static inline void bear(struct slots *slots, uint32_t slot, uint32_t id)
{
    struct life *life = slots->life + slot;
    life->flags = SLOT_TAKEN | SLOT_BORN;
    life->id = id;
    if (id != slot) link_special(slots, slot);
}

void slots_bear(struct slots *slots, uint32_t slot, uint32_t id, bool flushed)
{
    struct life *life = slots->life + slot;
    bear(slots, slot, id);
    if (flushed) life->flags |= SLOT_FLUSHED;
    life->cells = 0;
    life->stage = NO_STAGE;
}

static void free_slot(struct slots *slots, uint32_t slot)
{
    struct life *life = slots->life + slot;
    if (life->flags & SLOT_SPECIAL) unlink_special(slots, link_to(slots, life->id));
    life->flags = 0;
}

static void birth(struct slots *slots, uint32_t slot, uint32_t id)
{
    struct stats *stats = slots->lives->stats;
    bear(slots, slot, id);
    life_birth(slots->lives, slots->life + slot);
    stats->births++;
    if (slot >= slots->known) stats->exact = false;
}

/* A field of a slot in which something is. */
static void change(struct slots *slots, uint32_t slot, uint32_t field, uint32_t value)
{
    struct life *life = slots->life + slot;
    struct stats *stats = slots->lives->stats;
    if (field != slots->id_field || life_goes_on(life, value)) return;
    if (life->flags & SLOT_BORN) {
        life_end(slots->lives, life, false);
        if (!(life->flags & SLOT_FLUSHED)) stats->lost++;
    } else {
        stats->unborn--;
    }
    free_slot(slots, slot);
    birth(slots, slot, value);
}

void slots_set(struct slots *slots, uint32_t slot, uint32_t field, uint32_t value)
{
    struct life *life = slots->life + slot;
    if (life->flags) {
        change(slots, slot, field, value);
    } else if (field == slots->id_field || slots->id_field == UINT32_MAX) {
        birth(slots, slot, field == slots->id_field ? value : slot);
    } else {
        life->flags = SLOT_TAKEN;
        slots->lives->stats->unborn++;
        *slots->lives->unsettled = true;
    }
}

bool slots_clear(struct slots *slots, uint32_t slot, uint32_t core, struct closings *closings)
{
    const struct life *life = slots->life + slot;
    if (life->flags & SLOT_BORN) {
        if (closings->count == closings->capacity) return false;
        struct closing *closing = closings->list + closings->count++;
        closing->life = *life;
        closing->core = core;
        closing->bits = slots->texts ? slots->texts[slot].bits : 0;
    } else if (life->flags) {
        slots->lives->stats->unborn--;
    }
    free_slot(slots, slot);
    return true;
}

uint32_t slots_find_special(struct slots *slots, uint32_t id)
{
    return *link_to(slots, id) - 1;
}

/* The last one with this id that was cleared in this frame; NULL: none was. */
static struct closing *find_closed(uint32_t id, uint32_t core, struct closings *closings)
{
    for (uint32_t i = closings->count; i-- > 0;) {
        struct closing *closing = closings->list + i;
        if (closing->life.id == id && closing->core == core) return closing;
    }
    return 0;
}

/* The instruction that an event is about: in its slot, or cleared in this frame; NULL: there is none. */
static struct life *find_subject(struct slots *slots, uint32_t id, uint32_t core, struct closings *closings)
{
    uint32_t slot = slots_find(slots, id);
    if (slot != UINT32_MAX) return slots->life + slot;
    struct closing *closing = find_closed(id, core, closings);
    return closing ? &closing->life : 0;
}

bool slots_flush(struct slots *slots, uint32_t id, uint32_t core, struct closings *closings)
{
    struct closing *closing = closings->before_flush ? find_closed(id, core, closings) : 0;
    struct life *life = closing ? &closing->life : find_subject(slots, id, core, closings);
    if (!life) return true;
    if (life->flags & SLOT_FLUSHED) return false;
    life->flags |= SLOT_FLUSHED;
    life_flush(slots->lives, life);
    return true;
}

void slots_stall(struct slots *slots, uint32_t id, uint32_t core, struct closings *closings)
{
    const struct life *life = find_subject(slots, id, core, closings);
    if (life) life_stall(life);
}

void slots_enter(struct slots *slots, uint32_t id, uint32_t core, struct closings *closings, uint32_t stage)
{
    struct life *life = find_subject(slots, id, core, closings);
    if (!life)
        lives_postpone(slots->lives, id, stage);
    else if (!(life->flags & SLOT_FLUSHED))
        life_enter(slots->lives, life, stage, *slots->lives->now);
}
