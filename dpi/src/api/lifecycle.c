/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, flushing, failing and closing, as seen from the thread that uses the trace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "link/io_thread.h"
#include "record/append.h"

enum { MIN_CREDIT = 1 << 20 };
static const uint64_t MAX_FRAME_BYTES = 8 << 20;

/* -- open */

static void close_all(void);

static void install_once(void)
{
    uscopei_fork_in_child(uscopei_table_forget);
    uscopei_fork_in_child(uscopei_io_forget);
    uscopei_fork_install();
    uscopei_table_install();
    atexit(close_all);
}

static pthread_once_t installed = PTHREAD_ONCE_INIT;

/* Until the daemon has answered. False with the thread's error set. */
static bool wait_opened(struct uscopei_session *s)
{
    pthread_mutex_lock(&uscopei_io.lock);
    while (!s->opened && !s->fail_code[0])
        pthread_cond_wait(&s->changed, &uscopei_io.lock);
    bool opened = !s->fail_code[0];
    if (!opened) uscopei_set_error(s->fail_code, s->fail_message);
    pthread_mutex_unlock(&uscopei_io.lock);
    return opened;
}

static bool make_pool(struct uscopei_session *s)
{
    if (s->credit < MIN_CREDIT) {
        uscopei_error(E_BRIDGE_LIMIT, "the daemon allows %llu bytes of credit; at least 1 MiB is needed",
                      (unsigned long long)s->credit);
        return false;
    }
    const struct uscopei_config *config = uscopei_get_config();
    const struct uscopei_pool_identity identity = {s->id, s->run, s->core, s->name};
    const char *note;
    s->pool = uscopei_pool_create(s->credit, config->shared_memory ? config->memory_directory : NULL,
                                  &identity, &note);
    if (!s->pool) {
        uscopei_error(E_BRIDGE_LIMIT, "no memory for %llu bytes of trace data",
                      (unsigned long long)s->credit);
        return false;
    }
    if (note) {
        uscopei_say(
            "%s: note: no shared memory in %s (%s): should this process crash, its last cycles cannot be salvaged",
            s->name, config->memory_directory, note);
    }
    return true;
}

static bool decode_schema(struct uscopei_session *s)
{
    uscopei_code code;
    const char *detail;
    s->schema = uscopei_schema_decode(s->schema_payload, s->schema_payload_size, &code, &detail);
    if (!s->schema)
        uscopei_error(code, "schema from the daemon: %s", detail);
    else
        uscopei_recording_begin(s);
    return s->schema != NULL;
}

static void fill_slot(struct uscopei_trace *t)
{
    struct uscopei_session *s = t->session;
    const struct uscopei_schema *schema = s->schema;
    t->storages = schema->storages;
    t->properties = schema->properties;
    t->field_limits = schema->field_limits;
    t->events = schema->events;
    t->event_fields = schema->event_fields;
    t->num_storages = (uint16_t)schema->num_storages;
    t->num_countable = uscopei_num_countable(schema->storages, schema->num_storages);
    t->num_events = (uint16_t)schema->num_events;
    set_next_checkpoint(t, UINT64_MAX);
    s->frame_limit = s->credit / 16 < MAX_FRAME_BYTES ? s->credit / 16 : MAX_FRAME_BYTES;
    uscopei_first_chunk(t);
    t->idle_handle = t->handle;
}

static void wait_closed(struct uscopei_session *s)
{
    atomic_store(&s->want_close, true);
    uscopei_io_wake();
    pthread_mutex_lock(&uscopei_io.lock);
    while (!s->closed && !s->fail_code[0])
        pthread_cond_wait(&s->changed, &uscopei_io.lock);
    pthread_mutex_unlock(&uscopei_io.lock);
}

static void abandon(struct uscopei_trace *t)
{
    struct uscopei_session *s = t->session;
    uscopei_slot_release(t);
    atomic_store(&s->abandoned, true);
    uscopei_io_wake();
}

/* The daemon has opened a file by now: it is closed again, empty. */
static void take_back(struct uscopei_trace *t)
{
    char code[40], message[1024];
    snprintf(code, sizeof code, "%s", uscope_last_error_code());
    snprintf(message, sizeof message, "%s", uscope_last_error_message());
    wait_closed(t->session);
    uscopei_set_error(code, message);
}

static uscope_writer_t *open_trace(const uscope_open_options_t *options)
{
    pthread_once(&installed, install_once);
    uscopei_fork_unnoticed();
    struct uscopei_session *s = uscopei_session_new(options);
    if (!s) return NULL;
    struct uscopei_trace *t = uscopei_slot_acquire(s);
    s->trace = t;
    if (!t || !uscopei_io_submit(s)) {
        uscopei_error(E_BRIDGE_LIMIT,
                      t ? "no thread for sending; there may be too few file descriptors (ulimit -n)"
                        : "%d traces are open",
                      MAX_TRACES);
        if (t) uscopei_slot_release(t);
        uscopei_session_free(s);
        return NULL;
    }
    if (wait_opened(s)) {
        if (decode_schema(s) && make_pool(s)) {
            fill_slot(t);
            atomic_store(&s->pool_ready, true);
            return (uscope_writer_t *)t->handle;
        }
        take_back(t);
    }
    abandon(t);
    return NULL;
}

