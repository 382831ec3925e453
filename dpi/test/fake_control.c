/* SPDX-License-Identifier: Apache-2.0 */
/* The control messages of the fake daemon, and what it makes durable. */
#include <stdio.h>
#include <stdlib.h>
#include <zmq.h>

#include "fake_internal.h"
#include "harness.h"

/* -- sending */

void send_map(struct fake_daemon *d, struct mp_writer *w)
{
    if (!atomic_load(&d->switches.silent)) {
        zmq_send(d->router, d->client, d->client_size, ZMQ_SNDMORE | ZMQ_DONTWAIT);
        zmq_send(d->router, w->bytes, w->size, ZMQ_DONTWAIT);
    }
    mp_free(w);
}

void start_map(struct mp_writer *w, const char *type, uint32_t keys)
{
    mp_put_map(w, keys + 1);
    mp_pair_str(w, "t", type);
}

void send_ack(struct fake_daemon *d, struct trace *t)
{
    struct mp_writer w = {0};
    start_map(&w, "ack", 3);
    mp_pair_uint(&w, "trace", t->number);
    mp_pair_uint(&w, "epoch", t->epoch);
    mp_pair_uint(&w, "frames", t->durable.frames);
    send_map(d, &w);
}

/* Everything up to the last complete frame becomes durable. What is still held belongs to later ones. */
void commit(struct fake_daemon *d, struct trace *t)
{
    if (t->complete.frames <= t->durable.frames) return;
    t->durable = t->complete;
    t->held = t->log.size - t->complete.size;
    send_ack(d, t);
}

void send_trace_error(struct fake_daemon *d, uint32_t number, int64_t epoch, const char *code, bool retry)
{
    struct mp_writer w = {0};
    start_map(&w, "error", 3u + (epoch >= 0) + retry);
    mp_pair_str(&w, "code", code);
    mp_pair_str(&w, "msg", "the fake daemon says no");
    mp_pair_uint(&w, "trace", number);
    if (epoch >= 0) mp_pair_uint(&w, "epoch", (uint64_t)epoch);
    if (retry) {
        mp_put_str(&w, "retry");
        mp_put_bool(&w, true);
    }
    send_map(d, &w);
}

/* -- durability */

struct mark here(const struct trace *t)
{
    return (struct mark){t->log.size, t->position, t->next_string, t->log.items, t->log.snapshots, t->time};
}

void forget_undurable(struct trace *t)
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

/* -- control messages */

struct fields {
    char type[32], name[256], schema_name[256], schema[4096], dut[256], reasons[256];
    char schema_sha256[80], vars[256];
    uint8_t session[16], run[16];
    char disabled[256], code[40];
    uint64_t v, req, trace, epoch, credit, interval_ps, core, frames, strings, rejected, done, skipped;
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
        int n = counts ? snprintf(out + used, size - used, "%s%s %llu", i ? ", " : "", k,
                                  (unsigned long long)value.number)
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
    if (!mp_next(&r, &map) || map.type != MP_MAP) return false;
    for (uint32_t i = 0; i < map.count; i++) {
        char k[64];
        if (!mp_next(&r, &key) || !mp_next(&r, &value)) return false;
        message_text(&key, k, sizeof k);
        const struct {
            const char *key;
            uint64_t *at;
        } numbers[] = {{"v", &f->v},         {"req", &f->req},         {"trace", &f->trace},
                       {"epoch", &f->epoch}, {"credit", &f->credit},   {"interval_ps", &f->interval_ps},
                       {"core", &f->core},   {"frames", &f->frames},   {"strings", &f->strings},
                       {"done", &f->done},   {"skipped", &f->skipped}, {"rejected", &f->rejected}};
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
            if (strcmp(k, numbers[n].key) == 0 && value.type == MP_UINT) *numbers[n].at = value.number;
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
        else if (strcmp(k, "schema_sha256") == 0)
            message_text(&value, f->schema_sha256, sizeof f->schema_sha256);
        else if (strcmp(k, "disabled") == 0)
            read_pairs(&r, value.count, f->disabled, sizeof f->disabled, false);
        else if (strcmp(k, "code") == 0)
            message_text(&value, f->code, sizeof f->code);
        else if (strcmp(k, "vars") == 0)
            read_pairs(&r, value.count, f->vars, sizeof f->vars, false);
        else if (strcmp(k, "reasons") == 0)
            read_pairs(&r, value.count, f->reasons, sizeof f->reasons, true);
    }
    return true;
}

