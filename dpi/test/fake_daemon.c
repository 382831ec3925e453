/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_daemon.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "messages.h"

enum { MOST_TRACES = 32, MOST_CLIENTS = 8 };

/** A place in the stream. */
struct mark {
    size_t size;
    uint64_t frames, strings, items, snapshots, time;
};

struct trace {
    bool used, attached, failed, dropping, finalized;
    char name[256];
    uint8_t session[16];
    uint32_t number, epoch;
    uint64_t seq, position; /* position: ordinal of the frame the next record belongs to */
    bool in_frame, new_frame;
    uint64_t items, time, next_string;
    uint64_t held;
    uint32_t part_storage, part_offset, part_total; /* of the snapshot under way */
    struct mark complete, durable; /* behind the last END; and of that what is acknowledged */
    unsigned char *records;
    size_t room;
    struct fake_log log;
};

struct fake_daemon {
    char endpoint[256];
    unsigned char *schema;
    size_t schema_size;
    struct fake_switches switches;
    pthread_mutex_t lock;
    pthread_t thread;
    atomic_bool stop;
    bool running;
    uint32_t next_number, next_epoch;
    uint64_t hellos, pings;
    char violation[512];
    struct trace traces[MOST_TRACES];
    /* routing id of the client; one process per test */
    unsigned char client[64];
    size_t client_size;
    void *router;
};

static void violate(struct fake_daemon *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void violate(struct fake_daemon *d, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!d->violation[0])
        vsnprintf(d->violation, sizeof d->violation, format, arguments);
    va_end(arguments);
}

/* -- sending */

static void send_map(struct fake_daemon *d, struct mp_writer *w)
{
    if (!atomic_load(&d->switches.silent)) {
        zmq_send(d->router, d->client, d->client_size, ZMQ_SNDMORE | ZMQ_DONTWAIT);
        zmq_send(d->router, w->bytes, w->size, ZMQ_DONTWAIT);
    }
    mp_free(w);
}

static void start_map(struct mp_writer *w, const char *type, uint32_t keys)
{
    mp_put_map(w, keys + 1);
    mp_pair_str(w, "t", type);
}

static void send_ack(struct fake_daemon *d, struct trace *t)
{
    struct mp_writer w = {0};
    start_map(&w, "ack", 3);
    mp_pair_uint(&w, "trace", t->number);
    mp_pair_uint(&w, "epoch", t->epoch);
    mp_pair_uint(&w, "frames", t->durable.frames);
    send_map(d, &w);
}

/* Everything up to the last complete frame becomes durable. What is still held belongs to later ones. */
static void commit(struct fake_daemon *d, struct trace *t)
{
    if (t->complete.frames <= t->durable.frames)
        return;
    t->durable = t->complete;
    t->held = t->log.size - t->complete.size;
    send_ack(d, t);
}

static void send_trace_error(struct fake_daemon *d, uint32_t number, int64_t epoch, const char *code, bool retry)
{
    struct mp_writer w = {0};
    start_map(&w, "error", 3u + (epoch >= 0) + retry);
    mp_pair_str(&w, "code", code);
    mp_pair_str(&w, "msg", "the fake daemon says no");
    mp_pair_uint(&w, "trace", number);
    if (epoch >= 0)
        mp_pair_uint(&w, "epoch", (uint64_t)epoch);
    if (retry) {
        mp_put_str(&w, "retry");
        mp_put_bool(&w, true);
    }
    send_map(d, &w);
}

/* -- durability */

static struct mark here(const struct trace *t)
{
    return (struct mark){t->log.size, t->position, t->next_string, t->log.items, t->log.snapshots, t->time};
}

