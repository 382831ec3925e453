/* SPDX-License-Identifier: Apache-2.0 */
/* What the daemon says, and what follows from it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link/io.h"

static struct uscopei_session *by_request(struct io *io, const struct message *m)
{
    for (uint32_t i = 0; m->has_req && i < io->count; i++) {
        if (io->sessions[i]->link == LINK_OPENING && io->sessions[i]->request == m->req)
            return io->sessions[i];
    }
    return NULL;
}

/* Traces that are being opened have no number on this connection yet. */
static struct uscopei_session *by_trace(struct io *io, const struct message *m)
{
    for (uint32_t i = 0; m->has_trace && i < io->count; i++) {
        struct uscopei_session *s = io->sessions[i];
        if ((s->link == LINK_STREAMING || s->link == LINK_CLOSING) && s->trace_number == m->trace) return s;
    }
    return NULL;
}

static void handle_welcome(struct io *io, const struct message *m)
{
    if (io->state != CONN_HELLO || !io->trusted) return;
    if (m->has_v && m->v == USCOPE_PROTOCOL_VERSION) {
        io->state = CONN_READY;
        return;
    }
    for (uint32_t i = 0; i < io->count; i++) {
        if (io->sessions[i]->link != LINK_DONE)
            io_fail(io->sessions[i], "BRIDGE_VERSION",
                    "the daemon speaks protocol version %" PRIu64
                    ", this client version %d; install matching releases",
                    m->v, USCOPE_PROTOCOL_VERSION);
    }
}

/* -- opened */

/* The first answer: the trace's own thread continues from here. */
static void accept_first(struct uscopei_session *s, const struct message *m)
{
    unsigned char *schema = malloc((size_t)m->schema.count + 1);
    if (!schema) {
        io_fail(s, "BRIDGE_LIMIT", "no memory for the schema");
        return;
    }
    if (m->schema.count > 0) memcpy(schema, m->schema.bytes, m->schema.count);
    pthread_mutex_lock(&uscopei_io.lock);
    s->schema_payload = schema;
    s->schema_payload_size = m->schema.count;
    atomic_store(&s->takes_lanes, m->lanes);
    if (m->interval_ps > 0) s->interval_ps = m->interval_ps;
    if (m->credit < s->credit) s->credit = m->credit;
    message_text(&m->path, s->file_path, sizeof s->file_path);
    s->opened = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&uscopei_io.lock);
    s->ever_opened = true;
}

/* What was acknowledged has been forgotten here: a daemon that knows less than that has lost it. */
static bool can_resume(struct uscopei_session *s, const struct message *m)
{
    uint64_t durable = atomic_load(&s->durable);
    if (m->frames < durable) {
        io_fail(s, "BRIDGE_SEQUENCE",
                "after reconnecting the daemon has %" PRIu64 " frames, but had acknowledged %" PRIu64
                ": frames are lost on the daemon's side",
                m->frames, durable);
        return false;
    }
    if (m->frames > s->sent_frames) {
        io_fail(s, "BRIDGE_SEQUENCE",
                "after reconnecting the daemon has %" PRIu64 " frames of %" PRIu64 " sent", m->frames,
                s->sent_frames);
        return false;
    }
    if (m->schema.count != s->schema_payload_size ||
        memcmp(m->schema.bytes, s->schema_payload, m->schema.count) != 0) {
        io_fail(s, "BRIDGE_INTERNAL", "after reconnecting the daemon has another schema for this trace");
        return false;
    }
    /* none are begun from here on (uscopei_begin_lanes) */
    if (!m->lanes) atomic_store(&s->takes_lanes, false);
    if (!m->lanes && atomic_load(&s->has_lanes)) {
        io_fail(s, "BRIDGE_VERSION",
                "after reconnecting the daemon is another one, which does not take what this client has "
                "recorded; install matching releases");
        return false;
    }
    return true;
}

static void handle_opened(struct io *io, const struct message *m)
{
    struct uscopei_session *s = by_request(io, m);
    if (!s) return;
    if (!m->has_trace || !m->has_epoch || !m->has_frames || m->schema.type != MP_BIN ||
        m->trace > UINT32_MAX || m->epoch > UINT32_MAX) {
        io_fail(s, "BRIDGE_MESSAGE", "the daemon's answer to open lacks trace, epoch, frames or schema");
        return;
    }
    if (!s->ever_opened && m->frames != 0) {
        io_fail(s, "BRIDGE_SEQUENCE", "the daemon has %" PRIu64 " frames for a trace that has just begun",
                m->frames);
        return;
    }
    s->trace_number = (uint32_t)m->trace;
    s->epoch = (uint32_t)m->epoch;
    if (!s->ever_opened)
        accept_first(s, m);
    else if (!can_resume(s, m))
        return;
    if (s->link == LINK_DONE) return;
    s->sends_places = m->memory && !s->must_send_bytes;
    s->link = LINK_STREAMING;
    trace_release(s, m->frames);
    trace_seek(s, m->frames);
    /* another daemon than before knows nothing of what is disabled */
    if (s->has_reported) atomic_store(&s->report_wanted, true);
}

/* -- progress */

static void end_stall(struct uscopei_session *s)
{
    if (s->stalled) uscopei_say("%s: the trace continues", s->name);
    s->stalled = false;
}

