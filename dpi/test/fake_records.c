/* SPDX-License-Identifier: Apache-2.0 */
/* What data messages hold: every rule of docs/reference/bridge-protocol.md#data-header, #records is checked
 * here. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake_internal.h"

void violate(struct fake_daemon *d, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!d->violation[0]) vsnprintf(d->violation, sizeof d->violation, format, arguments);
    va_end(arguments);
}

/* -- records */

static void append(struct trace *t, const unsigned char *at, size_t size)
{
    if (t->room - t->log.size < size) {
        t->room = (t->log.size + size) * 2;
        t->records = realloc(t->records, t->room);
    }
    memcpy(t->records + t->log.size, at, size);
    t->log.size += size;
}

static size_t padded(const unsigned char *at, uint32_t size, bool event)
{
    (void)at;
    size_t rest = event ? (size > 8 ? size - 8 : 0) : size;
    return 16 + (rest + 15) / 16 * 16;
}

static void take_string(struct fake_daemon *d, struct trace *t, const unsigned char *at, size_t size)
{
    uint64_t index = u64_at(at + 8);
    if (index == t->next_string) {
        t->next_string++;
        append(t, at, size);
    } else if (index > t->next_string) {
        violate(d, "string %llu, expected %llu", (unsigned long long)index,
                (unsigned long long)t->next_string);
    }
}

static void take_snapshot(struct fake_daemon *d, struct trace *t, const unsigned char *at, size_t size)
{
    uint32_t storage = (uint32_t)at[2] | (uint32_t)at[3] << 8;
    uint32_t part = u32_at(at + 4), offset = u32_at(at + 8), total = u32_at(at + 12);
    if (t->in_frame) violate(d, "SNAPSHOT inside a frame");
    if (t->part_total == 0 && offset == 0) {
        t->part_storage = storage;
        t->part_offset = 0;
        t->part_total = total;
    }
    if (storage != t->part_storage || offset != t->part_offset || total != t->part_total ||
        part > total - offset)
        violate(d, "SNAPSHOT part %u+%u of %u does not continue", offset, part, total);
    t->part_offset += part;
    if (t->part_offset == t->part_total) t->part_total = 0;
    t->log.snapshots++;
    append(t, at, size);
}

/* -- lane records: the log has the items they represent */

static bool is_lanes(const unsigned char *at)
{
    return at[0] >= 0x04 && at[0] <= 0x06;
}

static void append_record(struct trace *t, uint64_t low, uint64_t high)
{
    unsigned char bytes[16];
    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(low >> 8 * i);
        bytes[8 + i] = (unsigned char)(high >> 8 * i);
    }
    append(t, bytes, sizeof bytes);
}

static void append_lane(struct trace *t, const unsigned char *at, unsigned lane)
{
    uint64_t low = u64_at(at), value = at[8 + (lane & 7)], ids = low & 0xFFFF0000, shift = at[5] & 63;
    uint64_t slot_and_field = low >> 32;
    if (at[0] == 0x04)
        append_record(t, 0x0301 | (ids + ((uint64_t)lane << 16)), 1);
    else if (at[0] == 0x05)
        append_record(t, 0x0101 | ids | (slot_and_field + lane) << 32, value);
    else
        append_record(t, 0x03 | ids | (uint64_t)at[4] << 32, value | (uint64_t)lane << shift);
}

static void take_lanes(struct fake_daemon *d, struct trace *t, const unsigned char *at, bool keep)
{
    if (!t->announced) violate(d, "lane record 0x%02x in a message that announces none", at[0]);
    if (atomic_load(&d->switches.no_lanes)) violate(d, "lane record 0x%02x, not agreed on", at[0]);
    bool reserved = at[0] == 0x04 ? at[1] || u32_at(at + 4) : at[0] == 0x06 && (at[6] || at[7]);
    if (reserved || (at[0] == 0x06 && (at[4] > 8 || at[5] > 63))) violate(d, "lane record malformed");
    uint64_t lanes = at[0] == 0x04 ? u64_at(at + 8) : at[1];
    if (!lanes) violate(d, "a lane record of no lanes");
    t->lane_items--;
    t->log.lane_records += keep;
    for (unsigned lane = 0; lane < 64; lane++) {
        if (!(lanes >> lane & 1)) continue;
        t->lane_items++;
        if (keep) append_lane(t, at, lane);
    }
}

static void take_end(struct fake_daemon *d, struct trace *t, const unsigned char *at, bool keep)
{
    if (!t->in_frame) violate(d, "END outside a frame");
    if (u64_at(at + 8) != t->position)
        violate(d, "END of frame %llu, expected %llu", (unsigned long long)u64_at(at + 8),
                (unsigned long long)t->position);
    if (!t->new_frame && u32_at(at + 4) != t->items)
        violate(d, "frame %llu says %u items and has %llu", (unsigned long long)t->position, u32_at(at + 4),
                (unsigned long long)t->items);
    uint64_t items = t->items + t->lane_items;
    if (items > 65535) violate(d, "a frame of %llu items", (unsigned long long)items);
    if (keep) {
        t->log.items += items;
        append_record(t, 0x11 | items << 32, u64_at(at + 8));
    }
    t->position++;
    t->in_frame = t->new_frame = false;
}

