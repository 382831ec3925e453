/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A daemon that says anything at any time, to a client with one trace being opened, one streaming with
 * records in memory, one closing. The input is a sequence of messages, each behind two bytes of length.
 */
#include <stdlib.h>
#include <string.h>

#include "link/io.h"

enum { TRACES = 3, CREDIT = 1 << 20 };

static struct uscopei_trace traces[TRACES];

static void ignore(const char *message, void *unused)
{
    (void)message;
    (void)unused;
}

static struct uscopei_session *new_session(int i, uscopei_link link)
{
    static const char *const names[TRACES] = {"opening", "streaming", "closing"};
    uscope_open_options_t options = USCOPE_OPEN_OPTIONS_INIT;
    options.name = names[i];
    struct uscopei_session *s = uscopei_session_new(&options);
    if (!s) abort();
    memset(s->id, i, sizeof s->id);
    memset(&traces[i], 0, sizeof traces[i]);
    s->trace = &traces[i];
    s->link = link;
    s->request = 1;
    s->trace_number = 1;
    s->epoch = 1;
    s->credit = CREDIT;
    return s;
}

/* Two frames, published, sent and not acknowledged. */
static void give_records(struct uscopei_session *s)
{
    const struct uscopei_pool_identity identity = {s->id, s->run, s->core, s->name};
    const char *note = NULL;
    uint32_t index;
    s->pool = uscopei_pool_create(CREDIT, NULL, &identity, &note);
    if (!s->pool || !uscopei_pool_take(s->pool, &index)) abort();
    unsigned char *at = chunk_base(s->pool, index);
    for (uint64_t frame = 0; frame < 2; frame++, at += 2 * RECORD_BYTES) {
        put_record(at, RECORD_BEGIN, frame * 1000);
        put_record(at + RECORD_BYTES, RECORD_END, frame);
    }
    s->pool->entries[index].order = 1;
    atomic_store(&s->pool->entries[index].published, 4 * RECORD_BYTES);
    s->pool->ring[0] = index;
    atomic_store(&s->pool->ring_head, 1);
    atomic_store(&s->pool_ready, true);
    s->ever_opened = true;
    s->sent_frames = 2;
    s->total_frames = 2;
}

static void forget(struct uscopei_session *s)
{
    if (s->pool) uscopei_pool_destroy(s->pool);
    s->pool = NULL;
    uscopei_session_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0) return 0;
    uscope_set_message_handler(ignore, NULL);
    struct io io = {0};
    io.state = bytes[0] & 1 ? CONN_READY : CONN_HELLO;
    io.count = TRACES;
    for (int i = 0; i < TRACES; i++)
        io.sessions[i] = new_session(i, (uscopei_link)(LINK_OPENING + i));
    if (bytes[0] & 2) give_records(io.sessions[1]);
    if (bytes[0] & 4) io.sessions[0]->ever_opened = true;
    for (size_t at = 1; at + 2 <= size;) {
        size_t length = (size_t)bytes[at] | (size_t)bytes[at + 1] << 8;
        at += 2;
        if (length > size - at) length = size - at;
        unsigned char *message = malloc(length + 1);
        memcpy(message, bytes + at, length);
        reply_handle(&io, message, length);
        free(message);
        at += length;
    }
    if (io.sessions[1]->pool && atomic_load(&io.sessions[1]->durable) > 2) abort();
    /* nothing of the first was ever sent */
    if (atomic_load(&io.sessions[0]->durable) > 0) abort();
    for (int i = 0; i < TRACES; i++)
        forget(io.sessions[i]);
    return 0;
}
