/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection to the daemon: one socket, a greeting, watching whether the other side is still there. A
 * lost connection is never repaired but replaced by a new socket, so that nothing of the old one can be
 * mistaken for an answer.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#include "base/descriptors.h"
#include "base/keys.h"
#include "link/io.h"
#include "link/peer.h"

enum { HELLO_MS = 200, RETRY_MS = 10, PING_MS = 1000, SILENT_MS = 4000, MESSAGES_PER_TURN = 256 };

/*
 * The monitor is stopped before its receiving end is closed: ZeroMQ's thread hands events on with a call that
 * waits for ever where nobody is at the other end, and stopping waits for that call.
 */
static void discard(struct io *io)
{
    if (io->socket) zmq_socket_monitor(io->socket, NULL, 0);
    if (io->monitor) zmq_close(io->monitor);
    if (io->socket) zmq_close(io->socket);
    io->socket = io->monitor = NULL;
    io->state = CONN_NONE;
}

void conn_close(struct io *io)
{
    discard(io);
}

void conn_lost(struct io *io)
{
    discard(io);
    for (uint32_t i = 0; i < io->count; i++)
        trace_connection_lost(io->sessions[i]);
}

static bool watch(struct io *io)
{
    char name[64];
    static unsigned counter;
    snprintf(name, sizeof name, "inproc://uscope-monitor-%u", counter++);
    int events = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CONNECT_RETRIED;
    if (zmq_socket_monitor(io->socket, name, events) != 0) return false;
    io->monitor = zmq_socket(io->context, ZMQ_PAIR);
    int zero = 0;
    return io->monitor && zmq_setsockopt(io->monitor, ZMQ_LINGER, &zero, sizeof zero) == 0 &&
           zmq_setsockopt(io->monitor, ZMQ_RCVHWM, &zero, sizeof zero) == 0 &&
           zmq_connect(io->monitor, name) == 0;
}

/* Flow control is the credit, delivery the acknowledgement; ZeroMQ's own notions of both are turned off. */
static bool connect_socket(struct io *io, const struct uscopei_keys *keys)
{
    int zero = 0, one = 1, again = 50, most = 500;
    int64_t largest = MAX_CONTROL_BYTES + 4096;
    io->socket = zmq_socket(io->context, ZMQ_DEALER);
    if (!io->socket) return false;
    zmq_setsockopt(io->socket, ZMQ_LINGER, &zero, sizeof zero);
    zmq_setsockopt(io->socket, ZMQ_IMMEDIATE, &one, sizeof one);
    zmq_setsockopt(io->socket, ZMQ_SNDHWM, &zero, sizeof zero);
    zmq_setsockopt(io->socket, ZMQ_RCVHWM, &zero, sizeof zero);
    zmq_setsockopt(io->socket, ZMQ_RECONNECT_IVL, &again, sizeof again);
    zmq_setsockopt(io->socket, ZMQ_RECONNECT_IVL_MAX, &most, sizeof most);
    zmq_setsockopt(io->socket, ZMQ_MAXMSGSIZE, &largest, sizeof largest);
    if (keys->wanted &&
        (zmq_setsockopt(io->socket, ZMQ_CURVE_SERVERKEY, keys->server, sizeof keys->server) != 0 ||
         zmq_setsockopt(io->socket, ZMQ_CURVE_PUBLICKEY, keys->public_key, sizeof keys->public_key) != 0 ||
         zmq_setsockopt(io->socket, ZMQ_CURVE_SECRETKEY, keys->secret_key, sizeof keys->secret_key) != 0))
        return false;
    return watch(io) && zmq_connect(io->socket, uscopei_get_config()->endpoint) == 0;
}

static void fail_all(struct io *io, const char *code, const char *message)
{
    for (uint32_t i = 0; i < io->count; i++) {
        if (io->sessions[i]->link != LINK_DONE) io_fail(io->sessions[i], code, "%s", message);
    }
}

/* Open traces wait for descriptors as for a daemon. */
static void refuse_opens(struct io *io)
{
    for (uint32_t i = 0; i < io->count; i++) {
        struct uscopei_session *s = io->sessions[i];
        if (s->link != LINK_DONE && !s->ever_opened)
            io_fail(
                s, "ENV_DESCRIPTORS",
                "this process has too few file descriptors left for a connection to the daemon; close some, or "
                "raise the limit (ulimit -n)");
    }
}