static void take_begin(struct fake_daemon *d, struct trace *t, const unsigned char *at, bool keep)
{
    if (t->in_frame) violate(d, "BEGIN inside a frame");
    if (t->part_total) violate(d, "BEGIN inside a snapshot");
    if (keep && u64_at(at + 8) < t->time) violate(d, "time runs backwards");
    t->in_frame = true;
    t->items = t->lane_items = 0;
    if (keep) {
        t->time = u64_at(at + 8);
        append(t, at, 16);
    }
}

static size_t record_length(struct fake_daemon *d, const unsigned char *at, size_t left)
{
    uint32_t size = u32_at(at + 4);
    size_t length = 16;
    if (at[0] == 0x03 || at[0] == 0x12 || at[0] == 0x13) {
        length = padded(at, size, at[0] == 0x03);
        if (size > 65520) {
            violate(d, "a payload of %u bytes", size);
            return 0;
        }
    } else if (!is_lanes(at) && at[0] != 0x01 && at[0] != 0x10 && at[0] != 0x11) {
        violate(d, "record kind 0x%02x", at[0]);
        return 0;
    }
    if (length > left) {
        violate(d, "a record spans two messages");
        return 0;
    }
    const unsigned char *end = at[0] == 0x03 ? at + 8 + size : at + 16 + size;
    if (length > 16 && !zero(end, at + length)) violate(d, "padding is not zero");
    return length;
}

void take_records(struct fake_daemon *d, struct trace *t, const unsigned char *at, size_t size)
{
    for (const unsigned char *end = at + size; at < end;) {
        size_t length = record_length(d, at, (size_t)(end - at));
        if (length == 0) return;
        /* resent frames that are here already */
        bool keep = t->position >= t->durable.frames;
        switch (at[0]) {
        case 0x10: take_begin(d, t, at, keep); break;
        case 0x11: take_end(d, t, at, keep); break;
        case 0x12: take_string(d, t, at, length); break;
        case 0x13:
            if (keep) take_snapshot(d, t, at, length);
            break;
        default:
            if (!t->in_frame) violate(d, "an item outside a frame");
            t->items++;
            if (is_lanes(at))
                take_lanes(d, t, at, keep);
            else if (keep)
                append(t, at, length);
        }
        if (at[0] == 0x11 && keep) t->complete = here(t);
        at += length;
    }
}

/* -- data messages */

struct trace *by_number(struct fake_daemon *d, uint32_t number)
{
    for (int i = 0; i < MOST_TRACES; i++) {
        if (d->traces[i].attached && d->traces[i].number == number) return &d->traces[i];
    }
    return NULL;
}

static bool check_header(struct fake_daemon *d, struct trace *t, const unsigned char *h, size_t payload)
{
    if (memcmp(h, "uDAT", 4) != 0 || h[6] != 48 || h[7] != 0 || !zero(h + 36, h + 48) || (h[4] & 0xFA) ||
        h[5])
        violate(d, "data header malformed");
    if (u32_at(h + 32) != payload || payload % 16 != 0 || payload == 0 || payload > 1 << 20)
        violate(d, "payload of %zu bytes, header says %u", payload, u32_at(h + 32));
    uint64_t seq = u64_at(h + 16), first = u64_at(h + 24);
    bool continues = h[4] & 1;
    t->announced = h[4] & 4;
    if (seq != t->seq) return false;
    if (seq == 0) {
        if (first > t->durable.frames)
            violate(d, "the stream begins at frame %llu, durable are %llu", (unsigned long long)first,
                    (unsigned long long)t->durable.frames);
        if (first < t->durable.frames)
            violate(d, "frame %llu is sent again though %llu are durable", (unsigned long long)first,
                    (unsigned long long)t->durable.frames);
        t->position = first;
        t->in_frame = t->new_frame = continues;
    } else if (first != t->position || continues != t->in_frame) {
        violate(d, "message %llu: first_frame %llu continues %d, expected %llu %d", (unsigned long long)seq,
                (unsigned long long)first, continues, (unsigned long long)t->position, t->in_frame);
    }
    return true;
}

void sink_data(struct fake_daemon *d, const unsigned char *h, const unsigned char *payload, size_t size)
{
    struct trace *t = by_number(d, u32_at(h + 8));
    if (!t || payload[size - 16] != 0x11) return;
    t->position = t->durable.frames = u64_at(payload + size - 8) + 1;
    send_ack(d, t);
}

void take_data(struct fake_daemon *d, const unsigned char *h, const unsigned char *payload, size_t size)
{
    struct trace *t = by_number(d, u32_at(h + 8));
    if (!t) {
        send_trace_error(d, u32_at(h + 8), -1, "BRIDGE_UNKNOWN_TRACE", true);
        return;
    }
    if (u32_at(h + 12) != t->epoch || t->failed || t->dropping) return;
    if (atomic_exchange(&d->switches.drop_data, false)) {
        t->lost_one = true;
        return;
    }
    bool force = atomic_exchange(&d->switches.retry_error, false);
    if (force || !check_header(d, t, h, size)) {
        t->dropping = true;
        send_trace_error(d, t->number, t->epoch, "BRIDGE_SEQUENCE", true);
        return;
    }
    t->seq++;
    t->log.messages++;
    t->held += size;
    if (t->held > t->log.most_held) t->log.most_held = t->held;
    take_records(d, t, payload, size);
    if (!atomic_load(&d->switches.withhold_acks)) commit(d, t);
}
