/* SPDX-License-Identifier: Apache-2.0 */
#include "unions.h"

#include "pieces.h"

static struct text *take_entries(struct arena *arena)
{
    return take(arena, MAX_UNION * sizeof(struct text));
}

void unions_lay_out(struct unions *unions, struct arena *arena, uint32_t list, bool has_bits)
{
    struct text *given = take_entries(arena), *spare = take_entries(arena);
    if (arena->base)
        *unions = (struct unions){
            .given.entries = given, .spare.entries = spare, .list = list, .has_bits = has_bits};
    for (uint32_t i = 0; i < MAX_SET_LEVEL; i++) {
        struct text *entries = take_entries(arena);
        if (arena->base) unions->levels[i].set.entries = entries;
    }
}

static bool is_before(const struct text *a, const struct text *b)
{
    return a->key != b->key ? a->key < b->key : a->bits < b->bits;
}

/* False: it is malformed, or too large for a union. */
static bool read_set(const uint8_t *bytes, uint32_t size, bool has_bits, struct named_set *set)
{
    struct input in = {bytes, bytes + size, false};
    uint64_t count = get_leb(&in), key = 0;
    if (in.failed || count > MAX_UNION || count * (has_bits ? 5 : 1) > (uint64_t)(in.end - in.at))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t by = get_leb(&in);
        if (in.failed || by > (has_bits ? UINT64_MAX : UINT32_MAX) - key) return false;
        key += by;
        set->entries[i] = (struct text){key, 0, 0};
    }
    const uint8_t *bits = has_bits ? get_bytes(&in, count * 4) : in.at;
    if (!bits) return false;
    for (uint32_t i = 0; has_bits && i < count; i++)
        set->entries[i].bits = read_u32(bits + 4 * i);
    set->count = (uint32_t)count;
    return true;
}

/* Into `a`; false: they are too many together. */
static bool unite(struct named_set *a, const struct named_set *b, struct named_set *spare)
{
    uint32_t i = 0, j = 0, count = 0;
    while (i < a->count || j < b->count) {
        if (count == MAX_UNION) return false;
        const struct text *left = a->entries + i, *right = b->entries + j;
        bool takes_left = j == b->count || (i < a->count && !is_before(right, left));
        bool takes_right = i == a->count || (j < b->count && !is_before(left, right));
        spare->entries[count++] = takes_left ? *left : *right;
        i += takes_left;
        j += takes_right;
    }
    struct text *entries = a->entries;
    a->entries = spare->entries;
    a->count = count;
    spare->entries = entries;
    return true;
}

static void put_union(const struct unions *unions, uint32_t number, double first, const struct named_set *set,
                      struct output *out)
{
    struct piece piece = piece_begin(out);
    put_leb(out, set->count);
    uint64_t before = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        put_leb(out, set->entries[i].key - before);
        before = set->entries[i].key;
    }
    for (uint32_t i = 0; unions->has_bits && i < set->count; i++)
        put_u32(out, set->entries[i].bits);
    piece_end(&piece, (struct made_piece){unions->list, number, 0, 0, first, first + 1});
}

static void take_set(struct unions *unions, uint32_t number, const struct named_set *set, struct output *out);

static void close_level(struct unions *unions, uint32_t number, struct output *out)
{
    struct union_level *level = unions->levels + number - 1;
    level->segments = 0;
    uint32_t width = (uint32_t)1 << 4 * number, first = (unions->segments - 1) / width * width;
    if (level->set.is_known) put_union(unions, number, first, &level->set, out);
    if (number < MAX_SET_LEVEL) take_set(unions, number + 1, &level->set, out);
}

static void take_set(struct unions *unions, uint32_t number, const struct named_set *set, struct output *out)
{
    struct union_level *level = unions->levels + number - 1;
    if (level->segments == 0) {
        level->set.is_known = set->is_known;
        level->set.count = set->is_known ? set->count : 0;
        copy_bytes(level->set.entries, set->entries, level->set.count * sizeof *set->entries);
    } else if (level->set.is_known) {
        level->set.is_known = set->is_known && unite(&level->set, set, &unions->spare);
    }
    if (++level->segments == SET_FAN_OUT) close_level(unions, number, out);
}

void unions_add(struct unions *unions, const uint8_t *bytes, uint32_t size, struct output *out)
{
    struct named_set *given = &unions->given;
    given->is_known = bytes && read_set(bytes, size, unions->has_bits, given);
    unions->segments++;
    take_set(unions, 1, given, out);
}

/* Whether no level above has anything. */
static bool is_top(const struct unions *unions, uint32_t number)
{
    for (uint32_t i = number; i < MAX_SET_LEVEL; i++)
        if (unions->levels[i].segments) return false;
    return true;
}

void unions_finish(struct unions *unions, struct output *out)
{
    for (uint32_t number = 1; number <= MAX_SET_LEVEL; number++) {
        uint32_t count = unions->levels[number - 1].segments;
        /* One alone is not worth a union, but those above it are to have it. */
        if (count > 1 || (count == 1 && !is_top(unions, number))) close_level(unions, number, out);
    }
}
