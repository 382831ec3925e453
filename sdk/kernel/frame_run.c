/* SPDX-License-Identifier: Apache-2.0 */
#include "frame_run.h"

#include <stdbool.h>

enum { OP = 0x01, EVENT = 0x03, BEGIN = 0x10, END = 0x11, STRING = 0x12 };
enum { SET = 1, CLEAR = 2, ADD = 3, PROP_SET = 4 };
enum { TAG_COMPACT = 0x02, TAG_EVENT = 0x03 };
enum { RECORD_WORDS = 4, EVENT_INLINE_BYTES = 8, MAX_ITEMS = 0xffff };

#define HEAD(action)         (OP | (action) << 8)
#define COPY(to, from, size) __builtin_memcpy(to, from, size)

static inline uint64_t load64(const void *from)
{
    uint64_t value;
    COPY(&value, from, 8);
    return value;
}

static inline void store64(uint8_t *to, uint64_t value)
{
    COPY(to, &value, 8);
}

/* LEB128 time delta of a frame header (§8.6.6). */
static inline uint8_t *put_delta(uint8_t *at, uint64_t delta)
{
    while (delta > 0x7f) {
        *at++ = (uint8_t)(delta | 0x80);
        delta >>= 7;
    }
    *at++ = (uint8_t)delta;
    return at;
}

/* Copies in whole vectors: reads to the end of the payload's last record, writes into the slack. */
static inline void copy_payload(uint8_t *to, const uint32_t *from, uint32_t size)
{
    const uint8_t *bytes = (const uint8_t *)from;
    for (uint32_t at = 0; at < size; at += 16)
        COPY(to + at, bytes + at, 16);
}

static inline uint32_t extra_words(uint32_t size)
{
    return size <= EVENT_INLINE_BYTES ? 0 : (size - EVENT_INLINE_BYTES + 15) / 16 * RECORD_WORDS;
}

static inline uint32_t payload_words(uint32_t size)
{
    return size / 16 * RECORD_WORDS + (size % 16 ? RECORD_WORDS : 0);
}

/* A record: kind, action, storage and slot and field (of an event: type and size); value. */
struct item {
    uint64_t ids, value;
};

static inline struct item load_item(const uint32_t *record)
{
    return (struct item){load64(record), load64(record + 2)};
}

static inline uint8_t *put_event(uint8_t *at, const uint32_t *record, struct item item)
{
    uint32_t size = (uint32_t)(item.ids >> 32);
    store64(at, (item.ids & ~(uint64_t)0xffff) | TAG_EVENT);
    store64(at + 8, item.value);
    if (size > EVENT_INLINE_BYTES) copy_payload(at + 16, record + RECORD_WORDS, size - EVENT_INLINE_BYTES);
    return at + 8 + size;
}

static inline uint8_t *put_wide(uint8_t *at, struct item item)
{
    store64(at, item.ids);
    store64(at + 8, item.value);
    return at + 16;
}

/* tag, action, storage u8, slot u16, field u16, value u16 */
static inline uint8_t *put_compact(uint8_t *at, struct item item)
{
    store64(at, TAG_COMPACT | (item.ids & 0xffff00) | ((item.ids >> 32) << 24) | item.value << 56);
    at[8] = (uint8_t)(item.value >> 8);
    return at + 9;
}

/* Encodes the items of a frame so far in the other form. */
static uint8_t *encode_again(uint8_t *at, const uint32_t *record, const uint32_t *end, bool compact)
{
    while (record < end) {
        struct item item = load_item(record);
        switch (*record & 0xff) {
        case EVENT:
            at = put_event(at, record, item);
            record += RECORD_WORDS + extra_words(record[1]);
            break;
        case STRING: record += RECORD_WORDS + payload_words(record[1]); break;
        default: at = compact ? put_compact(at, item) : put_wide(at, item); record += RECORD_WORDS;
        }
    }
    return at;
}

static inline void clear_slot(const struct storage *s, uint32_t slot)
{
    uint64_t *cell = s->cells + slot * s->fields;
    for (uint32_t f = 0; f < s->fields; f++)
        cell[f] = 0;
    uint8_t *byte = s->mask + (slot >> 3), bit = (uint8_t)(1 << (slot & 7));
    *s->occupied -= (*byte & bit) != 0;
    *byte &= (uint8_t)~bit;
}

static inline void occupy(const struct storage *s, uint32_t slot)
{
    uint8_t *byte = s->mask + (slot >> 3), bit = (uint8_t)(1 << (slot & 7));
    if (*byte & bit) return;
    *byte |= bit;
    ++*s->occupied;
}

/* One frame that is being tried. */
struct frame {
    const uint32_t *end;
    uint8_t *out;
    uint32_t items;
    uint64_t wide;   /* nonzero: an op needs the wide form */
    uint64_t filled; /* storage and slot that SET or ADD wrote last: it is occupied, for the next one too */
};

static const uint64_t NO_SLOT = UINT64_MAX;

static inline uint32_t slot_of(struct item item)
{
    return (uint32_t)(item.ids >> 32) & 0xffff;
}

static inline uint32_t field_of(struct item item)
{
    return (uint32_t)(item.ids >> 48);
}

