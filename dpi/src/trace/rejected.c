/* SPDX-License-Identifier: Apache-2.0 */
/* Rejections: every one counted, each kind reported once. */
#include <stdio.h>
#include <stdlib.h>

#include "trace/session.h"

enum { SLOTS = 1024, MOST = 256 };

/** What has been reported: an open-addressed set of (code, id). */
struct uscopei_reported {
    uint64_t keys[SLOTS]; /* 0: free */
    uint32_t count;
    bool said_enough;
};

struct uscopei_reported *uscopei_reported_new(void)
{
    return calloc(1, sizeof(struct uscopei_reported));
}

void uscopei_reported_free(struct uscopei_reported *reported)
{
    free(reported);
}

/* True the first time. */
static bool is_new(struct uscopei_reported *set, uscopei_code code, uint64_t id)
{
    uint64_t key = (id * UINT64_C(0x9E3779B97F4A7C15)) ^ ((uint64_t)code + 1) * UINT64_C(0xD6E8FEB86659FD93);
    key |= 1;
    for (uint32_t at = (uint32_t)(key >> 32) & (SLOTS - 1);; at = (at + 1) & (SLOTS - 1)) {
        if (set->keys[at] == key) return false;
        if (set->keys[at] == 0) {
            if (set->count < MOST) {
                set->keys[at] = key;
                set->count++;
                return true;
            }
            return false;
        }
    }
}

static void report(struct uscopei_trace *t, uscopei_code code, uint64_t id, const char *format,
                   va_list arguments)
{
    char message[512];
    vsnprintf(message, sizeof message, format, arguments);
    uscopei_set_error(uscopei_code_name(code), message);
    struct uscopei_reported *set = t->session->reported;
    if (is_new(set, code, id)) {
        char cycle[48] = "";
        if (t->frame_handle)
            snprintf(cycle, sizeof cycle, "in the cycle at %llu ps: ", (unsigned long long)t->last_time);
        uscopei_say("%s: %s%s: %s", t->session->name, cycle, uscopei_code_name(code), message);
    } else if (set->count == MOST && !set->said_enough) {
        set->said_enough = true;
        uscopei_say("%s: further kinds of rejected calls are counted, not reported", t->session->name);
    }
}

void uscopei_reject(struct uscopei_trace *t, uscopei_code code, uint64_t id, const char *format, ...)
{
    t->session->rejected[code]++;
    t->session->rejected_total++;
    va_list arguments;
    va_start(arguments, format);
    report(t, code, id, format, arguments);
    va_end(arguments);
}

void uscopei_complain(struct uscopei_trace *t, uscopei_code code, uint64_t id, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report(t, code, id ^ UINT64_C(1) << 63, format, arguments);
    va_end(arguments);
}

unsigned long long uscope_rejected(uscope_writer_t *w)
{
    struct uscopei_trace *t = uscopei_resolve(w, "rejected");
    return t ? t->session->rejected_total : 0;
}

void uscope_left_out(uscope_writer_t *w, unsigned long long count, const char *message)
{
    struct uscopei_trace *t = uscopei_resolve(w, "left_out");
    if (!t || count == 0) return;
    t->session->rejected[E_OP_STORAGE] += count - 1;
    t->session->rejected_total += count - 1;
    uscopei_reject(t, E_OP_STORAGE, UINT64_C(6) << 40, "%s", message ? message : "");
}
