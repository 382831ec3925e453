/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints asked of the design: the callback calls the SystemVerilog function `uscope_checkpoint` that a
 * module exports (sv/uscope_checkpoint.svh), in the scope that enabled it.
 *
 * Most designs export no such function, and the library must link and load with them: the reference is weak.
 * A simulator that brings exports into the process only after this library is asked for the symbol again when
 * it is needed.
 */
#include <dlfcn.h>
#include <string.h>
#include <svdpi.h>

#include "trace/session.h"

/* not in uscope.h: plain C has no scopes; the second is the design's */
USCOPE_API void uscope_checkpoint_enable(void *w);
extern void uscope_checkpoint(void *w) __attribute__((weak, visibility("default")));

typedef void (*exported_fn)(void *w);

static exported_fn find_export(void)
{
    exported_fn found = uscope_checkpoint;
    if (found) return found;
    void *symbol = dlsym(RTLD_DEFAULT, "uscope_checkpoint");
    memcpy(&found, &symbol, sizeof found);
    return found;
}

static void ask_design(uscope_writer_t *w, void *scope)
{
    svScope before = svSetScope(scope);
    find_export()(w);
    svSetScope(before);
}

void uscope_checkpoint_enable(void *w)
{
    struct uscopei_trace *t = uscopei_resolve(w, "checkpoint_enable");
    if (!t) return;
    svScope scope = svGetScope();
    if (find_export() && scope) {
        uscope_set_checkpoint_callback(w, ask_design, scope);
        return;
    }
    uscopei_complain(t, E_OP_SNAPSHOT, 5,
                     scope ? "checkpoint_enable: no function uscope_checkpoint is exported, or it was not "
                             "linked in (Verilator: -LDFLAGS -Wl,-u,uscope_checkpoint); call rejected"
                           : "checkpoint_enable: no scope (is it imported as context?); call rejected");
}