static void forget_undurable(struct trace *t)
{
    t->complete = t->durable;
    t->log.size = t->durable.size;
    t->log.items = t->durable.items;
    t->log.snapshots = t->durable.snapshots;
    t->position = t->durable.frames;
    t->next_string = t->durable.strings;
    t->time = t->durable.time;
    t->attached = false;
    t->in_frame = false;
    t->held = 0;
    t->part_total = 0;
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

static uint64_t u64_at(const unsigned char *at)
{
    uint64_t value;
    memcpy(&value, at, 8);
    return value;
}

static uint32_t u32_at(const unsigned char *at)
{
    uint32_t value;
    memcpy(&value, at, 4);
    return value;
}

static size_t padded(const unsigned char *at, uint32_t size, bool event)
{
    (void)at;
    size_t rest = event ? (size > 8 ? size - 8 : 0) : size;
    return 16 + (rest + 15) / 16 * 16;
}

static bool zero(const unsigned char *from, const unsigned char *to)
{
    while (from < to) {
        if (*from++)
            return false;
    }
    return true;
}

static void take_string(struct fake_daemon *d, struct trace *t, const unsigned char *at, size_t size)
{
    uint64_t index = u64_at(at + 8);
    if (index == t->next_string) {
        t->next_string++;
        append(t, at, size);
    } else if (index > t->next_string) {
        violate(d, "string %llu, expected %llu", (unsigned long long)index, (unsigned long long)t->next_string);
    }
}

static void take_snapshot(struct fake_daemon *d, struct trace *t, const unsigned char *at, size_t size)
{
    uint32_t storage = (uint32_t)at[2] | (uint32_t)at[3] << 8;
    uint32_t part = u32_at(at + 4), offset = u32_at(at + 8), total = u32_at(at + 12);
    if (t->in_frame)
        violate(d, "SNAPSHOT inside a frame");
    if (t->part_total == 0 && offset == 0) {
        t->part_storage = storage;
        t->part_offset = 0;
        t->part_total = total;
    }
    if (storage != t->part_storage || offset != t->part_offset || total != t->part_total || part > total - offset)
        violate(d, "SNAPSHOT part %u+%u of %u does not continue", offset, part, total);
    t->part_offset += part;
    if (t->part_offset == t->part_total)
        t->part_total = 0;
    t->log.snapshots++;
    append(t, at, size);
}

static void take_end(struct fake_daemon *d, struct trace *t, const unsigned char *at, bool keep)
{
    if (!t->in_frame)
        violate(d, "END outside a frame");
    if (u64_at(at + 8) != t->position)
        violate(d, "END of frame %llu, expected %llu", (unsigned long long)u64_at(at + 8),
                (unsigned long long)t->position);
    if (!t->new_frame && u32_at(at + 4) != t->items)
        violate(d, "frame %llu says %u items and has %llu", (unsigned long long)t->position, u32_at(at + 4),
                (unsigned long long)t->items);
    if (t->items > 65535)
        violate(d, "a frame of %llu items", (unsigned long long)t->items);
    if (keep) {
        t->log.items += t->items;
        append(t, at, 16);
    }
    t->position++;
    t->in_frame = t->new_frame = false;
}

static void take_begin(struct fake_daemon *d, struct trace *t, const unsigned char *at, bool keep)
{
    if (t->in_frame)
        violate(d, "BEGIN inside a frame");
    if (t->part_total)
        violate(d, "BEGIN inside a snapshot");
    if (keep && u64_at(at + 8) < t->time)
        violate(d, "time runs backwards");
    t->in_frame = true;
    t->items = 0;
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
    } else if (at[0] != 0x01 && at[0] != 0x10 && at[0] != 0x11) {
        violate(d, "record kind 0x%02x", at[0]);
        return 0;
    }
    if (length > left) {
        violate(d, "a record spans two messages");
        return 0;
    }
    const unsigned char *end = at[0] == 0x03 ? at + 8 + size : at + 16 + size;
    if (length > 16 && !zero(end, at + length))
        violate(d, "padding is not zero");
    return length;
}

static void take_records(struct fake_daemon *d, struct trace *t, const unsigned char *at, size_t size)
{
    for (const unsigned char *end = at + size; at < end;) {
        size_t length = record_length(d, at, (size_t)(end - at));
        if (length == 0)
            return;
        /* resent frames that are here already */
        bool keep = t->position >= t->durable.frames;
        switch (at[0]) {
        case 0x10: take_begin(d, t, at, keep); break;
        case 0x11: take_end(d, t, at, keep); break;
        case 0x12: take_string(d, t, at, length); break;
        case 0x13:
            if (keep)
                take_snapshot(d, t, at, length);
            break;
        default:
            if (!t->in_frame)
                violate(d, "an item outside a frame");
            t->items++;
            if (keep)
                append(t, at, length);
        }
        if (at[0] == 0x11 && keep)
            t->complete = here(t);
        at += length;
    }
}

/* -- data messages */

static struct trace *by_number(struct fake_daemon *d, uint32_t number)
{
    for (int i = 0; i < MOST_TRACES; i++) {
        if (d->traces[i].attached && d->traces[i].number == number)
            return &d->traces[i];
    }
    return NULL;
}

