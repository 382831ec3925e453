/* SPDX-License-Identifier: Apache-2.0 */
/* Between the fast and the careful form of the per-cycle calls. */
#ifndef USCOPE_APPEND_H
#define USCOPE_APPEND_H

#include "record/recording.h"

#pragma GCC visibility push(hidden)

/** An open trace inside a cycle, or NULL after having reported what is wrong. */
COLD struct uscopei_trace *uscopei_resolve_in_frame(void *w, const char *call);
/**
 * Makes room where that is all that was missing: true when the fast form's checks may be made again. Most of
 * the calls that the fast form cannot take are such, and little else is touched for them (chunks.c).
 */
COLD bool uscopei_room_made(void *w);
/** The same where it may have been lane records that were missing. */
COLD bool uscopei_lane_room_made(void *w);
/** `op` is a word of op_word. */
COLD void uscopei_op_slow(void *w, uint64_t op, uint64_t value);
COLD void uscopei_put_slow(void *w, uint16_t storage, uint16_t slot, const unsigned long long *values,
                           unsigned n);
COLD void uscopei_begin_slow(void *w, uint64_t time_ps);
COLD void uscopei_end_slow(void *w);

/** BEGIN at the cursor, where there is room. */
static inline void uscopei_open_frame(struct uscopei_trace *t, uintptr_t handle, uint64_t time_ps)
{
    put_record(t->cursor, RECORD_BEGIN, time_ps);
    t->cursor += RECORD_BYTES;
    t->last_time = time_ps;
    start_items(t);
    /* so the limit of the chunk is good enough, until the frame continues in another one */
    _Static_assert(MAX_CHUNK <= (MAX_ITEMS_PER_FRAME - MAX_LANE_ITEMS + 2) * RECORD_BYTES,
                   "BEGIN, items, END");
    t->idle_handle = 0;
    t->frame_handle = handle;
}

static inline uint32_t count_items(const struct uscopei_trace *t)
{
    return t->more_items + (uint32_t)((size_t)(t->cursor - t->item_base) / RECORD_BYTES);
}

static inline void uscopei_close_frame(struct uscopei_trace *t, uintptr_t handle)
{
    put_end(t, count_items(t));
    t->frame_handle = 0;
    t->idle_handle = handle;
}

/** Closes the frame and opens another, where there is room for END and BEGIN. */
static inline void uscopei_next_frame(struct uscopei_trace *t, uint64_t time_ps)
{
    unsigned char *at = t->cursor;
    prefetch_ahead(at);
    store_record(at, RECORD_END | (uint64_t)count_items(t) << 32, t->ordinal++);
    store_record(at + RECORD_BYTES, RECORD_BEGIN, time_ps);
    t->cursor = t->item_base = at + 2 * RECORD_BYTES;
    t->more_items = 0;
    t->last_time = time_ps;
    atomic_store_explicit(t->published, (uint64_t)(at + RECORD_BYTES - t->chunk), memory_order_release);
}

#pragma GCC visibility pop

#endif
