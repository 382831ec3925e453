/* SPDX-License-Identifier: Apache-2.0 */
#include "lz4.h"

#include <stdbool.h>
#include <stddef.h>

/* Real functions would access the block in memory, on a stack; inlined into their caller, it is in registers.
 */
#define INLINED              static inline __attribute__((always_inline))
#define COPY(to, from, size) __builtin_memcpy(to, from, size)

enum {
    MIN_MATCH = 4,
    LAST_LITERALS = 5, /* a block ends with at least this number of literals */
    LAST_MATCH = 12,   /* no match begins in this number of bytes at its end */
    TOKEN_MAX = 15,
    MISSES_PER_STEP = 16, /* misses in a row after which the search takes larger steps */
    HASH_BYTES = 6,       /* four would find too many false friends in records that are mostly zero */
    WINDOW = 16,          /* bytes compared at once */
    RESUMED_BYTES = 6,    /* equal bytes at which a match is resumed */
    NEAR_GAP = 4,         /* after at most this number of bytes, */
    FAR_GAP = 5,          /* or this number when the table has nothing better */
    FOUND_BYTES = 6,      /* length of a match from the table at least, */
    FOUND_INSTEAD = 9,    /* and when the offset at hand may also match */
    MARGIN = FAR_GAP + WINDOW + LAST_LITERALS, /* no search in this number of bytes at the end */
};

_Static_assert(MARGIN - FAR_GAP >= LAST_MATCH, "no match begins too late");

struct block {
    uint16_t *table;
    const uint8_t *source;
    const uint8_t *search_end; /* no match is looked for after this */
    const uint8_t *limit;      /* where the last match ends at the latest */
    const uint8_t *literals;   /* first byte not written yet: the end of the last match */
    uint8_t *out;
    uint32_t offset; /* of the last match */
};

INLINED uint64_t load64(const uint8_t *from)
{
    uint64_t value;
    COPY(&value, from, 8);
    return value;
}

INLINED uint32_t load32(const uint8_t *from)
{
    uint32_t value;
    COPY(&value, from, 4);
    return value;
}

INLINED uint32_t hash(uint64_t bytes)
{
    return (uint32_t)(((bytes << (64 - 8 * HASH_BYTES)) * 0x9e3779b185ebca87ull) >> (64 - LZ4_TABLE_BITS));
}

/*
 * How far back the last place is that began like `at`; notes `at` as the last one. 0: there is none. An entry
 * never written says the block's second byte, or a multiple of 64 KiB after it: always a place before `at`,
 * with a byte before it, and what is there is compared.
 */
INLINED uint32_t look_up(struct block *b, const uint8_t *at)
{
    uint16_t *entry = b->table + hash(load64(at)), here = (uint16_t)(at - b->source - 1);
    uint32_t offset = (uint16_t)(here - *entry);
    *entry = here;
    return offset;
}

/* How many of the next bytes are equal, of WINDOW. */
INLINED uint32_t count_equal(const uint8_t *at, const uint8_t *match)
{
    uint64_t low = load64(at) ^ load64(match), high = load64(at + 8) ^ load64(match + 8);
    if (low) return (uint32_t)__builtin_ctzll(low) >> 3;
    return high ? 8 + ((uint32_t)__builtin_ctzll(high) >> 3) : WINDOW;
}

/* First byte at or after `at` that differs from its counterpart. */
INLINED const uint8_t *end_of_match(const uint8_t *at, const uint8_t *match, const uint8_t *limit)
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

/* A number the compiler knows nothing about. */
INLINED uint32_t opaque(uint32_t number)
{
    __asm__ volatile("" : "+r"(number));
    return number;
}

/*
 * `at` and `equal` bytes, or more when the whole window is equal. The processor continues with the next
 * match while it still waits for this count, when it can guess it: a jump that depends on the count it
 * guesses well, as records have few sizes, but a sum it waits for. Thus the usual counts are jumped by.
 */
INLINED const uint8_t *behind_match(struct block *b, const uint8_t *at, uint32_t equal)
{
    if (equal == 12) return at + opaque(12);
    if (equal == 15) return at + opaque(15);
    if (equal == 8) return at + opaque(8);
    return equal < WINDOW ? at + equal : end_of_match(at + WINDOW, at + WINDOW - b->offset, b->limit);
}

/* What does not fit into a token's four bits. Inlined, it would slow down the sequences that need none. */
static __attribute__((noinline)) uint8_t *put_length(uint8_t *out, uint32_t rest)
{
    for (; rest >= 255; rest -= 255)
        *out++ = 255;
    *out++ = (uint8_t)rest;
    return out;
}

INLINED void copy_literals(uint8_t *to, const uint8_t *from, uint32_t size)
{
    for (uint32_t at = 0; at < size; at += 16)
        COPY(to + at, from + at, 16);
}

/* A token, whose low four bits are given, and the literals before `end`. */
INLINED void put_literals(struct block *b, const uint8_t *end, uint32_t low)
{
    uint32_t size = (uint32_t)(end - b->literals);
    *b->out++ = (uint8_t)((size < TOKEN_MAX ? size : TOKEN_MAX) << 4 | low);
    if (size >= TOKEN_MAX) b->out = put_length(b->out, size - TOKEN_MAX);
    copy_literals(b->out, b->literals, size);
    b->out += size;
}

