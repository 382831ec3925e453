/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings: a text gets an index and travels once. Which texts are known is kept in a cache of bounded size; a
 * text that fell out of it simply travels again under a new index.
 */
#include <stdlib.h>
#include <string.h>

#include "record/recording.h"

enum {
    ENTRIES = 1 << 16, /* power of two */
    PROBES = 8,
    ARENA = 4 << 20, /* power of two, larger than any text */
    PAGE = 4096,
};

struct entry {
    uint32_t hash;
    uint32_t index;
    uint32_t length;
    uint64_t position; /* where the text was put, counted without wrapping, + 1; 0: free */
};

struct uscopei_string_cache {
    uint64_t written; /* positions below this minus ARENA are overwritten */
    struct entry entries[ENTRIES];
    unsigned char arena[ARENA];
};

/* Its pages are touched now: texts are spread over the table, and each would cost a fault in the middle of a
 * cycle. */
struct uscopei_string_cache *uscopei_string_cache_new(void)
{
    struct uscopei_string_cache *cache = calloc(1, sizeof *cache);
    if (!cache) return NULL;
    volatile unsigned char *bytes = (volatile unsigned char *)cache;
    for (size_t at = 0; at < sizeof *cache; at += PAGE)
        bytes[at] = 0;
    return cache;
}

void uscopei_string_cache_free(struct uscopei_string_cache *cache)
{
    free(cache);
}

static uint32_t hash_bytes(const unsigned char *bytes, size_t length)
{
    uint64_t hash = UINT64_C(0x9E3779B97F4A7C15) ^ length;
    while (length >= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        hash = (hash ^ word) * UINT64_C(0xD6E8FEB86659FD93);
        hash ^= hash >> 32;
        bytes += 8;
        length -= 8;
    }
    uint64_t tail = 0;
    if (length > 0) memcpy(&tail, bytes, length);
    hash = (hash ^ tail) * UINT64_C(0xD6E8FEB86659FD93);
    return (uint32_t)(hash ^ hash >> 32);
}

static bool readable(const struct uscopei_string_cache *cache, const struct entry *entry)
{
    return entry->position != 0 && entry->position - 1 + ARENA >= cache->written;
}

/* A text never wraps in the arena, so it is compared and copied in one piece. */
static struct entry *look_up(struct uscopei_string_cache *cache, uint32_t hash, const void *text,
                             uint32_t length, struct entry **victim)
{
    struct entry *oldest = &cache->entries[hash & (ENTRIES - 1)];
    for (uint32_t i = 0; i < PROBES; i++) {
        struct entry *entry = &cache->entries[(hash + i) & (ENTRIES - 1)];
        if (!readable(cache, entry)) {
            /* holes appear as texts are overwritten, so what is searched may follow one */
            entry->position = 0;
        } else if (entry->hash == hash && entry->length == length &&
                   memcmp(cache->arena + ((entry->position - 1) & (ARENA - 1)), text, length) == 0) {
            return entry;
        }
        if (entry->position < oldest->position) oldest = entry;
    }
    *victim = oldest;
    return NULL;
}

static void remember(struct uscopei_string_cache *cache, struct entry *entry, uint32_t hash, uint32_t index,
                     const void *text, uint32_t length)
{
    uint64_t at = cache->written & (ARENA - 1);
    if (at + length > ARENA) cache->written += ARENA - at;
    *entry = (struct entry){hash, index, length, cache->written + 1};
    memcpy(cache->arena + (cache->written & (ARENA - 1)), text, length);
    cache->written += length;
}

/* -- UTF-8 */

/* Length of the well-formed sequence at `at`, 0 when there is none: no overlong forms, no surrogates, nothing
 * above U+10FFFF. */
static size_t sequence_length(const unsigned char *at, size_t left)
{
    unsigned char first = at[0];
    size_t length = first < 0x80 ? 1 : first >= 0xC2 && first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (length == 1) return 1;
    if (first < 0xC2 || first > 0xF4 || length > left) return 0;
    unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (at[1] < low || at[1] > high) return 0;
    for (size_t i = 2; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80) return 0;
    }
    return length;
}

bool uscopei_valid_utf8(const unsigned char *text, size_t length)
{
    size_t at = 0;
    while (at < length) {
        uint64_t word;
        if (length - at >= 8 && (memcpy(&word, text + at, 8), (word & UINT64_C(0x8080808080808080)) == 0)) {
            at += 8;
            continue;
        }
        size_t step = sequence_length(text + at, length - at);
        if (step == 0) return false;
        at += step;
    }
    return true;
}

/* -- the call */

static bool append_string(struct uscopei_trace *t, const void *text, uint32_t length, uint32_t index)
{
    size_t payload = ((size_t)length + RECORD_BYTES - 1) / RECORD_BYTES * RECORD_BYTES;
    size_t bytes = RECORD_BYTES + payload;
    if ((t->cursor >= t->limit || (size_t)(t->limit - t->cursor) < bytes) && !uscopei_make_room(t, bytes))
        return false;
    unsigned char *at = t->cursor;
    put_string(at, length, index);
    if (payload > 0) {
        put_record(at + payload, 0, 0);
        memcpy(at + RECORD_BYTES, text, length);
    }
    t->cursor += bytes;
    t->more_items -= (uint32_t)(bytes / RECORD_BYTES);
    return true;
}

static bool acceptable(struct uscopei_trace *t, const char *text, size_t length)
{
    if (length > MAX_PAYLOAD) {
        uscopei_reject(t, E_OP_STRING, UINT64_C(1) << 40,
                       "a string of %zu bytes; at most 65520 are allowed; string rejected", length);
        return false;
    }
    if (!uscopei_valid_utf8((const unsigned char *)text, length)) {
        uscopei_reject(t, E_OP_STRING, UINT64_C(2) << 40,
                       "a string of %zu bytes is not valid UTF-8; string rejected", length);
        return false;
    }
    return true;
}

unsigned int uscope_string(uscope_writer_t *w, const char *text)
{
    struct uscopei_trace *t = uscopei_resolve(w, "string");
    if (!t || t->session->state == ST_UNTRACED) return USCOPE_NO_STRING;
    struct uscopei_session *s = t->session;
    if (!text) {
        uscopei_reject(t, E_OP_STRING, UINT64_C(3) << 40, "a null string; string rejected");
        return USCOPE_NO_STRING;
    }
    size_t length = strlen(text);
    uint32_t hash = hash_bytes((const unsigned char *)text, length);
    struct entry *entry = NULL;
    /* what is known has been checked before */
    if (s->strings && length <= MAX_PAYLOAD) {
        const struct entry *known = look_up(s->strings, hash, text, (uint32_t)length, &entry);
        if (known) return known->index;
    }
    if (!acceptable(t, text, length)) return USCOPE_NO_STRING;
    if (s->num_strings == USCOPE_NO_STRING) {
        uscopei_reject(t, E_OP_STRING, UINT64_C(4) << 40, "more than 2^32 - 1 strings; string rejected");
        return USCOPE_NO_STRING;
    }
    if (!append_string(t, text, (uint32_t)length, s->num_strings)) return USCOPE_NO_STRING;
    if (s->strings) remember(s->strings, entry, hash, s->num_strings, text, (uint32_t)length);
    t->num_strings = s->num_strings + 1;
    return s->num_strings++;
}