static void start(struct io *io)
{
    char message[512];
    if (!uscopei_has_descriptors()) {
        refuse_opens(io);
        return;
    }
    struct uscopei_keys keys;
    if (!uscopei_read_keys(&keys, message, sizeof message)) {
        fail_all(io, "BRIDGE_KEY", message);
        return;
    }
    if (!uscopei_trusts_place(message, sizeof message)) {
        fail_all(io, "BRIDGE_ENDPOINT", message);
        return;
    }
    if (connect_socket(io, &keys)) {
        io->state = CONN_HELLO;
        io->next_hello = 0;
        io->unheard = false;
        return;
    }
    snprintf(message, sizeof message, "cannot connect to \"%s\": %s", uscopei_get_config()->endpoint,
             zmq_strerror(zmq_errno()));
    discard(io);
    fail_all(io, "BRIDGE_ENDPOINT", message);
}

/* -- sending */

static void free_control(void *bytes, void *hint)
{
    (void)hint;
    free(bytes);
}

bool conn_send_control(struct io *io, struct mp_writer *w)
{
    zmq_msg_t message;
    if (w->failed || !io->socket || zmq_msg_init_data(&message, w->bytes, w->size, free_control, NULL) != 0) {
        mp_free(w);
        return false;
    }
    *w = (struct mp_writer){0};
    if (zmq_msg_send(&message, io->socket, ZMQ_DONTWAIT) >= 0) return true;
    zmq_msg_close(&message);
    return false;
}

static void release_slice(void *payload, void *hint)
{
    (void)payload;
    struct uscopei_chunk *chunk = hint;
    atomic_fetch_sub_explicit(&chunk->refs, 1, memory_order_release);
}

bool conn_send_data(struct io *io, const unsigned char header[DATA_HEADER_BYTES], unsigned char *payload,
                    size_t size, struct uscopei_chunk *chunk)
{
    if (zmq_send(io->socket, header, DATA_HEADER_BYTES, ZMQ_DONTWAIT | ZMQ_SNDMORE) < 0) return false;
    zmq_msg_t message;
    atomic_fetch_add_explicit(&chunk->refs, 1, memory_order_relaxed);
    if (zmq_msg_init_data(&message, payload, size, release_slice, chunk) != 0) {
        atomic_fetch_sub_explicit(&chunk->refs, 1, memory_order_relaxed);
        return false;
    }
    if (zmq_msg_send(&message, io->socket, ZMQ_DONTWAIT) >= 0) return true;
    zmq_msg_close(&message);
    return false;
}

bool conn_send_place(struct io *io, const unsigned char header[DATA_HEADER_BYTES])
{
    return zmq_send(io->socket, header, DATA_HEADER_BYTES, ZMQ_DONTWAIT) >= 0;
}

static void greet(struct io *io)
{
    struct mp_writer w = {0};
    message_hello(&w, "uscope-c " USCOPE_VERSION_STRING, io->process.pid, io->process.start);
    /* nothing is sent before the connection is established: try again soon */
    io->next_hello = io->now + (conn_send_control(io, &w) ? HELLO_MS : RETRY_MS);
}

/* Several pings must fit into the timeout of a client, even a short one. */
static uint64_t ping_interval(void)
{
    uint64_t quarter = uscopei_get_config()->timeout_ms / 4;
    return quarter < PING_MS ? quarter : PING_MS;
}

static void ping(struct io *io)
{
    struct mp_writer w = {0};
    message_ping(&w);
    conn_send_control(io, &w);
    io->next_ping = io->now + ping_interval();
}

/* -- receiving */

/* The other end is seen before anything that it says is read. */
static void connected(struct io *io, int fd)
{
    char why[512];
    io->unheard = false;
    if (uscopei_trusts_peer(fd, why, sizeof why)) return;
    discard(io);
    fail_all(io, "BRIDGE_ENDPOINT", why);
}

/* Notes whether somebody listens; true when a connection that there was is lost. */
static bool monitor_says_lost(struct io *io)
{
    bool lost = false;
    zmq_msg_t frame;
    zmq_msg_init(&frame);
    while (io->monitor && zmq_msg_recv(&frame, io->monitor, ZMQ_DONTWAIT) >= 0) {
        /* first frame: event number and value, a descriptor for CONNECTED; second: address */
        uint16_t event;
        int32_t value;
        if (!zmq_msg_more(&frame) || zmq_msg_size(&frame) < sizeof event + sizeof value) continue;
        memcpy(&event, zmq_msg_data(&frame), sizeof event);
        memcpy(&value, (const char *)zmq_msg_data(&frame) + sizeof event, sizeof value);
        if (event == ZMQ_EVENT_DISCONNECTED)
            lost = true;
        else if (event == ZMQ_EVENT_CONNECTED)
            connected(io, value);
        else
            io->unheard = true;
    }
    zmq_msg_close(&frame);
    return lost;
}

