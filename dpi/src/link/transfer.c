/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One trace on the connection: opening and resuming, cutting published bytes into messages, giving chunks
 * back when their frames are durable, closing.
 */
#include "link/io.h"

#include <stdlib.h>

enum {
    SLICE_BYTES = 64 << 10, /* sent at once when that much is there */
    SLICE_AGE_MS = 4,       /* and otherwise when the oldest byte is about that old */
    REPORT_MS = 500,
};

static uint64_t ring_head(const struct uscopei_session *s)
{
    return atomic_load_explicit(&s->pool->ring_head, memory_order_acquire);
}

static uint32_t chunk_at(const struct uscopei_session *s, uint64_t position)
{
    return s->pool->ring[position & s->pool->ring_mask];
}

static uint64_t load_u64(const unsigned char *at)
{
    return *(const uint64_t *)(const void *)__builtin_assume_aligned(at, 8);
}

/* -- opening */

/* Before the pool exists, what is to be expected of it. */
static bool offers_memory(const struct uscopei_session *s)
{
    if (s->must_send_bytes) return false;
    if (atomic_load_explicit(&s->pool_ready, memory_order_acquire)) return s->pool->path[0] != 0;
    return uscopei_get_config()->shared_memory;
}

static void send_open(struct io *io, struct uscopei_session *s)
{
    struct open_message open = {
        .req = ++io->next_request,
        .name = s->name,
        .session = s->id,
        .schema = s->schema_text,
        .schema_name = s->schema_text ? s->schema_name : NULL,
        .dut = s->dut,
        .num_dut = s->num_dut,
        .interval_ps = s->interval_ps,
        .credit = s->credit,
        .run = s->has_run ? s->run : NULL,
        .core = s->core,
        .schema_sha256 = s->schema_sha256,
        .variables = s->variables,
        .memory = offers_memory(s),
        .secret = s->secret,
    };
    struct mp_writer w = {0};
    message_open(&w, &open);
    if (w.size > MAX_CONTROL_BYTES) {
        mp_free(&w);
        io_fail(s, "BRIDGE_LIMIT", "schema and DUT properties exceed the 4 MiB a message may have");
        return;
    }
    if (conn_send_control(io, &w)) {
        s->request = open.req;
        s->link = LINK_OPENING;
    }
}

void trace_connection_lost(struct uscopei_session *s)
{
    if (s->link == LINK_DONE) return;
    s->link = LINK_NEED_OPEN;
}

/* -- giving chunks back */

/* A chunk of the stream is no longer needed when its last frame is durable. */
static bool is_over(const struct uscopei_chunk *chunk, uint64_t frames)
{
    return atomic_load_explicit(&chunk->sealed, memory_order_acquire) && chunk->end_ordinal <= frames;
}

void trace_release(struct uscopei_session *s, uint64_t frames)
{
    if (frames > atomic_load(&s->durable)) {
        atomic_store(&s->durable, frames);
        if (atomic_load(&s->pool_ready)) uscopei_pool_set_durable(s->pool, frames);
        if (atomic_load(&s->flush_frames) > 0) io_notify(s);
    }
    if (!atomic_load_explicit(&s->pool_ready, memory_order_acquire)) return;
    bool released = false;
    uint64_t head = ring_head(s);
    while (s->tail_position < head) {
        uint32_t index = chunk_at(s, s->tail_position);
        struct uscopei_chunk *chunk = &s->pool->chunks[index];
        if (!is_over(chunk, atomic_load(&s->durable)) ||
            atomic_load_explicit(&chunk->refs, memory_order_acquire) != 0)
            break;
        uint32_t used = chunk->used;
        s->tail_position++;
        uscopei_pool_give_back(s->pool, index);
        atomic_fetch_sub_explicit(&s->pool->held, used, memory_order_acq_rel);
        released = true;
    }
    if (s->send_position < s->tail_position) {
        s->send_position = s->tail_position;
        s->send_offset = 0;
    }
    if (released) {
        atomic_thread_fence(memory_order_seq_cst);
        if (atomic_load(&s->waiting)) io_notify(s);
    }
}

