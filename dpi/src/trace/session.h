/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace is split in two: `struct uscopei_trace`, a slot of a static table with what every call touches
 * (trace.h), and `struct uscopei_session`, on the heap, with the rest.
 *
 * Who writes what: the trace's thread owns the table slot and the session's first half; the I/O thread owns
 * the second half; what passes between them is atomic or under `uscopei_io.lock`.
 */
#ifndef USCOPE_SESSION_H
#define USCOPE_SESSION_H

#include <pthread.h>

#include "trace/trace.h"

#pragma GCC visibility push(hidden)

/** State of the trace's thread, when frame_handle and idle_handle do not say it. */
typedef enum uscopei_state {
    ST_NORMAL,         /* in a cycle or between two */
    ST_REJECTED_CYCLE, /* a begin_cycle was refused: its items are too */
    ST_PAUSED_CYCLE,   /* a cycle that is not recorded */
    ST_CALLBACK,
    ST_UNTRACED, /* failed; calls do nothing */
} uscopei_state;

/** State of a trace in the I/O thread. */
typedef enum uscopei_link {
    LINK_NEED_OPEN,
    LINK_OPENING,
    LINK_STREAMING,
    LINK_CLOSING,
    LINK_DONE,
} uscopei_link;

struct uscopei_string_cache;
struct uscopei_reported;
struct uscopei_snapshot;
struct uscopei_control;

/** What the control event says (docs/how-to/control.md). */
enum control_action { CONTROL_PAUSE, CONTROL_RESUME, CONTROL_DISABLE, CONTROL_ENABLE, CONTROL_TRIGGER };
enum control_source { SOURCE_TESTBENCH, SOURCE_OPERATOR, SOURCE_DAEMON };

/** A command from outside, for the trace's thread. */
struct uscopei_command {
    uint64_t number;
    uint8_t action;
    char scope[1025], text[1025];
};

/** What the daemon gets after a change. */
struct uscopei_report {
    uint64_t done;    /* number of the last command acted on; 0: none */
    uint16_t *scopes; /* disabled ones, without those below another; [0]: everything */
    uint32_t num_scopes;
    char code[40], message[256]; /* why it failed; "" */
};

struct uscopei_session {
    struct uscopei_trace *trace;
    char name[208];
    uint8_t id[16];     /* the beginning of the secret's SHA-256 */
    uint8_t secret[32]; /* in no file: who has it may continue the session */
    uint8_t run[16];
    bool has_run;
    uint32_t core;
    uint64_t interval_ps; /* wanted, then agreed */
    uint64_t credit;      /* wanted, then agreed */
    char *schema_text;    /* NULL: the daemon's default */
    char *schema_name;
    char *schema_sha256; /* NULL: the client's code was not generated */
    char *variables;     /* "core=0,name=x"; NULL: none */
    char **dut;          /* key, value, key, value, ... */
    uint32_t num_dut;

    /* -- the trace's thread */
    uscopei_state state;
    struct uscopei_schema *schema;
    uint64_t frame_bytes; /* of the open frame, in earlier chunks */
    uint64_t frame_limit; /* a frame this large is split at the end of its chunk */
    uint32_t current;     /* chunk */
    uint32_t spare;       /* the next one, if it */
    bool has_spare;       /* is taken already */
    uint64_t order;       /* of the current chunk */
    uint32_t num_strings;
    struct uscopei_string_cache *strings;
    uint64_t rejected[E_NUM_OP_CODES];
    uint64_t rejected_total;
    struct uscopei_reported *reported;
    uscope_checkpoint_fn callback;
    void *callback_data;
    struct uscopei_snapshot *snapshot; /* given slot by slot; NULL before the first */
    bool asked;                        /* it has said so: ST_CALLBACK lasts until the next cycle begins */
    bool failure_handled;
    bool resync;                     /* a scope was enabled: a model that asks shall give its state */
    struct uscopei_control *control; /* NULL: everything is and was recorded */

