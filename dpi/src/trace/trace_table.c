/* SPDX-License-Identifier: Apache-2.0 */
/* The static table of traces and what makes a value a handle. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fork.h"
#include "trace/session.h"

enum { TABLE_ALIGNMENT = 4096 }; /* a separate page, see uscopei_table_install */

_Static_assert(sizeof(struct uscopei_trace) <= TRACE_STRIDE, "a trace must fit its slot");

union uscopei_slot uscopei_traces[NUM_SLOTS] __attribute__((aligned(TABLE_ALIGNMENT)));

/* Not in the table, which a forked child gets empty. */
static struct life {
    uint16_t generation; /* of the last handle of the slot */
    uint16_t inherited;  /* the same, when this process was forked */
    struct uscopei_session *session;
} lives[MAX_TRACES + 1];
static struct uscopei_session
    *left_behind; /* those of the parent; the waiting threads' memory cannot be freed */

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
FORK_SAFE_LOCK(table_lock, table_lock)
static _Atomic uint64_t bad_handles;
static atomic_bool fork_said;

static struct life *life_of(const struct uscopei_trace *t)
{
    size_t slot = ((uintptr_t)t - (uintptr_t)uscopei_traces) / TRACE_STRIDE;
    return slot > 0 && slot <= MAX_TRACES ? &lives[slot] : NULL;
}

struct uscopei_trace *uscopei_slot_acquire(struct uscopei_session *session)
{
    struct uscopei_trace *found = NULL;
    pthread_mutex_lock(&table_lock);
    for (unsigned i = 1; i <= MAX_TRACES && !found; i++) {
        if (!lives[i].session) found = &uscopei_traces[i].trace;
    }
    if (found) {
        struct life *life = life_of(found);
        life->generation = (uint16_t)(life->generation % (TRACE_STRIDE - 1) + 1);
        life->session = session;
        memset(found, 0, sizeof *found);
        found->session = session;
        uintptr_t place = (uintptr_t)found - (uintptr_t)uscopei_traces;
        found->handle = HANDLE_MARK | place | life->generation;
    }
    pthread_mutex_unlock(&table_lock);
    return found;
}

void uscopei_slot_release(struct uscopei_trace *t)
{
    pthread_mutex_lock(&table_lock);
    t->frame_handle = t->idle_handle = t->handle = 0;
    t->session = NULL;
    life_of(t)->session = NULL;
    pthread_mutex_unlock(&table_lock);
}

enum uscopei_handle_kind uscopei_handle_kind_of(const void *w)
{
    const struct uscopei_trace *t = slot_of(w);
    const struct life *life = life_of(t);
    if (((uintptr_t)w & ~(HANDLE_SLOT | (TRACE_STRIDE - 1))) != HANDLE_MARK || !life) return HANDLE_GARBAGE;
    uintptr_t generation = (uintptr_t)w & (TRACE_STRIDE - 1);
    /* another thread may be opening a trace in this slot right now */
    pthread_mutex_lock(&table_lock);
    /* a generation never given out makes the value garbage, not an old handle */
    bool was_valid = t->handle != (uintptr_t)w && generation > 0 && generation <= life->generation;
    bool inherited = was_valid && generation <= life->inherited;
    pthread_mutex_unlock(&table_lock);
    return inherited ? HANDLE_INHERITED : was_valid ? HANDLE_CLOSED : HANDLE_GARBAGE;
}

static COLD void report_bad(const void *w, const char *call)
{
    enum uscopei_handle_kind kind = uscopei_handle_kind_of(w);
    if (kind == HANDLE_INHERITED) {
        if (atomic_exchange(&fork_said, true))
            uscopei_error(E_BRIDGE_FORKED, "%s: %p is the handle of a trace of the parent process", call, w);
        else
            uscopei_error_say(
                E_BRIDGE_FORKED,
                "%s: %p is the handle of a trace of the process that this one was forked from; the call is "
                "ignored, as are all calls like it: this process has to open a trace under another name",
                call, w);
    } else if (atomic_fetch_add(&bad_handles, 1) == 0) {
        uscopei_error_say(E_OP_HANDLE, "%s: %p is %s; the call is ignored, as are all calls like it", call, w,
                          kind == HANDLE_CLOSED ? "the handle of a trace that is closed"
                                                : "not a handle of a trace");
    } else {
        uscopei_error(E_OP_HANDLE, "%s: %p is not the handle of an open trace", call, w);
    }
}

struct uscopei_trace *uscopei_resolve(const void *w, const char *call)
{
    if (!w) return NULL;
    struct uscopei_trace *t = slot_of(w);
    if (t->handle == (uintptr_t)w) return t;
    report_bad(w, call);
    return NULL;
}

/*
 * Also for a child that runs no fork handlers. The memory that the handles lead to is not in a child
 * (pool.c), so a table that stayed would end it by a signal.
 */
void uscopei_table_install(void)
{
    madvise(uscopei_traces, sizeof uscopei_traces, MADV_WIPEONFORK);
}

void uscopei_table_forget(void)
{
    atomic_store(&fork_said, false);
    for (unsigned i = 1; i <= MAX_TRACES; i++) {
        struct life *life = &lives[i];
        life->inherited = life->generation;
        if (life->generation > 0) memset(&uscopei_traces[i], 0, sizeof uscopei_traces[i]);
        if (!life->session) continue;
        life->session->next_pending = left_behind;
        left_behind = life->session;
        life->session = NULL;
    }
}