/* Applies SET or ADD to the state; false when it does not fit the schema. */
static inline bool write_cell(struct run *r, struct frame *f, const struct storage *s, struct item item,
                              uint32_t action)
{
    uint32_t slot = slot_of(item), number = field_of(item);
    if (slot >= s->slots || number >= s->fields) return false;
    const struct field *field = s->field + number;
    uint64_t *cell = s->cells + slot * s->fields + number;
    *cell = (action == ADD ? *cell + item.value : item.value) & field->mask;
    uint64_t place = (uint32_t)(item.ids >> 16);
    if (place != f->filled) {
        occupy(s, slot);
        f->filled = place;
    }
    if (field->watched == action) sums_add_to(&r->sums, field->source, item.value);
    return true;
}

/* Applies an op to the state; false when it does not fit the schema. */
static inline bool apply(struct run *r, struct frame *f, struct item item)
{
    uint32_t head = item.ids & 0xffff, id = (uint32_t)item.ids >> 16;
    if (id >= r->num_storages) return false;
    const struct storage *s = r->storages + id;
    if (head == HEAD(SET)) return write_cell(r, f, s, item, SET);
    if (head == HEAD(ADD)) return write_cell(r, f, s, item, ADD);
    if (head == HEAD(CLEAR)) {
        if (slot_of(item) >= s->slots) return false;
        clear_slot(s, slot_of(item));
        f->filled = NO_SLOT;
        return true;
    }
    uint32_t number = field_of(item);
    if (head != HEAD(PROP_SET) || number >= s->properties) return false;
    s->property_cells[number] = item.value & s->field[s->fields + number].mask;
    return true;
}

/*
 * Takes the items of a frame from `record` on, up to its END, which it returns; NULL when the frame is not
 * ordinary. `f->out` is where the first item goes; what is there at the end is in the form that `*compact`
 * then says.
 */
static inline const uint32_t *take_items(struct run *r, struct frame *f, const uint32_t *record,
                                         bool *compact)
{
    const uint32_t *first = record;
    uint8_t *start = f->out;
    struct item item;
    for (;; f->items++) {
        if (record >= f->end) return 0;
        item = load_item(record);
        uint32_t head = item.ids & 0xffff;
        if (head == EVENT) {
            uint32_t type = (uint32_t)item.ids >> 16, size = (uint32_t)(item.ids >> 32);
            if (type >= r->num_events || size != r->event_sizes[type]) return 0;
            uint32_t length = RECORD_WORDS + extra_words(size);
            if ((uint32_t)(f->end - record) < length) return 0;
            f->out = put_event(f->out, record, item);
            record += length;
            continue;
        }
        if (head == END) break;
        if (head == STRING) {
            uint32_t length = RECORD_WORDS + payload_words(record[1]);
            if ((uint32_t)(f->end - record) < length) return 0;
            take_string((uint32_t)(record - r->words));
            record += length;
            f->items--; /* it is none */
            continue;
        }
        if (!apply(r, f, item)) return 0;
        f->wide |= item.value >> 16 | (uint32_t)item.ids >> 24;
        if (*compact && f->wide) {
            /* The first op that needs the wide form: so do all before it (§8.6.6). */
            *compact = false;
            f->out = encode_again(start, first, record, false);
        }
        f->out = *compact ? put_compact(f->out, item) : put_wide(f->out, item);
        record += RECORD_WORDS;
    }
    if (f->items != record[1] || f->items > MAX_ITEMS || item.value != r->ordinal) return 0;
    if (!*compact && !f->wide) {
        *compact = true;
        f->out = encode_again(start, first, record, true);
    }
    return record;
}

/* The next frame may be tried: it is in order, and no cut is due before it. */
static inline bool may_begin(const struct run *r, const uint32_t *begin, uint32_t length)
{
    if (*begin != BEGIN) return false;
    uint64_t time = load64(begin + 2);
    if (time < r->last || length >= r->hard_limit) return false;
    return time == r->last || (length < r->soft_limit && time < r->grid);
}

void frame_run(struct run *run)
{
    struct run copy = *run, *r = &copy; /* of its own, so that its members stay in registers */
    struct frame f = {.end = r->words + r->end, .out = r->out, .filled = NO_SLOT};
    const uint32_t *begin = r->words + r->begin, *last_begin = r->words + r->last_begin;
    uint8_t *out = r->out;
    uint32_t frames = 0, active = 0, items = 0;
    bool compact = r->compact != 0, dropped = false;
    while (begin < last_begin && may_begin(r, begin, (uint32_t)(out - r->out))) {
        uint64_t time = load64(begin + 2);
        uint8_t *count = put_delta(out, time - r->last);
        f.out = count + 2;
        f.items = 0;
        f.wide = 0;
        const uint32_t *end = take_items(r, &f, begin + RECORD_WORDS, &compact);
        dropped = !end;
        if (dropped) break;
        count[0] = (uint8_t)f.items;
        count[1] = (uint8_t)(f.items >> 8);
        sums_end(&r->sums, time);
        out = f.out;
        begin = end + RECORD_WORDS;
        r->last = time;
        r->ordinal++;
        frames++;
        active += f.items != 0;
        items += f.items;
    }
    run->begin = (uint32_t)(begin - r->words);
    run->compact = compact;
    run->out_length = (uint32_t)(out - r->out);
    if (dropped) sums_drop(&r->sums);
    run->frames = frames;
    run->active_frames = active;
    run->items = items;
    run->dropped = dropped;
    run->last = r->last;
    run->ordinal = r->ordinal;
}
