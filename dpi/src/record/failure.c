/* SPDX-License-Identifier: Apache-2.0 */
/* What follows when the I/O thread has given a trace up. */
#include <string.h>

#include "record/recording.h"

/*
 * What is not durable is only here: the next daemon or `uscope recover` takes it, when there is one or the
 * disk has room again. Records that a daemon has refused would be refused again.
 */
static bool holds_the_rest(const struct uscopei_trace *t)
{
    const struct uscopei_session *s = t->session;
    return s->fail_code[0] && s->pool && s->pool->path[0] && atomic_load(&s->durable) < t->ordinal &&
           strcmp(s->fail_code, "BRIDGE_RECORD") != 0;
}

/* When the daemon is lost, only the memory has the number of cycles: without it the process that finalizes
 * the file could not know that none is missing. */
bool uscopei_keeps_memory(const struct uscopei_trace *t)
{
    const struct uscopei_session *s = t->session;
    return holds_the_rest(t) || (s->pool && strcmp(s->fail_code, uscopei_code_name(E_BRIDGE_LOST)) == 0);
}

void uscopei_handle_failure(struct uscopei_trace *t)
{
    struct uscopei_session *s = t->session;
    t->frame_handle = t->idle_handle = 0;
    set_next_checkpoint(t, UINT64_MAX);
    s->state = ST_UNTRACED;
    if (s->failure_handled) return;
    s->failure_handled = true;
    uscopei_set_error(s->fail_code, s->fail_message);
    if (holds_the_rest(t)) uscopei_say("%s: what was recorded last is kept in %s", s->name, s->pool->path);
    uscopei_failure_policy((void *)t->handle, s->fail_code, s->fail_message);
}
