/* SPDX-License-Identifier: Apache-2.0 */
#include "texts.h"

static uint32_t head_of(uint64_t key, uint32_t bits)
{
    uint64_t mixed = (key ^ (uint64_t)bits << 29) * 0x9e3779b97f4a7c15ull;
    return (uint32_t)(mixed >> 40) & (SET_HEADS - 1);
}

void text_set_add(struct text_set *set, uint64_t key, uint32_t bits)
{
    if (set->full) return;
    uint32_t at = head_of(key, bits);
    for (; set->heads[at]; at = (at + 1) & (SET_HEADS - 1)) {
        const struct text *entry = set->entries + set->heads[at] - 1;
        if (entry->key == key && entry->bits == bits) return;
    }
    if (set->count == set->limit) {
        set->full = true;
        return;
    }
    set->entries[set->count++] = (struct text){key, bits, 0};
    set->heads[at] = (uint16_t)set->count;
}

static bool is_after(const struct text *a, const struct text *b)
{
    return a->key != b->key ? a->key > b->key : a->bits > b->bits;
}

/* Two neighbouring runs into one. */
static void merge(const struct text *from, struct text *to, uint32_t begin, uint32_t middle, uint32_t end)
{
    uint32_t left = begin, right = middle;
    for (uint32_t at = begin; at < end; at++) {
        bool takes_right = right < end && (left == middle || is_after(from + left, from + right));
        to[at] = from[takes_right ? right++ : left++];
    }
}

const struct text *text_set_sort(struct text_set *set, struct text *spare)
{
    uint32_t count = set->count;
    struct text *from = set->entries, *to = spare;
    for (uint32_t width = 1; width < count; width *= 2) {
        for (uint32_t begin = 0; begin < count; begin += 2 * width) {
            uint32_t middle = begin + width < count ? begin + width : count;
            uint32_t end = middle + width < count ? middle + width : count;
            merge(from, to, begin, middle, end);
        }
        struct text *sorted = to;
        to = from;
        from = sorted;
    }
    return from;
}

void written_note(struct written *written, struct slot_text *slot)
{
    slot->flags &= LISTED;
    text_set_add(&written->set, slot->pc, slot->bits);
}

void written_settle(struct written *written)
{
    for (uint32_t i = 0; i < written->listed; i++) {
        struct slot_text *slot = written->slots + written->list[i];
        if (slot->flags & (HAS_PC | HAS_BITS)) written_note(written, slot);
        slot->flags = 0;
    }
    written->listed = 0;
}
