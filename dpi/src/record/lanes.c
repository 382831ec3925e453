/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same item for each bit of a mask: what is common to all lanes is checked once, and a lane costs little
 * more than the two stores of its record. Whatever does not pass is done again as single calls.
 */
#include "record/append.h"

/* The widest value of a lane. Meaningless unless 1 <= width <= 64. */
static inline uint64_t lane_limit(unsigned width)
{
    return UINT64_MAX >> ((64 - width) & 63);
}

static inline unsigned lowest_lane(uint64_t lanes)
{
    return (unsigned)__builtin_ctzll(lanes);
}

static inline unsigned highest_lane(uint64_t lanes)
{
    return 63 ^ (unsigned)__builtin_clzll(lanes);
}

/* Whether the values of all lanes up to `last` lie within their 64 bits. */
static inline bool lies_within(unsigned last, unsigned width)
{
    return (uint64_t)(last + 1) * width - 1 < 64;
}

static inline uint64_t lane_value(uint64_t values, unsigned lane, unsigned width)
{
    return values >> ((lane * width) & 63) & lane_limit(width);
}

static inline uint64_t next_value(uint64_t values, unsigned width)
{
    return values >> (width & 63); /* with 64 bits there is one lane */
}

/*
 * The record of the lowest lane, which is taken off. It is written in any case and stays where its bit is
 * set: which lanes are in use changes from cycle to cycle, and a branch on it would be guessed wrong.
 */
static inline unsigned char *put_lane(unsigned char *at, unsigned long long *lanes, uint64_t low,
                                      uint64_t high)
{
    uint64_t rest = *lanes;
    *lanes = rest >> 1;
    put_record(at, low, high);
    return at + (rest & 1) * RECORD_BYTES;
}

/* Room for a record of each lane up to `last`. */
static inline bool has_room(const struct uscopei_trace *t, unsigned last)
{
    return t->cursor + (size_t)last * RECORD_BYTES < t->limit;
}

/* In the careful twins: true when the lane has a value, else it is reported. */
static bool has_value(void *w, const char *call, unsigned lane, unsigned width)
{
    if (lies_within(lane, width)) return true;
    struct uscopei_trace *t = uscopei_resolve_in_frame(w, call);
    if (t)
        uscopei_reject(t, E_OP_VALUE, UINT64_C(1) << 33 | width,
                       "%s: lane %u of %u bits does not lie within the 64 bits of values; item rejected",
                       call, lane, width);
    return false;
}

static COLD void set_lanes_slow(void *w, uint16_t storage, uint16_t field, uint64_t lanes, uint64_t values,
                                unsigned width)
{
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = lowest_lane(lanes);
        if (has_value(w, "slot_set_lanes", lane, width))
            uscope_slot_set(w, storage, (uint16_t)lane, field, lane_value(values, lane, width));
    }
}

void uscope_slot_set_lanes(uscope_writer_t *w, uint16_t storage, uint16_t field, unsigned long long lanes,
                           unsigned long long values, unsigned int width)
{
    struct uscopei_trace *t;
    if (!lanes) return;
    unsigned last = highest_lane(lanes);
    if (LIKELY(in_frame(w, &t) && storage < t->num_storages && lies_within(last, width))) {
        const struct storage_shape *shape = &t->storages[storage];
        if (LIKELY(last < shape->num_slots && field < shape->num_fields &&
                   lane_limit(width) < shape->limits[field] && has_room(t, last))) {
            unsigned char *at = t->cursor;
            uint64_t op = slot_word(shape, ACTION_SET, 0, field), limit = lane_limit(width);
            for (; lanes; op += OP_SLOT, values = next_value(values, width))
                at = put_lane(at, &lanes, op, values & limit);
            t->cursor = at;
            return;
        }
    }
    set_lanes_slow(w, storage, field, lanes, values, width);
}

static COLD void clear_lanes_slow(void *w, uint16_t storage, uint64_t lanes)
{
    for (; lanes; lanes &= lanes - 1)
        uscope_slot_clear(w, storage, (uint16_t)lowest_lane(lanes));
}

