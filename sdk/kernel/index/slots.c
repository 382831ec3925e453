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
    while (*link && slots->ids[*link - 1] != id)
        link = slots->next + (*link - 1);
    return link;
}

static void unlink_special(struct slots *slots, uint32_t *link)
{
    uint32_t slot = *link - 1;
    *link = slots->next[slot];
    slots->flags[slot] &= (uint8_t)~SLOT_SPECIAL;
    slots->special--;
}

void slots_bear(struct slots *slots, uint32_t slot, uint32_t id, bool flushed)
{
    slots->flags[slot] = (uint8_t)(SLOT_TAKEN | SLOT_BORN | (flushed ? SLOT_FLUSHED : 0));
    slots->ids[slot] = id;
    slots->life[slot] = no_life;
    if (id == slot) return;
    /* The one that is born last has the id. */
    uint32_t *link = link_to(slots, id);
    if (*link) unlink_special(slots, link);
    uint32_t *head = head_of(slots, id);
    slots->next[slot] = *head;
    *head = slot + 1;
    slots->flags[slot] |= SLOT_SPECIAL;
    slots->special++;
}

static void free_slot(struct slots *slots, uint32_t slot)
{
    if (slots->flags[slot] & SLOT_SPECIAL) unlink_special(slots, link_to(slots, slots->ids[slot]));
    slots->flags[slot] = 0;
}

static void birth(struct slots *slots, uint32_t slot, uint32_t id)
{
    struct stats *stats = slots->lives->stats;
    slots_bear(slots, slot, id, false);
    slots->life[slot] = life_birth(slots->lives, id);
    stats->births++;
    if (slot >= slots->known) stats->exact = false;
}

void slots_set(struct slots *slots, uint32_t slot, uint32_t field, uint32_t value)
{
    uint8_t flags = slots->flags[slot];
    struct stats *stats = slots->lives->stats;
    if (!flags) {
        slots->flags[slot] = SLOT_TAKEN;
        if (slots->id_field == UINT32_MAX)
            birth(slots, slot, slot);
        else
            stats->unborn++;
    }
    if (field != slots->id_field || field == UINT32_MAX) return;
    if ((flags & SLOT_BORN) && !(flags & SLOT_FLUSHED) && slots->ids[slot] == value) return;
    if (flags & SLOT_BORN)
        life_end(slots->lives, slots->life + slot, false);
    else
        stats->unborn--;
    if ((flags & (SLOT_BORN | SLOT_FLUSHED)) == SLOT_BORN) stats->lost++;
    free_slot(slots, slot);
    birth(slots, slot, value);
}

bool slots_clear(struct slots *slots, uint32_t slot, uint32_t core, struct closings *closings)
{
    uint8_t flags = slots->flags[slot];
    if (flags & SLOT_BORN) {
        if (closings->count == closings->capacity) return false;
        uint32_t bits = slots->bits ? slots->bits[slot] : 0;
        closings->list[closings->count++] =
            (struct closing){slots->ids[slot], core, bits, (flags & SLOT_FLUSHED) != 0, slots->life[slot]};
    } else if (flags) {
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
        if (closing->id == id && closing->core == core) return closing;
    }
    return 0;
}

bool slots_flush(struct slots *slots, uint32_t id, uint32_t core, struct closings *closings)
{
    uint32_t slot = slots_find(slots, id);
    if (slot != UINT32_MAX) {
        if (slots->flags[slot] & SLOT_FLUSHED) return false;
        slots->flags[slot] |= SLOT_FLUSHED;
        life_flush(slots->lives, slots->life + slot);
        return true;
    }
    struct closing *closing = find_closed(id, core, closings);
    if (!closing) return true;
    if (closing->flushed) return false;
    closing->flushed = true;
    life_flush(slots->lives, &closing->life);
    return true;
}

void slots_stall(struct slots *slots, uint32_t id, uint32_t core, struct closings *closings)
{
    uint32_t slot = slots_find(slots, id);
    struct closing *closing = slot == UINT32_MAX ? find_closed(id, core, closings) : 0;
    if (slot != UINT32_MAX || closing) life_stall(closing ? &closing->life : slots->life + slot);
}

void slots_enter_closed(struct slots *slots, uint32_t id, uint32_t core, struct closings *closings,
                        uint32_t stage)
{
    struct closing *closing = find_closed(id, core, closings);
    if (!closing)
        lives_postpone(slots->lives, id, stage);
    else if (!closing->flushed)
        life_enter(slots->lives, &closing->life, stage);
}
