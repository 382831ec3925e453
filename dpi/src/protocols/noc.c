/* SPDX-License-Identifier: Apache-2.0 */
/* The `noc` protocol: what happens to transactions, as the items that record it. */
#include "uscope_noc.h"

#include <stdlib.h>
#include <string.h>

#include "protocols/catalog.h"

enum { OPCODE, ADDR, LEN, SIZE, SRC_PORT, DST_PORT, NUM_FIELDS };
static const char *const field_names[NUM_FIELDS] = {"opcode", "addr", "len", "size", "src_port", "dst_port"};

struct noc {
    struct catalog catalog;
    int fields[NUM_FIELDS]; /* -1: none */
    struct catalog_event stage, annotate, beat, retry, timeout, credit, arbitration, handoff;
};

static struct noc *enter(uscope_noc_t *handle, const char *call, struct uscopei_trace **t)
{
    return (struct noc *)catalog_enter(handle, CATALOG_NOC, call, t);
}

static struct noc *enter_with(uscope_noc_t *handle, unsigned id, const char *call, struct uscopei_trace **t)
{
    struct noc *noc = enter(handle, call, t);
    return noc && catalog_alive(&noc->catalog, *t, id, call) ? noc : NULL;
}

static struct noc *lookup(const uscope_noc_t *handle, const char *call)
{
    return (struct noc *)catalog_lookup(handle, CATALOG_NOC, call);
}

/* The handoff belongs to a scope above both that take part: the nearest that has the event. */
static void bind_handoff(struct noc *noc)
{
    static const char *const fields[] = {NULL, NULL};
    struct catalog above = noc->catalog;
    catalog_bind(&above, "txn_handoff", &noc->handoff, 2, fields);
    while (noc->handoff.type < 0 && above.scope[0]) {
        char *slash = strrchr(above.scope, '/');
        *(slash ? slash : above.scope) = 0;
        catalog_bind(&above, "txn_handoff", &noc->handoff, 2, fields);
    }
}

static void bind_events(struct noc *noc)
{
    const struct catalog *c = &noc->catalog;
    catalog_bind(c, "stage_transition", &noc->stage, 2, (const char *const[]){"txn_id", "stage"});
    catalog_bind(c, "annotate", &noc->annotate, 2, (const char *const[]){"txn_id", "text"});
    catalog_bind(c, "beat", &noc->beat, 2, (const char *const[]){"txn_id", NULL});
    catalog_bind(c, "retry", &noc->retry, 2, (const char *const[]){"txn_id", NULL});
    catalog_bind(c, "timeout", &noc->timeout, 1, (const char *const[]){"txn_id"});
    catalog_bind(c, "link_credit", &noc->credit, 2, (const char *const[]){NULL, NULL});
    catalog_bind(c, "arb_decision", &noc->arbitration, 2, (const char *const[]){"txn_id", NULL});
    bind_handoff(noc);
}

uscope_noc_t *uscope_noc_new(uscope_writer_t *w, const char *scope)
{
    if (!w) return NULL;
    struct noc *noc = calloc(1, sizeof *noc);
    if (!noc) return NULL;
    struct catalog *c = &noc->catalog;
    c->kind = CATALOG_NOC;
    c->noun = "transaction";
    c->id_name = "txn_id";
    void *handle = catalog_open(c, w, scope, "transactions") ? catalog_register(c) : NULL;
    if (!handle) {
        catalog_close(c);
        free(noc);
        return NULL;
    }
    for (int i = 0; i < NUM_FIELDS; i++)
        noc->fields[i] = uscopei_find_field(c->schema, c->storage, field_names[i]);
    bind_events(noc);
    return handle;
}

void uscope_noc_free(uscope_noc_t *handle)
{
    struct catalog *c = handle ? catalog_unregister(handle, CATALOG_NOC) : NULL;
    if (!c) return;
    catalog_close(c);
    free(c);
}

/* -- transactions */

unsigned int uscope_noc_begin(uscope_noc_t *handle, unsigned int opcode, unsigned long long addr,
                              unsigned int len, unsigned int size, unsigned int src_port,
                              unsigned int dst_port)
{
    struct uscopei_trace *t;
    struct noc *noc = enter(handle, "noc_begin", &t);
    if (!noc) return USCOPE_NOC_NONE;
    struct catalog *c = &noc->catalog;
    uint32_t id = catalog_birth(c, t, "noc_begin");
    if (id == NO_ID) return USCOPE_NOC_NONE;
    const uint64_t values[NUM_FIELDS] = {opcode, addr, len, size, src_port, dst_port};
    uscope_slot_set(c->w, c->storage, (uint16_t)id, c->id_field, id);
    for (int i = 0; i < NUM_FIELDS; i++) {
        if (noc->fields[i] >= 0)
            uscope_slot_set(c->w, c->storage, (uint16_t)id, (uint16_t)noc->fields[i], values[i]);
    }
    return id;
}

void uscope_noc_stage(uscope_noc_t *handle, unsigned int id, unsigned int stage)
{
    struct uscopei_trace *t;
    struct noc *noc = enter_with(handle, id, "noc_stage", &t);
    if (noc) catalog_emit(&noc->catalog, &noc->stage, 2, (const uint64_t[]){id, stage});
}

