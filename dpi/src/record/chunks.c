/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace's side of the chunk memory: filling chunks one after the other, splitting frames that grow too
 * large, and waiting when the credit is used up.
 */
#include "record/append.h"

uint32_t uscopei_frame_items(const struct uscopei_trace *t)
{
    return count_items(t);
}

/* Every append leaves room for an END, so a frame can be ended at any place. */
static bool fits(const struct uscopei_trace *t, size_t bytes)
{
    return (size_t)(t->chunk_end - t->cursor) >= bytes + RECORD_BYTES;
}

/*
 * When a cycle continues in another chunk, everything is cold: the chunk's first lines and this code are
 * not in the caches, nor is the pool's data, and the chunk's pages are not in the TLB. Such a cycle would
 * take microseconds. The careful path is therefore entered every few pages of records, only to keep it and
 * the pool in the caches. The end of a chunk is also prepared in such steps, each of which delays a cycle
 * by a part of that time: find the next chunk, take it, prefetch its first lines while the rest of this one
 * is filled.
 */
enum { STEP_BYTES = 16384, WARM_BYTES = 1024 };

static void keep_warm(const struct uscopei_session *s)
{
    const struct uscopei_pool *pool = s->pool;
    __builtin_prefetch(&s->spare, 1);
    __builtin_prefetch(&pool->region);
    __builtin_prefetch(&pool->credit);
    __builtin_prefetch(&pool->ring, 1);
    __builtin_prefetch(&pool->held, 1);
}

static void find_spare(const struct uscopei_session *s)
{
    const struct uscopei_pool *pool = s->pool;
    uint32_t top = atomic_load_explicit(&pool->free_top, memory_order_relaxed);
    if (top == 0) return;
    __builtin_prefetch(&pool->chunks[top - 1], 1);
    __builtin_prefetch(&pool->entries[top - 1], 1);
    __builtin_prefetch(chunk_base(pool, top - 1), 1);
}

static void take_spare(struct uscopei_session *s)
{
    struct uscopei_pool *pool = s->pool;
    uint32_t index;
    /* what this chunk will hold counts, too */
    uint64_t held = atomic_load_explicit(&pool->held, memory_order_acquire) + pool->chunk_size;
    if (held + pool->chunk_size > pool->credit || !uscopei_pool_take(pool, &index)) return;
    s->has_spare = true;
    s->spare = index;
    __builtin_prefetch(&pool->entries[index], 1);
    __builtin_prefetch(chunk_base(pool, index), 1);
}

static void warm_spare(const struct uscopei_session *s)
{
    const unsigned char *base = chunk_base(s->pool, s->spare);
    for (unsigned at = 0; at < WARM_BYTES; at += 64)
        __builtin_prefetch(base + at, 1);
}

static void look_ahead(const struct uscopei_trace *t)
{
    struct uscopei_session *s = t->session;
    ptrdiff_t left = t->chunk_end - t->cursor;
    if (left > 3 * STEP_BYTES)
        keep_warm(s);
    else if (left > 2 * STEP_BYTES)
        find_spare(s);
    else if (!s->has_spare)
        take_spare(s);
    else if (left <= STEP_BYTES)
        warm_spare(s);
}

/* Where the careful path takes its next step, not within `bytes`; the chunk's last record, when all of them
 * are behind. */
static unsigned char *next_step(const struct uscopei_trace *t, size_t bytes)
{
    size_t left = (size_t)(t->chunk_end - t->cursor);
    size_t behind = left > bytes ? (left - bytes - 1) / STEP_BYTES * STEP_BYTES : 0;
    return t->chunk_end - (behind ? behind : RECORD_BYTES);
}

static uint32_t max_items(const struct uscopei_trace *t)
{
    bool has_lanes = atomic_load_explicit(&t->session->has_lanes, memory_order_relaxed);
    return MAX_ITEMS_PER_FRAME - (has_lanes ? MAX_LANE_ITEMS : 0);
}

