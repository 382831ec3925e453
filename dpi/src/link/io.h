/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the I/O thread: the connection, and the traces on it. */
#ifndef USCOPE_IO_H
#define USCOPE_IO_H

#include "link/io_thread.h"
#include "link/messages.h"

enum conn_state { CONN_NONE, CONN_HELLO, CONN_READY };

/** Everything the I/O thread knows; touched by no other thread. */
struct io {
    void *context, *socket, *monitor;
    enum conn_state state;
    bool was_waiting, reconnected;
    bool trusted;      /* the other end of this connection has been looked at */
    bool unheard;      /* nobody listened at the endpoint when this connection was tried */
    bool said_awaited; /* the user knows that a daemon is waited for */
    uint64_t now;      /* ms, read once per turn */
    uint64_t next_hello, next_ping;
    uint64_t heard; /* when the daemon last said something, or when waiting for it began */
    uint64_t next_request;
    struct uscopei_process process; /* that this thread was started in */
    uint64_t looked;                /* ms, when that was compared last */
    uint32_t count;
    struct uscopei_session *sessions[MAX_TRACES];
    struct uscopei_pool *graves; /* pools of closed traces that ZeroMQ still reads from */
};

/* connection.c */
/** Connects, greets, notices losses, hands messages on. */
void conn_step(struct io *io);
/** Drops the connection; every open trace resumes on the next one. */
void conn_lost(struct io *io);
void conn_close(struct io *io);
/** Sends a control message; false when it cannot go out now. Takes the writer's memory. */
bool conn_send_control(struct io *io, struct mp_writer *w);
/** Sends a data message; the chunk counts it until ZeroMQ is done with it. */
bool conn_send_data(struct io *io, const unsigned char header[DATA_HEADER_BYTES], unsigned char *payload,
                    size_t size, struct uscopei_chunk *chunk);
/** Sends where the records are instead of the records. */
bool conn_send_place(struct io *io, const unsigned char header[DATA_HEADER_BYTES]);

/* transfer.c: one trace */
void trace_step(struct io *io, struct uscopei_session *s);
/** Waits for something that the daemon has to do. */
bool trace_waits(const struct uscopei_session *s);
void trace_connection_lost(struct uscopei_session *s);
void trace_release(struct uscopei_session *s, uint64_t frames);
/** Stream position of frame N after a resume. */
void trace_seek(struct uscopei_session *s, uint64_t frames);

/* replies.c: what the daemon says */
void reply_handle(struct io *io, const void *bytes, size_t size);

/* io.c */
/** Gives a trace up: says why, wakes its thread. */
PRINTF(3, 4) void io_fail(struct uscopei_session *s, const char *code, const char *format, ...);
void io_finish(struct uscopei_session *s, const uscope_close_stats_t *stats);
/** A process restored from a saved image abandons the traces of the process that was saved. */
void io_check_process(struct io *io);
void io_notify(struct uscopei_session *s);

#endif
