/* SPDX-License-Identifier: Apache-2.0 */
/* Between the parts of the fake daemon: its thread, its control messages, its records. */
#ifndef USCOPE_TEST_FAKE_INTERNAL_H
#define USCOPE_TEST_FAKE_INTERNAL_H

#include <pthread.h>
#include <string.h>

#include "fake_daemon.h"
#include "link/messages.h"

enum { MOST_TRACES = 128 };

/** A place in the stream. */
struct mark {
    size_t size;
    uint64_t frames, strings, items, snapshots, time;
};

struct trace {
    bool used, attached, failed, dropping, finalized;
    bool lost_one; /* the last message was dropped: its loss has not been reported */
    char name[256];
    uint8_t session[16];
    uint32_t number, epoch;
    uint64_t seq, position; /* position: ordinal of the frame the next record belongs to */
    bool in_frame, new_frame;
    bool announced; /* the message says that there may be lane records */
    uint64_t items, lane_items, time,
        next_string; /* of the frame: item and lane records; what these are more */
    uint64_t held;
    uint32_t part_storage, part_offset, part_total; /* of the snapshot under way */
    struct mark complete, durable;                  /* after the last END; and of that what is acknowledged */
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
    atomic_bool stop, listens;
    bool running;
    uint32_t next_number, next_epoch;
    uint64_t hellos, pings;
    char violation[512];
    struct trace traces[MOST_TRACES];
    /* routing id of the client; one process per test */
    unsigned char client[64];
    size_t client_size;
    void *router;
    struct {
        bool wanted;
        uint32_t number;
        char name[64], action[32], scope[64], text[64];
        bool has_scope, has_text;
    } command;
};

void violate(struct fake_daemon *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
void send_map(struct fake_daemon *d, struct mp_writer *w);
void start_map(struct mp_writer *w, const char *type, uint32_t keys);
void send_ack(struct fake_daemon *d, struct trace *t);
void commit(struct fake_daemon *d, struct trace *t);
void send_trace_error(struct fake_daemon *d, uint32_t number, int64_t epoch, const char *code, bool retry);
struct mark here(const struct trace *t);
void forget_undurable(struct trace *t);
void take_records(struct fake_daemon *d, struct trace *t, const unsigned char *at, size_t size);
struct trace *by_number(struct fake_daemon *d, uint32_t number);
void take_data(struct fake_daemon *d, const unsigned char *h, const unsigned char *payload, size_t size);
void sink_data(struct fake_daemon *d, const unsigned char *h, const unsigned char *payload, size_t size);
void take_control(struct fake_daemon *d, const void *bytes, size_t size);
bool is_hello(const void *bytes, size_t size);
void send_command(struct fake_daemon *d);
void ack_everything(struct fake_daemon *d);

static inline uint64_t u64_at(const unsigned char *at)
{
    uint64_t value;
    memcpy(&value, at, 8);
    return value;
}

static inline uint32_t u32_at(const unsigned char *at)
{
    uint32_t value;
    memcpy(&value, at, 4);
    return value;
}

static inline bool zero(const unsigned char *from, const unsigned char *to)
{
    while (from < to) {
        if (*from++) return false;
    }
    return true;
}

#endif