/* However many of its items this chunk still takes, so that nobody needs to ask the session about lanes. */
static bool has_few_items(const struct uscopei_trace *t)
{
    size_t more = (size_t)(t->chunk_end - t->cursor) / RECORD_BYTES;
    return uscopei_frame_items(t) + more < MAX_ITEMS_PER_FRAME - MAX_LANE_ITEMS;
}

static void set_limit(struct uscopei_trace *t, size_t bytes)
{
    t->limit = next_step(t, bytes);
    if (!t->frame_handle || has_few_items(t)) return;
    size_t left = (size_t)(max_items(t) - uscopei_frame_items(t)) * RECORD_BYTES;
    if ((size_t)(t->limit - t->cursor) > left) t->limit = t->cursor + left;
}

void uscopei_take_step(struct uscopei_trace *t, size_t bytes)
{
    if (t->cursor + bytes < t->limit || !fits(t, bytes)) return;
    look_ahead(t);
    set_limit(t, bytes);
}

static void seal(struct uscopei_trace *t, bool in_frame_now)
{
    struct uscopei_session *s = t->session;
    struct uscopei_chunk *chunk = &s->pool->chunks[s->current];
    uint64_t used = (uint64_t)(t->cursor - t->chunk);
    /* strings and snapshots after the last END belong to the frame that follows */
    bool trailing = atomic_load_explicit(t->published, memory_order_relaxed) != used;
    chunk->used = (uint32_t)used;
    chunk->end_ordinal = t->ordinal + (in_frame_now || trailing ? 1 : 0);
    uint64_t held = atomic_fetch_add_explicit(&s->pool->held, used, memory_order_relaxed) + used;
    /* in this order: a reader that sees the new index and no seal knows that an end_cycle has published it */
    atomic_store_explicit(&chunk->sealed, 1, memory_order_release);
    atomic_store_explicit(t->published, used, memory_order_release);
    /* The I/O thread polls often enough while there is something to send. Waking it takes as long as many
     * cycles, so it is woken once when it falls behind, not for every chunk after that. */
    uint64_t half = s->pool->credit / 2;
    if (held > half && held - used <= half) uscopei_io_wake();
}

static void enter_chunk(struct uscopei_trace *t, uint32_t index, bool continues)
{
    struct uscopei_session *s = t->session;
    struct uscopei_pool *pool = s->pool;
    struct uscopei_chunk_entry *entry = &pool->entries[index];
    struct uscopei_chunk *chunk = &pool->chunks[index];

    /* first: a reader of this memory after our death must not take the old content for the new */
    atomic_store_explicit(&entry->published, 0, memory_order_release);
    entry->flags = continues ? CHUNK_CONTINUES : 0;
    entry->base_ordinal = t->ordinal;
    entry->order = ++s->order;
    atomic_store_explicit(&chunk->sealed, 0, memory_order_relaxed);
    s->current = index;
    t->chunk = t->cursor = chunk_base(pool, index);
    t->chunk_end = t->chunk + pool->chunk_size;
    t->published = &entry->published;

    uint64_t head = atomic_load_explicit(&pool->ring_head, memory_order_relaxed);
    pool->ring[head & pool->ring_mask] = index;
    atomic_store_explicit(&pool->ring_head, head + 1, memory_order_release);
}

/* Sleeps until the daemon has made enough durable. False when the trace has failed. */
static bool take_chunk(struct uscopei_trace *t, uint32_t *index)
{
    struct uscopei_session *s = t->session;
    if (LIKELY(s->has_spare)) {
        s->has_spare = false;
        *index = s->spare;
        return true;
    }
    if (uscopei_pool_take(s->pool, index)) return true;
    atomic_store(&s->waiting, true);
    uscopei_io_wake();
    pthread_mutex_lock(&uscopei_io.lock);
    bool taken;
    while (!(taken = uscopei_pool_take(s->pool, index)) && !has_failed(t))
        pthread_cond_wait(&s->changed, &uscopei_io.lock);
    pthread_mutex_unlock(&uscopei_io.lock);
    atomic_store(&s->waiting, false);
    if (!taken) uscopei_handle_failure(t);
    return taken;
}