void uscope_noc_annotate(uscope_noc_t *handle, unsigned int id, const char *text)
{
    struct uscopei_trace *t;
    struct noc *noc = enter_with(handle, id, "noc_annotate", &t);
    if (!noc || noc->annotate.type < 0) return;
    unsigned int index = uscope_string(noc->catalog.w, text);
    if (index != USCOPE_NO_STRING)
        catalog_emit(&noc->catalog, &noc->annotate, 2, (const uint64_t[]){id, index});
}

void uscope_noc_beat(uscope_noc_t *handle, unsigned int id, unsigned int beat)
{
    struct uscopei_trace *t;
    struct noc *noc = enter_with(handle, id, "noc_beat", &t);
    if (noc) catalog_emit(&noc->catalog, &noc->beat, 2, (const uint64_t[]){id, beat});
}

void uscope_noc_retry(uscope_noc_t *handle, unsigned int id, unsigned int reason)
{
    struct uscopei_trace *t;
    struct noc *noc = enter_with(handle, id, "noc_retry", &t);
    if (noc) catalog_emit(&noc->catalog, &noc->retry, 2, (const uint64_t[]){id, reason});
}

void uscope_noc_timeout(uscope_noc_t *handle, unsigned int id)
{
    struct uscopei_trace *t;
    struct noc *noc = enter_with(handle, id, "noc_timeout", &t);
    if (noc) catalog_emit(&noc->catalog, &noc->timeout, 1, (const uint64_t[]){id});
}

void uscope_noc_arbitrate(uscope_noc_t *handle, unsigned int id, unsigned int port)
{
    struct uscopei_trace *t;
    struct noc *noc = enter_with(handle, id, "noc_arbitrate", &t);
    if (noc) catalog_emit(&noc->catalog, &noc->arbitration, 2, (const uint64_t[]){id, port});
}

void uscope_noc_credit(uscope_noc_t *handle, unsigned int link, unsigned int credits)
{
    struct uscopei_trace *t;
    struct noc *noc = enter(handle, "noc_credit", &t);
    if (noc) catalog_emit(&noc->catalog, &noc->credit, 2, (const uint64_t[]){link, credits});
}

void uscope_noc_handoff(uscope_noc_t *handle, unsigned int id, uscope_noc_t *to, unsigned int to_id)
{
    struct uscopei_trace *t, *to_trace;
    struct noc *noc = enter_with(handle, id, "noc_handoff", &t);
    if (!noc || !enter_with(to, to_id, "noc_handoff", &to_trace)) return;
    if (t == to_trace)
        catalog_emit(&noc->catalog, &noc->handoff, 2, (const uint64_t[]){id, to_id});
    else
        uscopei_reject(t, E_OP_HANDLE, 1, "noc_handoff between two traces; call rejected");
}

void uscope_noc_complete(uscope_noc_t *handle, unsigned int id)
{
    struct uscopei_trace *t;
    struct noc *noc = enter_with(handle, id, "noc_complete", &t);
    if (noc) catalog_end(&noc->catalog, t, id);
}

void uscope_noc_reset(uscope_noc_t *handle)
{
    struct uscopei_trace *t;
    struct noc *noc = enter(handle, "noc_reset", &t);
    if (!noc) return;
    catalog_empty_buffers(&noc->catalog);
    while (noc->catalog.newest != NO_ID)
        catalog_end(&noc->catalog, t, noc->catalog.newest);
}

unsigned int uscope_noc_in_flight(uscope_noc_t *handle)
{
    const struct catalog *c = catalog_resolve(handle, CATALOG_NOC, "noc_in_flight");
    return c ? c->in_flight : 0;
}

/* -- buffers */

int uscope_noc_buffer(uscope_noc_t *handle, const char *name)
{
    struct noc *noc = lookup(handle, "noc_buffer");
    return noc ? catalog_buffer_open(&noc->catalog, name ? name : "") : -1;
}

int uscope_noc_push(uscope_noc_t *handle, int buffer, unsigned int id)
{
    struct uscopei_trace *t;
    struct noc *noc = enter(handle, "noc_push", &t);
    return noc ? catalog_push(&noc->catalog, t, buffer, id, "noc_push") : -1;
}

unsigned int uscope_noc_pop(uscope_noc_t *handle, int buffer)
{
    struct uscopei_trace *t;
    struct noc *noc = enter(handle, "noc_pop", &t);
    return noc ? catalog_pop(&noc->catalog, t, buffer, "noc_pop") : USCOPE_NOC_NONE;
}

void uscope_noc_remove(uscope_noc_t *handle, int buffer, int slot)
{
    struct uscopei_trace *t;
    struct noc *noc = enter(handle, "noc_remove", &t);
    if (noc) catalog_remove(&noc->catalog, t, buffer, slot, "noc_remove");
}

int uscope_noc_stage_id(uscope_noc_t *handle, const char *label)
{
    const struct noc *noc = lookup(handle, "noc label");
    return noc ? catalog_label(&noc->catalog, "stage_transition", "stage", label) : -1;
}
