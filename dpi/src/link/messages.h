/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the bridge protocol (docs/reference/bridge-protocol.md#connection, #traces, #data-header): what
 * the client sends and what it understands. */
#ifndef USCOPE_MESSAGES_H
#define USCOPE_MESSAGES_H

#include "base/common.h"
#include "link/msgpack.h"

enum message_type {
    MSG_UNKNOWN,
    MSG_WELCOME,
    MSG_OPENED,
    MSG_ACK,
    MSG_STALLED,
    MSG_ERROR,
    MSG_CLOSED,
    MSG_PONG,
    MSG_CONTROL
};

/** A control message from the daemon. Strings and bytes point into the message. `has_` says what was there.
 */
struct message {
    enum message_type type;
    bool has_v, has_req, has_trace, has_epoch, has_frames, has_strings, has_session, has_number, retry,
        memory, lanes;
    uint64_t v, req, trace, epoch, frames, strings, interval_ps, credit, number;
    struct mp_value code, msg, path, schema, session, action, scope, text; /* type MP_BAD when absent */
    bool has_stats;
    uscope_close_stats_t stats;
    struct mp_value stats_path, stats_status;
};

/** False when the bytes are not a map with a string `t`. An unknown `t` is MSG_UNKNOWN. */
bool message_decode(const void *bytes, size_t size, struct message *out);
/** Text of a value, cut to fit, "" when it is none. */
void message_text(const struct mp_value *value, char *out, size_t size);

void message_hello(struct mp_writer *w, const char *client, uint32_t pid, uint64_t start);
void message_ping(struct mp_writer *w);
void message_flush(struct mp_writer *w, uint32_t trace, uint32_t epoch);

struct open_message {
    uint64_t req;
    const char *name;
    const uint8_t *session;
    const char *schema, *schema_name; /* NULL: absent */
    char *const *dut;                 /* key, value, ... */
    uint32_t num_dut;
    uint64_t interval_ps; /* 0: absent */
    uint64_t credit;
    const uint8_t *run; /* NULL: absent */
    uint32_t core;      /* USCOPE_NO_CORE: absent */
    const char *schema_sha256;
    const char *variables; /* "name=value,name=value" */
    bool memory;
    const uint8_t *secret; /* 32 bytes; NULL: absent */
};
void message_open(struct mp_writer *w, const struct open_message *open);

struct close_message {
    uint32_t trace;
    const uint8_t *session;
    uint64_t frames, strings, rejected;
    const uint64_t *by_code; /* E_NUM_OP_CODES counts */
    uint64_t skipped;        /* 0: absent */
};
void message_close(struct mp_writer *w, const struct close_message *close);

struct controlled_message {
    uint32_t trace, epoch;
    uint64_t done, skipped;
    const char *const *disabled; /* scope paths */
    uint32_t num_disabled;
    const char *code, *msg; /* "": absent */
};
void message_controlled(struct mp_writer *w, const struct controlled_message *controlled);

struct data_header {
    bool continues;
    bool lanes; /* there may be lane records */
    uint32_t trace, epoch;
    uint64_t seq, first_frame;
    uint32_t payload_size;
    bool in_memory;  /* the records are in shared memory, */
    uint64_t offset; /* there */
};
void data_header_encode(const struct data_header *header, unsigned char out[DATA_HEADER_BYTES]);

#endif