/* -- where to continue after a resume */

static uint32_t record_size(const unsigned char *at)
{
    uint32_t payload = (uint32_t)(load_u64(at) >> 32);
    switch (at[0]) {
    case RECORD_EVENT: return payload <= 8 ? 16 : (payload + 8 + 15) / 16 * 16;
    case RECORD_STRING:
    case RECORD_SNAPSHOT: return 16 + (payload + 15) / 16 * 16;
    default: return 16;
    }
}

/* The first record of the chunk that belongs to frame N or comes right before it. */
static void seek_in_chunk(struct uscopei_session *s, uint32_t index, uint64_t frames)
{
    const struct uscopei_chunk_entry *entry = &s->pool->entries[index];
    const unsigned char *base = chunk_base(s->pool, index);
    uint32_t published = (uint32_t)atomic_load_explicit(&entry->published, memory_order_acquire);
    uint64_t ordinal = entry->base_ordinal;
    uint32_t at = 0;
    while (ordinal < frames && at < published) {
        if (base[at] == RECORD_END) ordinal = load_u64(base + at + 8) + 1;
        at += record_size(base + at);
    }
    s->send_offset = at;
    s->next_frame = ordinal;
}

void trace_seek(struct uscopei_session *s, uint64_t frames)
{
    s->seq = 0;
    s->send_position = s->tail_position;
    s->send_offset = 0;
    s->sent_frames = frames;
    s->flush_asked = 0;
    if (!atomic_load_explicit(&s->pool_ready, memory_order_acquire)) return;
    uint64_t head = ring_head(s);
    while (s->send_position < head && is_over(&s->pool->chunks[chunk_at(s, s->send_position)], frames))
        s->send_position++;
    if (s->send_position < head) seek_in_chunk(s, chunk_at(s, s->send_position), frames);
}

/* -- sending */

/* One message: [send_offset, end) of the chunk. */
static bool send_slice(struct io *io, struct uscopei_session *s, uint32_t index, uint32_t end, bool sealed)
{
    const struct uscopei_chunk_entry *entry = &s->pool->entries[index];
    unsigned char *base = chunk_base(s->pool, index);
    bool first = s->send_offset == 0;
    struct data_header header = {
        .continues = first && (entry->flags & CHUNK_CONTINUES),
        /* asked after what has been published, so that none is overlooked */
        .lanes = atomic_load_explicit(&s->has_lanes, memory_order_acquire),
        .trace = s->trace_number,
        .epoch = s->epoch,
        .seq = s->seq,
        .first_frame = first ? entry->base_ordinal : s->next_frame,
        .payload_size = end - s->send_offset,
        .in_memory = s->sends_places && s->pool->path[0] != 0,
        .offset = (uint64_t)(base - s->pool->region) + s->send_offset,
    };
    unsigned char bytes[DATA_HEADER_BYTES];
    data_header_encode(&header, bytes);
    if (!(header.in_memory ? conn_send_place(io, bytes)
                           : conn_send_data(io, bytes, base + s->send_offset, header.payload_size,
                                            &s->pool->chunks[index])))
        return false;
    s->seq++;
    s->send_offset = end;
    /* what end_cycle published ends with its END; a sealed chunk may end anywhere, and the next one says
     * where it begins */
    s->next_frame = sealed ? s->pool->chunks[index].end_ordinal : load_u64(base + end - 8) + 1;
    if (s->sent_frames < s->next_frame) s->sent_frames = s->next_frame;
    return true;
}

static bool is_due(struct io *io, struct uscopei_session *s, uint32_t unsent, bool sealed)
{
    if (sealed || unsent >= SLICE_BYTES || atomic_load(&s->flush_frames) > s->sent_frames) return true;
    if (s->unsent_since == 0) s->unsent_since = io->now;
    return io->now - s->unsent_since >= SLICE_AGE_MS;
}

