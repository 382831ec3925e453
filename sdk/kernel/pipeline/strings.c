/* SPDX-License-Identifier: Apache-2.0 */
#include "strings.h"

#include "bytes.h"
#include "output.h"

enum {
    PLACES = 1 << 16,
    MOST_KNOWN = PLACES / 2,
    ARENA_BYTES = 2 * 1024 * 1024,
};

struct known {
    uint64_t index;
    uint32_t hash;
    /* Where its bytes begin; they end where the next one's do. */
    uint32_t start;
};

/* By place: one more than the entry of the known string; 0: none. */
static uint32_t table[PLACES];
static struct known entries[MOST_KNOWN + 1];
static uint8_t arena[ARENA_BYTES + TEXT_SLACK];
static uint32_t num_known;
static uint64_t num_strings;

/* The first `count` bytes of a word, fewer than 8. */
INLINE uint64_t first_bytes(uint64_t word, uint32_t count)
{
    return word & ((1ull << 8 * count) - 1);
}

INLINE uint64_t mixed(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

INLINE uint32_t hash_of(const uint8_t *text, uint32_t size)
{
    uint64_t hash = size;
    uint32_t at = 0;
    for (; at + 8 <= size; at += 8)
        hash = mixed(hash, load64(text + at));
    if (at < size) hash = mixed(hash, first_bytes(load64(text + at), size - at));
    return (uint32_t)(hash ^ hash >> 32);
}

INLINE int is_equal(const struct known *entry, const uint8_t *text, uint32_t size)
{
    if (entry[1].start - entry[0].start != size) return 0;
    const uint8_t *bytes = arena + entry->start;
    uint32_t at = 0;
    for (; at + 8 <= size; at += 8)
        if (load64(bytes + at) != load64(text + at)) return 0;
    return at == size || first_bytes(load64(bytes + at) ^ load64(text + at), size - at) == 0;
}

static uint32_t add(const uint8_t *text, uint32_t size, uint32_t hash)
{
    uint64_t index = num_strings++;
    put_string(index, text, size);
    if (num_known == MOST_KNOWN || entries[num_known].start + size > ARENA_BYTES) {
        __builtin_memset(table, 0, sizeof table);
        num_known = 0;
    }
    struct known *entry = &entries[num_known++];
    __builtin_memcpy(arena + entry->start, text, size);
    entry[1].start = entry->start + size;
    entry->hash = hash;
    entry->index = index;
    uint32_t place = hash % PLACES;
    while (table[place] != 0)
        place = (place + 1) % PLACES;
    table[place] = num_known;
    return (uint32_t)index;
}

uint32_t string_of(const uint8_t *text, uint32_t size)
{
    uint32_t hash = hash_of(text, size);
    for (uint32_t place = hash % PLACES; table[place] != 0; place = (place + 1) % PLACES) {
        const struct known *entry = &entries[table[place] - 1];
        if (entry->hash == hash && is_equal(entry, text, size)) return (uint32_t)entry->index;
    }
    return add(text, size, hash);
}