static void answer_hello(struct fake_daemon *d, const struct fields *f)
{
    unsigned version = atomic_load(&d->switches.version);
    d->hellos++;
    if (f->v != 1) violate(d, "hello of version %llu", (unsigned long long)f->v);
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

/* A place for a new trace: an empty one, or that of the trace finalized longest ago. */
static struct trace *make_place(struct fake_daemon *d)
{
    struct trace *oldest = NULL;
    for (int i = 0; i < MOST_TRACES; i++) {
        struct trace *t = &d->traces[i];
        if (!t->used) return t;
        if (t->finalized && (!oldest || t->number < oldest->number)) oldest = t;
    }
    if (!oldest) test_fail(__FILE__, __LINE__, "more than %d traces are open", MOST_TRACES);
    free(oldest->records);
    memset(oldest, 0, sizeof *oldest);
    return oldest;
}

static struct trace *trace_for(struct fake_daemon *d, const struct fields *f)
{
    for (int i = 0; i < MOST_TRACES; i++) {
        struct trace *t = &d->traces[i];
        if (t->used && memcmp(t->session, f->session, 16) == 0) return t;
    }
    struct trace *empty = make_place(d);
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
    snprintf(log->schema_sha256, sizeof log->schema_sha256, "%s", f->schema_sha256);
    snprintf(log->vars, sizeof log->vars, "%s", f->vars);
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
    if (t->log.opens++ == 0) keep_request(&t->log, f);
    t->attached = true;
    t->dropping = t->failed = t->lost_one = false;
    t->number = ++d->next_number;
    t->epoch = ++d->next_epoch;
    t->seq = 0;
    uint64_t frames = t->durable.frames;
    if (atomic_load(&d->switches.forget) && frames > 0) frames = 0;
    uint64_t most = atomic_load(&d->switches.credit);
    bool lanes = !atomic_load(&d->switches.no_lanes);
    start_map(&w, "opened", lanes ? 10 : 9);
    mp_pair_uint(&w, "req", f->req);
    mp_pair_uint(&w, "trace", t->number);
    mp_pair_uint(&w, "epoch", t->epoch);
    mp_pair_bin(&w, "schema", d->schema, (uint32_t)d->schema_size);
    mp_pair_uint(&w, "frames", frames);
    mp_pair_uint(&w, "strings", t->durable.strings);
    mp_pair_uint(&w, "interval_ps", f->interval_ps ? f->interval_ps : 10000000);
    mp_pair_uint(&w, "credit", most && most < f->credit ? most : f->credit);
    mp_pair_str(&w, "path", "/out/fake.uscope");
    if (lanes) mp_pair_bool(&w, "lanes", true);
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
    if (t->failed || t->dropping) return;
    if (t->lost_one) { /* it was the last one: only the counts show it */
        t->dropping = true;
        send_trace_error(d, t->number, t->epoch, "BRIDGE_SEQUENCE", true);
        return;
    }
    bool sink = atomic_load(&d->switches.sink);
    if (!sink && (t->in_frame || t->position != f->frames || t->next_string != f->strings))
        violate(d, "close names %llu frames and %llu strings, received are %llu and %llu",
                (unsigned long long)f->frames, (unsigned long long)f->strings,
                (unsigned long long)t->position, (unsigned long long)t->next_string);
    t->position = f->frames;
    t->durable = t->complete = here(t);
    t->log.closed = t->finalized = true;
    t->log.rejected = f->rejected;
    t->log.skipped = f->skipped;
    snprintf(t->log.reasons, sizeof t->log.reasons, "%s", f->reasons);
    send_closed(d, t);
}

/* Commits what has come; a flush of a trace that is gone is not a mistake of the client. */
static void answer_flush(struct fake_daemon *d, const struct fields *f)
{
    struct trace *t = by_number(d, (uint32_t)f->trace);
    if (!t || t->failed || t->dropping || atomic_load(&d->switches.withhold_acks)) return;
    if (f->epoch != t->epoch) violate(d, "flush of epoch %llu", (unsigned long long)f->epoch);
    commit(d, t);
}

static void take_controlled(struct fake_daemon *d, const struct fields *f)
{
    struct trace *t = by_number(d, (uint32_t)f->trace);
    if (!t || f->epoch != t->epoch) {
        violate(d, "controlled of trace %llu", (unsigned long long)f->trace);
        return;
    }
    t->log.controlled.count++;
    t->log.controlled.done = f->done;
    t->log.controlled.skipped = f->skipped;
    snprintf(t->log.controlled.disabled, sizeof t->log.controlled.disabled, "%s", f->disabled);
    snprintf(t->log.controlled.code, sizeof t->log.controlled.code, "%s", f->code);
}

void send_command(struct fake_daemon *d)
{
    for (int i = 0; i < MOST_TRACES && d->command.wanted; i++) {
        struct trace *t = &d->traces[i];
        if (!t->attached || strcmp(t->name, d->command.name) != 0) continue;
        struct mp_writer w = {0};
        start_map(&w, "control", 4u + d->command.has_scope + d->command.has_text);
        mp_pair_uint(&w, "trace", t->number);
        mp_pair_uint(&w, "epoch", t->epoch);
        mp_pair_uint(&w, "number", d->command.number);
        mp_pair_str(&w, "action", d->command.action);
        if (d->command.has_scope) mp_pair_str(&w, "scope", d->command.scope);
        if (d->command.has_text) mp_pair_str(&w, "text", d->command.text);
        send_map(d, &w);
        d->command.wanted = false;
    }
}

void ack_everything(struct fake_daemon *d)
{
    for (int i = 0; i < MOST_TRACES; i++) {
        struct trace *t = &d->traces[i];
        if (t->attached && !t->failed) commit(d, t);
    }
}

bool is_hello(const void *bytes, size_t size)
{
    struct fields f;
    return read_fields(bytes, size, &f) && strcmp(f.type, "hello") == 0;
}

void take_control(struct fake_daemon *d, const void *bytes, size_t size)
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
    else if (strcmp(f.type, "flush") == 0)
        answer_flush(d, &f);
    else if (strcmp(f.type, "controlled") == 0)
        take_controlled(d, &f);
    else if (strcmp(f.type, "ping") == 0) {
        struct mp_writer w = {0};
        d->pings++;
        start_map(&w, "pong", 0);
        send_map(d, &w);
    } else
        violate(d, "a message of type \"%s\"", f.type);
}
