/* SPDX-License-Identifier: Apache-2.0 */
#include "frame_run.h"

#include <stdbool.h>

#include "constants.h"

enum { BYTE_IDS = 256 };

#define HEAD(action)         (RECORD_OP | (action) << 8)
#define SLOT_BITS            ((uint64_t)0xffff << 32)
#define COPY(to, from, size) __builtin_memcpy(to, from, size)

/*
 * Half a record. Natively, records may lie in memory of another process, which may change them while they
 * are read: what was checked must not be fetched again. (WebAssembly gets a copy.)
 */
typedef uint64_t half __attribute__((aligned(4), may_alias));

static inline uint64_t load64(const uint32_t *from)
{
    return *(const volatile half *)from;
}

static inline void store64(uint8_t *to, uint64_t value)
{
    COPY(to, &value, 8);
}

/* LEB128 time delta of a frame header (docs/format.md#leb128). */
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

/* As many whole records as a payload fills, in words. */
static inline uint32_t payload_words(uint32_t size)
{
    return size / 16 * RECORD_WORDS + (size % 16 ? RECORD_WORDS : 0);
}

static inline uint32_t extra_words(uint32_t size)
{
    return size <= EVENT_INLINE_BYTES ? 0 : payload_words(size - EVENT_INLINE_BYTES);
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

/* Of an event without further records; the next item overwrites what follows it. */
static inline uint8_t *put_short_event(uint8_t *at, struct item item)
{
    return put_wide(at, item) - 16 + 8 + (item.ids >> 32);
}

/* tag, action, storage u8, slot u16, field u16, value u16 */
static inline uint8_t *put_compact(uint8_t *at, struct item item)
{
    store64(at, TAG_COMPACT | (item.ids & 0xffff00) | ((item.ids >> 32) << 24) | item.value << 56);
    at[8] = (uint8_t)(item.value >> 8);
    return at + 9;
}

/* Words of a record with its payload. */
static inline uint32_t record_words(struct item item)
{
    uint32_t kind = item.ids & 0xff, size = (uint32_t)(item.ids >> 32);
    if (kind == RECORD_EVENT) return RECORD_WORDS + extra_words(size);
    return RECORD_WORDS + (kind == RECORD_STRING || kind == RECORD_SNAPSHOT ? payload_words(size) : 0);
}

/* Encodes the items of a frame so far in the other form. */
static uint8_t *encode_again(uint8_t *at, const uint32_t *record, const uint32_t *end, bool compact)
{
    while (record < end) {
        struct item item = load_item(record);
        uint32_t kind = item.ids & 0xff, length = record_words(item);
        if (length > (uint32_t)(end - record)) break; /* it has changed since */
        if (kind == RECORD_EVENT)
            at = put_event(at, record, item);
        else if (kind != RECORD_STRING)
            at = compact ? put_compact(at, item) : put_wide(at, item);
        record += length;
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
    uint8_t *byte = s->mask + (slot >> 3);
    if (*byte >> (slot & 7) & 1) return;
    *byte |= (uint8_t)(1 << (slot & 7));
    ++*s->occupied;
}

/* Where a run is. */
struct cursor {
    const uint32_t *record;
    uint8_t *out;     /* where the next item goes */
    struct op *op;    /* the last SET or ADD, whose slot is occupied therefore; or r->none */
    uint64_t ids;     /* first half of its record, */
    uint8_t *cell;    /* and what it wrote to */
    uint64_t event;   /* first half of the record of the last event without further ones; 0: none yet */
    uint32_t items;   /* of the frame, when it is complete */
    uint32_t skipped; /* words of the frame that are no item's record */
    uint32_t wide;    /* words from a frame's first item to one that needed the wide form */
};

static inline uint32_t slot_of(struct item item)
{
    return (uint32_t)(item.ids >> 32) & 0xffff;
}

static inline uint32_t field_of(struct item item)
{
    return (uint32_t)(item.ids >> 48);
}

static inline uint32_t id_of(struct item item)
{
    return (uint32_t)item.ids >> 16;
}

static inline bool needs_wide(struct item item)
{
    return (item.value >> 16 | (uint32_t)item.ids >> 24) != 0;
}

static inline bool is_wide_op(struct item item)
{
    return (item.ids & 0xff) == RECORD_OP && needs_wide(item);
}

/* An event without further records. */
static inline bool is_short_event(const struct run *r, struct item item)
{
    uint32_t id = id_of(item);
    return (item.ids & 0xffff) == RECORD_EVENT && id < r->num_events && item.ids == r->events[id] &&
           item.ids >> 32 <= EVENT_INLINE_BYTES;
}

/* The record is one of the op's, and fits it. */
static inline bool is_of(const struct op *op, struct item item)
{
    return ((item.ids ^ op->head) & ~SLOT_BITS) == 0 && slot_of(item) < op->storage->slots;
}

/* The op is the last one now, in a slot that is occupied therefore. */
static inline void write_cell(struct run *r, struct cursor *c, struct op *op, struct item item)
{
    const struct storage *s = op->storage;
    uint32_t slot = slot_of(item);
    uint64_t *cell = op->cells + slot * s->fields;
    occupy(s, slot);
    if (op->apart) {
        *cell = (op->apart & ADDS ? *cell + item.value : item.value) & op->mask;
        if (op->apart & SUMMED) sums_add_to(&r->sums, op->source, item.value);
    } else {
        *cell = item.value & op->mask;
    }
    c->op = op;
    c->ids = item.ids;
    c->cell = (uint8_t *)cell;
}

/* Applies an op that is not the expected one to the state; false when it does not fit the schema. */
static inline bool apply(struct run *r, struct cursor *c, struct item item)
{
    uint32_t head = item.ids & 0xffff, slot = slot_of(item), number = field_of(item);
    if (id_of(item) >= r->num_storages) return false;
    const struct storage *s = r->storages + id_of(item);
    if (head == HEAD(ACTION_PROP_SET)) {
        if (number >= s->properties) return false;
        s->property_cells[number] = item.value & s->ops[2 * (s->fields + number)].mask;
        return true;
    }
    if (slot >= s->slots) return false;
    if (head == HEAD(ACTION_CLEAR)) {
        clear_slot(s, slot);
        c->op = r->none;
        return true;
    }
    if ((head != HEAD(ACTION_SET) && head != HEAD(ACTION_ADD)) || number >= s->fields) return false;
    struct op *op = s->ops + 2 * number + (head == HEAD(ACTION_ADD)), *last = c->op;
    uint64_t ids = c->ids;
    uint8_t *cell = c->cell;
    write_cell(r, c, op, item);
    if (last != r->none && (uint32_t)(item.ids >> 16) == (uint32_t)(ids >> 16)) {
        last->next = op;
        last->step = item.ids - ids;
        last->cell_step = (int32_t)(c->cell - cell);
    } else {
        last->after = op;
    }
    return true;
}

/*
 * Takes what nearly everything is, as long as the frame keeps its form: events without further records, and
 * ops. Stops at the first record that is something else, or at the end.
 */
static inline __attribute__((always_inline)) void take_ordinary(struct run *r, struct cursor *c,
                                                                const uint32_t *end, const bool compact)
{
    struct cursor at = *c; /* a copy, so that its members stay in registers */
    for (; at.record < end; at.record += RECORD_WORDS) {
        struct item item = load_item(at.record);
        if (item.ids == at.event) {
            if (!at.event) break;
            at.out = put_short_event(at.out, item);
            continue;
        }
        if (compact && needs_wide(item)) break;
        const struct op *next = at.op->next;
        if (item.ids - at.ids == at.op->step && !next->apart) {
            at.cell += at.op->cell_step;
            store64(at.cell, item.value & next->mask);
            at.op = (struct op *)next;
            at.ids = item.ids;
        } else if (is_of(at.op->after, item)) {
            write_cell(r, &at, (struct op *)at.op->after, item);
        } else if ((item.ids & 0xff) == RECORD_END) {
            break;
        } else if (is_short_event(r, item)) {
            at.event = item.ids;
            at.out = put_short_event(at.out, item);
            continue;
        } else if (!apply(r, &at, item)) {
            break;
        }
        at.out = compact ? put_compact(at.out, item) : put_wide(at.out, item);
    }
    *c = at;
}

/* Not inlined: the fewer values the two are among, the more of theirs stay in registers. */
static __attribute__((noinline)) void take_compact(struct run *r, struct cursor *c, const uint32_t *end)
{
    take_ordinary(r, c, end, true);
}

static __attribute__((noinline)) void take_wide(struct run *r, struct cursor *c, const uint32_t *end)
{
    take_ordinary(r, c, end, false);
}

/* Takes a record that is no ordinary item; false when the frame is not. */
static __attribute__((noinline)) bool take_other(struct run *r, struct cursor *c, const uint32_t *end)
{
    struct item item = load_item(c->record);
    uint32_t head = item.ids & 0xffff, id = id_of(item), size = (uint32_t)(item.ids >> 32);
    if (head == RECORD_EVENT) {
        if (id >= r->num_events || item.ids != r->events[id]) return false;
        uint32_t length = RECORD_WORDS + extra_words(size);
        if ((uint32_t)(end - c->record) < length) return false;
        c->out = put_event(c->out, c->record, item);
        c->record += length;
        c->skipped += length - RECORD_WORDS;
        return true;
    }
    if (head == RECORD_STRING) {
        uint32_t length = RECORD_WORDS + payload_words(size);
        if ((uint32_t)(end - c->record) < length) return false;
        take_string((uint32_t)(c->record - r->words));
        c->record += length;
        c->skipped += length;
        return true;
    }
    return false;
}

/* Where the frame's first op that needs the wide form is, in words from `first`; its length when there is
 * none. */
static inline uint32_t find_wide(const uint32_t *first, const uint32_t *end)
{
    const uint32_t *record = first;
    while (record < end) {
        struct item item = load_item(record);
        if (is_wide_op(item)) break;
        record += record_words(item);
    }
    return (uint32_t)(record - first);
}

/*
 * Takes the items of a frame from the cursor on, up to its END, where it then is; false when the frame is not
 * ordinary. What was put at the cursor is in the form that `*compact` then says.
 */
static inline bool take_items(struct run *r, struct cursor *c, const uint32_t *end, bool *compact)
{
    const uint32_t *first = c->record;
    uint8_t *start = c->out;
    c->skipped = 0;
    for (;;) {
        if (*compact)
            take_compact(r, c, end);
        else
            take_wide(r, c, end);
        if (c->record >= end) return false;
        struct item item = load_item(c->record);
        if ((item.ids & 0xffff) == RECORD_END) break;
        if (*compact && is_wide_op(item)) {
            /* The first op that needs the wide form: so do all before it (docs/format.md#interleaved-frames).
             */
            *compact = false;
            c->out = encode_again(start, first, c->record, false);
        } else if (!take_other(r, c, end)) {
            return false;
        }
    }
    uint32_t length = (uint32_t)(c->record - first);
    struct item last = load_item(c->record);
    c->items = (length - c->skipped) / RECORD_WORDS;
    if (c->items != last.ids >> 32 || c->items > MAX_ITEMS_PER_FRAME || last.value != r->ordinal)
        return false;
    if (*compact) return true;
    /* In the place where one was the last time, if it is surely a record's. */
    bool same = c->skipped == 0 && c->wide < length && is_wide_op(load_item(first + c->wide));
    if (!same) c->wide = find_wide(first, c->record);
    if (c->wide < length) return true;
    *compact = true;
    c->out = encode_again(start, first, c->record, true);
    return true;
}

/* The next frame may be tried: it is in order, and no cut is due before it. */
static inline bool may_begin(const struct run *r, const uint32_t *begin, uint64_t time, uint32_t length)
{
    if (*begin != RECORD_BEGIN) return false;
    if (time < r->last || length >= r->hard_limit) return false;
    return time == r->last || (length < r->soft_limit && time < r->grid);
}

/*
 * Where the last frame ends that is complete here; `record` is the first after another one. It says no more
 * than what is worth trying: records that make no sense, or change meanwhile, do no harm.
 */
static __attribute__((noinline)) const uint32_t *end_of_whole_frames(const uint32_t *record,
                                                                     const uint32_t *end)
{
    const uint32_t *whole = record;
    while (record < end) {
        struct item item = load_item(record);
        uint32_t length = record_words(item);
        if (length > (uint32_t)(end - record)) break;
        record += length;
        if ((item.ids & 0xff) == RECORD_END) whole = record;
    }
    return whole;
}

void frame_run(struct run *run)
{
    struct run copy = *run, *r = &copy; /* a copy, so that its members stay in registers */
    struct cursor c = {.op = r->none};
    const uint32_t *begin = r->words + r->begin, *untried = r->words + r->margin_begin,
                   *end = r->words + r->end;
    uint8_t *out = r->out;
    uint32_t frames = 0, active = 0, items = 0;
    bool compact = r->compact != 0, dropped = false;
    while (begin < untried || begin < (untried = end_of_whole_frames(begin, end))) {
        uint64_t time = load64(begin + 2);
        if (!may_begin(r, begin, time, (uint32_t)(out - r->out))) break;
        uint8_t *count = put_delta(out, time - r->last);
        c.record = begin + RECORD_WORDS;
        c.out = count + 2;
        dropped = !take_items(r, &c, end, &compact);
        if (dropped) break;
        count[0] = (uint8_t)c.items;
        count[1] = (uint8_t)(c.items >> 8);
        sums_end(&r->sums, time);
        out = c.out;
        begin = c.record + RECORD_WORDS;
        r->last = time;
        r->ordinal++;
        frames++;
        active += c.items != 0;
        items += c.items;
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
