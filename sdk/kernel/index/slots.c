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

void slots_set(struct slots *slots, uint32_t slot, uint32_t field, uint32_t value)
{
    uint8_t flags = slots->flags[slot];
    if (!flags) {
        slots->flags[slot] = SLOT_TAKEN;
        if (slots->id_field == UINT32_MAX) slots_bear(slots, slot, slot, false);
    }
    if (field != slots->id_field || field == UINT32_MAX) return;
    if ((flags & SLOT_BORN) && !(flags & SLOT_FLUSHED) && slots->ids[slot] == value) return;
    free_slot(slots, slot);
    slots_bear(slots, slot, value, false);
}

bool slots_clear(struct slots *slots, uint32_t slot, uint32_t core, struct closings *closings)
{
    uint8_t flags = slots->flags[slot];
    if (flags & SLOT_BORN) {
        if (closings->count == closings->capacity) return false;
        closings->list[closings->count++] =
            (struct closing){slots->ids[slot], core, (flags & SLOT_FLUSHED) != 0};
    }
    free_slot(slots, slot);
    return true;
}

/* UINT32_MAX: none. */
static uint32_t find(struct slots *slots, uint32_t id)
{
    if (id < slots->size && (slots->flags[id] & SLOT_BORN) && slots->ids[id] == id) return id;
    if (slots->special == 0) return UINT32_MAX;
    return *link_to(slots, id) - 1;
}

bool slots_flush(struct slots *slots, uint32_t id, uint32_t core, struct closings *closings)
{
    uint32_t slot = find(slots, id);
    if (slot != UINT32_MAX) {
        bool is_new = !(slots->flags[slot] & SLOT_FLUSHED);
        slots->flags[slot] |= SLOT_FLUSHED;
        return is_new;
    }
    for (uint32_t i = closings->count; i-- > 0;) {
        struct closing *closing = closings->list + i;
        if (closing->id != id || closing->core != core) continue;
        bool is_new = !closing->flushed;
        closing->flushed = true;
        return is_new;
    }
    return true;
}