/* Sends what is due. True when everything published in sealed chunks has gone out. */
static bool pump(struct io *io, struct uscopei_session *s)
{
    uint64_t head = ring_head(s);
    while (s->send_position < head) {
        uint32_t index = chunk_at(s, s->send_position);
        struct uscopei_chunk *chunk = &s->pool->chunks[index];
        uint64_t published = atomic_load_explicit(&s->pool->entries[index].published, memory_order_acquire);
        bool sealed = atomic_load_explicit(&chunk->sealed, memory_order_acquire);
        uint32_t end = sealed ? chunk->used : (uint32_t)published;
        if (end > s->send_offset) {
            if (!is_due(io, s, end - s->send_offset, sealed) || !send_slice(io, s, index, end, sealed))
                return false;
            s->unsent_since = 0;
        }
        if (!sealed) return false;
        s->send_position++;
        s->send_offset = 0;
    }
    return true;
}

/* What uscope_flush waits for has been sent: the daemon need not wait for more before it commits. */
static void send_flush(struct io *io, struct uscopei_session *s)
{
    uint64_t wanted = atomic_load(&s->flush_frames);
    if (wanted <= s->flush_asked || s->sent_frames < wanted || atomic_load(&s->durable) >= wanted) return;
    struct mp_writer w = {0};
    message_flush(&w, s->trace_number, s->epoch);
    if (conn_send_control(io, &w)) s->flush_asked = wanted;
}

/* Reports what the trace's thread leaves out, and how much that was: immediately after a change, then now
 * and then. */
static void send_report(struct io *io, struct uscopei_session *s)
{
    uint64_t skipped = atomic_load_explicit(&s->skipped, memory_order_relaxed);
    bool grown = skipped != s->reported_skipped && io->now - s->reported_at >= REPORT_MS;
    if (!grown && !atomic_load(&s->report_wanted)) return;
    atomic_store(&s->report_wanted, false);
    struct mp_writer w = {0};
    pthread_mutex_lock(&uscopei_io.lock);
    const struct uscopei_report *r = &s->report;
    const char **disabled = calloc(r->num_scopes + 1, sizeof *disabled);
    for (uint32_t i = 0; disabled && i < r->num_scopes; i++)
        disabled[i] = s->schema->scopes[r->scopes[i]].path;
    message_controlled(&w, &(struct controlled_message){
                               .trace = s->trace_number,
                               .epoch = s->epoch,
                               .done = r->done,
                               .skipped = skipped,
                               .disabled = disabled,
                               .num_disabled = disabled ? r->num_scopes : 0,
                               .code = r->code,
                               .msg = r->message,
                           });
    pthread_mutex_unlock(&uscopei_io.lock);
    free(disabled);
    if (conn_send_control(io, &w)) {
        s->reported_skipped = skipped;
        s->reported_at = io->now;
        s->has_reported = true;
    } else {
        atomic_store(&s->report_wanted, true);
    }
}

static void send_close(struct io *io, struct uscopei_session *s)
{
    struct close_message close = {
        .trace = s->trace_number,
        .session = s->id,
        .frames = s->total_frames,
        .strings = s->num_strings,
        .rejected = s->rejected_total,
        .by_code = s->rejected,
        .skipped = atomic_load(&s->skipped),
    };
    struct mp_writer w = {0};
    message_close(&w, &close);
    if (conn_send_control(io, &w)) s->link = LINK_CLOSING;
}

bool trace_waits(const struct uscopei_session *s)
{
    return s->link != LINK_STREAMING || atomic_load(&s->want_close) ||
           s->sent_frames > atomic_load(&s->durable);
}

void trace_step(struct io *io, struct uscopei_session *s)
{
    if (io->state != CONN_READY || s->link == LINK_DONE) return;
    if (s->link == LINK_NEED_OPEN) send_open(io, s);
    if (s->link != LINK_STREAMING) return;
    bool ready = atomic_load_explicit(&s->pool_ready, memory_order_acquire);
    bool closing = atomic_load(&s->want_close);
    if (ready) {
        trace_release(s, 0);
        /* close was asked for after the last chunk was sealed, so an empty queue means that everything is out
         */
        if (!pump(io, s) && ring_head(s) > s->send_position) closing = false;
    }
    send_flush(io, s);
    send_report(io, s);
    if (closing) send_close(io, s);
}