static bool check_header(struct fake_daemon *d, struct trace *t, const unsigned char *h, size_t payload)
{
    if (memcmp(h, "uDAT", 4) != 0 || h[6] != 48 || h[7] != 0 || !zero(h + 36, h + 48) || (h[4] & 0xFE) || h[5])
        violate(d, "data header malformed");
    if (u32_at(h + 32) != payload || payload % 16 != 0 || payload == 0 || payload > 1 << 20)
        violate(d, "payload of %zu bytes, header says %u", payload, u32_at(h + 32));
    uint64_t seq = u64_at(h + 16), first = u64_at(h + 24);
    bool continues = h[4] & 1;
    if (seq != t->seq)
        return false;
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

static void sink_data(struct fake_daemon *d, const unsigned char *h, const unsigned char *payload, size_t size)
{
    struct trace *t = by_number(d, u32_at(h + 8));
    if (!t || payload[size - 16] != 0x11)
        return;
    t->position = t->durable.frames = u64_at(payload + size - 8) + 1;
    send_ack(d, t);
}

static void take_data(struct fake_daemon *d, const unsigned char *h, const unsigned char *payload, size_t size)
{
    struct trace *t = by_number(d, u32_at(h + 8));
    if (!t) {
        send_trace_error(d, u32_at(h + 8), -1, "BRIDGE_UNKNOWN_TRACE", true);
        return;
    }
    if (u32_at(h + 12) != t->epoch || t->failed || t->dropping)
        return;
    if (atomic_exchange(&d->switches.drop_data, false))
        return;
    bool force = atomic_exchange(&d->switches.retry_error, false);
    if (force || !check_header(d, t, h, size)) {
        t->dropping = true;
        send_trace_error(d, t->number, t->epoch, "BRIDGE_SEQUENCE", true);
        return;
    }
    t->seq++;
    t->log.messages++;
    t->held += size;
    if (t->held > t->log.most_held)
        t->log.most_held = t->held;
    take_records(d, t, payload, size);
    if (!atomic_load(&d->switches.withhold_acks))
        commit(d, t);
}

/* -- control messages */

struct fields {
    char type[32], name[256], schema_name[256], schema[4096], dut[256], reasons[256];
    uint8_t session[16], run[16];
    uint64_t v, req, trace, epoch, credit, interval_ps, core, frames, strings, rejected;
};

static void read_pairs(struct mp_reader *r, uint32_t pairs, char *out, size_t size, bool counts)
{
    size_t used = 0;
    for (uint32_t i = 0; i < pairs; i++) {
        struct mp_value key, value;
        char k[128], v[128];
        mp_next(r, &key);
        mp_next(r, &value);
        message_text(&key, k, sizeof k);
        message_text(&value, v, sizeof v);
        int n = counts ? snprintf(out + used, size - used, "%s%s %llu", i ? ", " : "", k, (unsigned long long)value.number)
                       : snprintf(out + used, size - used, "%s=%s;", k, v);
        used += (size_t)n;
    }
}

static bool read_fields(const void *bytes, size_t size, struct fields *f)
{
    struct mp_reader r = {bytes, size, 0};
    struct mp_value map, key, value;
    memset(f, 0, sizeof *f);
    f->core = 0xFFFFFFFF;
    if (!mp_next(&r, &map) || map.type != MP_MAP)
        return false;
    for (uint32_t i = 0; i < map.count; i++) {
        char k[64];
        if (!mp_next(&r, &key) || !mp_next(&r, &value))
            return false;
        message_text(&key, k, sizeof k);
        const struct {
            const char *key;
            uint64_t *at;
        } numbers[] = {{"v", &f->v}, {"req", &f->req}, {"trace", &f->trace}, {"epoch", &f->epoch},
                       {"credit", &f->credit}, {"interval_ps", &f->interval_ps}, {"core", &f->core},
                       {"frames", &f->frames}, {"strings", &f->strings}, {"rejected", &f->rejected}};
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
            if (strcmp(k, numbers[n].key) == 0 && value.type == MP_UINT)
                *numbers[n].at = value.number;
        }
        if (strcmp(k, "t") == 0)
            message_text(&value, f->type, sizeof f->type);
        else if (strcmp(k, "name") == 0)
            message_text(&value, f->name, sizeof f->name);
        else if (strcmp(k, "schema") == 0)
            message_text(&value, f->schema, sizeof f->schema);
        else if (strcmp(k, "schema_name") == 0)
            message_text(&value, f->schema_name, sizeof f->schema_name);
        else if (strcmp(k, "session") == 0 && value.type == MP_BIN && value.count == 16)
            memcpy(f->session, value.bytes, 16);
        else if (strcmp(k, "run") == 0 && value.type == MP_BIN && value.count == 16)
            memcpy(f->run, value.bytes, 16);
        else if (strcmp(k, "dut") == 0)
            read_pairs(&r, value.count, f->dut, sizeof f->dut, false);
        else if (strcmp(k, "reasons") == 0)
            read_pairs(&r, value.count, f->reasons, sizeof f->reasons, true);
    }
    return true;
}

