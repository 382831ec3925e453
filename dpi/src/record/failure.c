/* SPDX-License-Identifier: Apache-2.0 */
/* What follows when the I/O thread has given a trace up. */
#include <string.h>

#include "record/recording.h"

/*
 * A daemon that was lost or stopped may come back and take what it did not get from the memory; of a trace
 * that it has given up itself nothing is wanted any more.
 */
bool uscopei_keeps_memory(const struct uscopei_trace *t)
{
    const struct uscopei_session *s = t->session;
    bool returns = strcmp(s->fail_code, uscopei_code_name(E_BRIDGE_LOST)) == 0 ||
                   strcmp(s->fail_code, "BRIDGE_FINALIZED") == 0;
    return returns && s->pool && s->pool->path[0] && atomic_load(&s->durable) < t->ordinal;
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
    if (uscopei_keeps_memory(t))
        uscopei_say("%s: what was recorded last is kept in %s", s->name, s->pool->path);
    uscopei_failure_policy((void *)t->handle, s->fail_code, s->fail_message);
}