    /** Frees what recording has made: strings, snapshot, control; NULL before that. */
    void (*free_recording)(struct uscopei_session *s);

    /* -- given by one to the other */
    struct uscopei_pool *pool; /* set before pool_ready */
    atomic_bool pool_ready;
    atomic_bool waiting;           /* the trace's thread waits for credit */
    _Atomic uint64_t flush_frames; /* uscope_flush waits for everything below this */
    atomic_bool want_close;
    atomic_bool abandoned;  /* the trace's thread is done with the session: the I/O thread frees it */
    uint64_t total_frames;  /* set before want_close */
    pthread_cond_t changed; /* with uscopei_io.lock */
    _Atomic uint64_t durable;
    atomic_bool takes_lanes;   /* every daemon so far has said that it takes lane records */
    atomic_bool has_lanes;     /* some may be among those published */
    _Atomic uint64_t skipped;  /* items not recorded because their scope is disabled */
    atomic_bool report_wanted; /* the daemon shall get what is disabled */

    /* under uscopei_io.lock */
    bool opened, closed;
    unsigned char *schema_payload; /* from `opened` */
    size_t schema_payload_size;
    char file_path[1024];
    char fail_code[40];
    char fail_message[1024];
    uscope_close_stats_t stats;
    struct uscopei_session *next_pending;
    struct uscopei_command command; /* from outside, when ATTENTION_COMMAND is set */
    struct uscopei_report report;

    /* -- the I/O thread */
    uscopei_link link;
    bool ever_opened;
    uint64_t request;       /* of the open in flight */
    uint64_t open_deadline; /* ms; for the first open only */
    uint32_t trace_number, epoch;
    uint64_t seq;
    uint64_t tail_position; /* ring position of the oldest chunk held */
    uint64_t send_position;
    uint32_t send_offset;
    uint64_t next_frame;  /* ordinal of the first record at send_offset, when that is not the chunk's start */
    uint64_t sent_frames; /* frames sent, at least in part */
    uint64_t unsent_since; /* ms, 0: nothing unsent */
    uint64_t flush_asked;  /* frames that the daemon was asked to commit at once */
    bool sends_places;     /* the daemon reads the records from shared memory */
    bool must_send_bytes;  /* it could not */
    bool stalled;
    bool has_command;          /* the last one received, */
    bool has_reported;         /* the daemon has got switched scopes or commands */
    uint64_t command_number;   /* its number */
    uint64_t reported_skipped; /* as last reported to the daemon, */
    uint64_t reported_at;      /* ms, then */
};

/* rejected.c */
struct uscopei_reported *uscopei_reported_new(void);
void uscopei_reported_free(struct uscopei_reported *reported);
/** Counts a rejection, and reports it once per code and id. */
COLD PRINTF(4, 5) void uscopei_reject(struct uscopei_trace *t, uscopei_code code, uint64_t id,
                                      const char *format, ...);
/** A failed call that refuses nothing of the trace (a name lookup): reported once, not counted. */
COLD PRINTF(4, 5) void uscopei_complain(struct uscopei_trace *t, uscopei_code code, uint64_t id,
                                        const char *format, ...);

/** Inside a cycle of a paused trace. */
static inline bool is_paused_cycle(const struct uscopei_trace *t)
{
    return t->session->state == ST_PAUSED_CYCLE;
}
static inline void skip_items(struct uscopei_session *s, uint64_t items)
{
    uint64_t before = atomic_load_explicit(&s->skipped, memory_order_relaxed);
    atomic_store_explicit(&s->skipped, before + items, memory_order_relaxed);
}

/* session.c */
/** A session for these options, NULL with the thread's error set. */
struct uscopei_session *uscopei_session_new(const uscope_open_options_t *options);
void uscopei_session_free(struct uscopei_session *s);

#pragma GCC visibility pop

#endif