static void answer_hello(struct fake_daemon *d, const struct fields *f)
{
    unsigned version = atomic_load(&d->switches.version);
    d->hellos++;
    if (f->v != 1)
        violate(d, "hello of version %llu", (unsigned long long)f->v);
    struct mp_writer w = {0};
    if (version) {
        start_map(&w, "error", 3);
        mp_pair_str(&w, "code", "BRIDGE_VERSION");
        mp_pair_str(&w, "msg", "this daemon is of another age");
        mp_pair_uint(&w, "v", version);
    } else {
        start_map(&w, "welcome", 3);
        mp_pair_uint(&w, "v", 1);
        mp_pair_str(&w, "daemon", "fake 1");
        mp_pair_uint(&w, "pid", 1);
    }
    send_map(d, &w);
}

static struct trace *trace_for(struct fake_daemon *d, const struct fields *f)
{
    struct trace *empty = NULL;
    for (int i = 0; i < MOST_TRACES; i++) {
        struct trace *t = &d->traces[i];
        if (t->used && memcmp(t->session, f->session, 16) == 0)
            return t;
        if (!t->used && !empty)
            empty = t;
    }
    empty->used = true;
    snprintf(empty->name, sizeof empty->name, "%s", f->name);
    memcpy(empty->session, f->session, 16);
    return empty;
}

static void keep_request(struct fake_log *log, const struct fields *f)
{
    log->credit = f->credit;
    log->interval_ps = f->interval_ps;
    log->core = (uint32_t)f->core;
    memcpy(log->run, f->run, 16);
    snprintf(log->schema, sizeof log->schema, "%s", f->schema);
    snprintf(log->schema_name, sizeof log->schema_name, "%s", f->schema_name);
    snprintf(log->dut, sizeof log->dut, "%s", f->dut);
}

static void answer_open(struct fake_daemon *d, const struct fields *f)
{
    struct mp_writer w = {0};
    if (atomic_load(&d->switches.refuse)) {
        start_map(&w, "error", 3);
        mp_pair_uint(&w, "req", f->req);
        mp_pair_str(&w, "code", "BRIDGE_NAME_BUSY");
        mp_pair_str(&w, "msg", "another live session writes this trace");
        send_map(d, &w);
        return;
    }
    struct trace *t = trace_for(d, f);
    forget_undurable(t);
    if (t->log.opens++ == 0)
        keep_request(&t->log, f);
    t->attached = true;
    t->dropping = t->failed = false;
    t->number = ++d->next_number;
    t->epoch = ++d->next_epoch;
    t->seq = 0;
    uint64_t frames = t->durable.frames;
    if (atomic_load(&d->switches.forget) && frames > 0)
        frames = 0;
    uint64_t most = atomic_load(&d->switches.credit);
    start_map(&w, "opened", 9);
    mp_pair_uint(&w, "req", f->req);
    mp_pair_uint(&w, "trace", t->number);
    mp_pair_uint(&w, "epoch", t->epoch);
    mp_pair_bin(&w, "schema", d->schema, (uint32_t)d->schema_size);
    mp_pair_uint(&w, "frames", frames);
    mp_pair_uint(&w, "strings", t->durable.strings);
    mp_pair_uint(&w, "interval_ps", f->interval_ps ? f->interval_ps : 10000000);
    mp_pair_uint(&w, "credit", most && most < f->credit ? most : f->credit);
    mp_pair_str(&w, "path", "/out/fake.uscope");
    send_map(d, &w);
}