/* The open frame began in an earlier chunk. */
static bool goes_on(const struct uscopei_trace *t)
{
    return t->item_base == t->chunk; /* else its BEGIN precedes its items */
}

static uint64_t frame_bytes(const struct uscopei_trace *t)
{
    uint64_t earlier = goes_on(t) ? t->session->frame_bytes : 0;
    return earlier + (uint64_t)(t->cursor - t->item_base);
}

static bool next_chunk(struct uscopei_trace *t, bool continues)
{
    struct uscopei_session *s = t->session;
    uint32_t items = continues ? uscopei_frame_items(t) : 0;
    s->frame_bytes = frame_bytes(t);
    seal(t, continues);
    uint32_t index;
    if (!take_chunk(t, &index)) return false;
    enter_chunk(t, index, continues);
    start_items(t);
    t->more_items = items;
    if (continues) t->lane_bytes = 0;
    return true;
}

/* Ends the open frame and begins another at the same time. */
static bool split_frame(struct uscopei_trace *t, size_t bytes)
{
    put_end(t, uscopei_frame_items(t));
    if (!fits(t, bytes + RECORD_BYTES) && !next_chunk(t, false)) return false;
    put_record(t->cursor, RECORD_BEGIN, t->last_time);
    t->cursor += RECORD_BYTES;
    start_items(t);
    return true;
}

bool uscopei_make_room(struct uscopei_trace *t, size_t bytes)
{
    bool framed = t->frame_handle != 0;
    if (framed && !has_few_items(t) && uscopei_frame_items(t) >= max_items(t)) {
        if (!split_frame(t, bytes)) return false;
    } else if (!fits(t, bytes)) {
        bool too_large = framed && frame_bytes(t) >= t->session->frame_limit;
        if (too_large ? !split_frame(t, bytes) : !next_chunk(t, framed)) return false;
    } else {
        look_ahead(t);
    }
    set_limit(t, 0);
    return true;
}

bool uscopei_room_made(void *w)
{
    struct uscopei_trace *t;
    return w && in_frame(w, &t) && t->cursor >= t->limit && uscopei_make_room(t, RECORD_BYTES);
}

bool uscopei_lane_room_made(void *w)
{
    struct uscopei_trace *t;
    if (!w || !in_frame(w, &t)) return false;
    bool could = t->lane_bytes != 0;
    uscopei_begin_lanes(t);
    return uscopei_room_made(w) || (!could && t->lane_bytes != 0);
}

/*
 * Not with the first cycle, but with the first call that can make use of it: the daemon looks for lane
 * records only in the messages of traces that have some.
 */
void uscopei_begin_lanes(struct uscopei_trace *t)
{
    struct uscopei_session *s = t->session;
    bool framed = t->frame_handle != 0;
    if (t->lane_bytes != 0 || !atomic_load(&s->takes_lanes) || (framed && goes_on(t))) return;
    if (!atomic_load(&s->has_lanes)) {
        /* before anything that is published from here on */
        atomic_store(&s->has_lanes, true);
        /* A daemon that takes none may just have come instead of the other: it has seen this, or is seen
         * here. */
        if (!atomic_load(&s->takes_lanes)) {
            atomic_store(&s->has_lanes, false);
            return;
        }
    }
    t->lane_bytes = MAX_LANE_RECORDS * RECORD_BYTES;
}

bool uscopei_first_chunk(struct uscopei_trace *t)
{
    uint32_t index;
    if (!uscopei_pool_take(t->session->pool, &index)) return false;
    enter_chunk(t, index, false);
    start_items(t);
    set_limit(t, 0);
    return true;
}

void uscopei_seal_last(struct uscopei_trace *t)
{
    seal(t, false);
}