void uscope_slot_clear_lanes(uscope_writer_t *w, uint16_t storage, unsigned long long lanes)
{
    struct uscopei_trace *t;
    if (!lanes) return;
    unsigned last = highest_lane(lanes);
    if (LIKELY(in_frame(w, &t) && storage < t->num_storages && last < t->storages[storage].num_slots &&
               has_room(t, last))) {
        unsigned char *at = t->cursor;
        uint64_t op = op_word(ACTION_CLEAR, storage, 0, 0);
        for (; lanes; lanes &= lanes - 1, at += RECORD_BYTES)
            put_record(at, op + lowest_lane(lanes) * OP_SLOT, 0);
        t->cursor = at;
        return;
    }
    clear_lanes_slow(w, storage, lanes);
}

/* All of them in one record. */
static inline __attribute__((always_inline)) bool put_count(void *w, uint16_t first_storage, uint64_t lanes)
{
    struct uscopei_trace *t;
    if (UNLIKELY(!in_frame(w, &t) || first_storage + highest_lane(lanes) >= t->num_countable ||
                 !may_put_lanes(t) || t->cursor >= t->limit))
        return false;
    put_record(t->cursor, add_lanes_word(first_storage), lanes);
    t->cursor += RECORD_BYTES;
    return true;
}

static COLD void count_lanes_slow(void *w, uint16_t first_storage, uint64_t lanes)
{
    if (uscopei_lane_room_made(w) && put_count(w, first_storage, lanes)) return;
    for (; lanes; lanes &= lanes - 1) {
        unsigned storage = first_storage + lowest_lane(lanes);
        uscope_slot_add(w, storage > UINT16_MAX ? UINT16_MAX : (uint16_t)storage, 0, 0, 1);
    }
}

void uscope_count_lanes(uscope_writer_t *w, uint16_t first_storage, unsigned long long lanes)
{
    if (!lanes || put_count(w, first_storage, lanes)) return;
    count_lanes_slow(w, first_storage, lanes);
}

static COLD void event1_lanes_slow(void *w, uint16_t type, uint64_t lanes, uint64_t values, unsigned width)
{
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = lowest_lane(lanes);
        if (has_value(w, "event1_lanes", lane, width))
            uscope_event1(w, type, lane_value(values, lane, width));
    }
}

void uscope_event1_lanes(uscope_writer_t *w, uint16_t type, unsigned long long lanes,
                         unsigned long long values, unsigned int width)
{
    struct uscopei_trace *t;
    if (!lanes) return;
    unsigned last = highest_lane(lanes);
    if (LIKELY(in_frame(w, &t) && type < t->num_events && lies_within(last, width))) {
        const struct event_shape *shape = &t->events[type];
        if (LIKELY(shape->single == 1 && lane_limit(width) < shape->fields[0].limit && has_room(t, last))) {
            unsigned char *at = t->cursor;
            uint64_t word = shape->word, limit = lane_limit(width);
            for (; lanes; values = next_value(values, width))
                at = put_lane(at, &lanes, word, values & limit);
            t->cursor = at;
            return;
        }
    }
    event1_lanes_slow(w, type, lanes, values, width);
}

static COLD void event2_lanes_slow(void *w, uint16_t type, uint64_t lanes, uint64_t values, unsigned width,
                                   uint32_t second, uint32_t step)
{
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = lowest_lane(lanes);
        if (has_value(w, "event2_lanes", lane, width))
            uscope_event2(w, type, lane_value(values, lane, width), second + (uint64_t)step * lane);
    }
}

void uscope_event2_lanes(uscope_writer_t *w, uint16_t type, unsigned long long lanes,
                         unsigned long long values, unsigned int width, unsigned int second,
                         unsigned int step)
{
    struct uscopei_trace *t;
    if (!lanes) return;
    unsigned last = highest_lane(lanes);
    if (LIKELY(in_frame(w, &t) && type < t->num_events && lies_within(last, width))) {
        const struct event_shape *shape = &t->events[type];
        const struct event_field *fields = shape->fields;
        if (LIKELY(shape->single == 2 && lane_limit(width) < fields[0].limit &&
                   second + (uint64_t)step * last < fields[1].limit && has_room(t, last))) {
            unsigned char *at = t->cursor;
            unsigned shift = fields[1].offset * 8u;
            uint64_t word = shape->word, limit = lane_limit(width);
            uint64_t upper = (uint64_t)second << shift, more = (uint64_t)step << shift;
            for (; lanes; upper += more, values = next_value(values, width))
                at = put_lane(at, &lanes, word, (values & limit) | upper);
            t->cursor = at;
            return;
        }
    }
    event2_lanes_slow(w, type, lanes, values, width, second, step);
}