static void send_closed(struct fake_daemon *d, const struct trace *t)
{
    struct mp_writer w = {0};
    start_map(&w, "closed", 3);
    mp_pair_uint(&w, "trace", t->number);
    mp_pair_bin(&w, "session", t->session, 16);
    mp_put_str(&w, "stats");
    mp_put_map(&w, 10);
    mp_pair_str(&w, "path", "/out/fake.uscope");
    mp_pair_str(&w, "status", "closed");
    mp_pair_uint(&w, "frames", t->durable.frames);
    mp_pair_uint(&w, "items", t->log.items);
    mp_pair_uint(&w, "strings", t->next_string);
    mp_pair_uint(&w, "segments", 1);
    mp_pair_uint(&w, "bytes", t->log.size);
    mp_pair_uint(&w, "total_time_ps", t->time);
    mp_pair_uint(&w, "rejected", t->log.rejected);
    mp_pair_uint(&w, "lost", 0);
    send_map(d, &w);
}

static void answer_close(struct fake_daemon *d, const struct fields *f)
{
    struct trace *t = by_number(d, (uint32_t)f->trace);
    if (!t || memcmp(t->session, f->session, 16) != 0) {
        violate(d, "close of trace %llu, which is not open", (unsigned long long)f->trace);
        return;
    }
    if (t->failed || t->dropping)
        return;
    bool sink = atomic_load(&d->switches.sink);
    if (!sink && (t->in_frame || t->position != f->frames || t->next_string != f->strings))
        violate(d, "close names %llu frames and %llu strings, received are %llu and %llu", (unsigned long long)f->frames,
                (unsigned long long)f->strings, (unsigned long long)t->position, (unsigned long long)t->next_string);
    t->position = f->frames;
    t->durable = t->complete = here(t);
    t->log.closed = t->finalized = true;
    t->log.rejected = f->rejected;
    snprintf(t->log.reasons, sizeof t->log.reasons, "%s", f->reasons);
    send_closed(d, t);
}

static void ack_everything(struct fake_daemon *d)
{
    for (int i = 0; i < MOST_TRACES; i++) {
        struct trace *t = &d->traces[i];
        if (t->attached && !t->failed)
            commit(d, t);
    }
}

static void take_control(struct fake_daemon *d, const void *bytes, size_t size)
{
    struct fields f;
    if (!read_fields(bytes, size, &f)) {
        violate(d, "a control message of %zu bytes is malformed", size);
        return;
    }
    if (strcmp(f.type, "hello") == 0)
        answer_hello(d, &f);
    else if (strcmp(f.type, "open") == 0)
        answer_open(d, &f);
    else if (strcmp(f.type, "close") == 0)
        answer_close(d, &f);
    else if (strcmp(f.type, "ping") == 0) {
        struct mp_writer w = {0};
        d->pings++;
        start_map(&w, "pong", 0);
        send_map(d, &w);
    } else
        violate(d, "a message of type \"%s\"", f.type);
}

/* -- the thread */

static void receive(struct fake_daemon *d)
{
    zmq_msg_t id, first, second;
    zmq_msg_init(&id);
    if (zmq_msg_recv(&id, d->router, ZMQ_DONTWAIT) < 0) {
        zmq_msg_close(&id);
        return;
    }
    zmq_msg_init(&first);
    zmq_msg_init(&second);
    zmq_msg_recv(&first, d->router, 0);
    bool two = zmq_msg_more(&first);
    if (two)
        zmq_msg_recv(&second, d->router, 0);
    pthread_mutex_lock(&d->lock);
    d->client_size = zmq_msg_size(&id) < sizeof d->client ? zmq_msg_size(&id) : sizeof d->client;
    memcpy(d->client, zmq_msg_data(&id), d->client_size);
    if (atomic_load(&d->switches.silent))
        ; /* a daemon that hangs does not act either */
    else if (!two)
        take_control(d, zmq_msg_data(&first), zmq_msg_size(&first));
    else if (zmq_msg_size(&first) != 48)
        violate(d, "a data header of %zu bytes", zmq_msg_size(&first));
    else if (atomic_load(&d->switches.sink))
        sink_data(d, zmq_msg_data(&first), zmq_msg_data(&second), zmq_msg_size(&second));
    else
        take_data(d, zmq_msg_data(&first), zmq_msg_data(&second), zmq_msg_size(&second));
    pthread_mutex_unlock(&d->lock);
    zmq_msg_close(&id);
    zmq_msg_close(&first);
    zmq_msg_close(&second);
}