static void receive(struct io *io)
{
    for (int i = 0; i < MESSAGES_PER_TURN && io->socket; i++) {
        zmq_msg_t message;
        zmq_msg_init(&message);
        if (zmq_msg_recv(&message, io->socket, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(&message);
            return;
        }
        io->heard = io->now;
        io->reconnected = false;
        bool more = zmq_msg_more(&message);
        if (!more) reply_handle(io, zmq_msg_data(&message), zmq_msg_size(&message));
        zmq_msg_close(&message);
        /* no message of the daemon has two parts: drop the rest of this one */
        while (more && io->socket) {
            zmq_msg_init(&message);
            more = zmq_msg_recv(&message, io->socket, ZMQ_DONTWAIT) >= 0 && zmq_msg_more(&message);
            zmq_msg_close(&message);
        }
    }
}

/* -- patience */

static bool anyone_waits(const struct io *io)
{
    for (uint32_t i = 0; i < io->count; i++) {
        const struct uscopei_session *s = io->sessions[i];
        if (s->link != LINK_DONE && (io->state != CONN_READY || trace_waits(s))) return true;
    }
    return false;
}

/* Once a connection: the user of a simulator that waits must not have to guess why. */
static void say_what_is_awaited(struct io *io)
{
    const struct uscopei_config *config = uscopei_get_config();
    if (io->said_awaited) return;
    io->said_awaited = true;
    uscopei_say("no daemon answers at %s yet; waiting for one for up to %llu ms (USCOPE_OPEN_TIMEOUT_MS)",
                config->endpoint, (unsigned long long)config->open_timeout_ms);
}

/*
 * A first open has its own, shorter patience, and its own message. Without USCOPE_ENDPOINT nobody has
 * promised a daemon: where nothing listens at the usual place, nothing is waited for.
 */
static void check_first_open(struct io *io, struct uscopei_session *s)
{
    const struct uscopei_config *config = uscopei_get_config();
    if (!config->endpoint_set && io->unheard)
        io_fail(
            s, "BRIDGE_NO_DAEMON",
            "USCOPE_ENDPOINT is not set, and no daemon listens at %s; start the simulator with \"uscope run -- "
            "...\", or start \"uscope serve\"",
            config->endpoint);
    else if (io->now >= s->open_deadline && config->has_run && !io->unheard)
        /* "uscope run" looks after its daemon, which gets little of a busy machine: it lives, so it answers
         */
        s->open_deadline = io->now + config->open_timeout_ms;
    else if (io->now >= s->open_deadline)
        io_fail(
            s, "BRIDGE_NO_DAEMON",
            "no daemon answers at %s (waited %llu ms); start one with \"uscope serve\", or start the simulator with "
            "\"uscope run -- ...\"",
            config->endpoint, (unsigned long long)config->open_timeout_ms);
    else if (io->unheard || s->open_deadline - io->now + SILENT_MS <= config->open_timeout_ms)
        say_what_is_awaited(io);
}

static void check_first_opens(struct io *io)
{
    for (uint32_t i = 0; i < io->count && io->state != CONN_READY; i++) {
        struct uscopei_session *s = io->sessions[i];
        if (s->link != LINK_DONE && !s->ever_opened) check_first_open(io, s);
    }
}

static void check_silence(struct io *io)
{
    uint64_t timeout = uscopei_get_config()->timeout_ms;
    uint64_t silence = io->now - io->heard;
    if (silence >= timeout) {
        char message[256];
        snprintf(message, sizeof message, "the daemon has not answered for %llu ms",
                 (unsigned long long)silence);
        for (uint32_t i = 0; i < io->count; i++) {
            struct uscopei_session *s = io->sessions[i];
            if (s->link != LINK_DONE && (s->ever_opened || io->state == CONN_READY))
                io_fail(s, "BRIDGE_LOST", "%s; frames below %llu are durable, later ones are not in the file",
                        message, (unsigned long long)atomic_load(&s->durable));
        }
    } else if (silence >= timeout / 2 && !io->reconnected && io->state == CONN_READY) {
        /* a connection can be dead without notice to either side */
        conn_lost(io);
        io->reconnected = true;
    } else if (io->state == CONN_READY && io->now >= io->next_ping) {
        ping(io);
    }
}

void conn_step(struct io *io)
{
    bool wanted = false;
    for (uint32_t i = 0; i < io->count; i++)
        wanted |= io->sessions[i]->link != LINK_DONE;
    if (io->state != CONN_NONE && monitor_says_lost(io) && io->state != CONN_NONE) conn_lost(io);
    if (wanted && io->state == CONN_NONE) {
        io_check_process(io);
        start(io);
    }
    if (io->state == CONN_HELLO && wanted && io->now >= io->next_hello) greet(io);
    receive(io);
    bool waiting = anyone_waits(io);
    if (waiting && !io->was_waiting) {
        io->heard = io->now;
        io->next_ping = io->now + ping_interval();
    }
    io->was_waiting = waiting;
    if (waiting) {
        check_first_opens(io);
        check_silence(io);
    }
}
