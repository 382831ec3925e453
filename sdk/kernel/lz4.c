/* SPDX-License-Identifier: Apache-2.0 */
#include "lz4.h"

#include <stdbool.h>
#include <stddef.h>

#define COPY(to, from, size) __builtin_memcpy(to, from, size)

enum {
    MIN_MATCH = 4,
    LAST_LITERALS = 5, /* a block ends with so many literals at least, */
    LAST_MATCH = 12,   /* and no match begins in its last so many bytes */
    TOKEN_MAX = 15,
    MISSES_PER_STEP = 16, /* after so many misses in a row the search goes in larger steps */
    HASH_BYTES = 6,       /* four would find too many false friends in records that are mostly zero */
    FARTHEST_GAP = 4,     /* a match is resumed behind so many bytes at most, */
    RESUMED_BYTES = 6,    /* and where so many are equal at least */
};

struct block {
    uint16_t *table;
    const uint8_t *source;
    const uint8_t *search_end; /* no match is looked for behind this */
    const uint8_t *limit;      /* where the last match ends at the latest */
    const uint8_t *literals;   /* first byte not written yet */
    uint8_t *out;
};

static inline uint64_t load64(const uint8_t *from)
{
    uint64_t value;
    COPY(&value, from, 8);
    return value;
}

static inline uint32_t load32(const uint8_t *from)
{
    uint32_t value;
    COPY(&value, from, 4);
    return value;
}

static inline uint32_t hash(uint64_t bytes)
{
    return (uint32_t)(((bytes << (64 - 8 * HASH_BYTES)) * 0x9e3779b185ebca87ull) >> (64 - LZ4_TABLE_BITS));
}

/*
 * The last place that began like `at`; notes `at` as the last one. NULL: none. An entry never written says
 * the block's start, or a multiple of 64 KiB behind it: always a place before `at`, and what is there is
 * compared.
 */
static inline const uint8_t *find(struct block *b, const uint8_t *at)
{
    uint64_t bytes = load64(at);
    uint16_t *entry = b->table + hash(bytes), here = (uint16_t)(at - b->source);
    uint32_t distance = (uint16_t)(here - *entry);
    *entry = here;
    if (distance == 0) return 0;
    return load32(at - distance) == (uint32_t)bytes ? at - distance : 0;
}

/* What does not fit into a token's four bits. */
static inline uint8_t *put_length(uint8_t *out, uint32_t rest)
{
    for (; rest >= 255; rest -= 255)
        *out++ = 255;
    *out++ = (uint8_t)rest;
    return out;
}

static inline void copy_literals(uint8_t *to, const uint8_t *from, uint32_t size)
{
    for (uint32_t at = 0; at < size; at += 16)
        COPY(to + at, from + at, 16);
}

/* Token and literals; returns the token, in which the match's length is still missing. */
static inline uint8_t *put_literals(struct block *b, const uint8_t *end)
{
    uint32_t size = (uint32_t)(end - b->literals);
    uint8_t *token = b->out++;
    *token = (uint8_t)((size < TOKEN_MAX ? size : TOKEN_MAX) << 4);
    if (size >= TOKEN_MAX) b->out = put_length(b->out, size - TOKEN_MAX);
    copy_literals(b->out, b->literals, size);
    b->out += size;
    return token;
}

/* First byte at or behind `at` that differs from its counterpart. */
static inline const uint8_t *end_of_match(const uint8_t *at, const uint8_t *match, const uint8_t *limit)
{
    while (at + 8 <= limit) {
        uint64_t difference = load64(at) ^ load64(match);
        if (difference) return at + (__builtin_ctzll(difference) >> 3);
        at += 8;
        match += 8;
    }
    while (at < limit && *at == *match) {
        at++;
        match++;
    }
    return at;
}

/* The literals before `at`, and the match that begins there; returns its end. */
static inline const uint8_t *put_sequence(struct block *b, const uint8_t *at, const uint8_t *match)
{
    uint8_t *token = put_literals(b, at);
    uint32_t offset = (uint32_t)(at - match);
    b->out[0] = (uint8_t)offset;
    b->out[1] = (uint8_t)(offset >> 8);
    b->out += 2;
    const uint8_t *behind = end_of_match(at + MIN_MATCH, match + MIN_MATCH, b->limit);
    uint32_t length = (uint32_t)(behind - at) - MIN_MATCH;
    *token |= (uint8_t)(length < TOKEN_MAX ? length : TOKEN_MAX);
    if (length >= TOKEN_MAX) b->out = put_length(b->out, length - TOKEN_MAX);
    b->literals = behind;
    return behind;
}

static inline bool may_resume(const uint8_t *at, const uint8_t *match)
{
    return (load64(at) ^ load64(match)) << (64 - 8 * RESUMED_BYTES) == 0;
}

/*
 * Where the match that ended at `at` goes on with the same offset, behind the few bytes in which the two
 * records differ. NULL: not soon.
 */
static inline const uint8_t *resume(const uint8_t *at, const uint8_t *match)
{
    if (may_resume(at + 1, match + 1)) return at + 1;
    if (may_resume(at + 2, match + 2)) return at + 2;
    if (!may_resume(at + FARTHEST_GAP, match + FARTHEST_GAP)) return 0;
    return at[3] == match[3] ? at + 3 : at + FARTHEST_GAP;
}

/* The next match at or behind `*at`, grown backwards over literals that match too; false when there is none.
 */
static inline bool search(struct block *b, const uint8_t **at, const uint8_t **match)
{
    const uint8_t *next = *at;
    for (uint32_t tries = MISSES_PER_STEP;; tries++) {
        if (next > b->search_end) return false;
        *match = find(b, next);
        if (*match) break;
        next += tries / MISSES_PER_STEP;
    }
    while (next > b->literals && *match > b->source && next[-1] == (*match)[-1]) {
        next--;
        (*match)--;
    }
    *at = next;
    return true;
}

uint32_t lz4_compress(uint16_t *table, const uint8_t *source, uint32_t size, uint8_t *target)
{
    const uint8_t *end = source + size, *match;
    bool searchable = size > LAST_MATCH + FARTHEST_GAP;
    struct block b = {table,
                      source,
                      searchable ? end - (LAST_MATCH + FARTHEST_GAP) : source,
                      searchable ? end - LAST_LITERALS : source,
                      source,
                      target};
    for (uint32_t i = 0; i < LZ4_TABLE_BYTES / 8; i++)
        ((uint64_t *)(void *)table)[i] = 0;
    const uint8_t *at = source + 1; /* the first byte has nothing before it */
    while (searchable && search(&b, &at, &match)) {
        ptrdiff_t offset = at - match;
        for (const uint8_t *next = at; next; next = at > b.search_end ? 0 : resume(at, at - offset))
            at = put_sequence(&b, next, next - offset);
    }
    put_literals(&b, end);
    return (uint32_t)(b.out - target);
}
