/* SPDX-License-Identifier: Apache-2.0 */
/* Between the fast and the careful form of the per-cycle calls. */
#ifndef USCOPE_APPEND_H
#define USCOPE_APPEND_H

#include "internal.h"

#pragma GCC visibility push(hidden)

/** An open trace inside a cycle, or NULL after having reported what is wrong. */
COLD struct uscopei_trace *uscopei_resolve_in_frame(void *w, const char *call);
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
    /* so the limit of the chunk is good enough, until the frame goes on in another one */
    _Static_assert(MAX_CHUNK <= (MAX_ITEMS_PER_FRAME + 2) * RECORD_BYTES, "BEGIN, items, END");
    t->idle_handle = 0;
    t->frame_handle = handle;
}

static inline void uscopei_close_frame(struct uscopei_trace *t, uintptr_t handle)
{
    uint32_t records = (uint32_t)((size_t)(t->cursor - t->item_base) / RECORD_BYTES);
    put_end(t, t->more_items + records);
    t->frame_handle = 0;
    t->idle_handle = handle;
}

#pragma GCC visibility pop

#endif
