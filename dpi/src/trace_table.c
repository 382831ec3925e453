/* SPDX-License-Identifier: Apache-2.0 */
/* The static table of traces and what makes a value a handle. */
#include <stdio.h>
#include <string.h>

#include "internal.h"

_Static_assert(sizeof(struct uscopei_trace) <= TRACE_STRIDE, "a trace must fit its slot");

union uscopei_slot uscopei_traces[NUM_SLOTS] __attribute__((aligned(4096)));
atomic_bool uscopei_forked;

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t bad_handles;
static atomic_bool fork_said;

struct uscopei_trace *uscopei_slot_acquire(struct uscopei_session *session)
{
    struct uscopei_trace *found = NULL;
    pthread_mutex_lock(&table_lock);
    for (unsigned i = 1; i <= MAX_TRACES && !found; i++) {
        if (!uscopei_traces[i].trace.session) found = &uscopei_traces[i].trace;
    }
    if (found) {
        uint32_t generation = found->generation % (TRACE_STRIDE - 1) + 1;
        memset(found, 0, sizeof *found);
        found->generation = generation;
        found->session = session;
        uintptr_t place = (uintptr_t)found - (uintptr_t)uscopei_traces;
        found->handle = HANDLE_MARK | place | generation;
    }
    pthread_mutex_unlock(&table_lock);
    return found;
}

void uscopei_slot_release(struct uscopei_trace *t)
{
    pthread_mutex_lock(&table_lock);
    t->frame_handle = t->idle_handle = t->handle = 0;
    t->session = NULL;
    pthread_mutex_unlock(&table_lock);
}

bool uscopei_is_stale(const void *w)
{
    const struct uscopei_trace *t = slot_of(w);
    if (((uintptr_t)w & ~(HANDLE_SLOT | (TRACE_STRIDE - 1))) != HANDLE_MARK) return false;
    uintptr_t generation = (uintptr_t)w & (TRACE_STRIDE - 1);
    /* another thread may be opening a trace in this slot right now */
    pthread_mutex_lock(&table_lock);
    /* a generation never given out makes the value garbage, not an old handle */
    bool stale = t->handle != (uintptr_t)w && generation > 0 && generation <= t->generation;
    pthread_mutex_unlock(&table_lock);
    return stale;
}

struct uscopei_trace *uscopei_resolve(const void *w, const char *call)
{
    if (!w) return NULL;
    if (UNLIKELY(atomic_load_explicit(&uscopei_forked, memory_order_relaxed))) {
        if (!atomic_exchange(&fork_said, true))
            uscopei_say("this process was forked from the traced one: its calls are not traced");
        return NULL;
    }
    struct uscopei_trace *t = slot_of(w);
    if (t->handle == (uintptr_t)w) return t;
    if (atomic_fetch_add(&bad_handles, 1) == 0) {
        uscopei_error_say(E_OP_HANDLE, "%s: %p is %s; the call is ignored, as are all calls like it", call, w,
                          uscopei_is_stale(w) ? "the handle of a trace that is closed"
                                              : "not a handle of a trace");
    } else {
        uscopei_error(E_OP_HANDLE, "%s: %p is not the handle of an open trace", call, w);
    }
    return NULL;
}

/* The child of a fork has the table but neither the I/O thread nor the chunks: no handle may look open there.
 */
static void after_fork_in_child(void)
{
    atomic_store(&uscopei_forked, true);
    for (unsigned i = 1; i <= MAX_TRACES; i++) {
        struct uscopei_trace *t = &uscopei_traces[i].trace;
        t->frame_handle = t->idle_handle = t->handle = 0;
    }
}

void uscopei_install_fork_guard(void)
{
    pthread_atfork(NULL, NULL, after_fork_in_child);
}