/* The same for literals whose number fits into a token. */
INLINED void put_few_literals(struct block *b, const uint8_t *end, uint32_t low)
{
    uint32_t size = (uint32_t)(end - b->literals);
    b->out[0] = (uint8_t)(size << 4 | low);
    COPY(b->out + 1, b->literals, 16);
    b->out += 1 + size;
}

/* A match with `before` bytes before `at` and `equal` bytes of the window after it, with its literals. */
INLINED void put_match(struct block *b, const uint8_t *at, uint32_t before, uint32_t equal, bool few)
{
    const uint8_t *behind = behind_match(b, at, equal), *begin = at - before;
    uint32_t length = (uint32_t)(behind - begin) - MIN_MATCH;
    uint32_t low = length < TOKEN_MAX ? length : TOKEN_MAX;
    if (few)
        put_few_literals(b, begin, low);
    else
        put_literals(b, begin, low);
    uint16_t offset = (uint16_t)b->offset;
    COPY(b->out, &offset, 2);
    b->out += 2;
    if (length >= TOKEN_MAX) b->out = put_length(b->out, length - TOKEN_MAX);
    b->literals = behind;
}

INLINED bool may_resume(struct block *b, uint32_t gap)
{
    const uint8_t *at = b->literals + gap;
    return (load64(at) ^ load64(at - b->offset)) << (64 - 8 * RESUMED_BYTES) == 0;
}

/* The number of differing bytes after which the last match continues with the same offset. 0: not soon. */
INLINED uint32_t near_gap(struct block *b)
{
    if (may_resume(b, 1)) return 1;
    if (may_resume(b, 2)) return 2;
    if (!may_resume(b, NEAR_GAP)) return 0;
    const uint8_t *third = b->literals + 3;
    return *third == *(third - b->offset) ? 3 : NEAR_GAP;
}

INLINED bool resume_behind(struct block *b, uint32_t gap)
{
    const uint8_t *at = b->literals + gap;
    put_match(b, at, 0, count_equal(at, at - b->offset), true);
    return true;
}

/* The last match, resumed soon; false when it is not. */
INLINED bool resume(struct block *b)
{
    if (b->literals > b->search_end) return false;
    uint32_t gap = near_gap(b);
    return gap && resume_behind(b, gap);
}

/* The last match, resumed not so soon; false when it is not. */
INLINED bool resume_late(struct block *b)
{
    return b->literals <= b->search_end && may_resume(b, FAR_GAP) && resume_behind(b, FAR_GAP);
}

/*
 * Match after match where the table says so, each a byte after the one before or at its end: records with a
 * new number each. True when the last one had best be resumed; false when nothing is found.
 */
INLINED bool hop(struct block *b)
{
    for (uint32_t least = FOUND_BYTES; b->literals <= b->search_end; least = FOUND_INSTEAD) {
        const uint8_t *at = b->literals + 1;
        uint32_t found = look_up(b, at), offset = found ? found : b->offset;
        uint32_t equal = count_equal(at, at - offset);
        if (equal < least) {
            if (least != FOUND_BYTES && resume(b)) return true;
            if (equal < FOUND_BYTES) return false;
        }
        b->offset = offset;
        put_match(b, at, at[-1] == *(at - 1 - offset), equal, true);
        if (equal == WINDOW) return true;
    }
    return false;
}

/* The next match at or after `at`, grown backwards over literals that match too; false: there is none. */
INLINED bool search(struct block *b, const uint8_t *at)
{
    for (uint32_t tries = MISSES_PER_STEP;; tries++) {
        if (at > b->search_end) return false;
        b->offset = look_up(b, at);
        if (b->offset && load32(at) == load32(at - b->offset)) break;
        at += tries / MISSES_PER_STEP;
    }
    uint32_t before = 0, equal = count_equal(at, at - b->offset);
    const uint8_t *last = at - 1, *match = last - b->offset;
    for (; last >= b->literals && match >= b->source && *last == *match; last--, match--)
        before++;
    put_match(b, at, before, equal, false);
    return true;
}

uint32_t lz4_compress(uint16_t *table, const uint8_t *source, uint32_t size, uint8_t *target)
{
    const uint8_t *end = source + size;
    bool searchable = size > MARGIN;
    struct block b = {
        .table = table,
        .source = source,
        .search_end = searchable ? end - MARGIN : source,
        .limit = searchable ? end - LAST_LITERALS : source,
        .literals = source,
        .out = target,
    };
    for (uint32_t i = 0; i < LZ4_TABLE_BYTES / 8; i++)
        ((uint64_t *)(void *)table)[i] = 0;
    const uint8_t *from = source + 1; /* the first byte has nothing before it */
    for (; searchable && search(&b, from); from = b.literals + 2) {
        do {
            while (resume(&b))
                continue;
        } while (hop(&b) || resume_late(&b));
    }
    put_literals(&b, end, 0);
    return (uint32_t)(b.out - target);
}
