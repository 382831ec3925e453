/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of the fake daemon, and the calls of the tests. */
#include <stdio.h>
#include <stdlib.h>
#include <zmq.h>

#include "fake_internal.h"
#include "harness.h"

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
    if (two) zmq_msg_recv(&second, d->router, 0);
    pthread_mutex_lock(&d->lock);
    d->client_size = zmq_msg_size(&id) < sizeof d->client ? zmq_msg_size(&id) : sizeof d->client;
    memcpy(d->client, zmq_msg_data(&id), d->client_size);
    if (atomic_load(&d->switches.silent))
        d->hellos += !two && is_hello(zmq_msg_data(&first), zmq_msg_size(&first)); /* and does nothing */
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
    if (atomic_exchange(&d->switches.ack_now, false)) ack_everything(d);
    send_command(d);
    bool stalled = atomic_exchange(&d->switches.stalled, false);
    bool refused = atomic_exchange(&d->switches.fatal_error, false);
    bool full = atomic_exchange(&d->switches.disk_full, false);
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
        if (t->attached && (refused || full)) {
            t->failed = true;
            send_trace_error(d, t->number, -1, full ? "WRITER_DISK_FULL" : "BRIDGE_RECORD", false);
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
    if (zmq_bind(d->router, d->endpoint) != 0) violate(d, "cannot bind %s", d->endpoint);
    atomic_store(&d->listens, true);
    while (!atomic_load(&d->stop)) {
        zmq_pollitem_t item = {d->router, 0, ZMQ_POLLIN, 0};
        if (zmq_poll(&item, 1, 2) > 0) receive(d);
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
    atomic_store(&d->listens, false);
    pthread_create(&d->thread, NULL, daemon_main, d);
    d->running = true;
    /* a client that finds nobody says so: a test counts the messages */
    while (!atomic_load(&d->listens))
        sleep_ms(1);
}

void fake_kill(struct fake_daemon *d)
{
    if (!d->running) return;
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

void fake_control(struct fake_daemon *d, const char *name, uint32_t number, const char *action,
                  const char *scope, const char *text)
{
    pthread_mutex_lock(&d->lock);
    d->command.number = number;
    d->command.has_scope = scope != NULL;
    d->command.has_text = text != NULL;
    snprintf(d->command.name, sizeof d->command.name, "%s", name);
    snprintf(d->command.action, sizeof d->command.action, "%s", action);
    snprintf(d->command.scope, sizeof d->command.scope, "%s", scope ? scope : "");
    snprintf(d->command.text, sizeof d->command.text, "%s", text ? text : "");
    d->command.wanted = true;
    pthread_mutex_unlock(&d->lock);
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
        if (!t->used || strcmp(t->name, name) != 0) continue;
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