static void handle_ack(struct io *io, const struct message *m)
{
    struct uscopei_session *s = by_trace(io, m);
    if (!s || !m->has_epoch || m->epoch != s->epoch || !m->has_frames) return;
    if (m->frames > s->sent_frames) {
        io_fail(s, "BRIDGE_SEQUENCE", "the daemon acknowledges %" PRIu64 " frames of %" PRIu64 " sent",
                m->frames, s->sent_frames);
        return;
    }
    if (m->frames > atomic_load(&s->durable)) end_stall(s);
    trace_release(s, m->frames);
}

static void handle_stalled(struct io *io, const struct message *m)
{
    struct uscopei_session *s = by_trace(io, m);
    if (!s || s->stalled) return;
    char code[40], text[512];
    message_text(&m->code, code, sizeof code);
    message_text(&m->msg, text, sizeof text);
    s->stalled = true;
    uscopei_say("%s: %s: %s; waiting", s->name, code, text);
}

static void handle_closed(struct io *io, const struct message *m)
{
    for (uint32_t i = 0; m->has_session && i < io->count; i++) {
        struct uscopei_session *s = io->sessions[i];
        if (s->link != LINK_CLOSING || memcmp(m->session.bytes, s->id, 16) != 0) continue;
        if (m->has_stats && m->stats.frames < s->total_frames) {
            io_fail(s, "BRIDGE_SEQUENCE", "the file holds %llu frames of %" PRIu64, m->stats.frames,
                    s->total_frames);
            return;
        }
        end_stall(s);
        atomic_store(&s->durable, s->total_frames);
        uscope_close_stats_t stats = m->stats;
        stats.rejected = s->rejected_total;
        io_finish(s, &stats);
        return;
    }
}

/* -- control */

/* The number of an action of the control event, -1: none that a client takes from outside. */
static int action_of(const struct mp_value *value)
{
    static const char *const names[] = {"pause", "resume", "disable", "enable", "trigger"};
    for (int i = 0; i < 5; i++) {
        if (mp_is(value, names[i])) return i;
    }
    return -1;
}

/* The trace's thread acts on it when it begins a cycle. The daemon repeats what is not answered, and sends
 * the next one only then. */
static void handle_control(struct io *io, const struct message *m)
{
    struct uscopei_session *s = by_trace(io, m);
    int action = action_of(&m->action);
    if (!s || !m->has_epoch || m->epoch != s->epoch || !m->has_number || action < 0) return;
    if (s->has_command && s->command_number == m->number) return;
    s->has_command = true;
    s->command_number = m->number;
    pthread_mutex_lock(&uscopei_io.lock);
    s->command.number = m->number;
    s->command.action = (uint8_t)action;
    message_text(&m->scope, s->command.scope, sizeof s->command.scope);
    message_text(&m->text, s->command.text, sizeof s->command.text);
    atomic_fetch_or(&s->trace->attention, ATTENTION_COMMAND);
    pthread_mutex_unlock(&uscopei_io.lock);
}

/* -- errors */

static void handle_greeting_error(struct io *io, const struct message *m, const char *code, const char *text)
{
    for (uint32_t i = 0; i < io->count; i++) {
        struct uscopei_session *s = io->sessions[i];
        if (s->link == LINK_DONE) continue;
        if (m->has_v)
            io_fail(s, code, "%s (the daemon speaks protocol version %" PRIu64 ", this client version %d)",
                    text, m->v, USCOPE_PROTOCOL_VERSION);
        else
            io_fail(s, code, "%s", text);
    }
}

static void handle_error(struct io *io, const struct message *m)
{
    char code[40], text[800];
    message_text(&m->code, code, sizeof code);
    message_text(&m->msg, text, sizeof text);
    if (m->has_req) {
        struct uscopei_session *s = by_request(io, m);
        if (s) io_fail(s, code, "%s", text);
        return;
    }
    if (m->has_trace) {
        struct uscopei_session *s = by_trace(io, m);
        /* of an epoch that is over, or about data sent before the open that is under way */
        if (!s || (m->has_epoch && m->epoch != s->epoch)) return;
        if (m->retry) {
            if (strcmp(code, "BRIDGE_MEMORY") == 0) s->must_send_bytes = true;
            s->link = LINK_NEED_OPEN;
        } else
            io_fail(s, code, "%s", text);
        return;
    }
    if (io->state == CONN_HELLO)
        handle_greeting_error(io, m, code, text);
    else
        uscopei_say("the daemon says: %s: %s", code, text);
}

void reply_handle(struct io *io, const void *bytes, size_t size)
{
    struct message m;
    if (!message_decode(bytes, size, &m)) {
        uscopei_say("BRIDGE_MESSAGE: the daemon sent %zu bytes that are not a message; ignored", size);
        return;
    }
    switch (m.type) {
    case MSG_WELCOME: handle_welcome(io, &m); break;
    case MSG_OPENED: handle_opened(io, &m); break;
    case MSG_ACK: handle_ack(io, &m); break;
    case MSG_STALLED: handle_stalled(io, &m); break;
    case MSG_ERROR: handle_error(io, &m); break;
    case MSG_CLOSED: handle_closed(io, &m); break;
    case MSG_CONTROL: handle_control(io, &m); break;
    case MSG_PONG:
    case MSG_UNKNOWN: break;
    }
}