static void obey_switches(struct fake_daemon *d)
{
    pthread_mutex_lock(&d->lock);
    if (atomic_exchange(&d->switches.ack_now, false))
        ack_everything(d);
    bool stalled = atomic_exchange(&d->switches.stalled, false);
    bool fatal = atomic_exchange(&d->switches.fatal_error, false);
    for (int i = 0; i < MOST_TRACES; i++) {
        struct trace *t = &d->traces[i];
        if (t->attached && stalled) {
            struct mp_writer w = {0};
            start_map(&w, "stalled", 3);
            mp_pair_uint(&w, "trace", t->number);
            mp_pair_str(&w, "code", "WRITER_DISK_FULL");
            mp_pair_str(&w, "msg", "no space left; free some");
            send_map(d, &w);
        }
        if (t->attached && fatal) {
            t->failed = true;
            send_trace_error(d, t->number, -1, "BRIDGE_RECORD", false);
        }
    }
    pthread_mutex_unlock(&d->lock);
}

static void *daemon_main(void *argument)
{
    struct fake_daemon *d = argument;
    void *context = zmq_ctx_new();
    int zero = 0, one = 1;
    d->router = zmq_socket(context, ZMQ_ROUTER);
    zmq_setsockopt(d->router, ZMQ_LINGER, &zero, sizeof zero);
    zmq_setsockopt(d->router, ZMQ_RCVHWM, &zero, sizeof zero);
    zmq_setsockopt(d->router, ZMQ_SNDHWM, &zero, sizeof zero);
    zmq_setsockopt(d->router, ZMQ_ROUTER_HANDOVER, &one, sizeof one);
    if (zmq_bind(d->router, d->endpoint) != 0)
        violate(d, "cannot bind %s", d->endpoint);
    while (!atomic_load(&d->stop)) {
        zmq_pollitem_t item = {d->router, 0, ZMQ_POLLIN, 0};
        if (zmq_poll(&item, 1, 2) > 0)
            receive(d);
        obey_switches(d);
    }
    zmq_close(d->router);
    zmq_ctx_term(context);
    return NULL;
}

/* -- calls */

struct fake_daemon *fake_new(const char *endpoint, const void *schema, size_t schema_size)
{
    struct fake_daemon *d = calloc(1, sizeof *d);
    snprintf(d->endpoint, sizeof d->endpoint, "%s", endpoint);
    d->schema = malloc(schema_size + 1);
    memcpy(d->schema, schema, schema_size);
    d->schema_size = schema_size;
    pthread_mutex_init(&d->lock, NULL);
    return d;
}

struct fake_switches *fake_switches(struct fake_daemon *d)
{
    return &d->switches;
}

void fake_start(struct fake_daemon *d)
{
    atomic_store(&d->stop, false);
    pthread_create(&d->thread, NULL, daemon_main, d);
    d->running = true;
}

void fake_kill(struct fake_daemon *d)
{
    if (!d->running)
        return;
    atomic_store(&d->stop, true);
    pthread_join(d->thread, NULL);
    d->running = false;
    for (int i = 0; i < MOST_TRACES; i++)
        forget_undurable(&d->traces[i]);
}

void fake_free(struct fake_daemon *d)
{
    fake_kill(d);
    for (int i = 0; i < MOST_TRACES; i++)
        free(d->traces[i].records);
    free(d->schema);
    free(d);
}

const char *fake_violation(struct fake_daemon *d)
{
    return d->violation;
}

bool fake_log(struct fake_daemon *d, const char *name, struct fake_log *out)
{
    bool found = false;
    pthread_mutex_lock(&d->lock);
    for (int i = 0; i < MOST_TRACES; i++) {
        struct trace *t = &d->traces[i];
        if (!t->used || strcmp(t->name, name) != 0)
            continue;
        *out = t->log;
        out->records = t->records;
        out->frames = t->position;
        out->strings = t->next_string;
        found = true;
    }
    pthread_mutex_unlock(&d->lock);
    return found;
}

uint64_t fake_frames(struct fake_daemon *d, const char *name)
{
    struct fake_log log;
    return fake_log(d, name, &log) ? log.frames : 0;
}

uint64_t fake_hellos(struct fake_daemon *d)
{
    pthread_mutex_lock(&d->lock);
    uint64_t n = d->hellos;
    pthread_mutex_unlock(&d->lock);
    return n;
}

uint64_t fake_pings(struct fake_daemon *d)
{
    pthread_mutex_lock(&d->lock);
    uint64_t n = d->pings;
    pthread_mutex_unlock(&d->lock);
    return n;
}
