/* SPDX-License-Identifier: Apache-2.0 */
#include "unfold.h"

#include <stdbool.h>
#include <string.h>

#include "../constants.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "records are little-endian"
#endif

/* What is in a record besides kind, action and lanes. */
#define IDS (~(uint64_t)0xffff)

/* Half a record, fetched once: what was checked may be something else the next time. */
typedef uint64_t half __attribute__((aligned(4), may_alias));

/* Kind, action or lanes, storage or type, and slot and field or size; value or values. */
struct item {
    uint64_t ids, value;
};

static inline struct item load(const uint32_t *record)
{
    return (struct item){*(const volatile half *)record, *(const volatile half *)(record + 2)};
}

static inline uint32_t *put(uint32_t *out, uint64_t ids, uint64_t value)
{
    memcpy(out, &ids, 8);
    memcpy(out + 2, &value, 8);
    return out + RECORD_WORDS;
}

static inline uint32_t kind_of(struct item item)
{
    return item.ids & 0xff;
}

/* Of SET_LANES and EVENT_LANES. */
static inline uint32_t lanes_of(struct item item)
{
    return (uint32_t)item.ids >> 8 & 0xff;
}

static inline uint32_t size_of(struct item item)
{
    return (uint32_t)(item.ids >> 32) & 0xff;
}

static inline uint32_t shift_of(struct item item)
{
    return (uint32_t)(item.ids >> 40);
}

/* Every lane has a number of 16 bits, counted from `first`. */
static inline bool fit(uint32_t first, uint64_t lanes)
{
    return !lanes || first + (uint32_t)(63 ^ __builtin_clzll(lanes)) <= UINT16_MAX;
}

static inline bool is_allowed(struct item item)
{
    switch (kind_of(item)) {
    case RECORD_ADD_LANES:
        return (item.ids & ~(uint64_t)0xffff00ff) == 0 && fit((uint32_t)item.ids >> 16, item.value);
    case RECORD_SET_LANES: return fit((uint32_t)(item.ids >> 32) & 0xffff, lanes_of(item));
    default: return size_of(item) <= EVENT_INLINE_BYTES && shift_of(item) <= LANE_SHIFT_MAX;
    }
}

static inline uint32_t *put_adds(uint32_t *out, struct item item)
{
    uint64_t ids = RECORD_OP | ACTION_ADD << 8 | (item.ids & IDS);
    for (uint64_t rest = item.value; rest; rest &= rest - 1)
        out = put(out, ids + ((uint64_t)__builtin_ctzll(rest) << 16), 1);
    return out;
}

static inline uint32_t *put_sets(uint32_t *out, struct item item)
{
    uint64_t ids = RECORD_OP | ACTION_SET << 8 | (item.ids & IDS);
    for (uint32_t rest = lanes_of(item); rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        out = put(out, ids + ((uint64_t)lane << 32), item.value >> 8 * lane & 0xff);
    }
    return out;
}

/* What does not belong to the payload is zeros, as in every event. */
static inline uint32_t *put_events(uint32_t *out, struct item item)
{
    uint32_t size = size_of(item), shift = shift_of(item);
    uint64_t ids = RECORD_EVENT | (item.ids & 0xffff0000) | (uint64_t)size << 32;
    uint64_t mask = size ? UINT64_MAX >> (64 - 8 * size) : 0;
    for (uint32_t rest = lanes_of(item); rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        out = put(out, ids, ((item.value >> 8 * lane & 0xff) | (uint64_t)lane << shift) & mask);
    }
    return out;
}

static inline uint32_t *put_items(uint32_t *out, struct item item)
{
    switch (kind_of(item)) {
    case RECORD_ADD_LANES: return put_adds(out, item);
    case RECORD_SET_LANES: return put_sets(out, item);
    default: return put_events(out, item);
    }
}

/* Words of a record that is no lane record, with its payload. */
static inline uint32_t record_words(struct item item)
{
    uint32_t kind = kind_of(item), size = (uint32_t)(item.ids >> 32);
    if (kind == RECORD_EVENT)
        size = size > EVENT_INLINE_BYTES ? size - EVENT_INLINE_BYTES : 0;
    else if (kind != RECORD_STRING && kind != RECORD_SNAPSHOT)
        size = 0;
    return RECORD_WORDS * (1 + size / RECORD_BYTES + (size % RECORD_BYTES != 0));
}

/* Returns the place after the items; NULL: the record is not allowed. */
static inline uint32_t *take_lanes(struct unfold *unfold, struct item item, uint32_t *out)
{
    if (!is_allowed(item)) {
        put(unfold->refused, item.ids, item.value);
        return NULL;
    }
    return put_items(out, item);
}

enum unfold_stop unfold_lanes(struct unfold *unfold, const uint32_t *words, uint32_t end, uint32_t *piece,
                              uint32_t room)
{
    const uint32_t *record = words + unfold->at, *last = words + end;
    uint32_t *out = piece, *last_start = piece + room - UNFOLDED_WORDS_MAX;
    uint32_t extra = unfold->extra, length, apart = 0;
    enum unfold_stop stop = UNFOLD_PIECE;
    for (; record < last && out <= last_start; record += length) {
        struct item item = load(record);
        uint32_t kind = kind_of(item);
        length = RECORD_WORDS;
        if (kind == RECORD_OP) {
            out = put(out, item.ids, item.value);
            continue;
        }
        if (kind >= RECORD_ADD_LANES && kind <= RECORD_EVENT_LANES) {
            uint32_t *behind = take_lanes(unfold, item, out);
            if (!behind) {
                stop = UNFOLD_REFUSED;
                break;
            }
            extra += (uint32_t)(behind - out) / RECORD_WORDS - 1;
            out = behind;
            continue;
        }
        if (kind == RECORD_BEGIN) {
            extra = 0;
        } else if (kind == RECORD_END) {
            item.ids += (uint64_t)extra << 32;
            extra = 0;
        } else if ((length = record_words(item)) > RECORD_WORDS) {
            /* One that claims to continue after the message gets what is there: the writer says what is
             * wrong.
             */
            if (length > last - record) length = (uint32_t)(last - record);
            if (length > piece + room - out) {
                if (out == piece) {
                    apart = length;
                    stop = UNFOLD_APART;
                }
                break;
            }
            memcpy(out + RECORD_WORDS, record + RECORD_WORDS, (length - RECORD_WORDS) * sizeof *out);
        }
        put(out, item.ids, item.value);
        out += length;
    }
    unfold->at = (uint32_t)(record - words);
    unfold->length = apart ? apart : (uint32_t)(out - piece);
    unfold->extra = extra;
    return stop;
}