uscope_writer_t *uscope_writer_open_opts(const uscope_open_options_t *given)
{
    uscope_open_options_t options = USCOPE_OPEN_OPTIONS_INIT;
    /* a caller compiled against another release has a shorter or longer struct */
    if (given) memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    uscope_writer_t *w = open_trace(&options);
    if (!w)
        uscopei_say("cannot open trace \"%s\": %s: %s", options.name ? options.name : "",
                    uscope_last_error_code(), uscope_last_error_message());
    return w;
}

uscope_writer_t *uscope_writer_open(const char *path, const uscope_dut_t *dut, const uscope_schema_t *schema,
                                    uint32_t checkpoint_interval)
{
    uscope_open_options_t options = USCOPE_OPEN_OPTIONS_INIT;
    options.name = path;
    options.dut = dut;
    options.schema = schema;
    options.interval_ps = checkpoint_interval;
    return uscope_writer_open_opts(&options);
}

const char *uscope_path(uscope_writer_t *w)
{
    struct uscopei_trace *t = uscopei_resolve(w, "path");
    return t ? t->session->file_path : "";
}

/* -- flush */

int uscope_flush(uscope_writer_t *w)
{
    struct uscopei_trace *t = uscopei_resolve(w, "flush");
    if (!t) return w ? -1 : 0;
    struct uscopei_session *s = t->session;
    if (s->state == ST_UNTRACED) return -1;
    if (!t->idle_handle) {
        uscopei_complain(t, E_OP_NESTED_CYCLE, 3, "flush inside a cycle; call rejected");
        return -1;
    }
    atomic_store(&s->flush_frames, t->ordinal);
    uscopei_io_wake();
    pthread_mutex_lock(&uscopei_io.lock);
    while (atomic_load(&s->durable) < t->ordinal && !has_failed(t))
        pthread_cond_wait(&s->changed, &uscopei_io.lock);
    pthread_mutex_unlock(&uscopei_io.lock);
    if (!has_failed(t)) return 0;
    uscopei_handle_failure(t);
    return -1;
}

/* -- close */

static void say_rejected(const struct uscopei_session *s)
{
    char list[512] = "";
    size_t used = 0;
    for (int i = 0; i < E_NUM_OP_CODES; i++) {
        if (s->rejected[i] > 0 && used < sizeof list) {
            int size = snprintf(list + used, sizeof list - used, "%s%s %llu", used ? ", " : "",
                                uscopei_code_name((uscopei_code)i), (unsigned long long)s->rejected[i]);
            used += size > 0 ? (size_t)size : 0;
        }
    }
    uint64_t skipped = atomic_load(&s->skipped);
    if (skipped > 0)
        uscopei_say("%s: %llu items were not recorded, as asked: tracing was paused or their scope disabled",
                    s->name, (unsigned long long)skipped);
    if (s->rejected_total > 0)
        uscopei_say("%s: %llu calls were rejected: %s", s->name, (unsigned long long)s->rejected_total, list);
}

/* An open cycle is ended rather than lost: $finish comes in the middle of one as often as not. */
static void finish_stream(struct uscopei_trace *t)
{
    struct uscopei_session *s = t->session;
    uscopei_control_finish(t);
    if (t->frame_handle) uscopei_close_frame(t, t->handle);
    t->frame_handle = t->idle_handle = 0;
    s->total_frames = t->ordinal;
    if (s->state != ST_UNTRACED) uscopei_seal_last(t);
}

/* That of the image that this process was restored from is the other process's. */
static bool owns_memory(const struct uscopei_session *s)
{
    return s->pool && strcmp(s->fail_code, uscopei_code_name(E_BRIDGE_FORKED)) != 0;
}

/* 0 when the file is complete. */
static int close_trace(struct uscopei_trace *t, uscope_close_stats_t *stats)
{
    struct uscopei_session *s = t->session;
    finish_stream(t);
    wait_closed(s);
    bool failed = !s->closed;
    if (failed) {
        uscopei_handle_failure(t);
        uscopei_set_error(s->fail_code, s->fail_message);
    } else if (stats) {
        *stats = s->stats;
    }
    say_rejected(s);
    if (owns_memory(s) && !uscopei_keeps_memory(t)) uscopei_pool_unlink(s->pool);
    abandon(t);
    return failed ? -1 : 0;
}

int uscope_close_stats(uscope_writer_t *w, uscope_close_stats_t *stats)
{
    if (stats) memset(stats, 0, sizeof *stats);
    if (!w || uscopei_handle_kind_of(w) == HANDLE_CLOSED) return 0;
    struct uscopei_trace *t = uscopei_resolve(w, "close");
    if (!t) return -1;
    if (t->session->state == ST_CALLBACK && !t->session->asked) {
        uscopei_complain(t, E_OP_SNAPSHOT, 4, "close inside a checkpoint callback; call rejected");
        return -1;
    }
    return close_trace(t, stats);
}

void uscope_close(uscope_writer_t *w)
{
    uscope_close_stats(w, NULL);
}

void uscope_writer_close(uscope_writer_t *w)
{
    uscope_close_stats(w, NULL);
}

/* At exit. What fails now cannot stop anything any more: its policy has run, or is of no use. */
static void close_all(void)
{
    if (uscopei_fork_unnoticed() || uscopei_io_is_self()) return;
    for (unsigned i = 1; i <= MAX_TRACES; i++) {
        struct uscopei_trace *t = &uscopei_traces[i].trace;
        if (!t->handle || !t->session) continue;
        t->session->failure_handled = true;
        /* a trace whose open has not returned is not ours to close */
        if (atomic_load(&t->session->pool_ready)) close_trace(t, NULL);
    }
    uscopei_io_shutdown();
}
