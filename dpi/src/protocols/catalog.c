/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol helpers' table, what is in flight, and events by name. Buffers: catalog_buffers.c. */
#include "protocols/catalog.h"
#include "base/fork.h"
#include "record/append.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HELPERS = 256 };

/* A handle is the address of a place here, so that one that is none is never followed. */
static struct catalog *helpers[MAX_HELPERS];
static pthread_mutex_t helpers_lock = PTHREAD_MUTEX_INITIALIZER;
FORK_SAFE_LOCK(helpers_lock, helpers_lock)
static atomic_bool bad_said;

void *catalog_register(struct catalog *c)
{
    void *handle = NULL;
    pthread_mutex_lock(&helpers_lock);
    for (int i = 0; i < MAX_HELPERS && !handle; i++) {
        if (helpers[i]) continue;
        helpers[i] = c;
        handle = &helpers[i];
    }
    pthread_mutex_unlock(&helpers_lock);
    if (!handle) uscopei_error_say(E_BRIDGE_LIMIT, "%d protocol helpers are in use", MAX_HELPERS);
    return handle;
}

static struct catalog *find(const void *handle, catalog_kind kind)
{
    uintptr_t at = (uintptr_t)handle - (uintptr_t)helpers;
    if (UNLIKELY(at >= sizeof helpers || at % sizeof *helpers != 0)) return NULL;
    struct catalog *c = helpers[at / sizeof *helpers];
    return LIKELY(c && c->kind == kind) ? c : NULL;
}

struct catalog *catalog_unregister(void *handle, catalog_kind kind)
{
    pthread_mutex_lock(&helpers_lock);
    struct catalog *c = find(handle, kind);
    if (c) *(struct catalog **)handle = NULL;
    pthread_mutex_unlock(&helpers_lock);
    return c;
}

struct catalog *catalog_resolve(const void *handle, catalog_kind kind, const char *call)
{
    struct catalog *c = find(handle, kind);
    if (LIKELY(c != NULL) || !handle) return c;
    if (!atomic_exchange(&bad_said, true))
        uscopei_error_say(
            E_OP_HANDLE,
            "%s: %p is not a handle of this helper; the call is ignored, as are all calls like it", call,
            handle);
    return NULL;
}

struct catalog *catalog_lookup(const void *handle, catalog_kind kind, const char *call)
{
    struct catalog *c = catalog_resolve(handle, kind, call);
    return c && uscopei_resolve(c->w, call) ? c : NULL;
}

struct catalog *catalog_enter(const void *handle, catalog_kind kind, const char *call,
                              struct uscopei_trace **t)
{
    struct catalog *c = catalog_resolve(handle, kind, call);
    if (UNLIKELY(!c)) return NULL;
    if (LIKELY(in_frame(c->w, t))) return c;
    /* what is in flight is followed through a pause: afterwards the model continues from its state */
    *t = uscopei_resolve(c->w, call);
    if (*t && is_paused_cycle(*t)) return c;
    *t = uscopei_resolve_in_frame(c->w, call);
    return *t ? c : NULL;
}

/* -- names */

/* "core0/rob"; names of the root scope have no prefix. */
static const char *full_name(const struct catalog *c, const char *name, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s", c->scope, *c->scope ? "/" : "", name ? name : "");
    return out;
}

int catalog_storage(const struct catalog *c, const char *name)
{
    char full[512];
    return uscopei_find_storage(c->schema, full_name(c, name, full, sizeof full));
}

static int event_of(const struct catalog *c, const char *name)
{
    char full[512];
    return uscopei_find_event(c->schema, full_name(c, name, full, sizeof full));
}

static int event_field(const struct uscopei_schema *schema, int event, const char *name)
{
    struct event_shape shape = schema->events[event];
    for (int i = 0; i < shape.num_fields; i++) {
        if (strcmp(schema->event_field_names[shape.first_field + (unsigned)i], name) == 0) return i;
    }
    return -1;
}

void catalog_bind(const struct catalog *c, const char *name, struct catalog_event *event, unsigned n,
                  const char *const *fields)
{
    event->type = event_of(c, name);
    if (event->type < 0) return;
    event->num_fields = c->schema->events[event->type].num_fields;
    for (unsigned i = 0; i < n; i++) {
        event->at[i] = fields[i] ? event_field(c->schema, event->type, fields[i])
                                 : (i < event->num_fields ? (int)i : -1);
    }
    if (event->num_fields <= 8) return;
    struct uscopei_trace *t = uscopei_resolve(c->w, name);
    if (t)
        uscopei_complain(t, E_OP_PAYLOAD, (uint64_t)event->type,
                         "%s has more than 8 fields, which helpers cannot fill; it is left out",
                         c->schema->event_names[event->type]);
    event->type = -1;
}

void catalog_emit(const struct catalog *c, const struct catalog_event *event, unsigned n,
                  const uint64_t *values)
{
    if (event->type < 0) return;
    uint16_t type = (uint16_t)event->type;
    unsigned long long v[8] = {0};
    for (unsigned i = 0; i < n; i++) {
        if (event->at[i] >= 0) v[event->at[i]] = values[i];
    }
    switch (event->num_fields) {
    case 0: uscope_event0(c->w, type); break;
    case 1: uscope_event1(c->w, type, v[0]); break;
    case 2: uscope_event2(c->w, type, v[0], v[1]); break;
    case 3: uscope_event3(c->w, type, v[0], v[1], v[2]); break;
    case 4: uscope_event4(c->w, type, v[0], v[1], v[2], v[3]); break;
    case 5: uscope_event5(c->w, type, v[0], v[1], v[2], v[3], v[4]); break;
    case 6: uscope_event6(c->w, type, v[0], v[1], v[2], v[3], v[4], v[5]); break;
    case 7: uscope_event7(c->w, type, v[0], v[1], v[2], v[3], v[4], v[5], v[6]); break;
    default: uscope_event8(c->w, type, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]); break;
    }
}

int catalog_label(const struct catalog *c, const char *event, const char *field, const char *label)
{
    int type = event_of(c, event);
    int at = type < 0 ? -1 : event_field(c->schema, type, field);
    int value = -1;
    if (at >= 0) {
        const struct event_field *f =
            &c->schema->event_fields[c->schema->events[type].first_field + (unsigned)at];
        if (f->type == FT_ENUM) value = uscopei_find_label(c->schema, f->enum_id, label ? label : "");
    }
    struct uscopei_trace *t = value < 0 ? uscopei_resolve(c->w, "label") : NULL;
    if (t)
        uscopei_complain(t, E_OP_VALUE, (uint64_t)(label ? label[0] : 0) << 32 | (uint64_t)(unsigned)type,
                         "%s%s%s.%s has no label \"%s\"", c->scope, *c->scope ? "/" : "", event, field,
                         label ? label : "");
    return value;
}

/* -- open, close */

bool catalog_open(struct catalog *c, uscope_writer_t *w, const char *scope, const char *storage)
{
    struct uscopei_trace *t = uscopei_resolve(w, "protocol helper");
    if (!t) return false;
    c->w = w;
    c->schema = t->session->schema;
    c->oldest = c->newest = NO_ID;
    snprintf(c->scope, sizeof c->scope, "%s", scope ? scope : "");
    int id = catalog_storage(c, storage);
    int field = id < 0 ? -1 : uscopei_find_field(c->schema, id, c->id_name);
    if (field < 0 || !c->schema->storage_infos[id].sparse) {
        uscopei_complain(t, E_OP_STORAGE, UINT64_C(1) << 40,
                         "the scope \"%s\" has no sparse storage \"%s\" with a field \"%s\"", c->scope,
                         storage, c->id_name);
        return false;
    }
    c->storage = (uint16_t)id;
    c->id_field = (uint16_t)field;
    c->num_slots = c->schema->storages[id].num_slots;
    c->entries = calloc(c->num_slots, sizeof *c->entries);
    return c->entries != NULL;
}

void catalog_close(struct catalog *c)
{
    for (int i = 0; i < c->num_buffers; i++)
        free(c->buffers[i].ids);
    free(c->entries);
}

/* -- in flight */

static const char *storage_name(const struct catalog *c)
{
    return c->schema->storage_infos[c->storage].name;
}

/* Slots are given out in turn, so that one rests as long as possible before it is used again. */
static uint32_t free_slot(const struct catalog *c, uint64_t frame)
{
    if (c->in_flight == c->num_slots) return NO_ID;
    uint32_t slot = c->next;
    for (uint32_t i = 0; i < c->num_slots; i++) {
        const struct catalog_entry *e = &c->entries[slot];
        if (!e->alive && e->held == 0 && e->ended != frame + 1) return slot;
        slot = slot + 1 == c->num_slots ? 0 : slot + 1;
    }
    return NO_ID;
}

uint32_t catalog_birth(struct catalog *c, struct uscopei_trace *t, const char *call)
{
    uint32_t id = free_slot(c, t->ordinal);
    /* of a cycle that is not recorded nobody can mix up two users of one slot */
    if (UNLIKELY(id == NO_ID) && is_paused_cycle(t)) id = free_slot(c, UINT64_MAX);
    if (UNLIKELY(id == NO_ID)) {
        uscopei_reject(t, E_OP_SLOT, c->storage | UINT64_C(1) << 40,
                       "%s: %s: no slot is free, %u of %u are in flight; call rejected", storage_name(c),
                       call, c->in_flight, c->num_slots);
        return NO_ID;
    }
    struct catalog_entry *e = &c->entries[id];
    e->alive = true;
    e->older = c->newest;
    e->newer = NO_ID;
    if (c->newest == NO_ID)
        c->oldest = id;
    else
        c->entries[c->newest].newer = id;
    c->newest = id;
    c->in_flight++;
    c->next = id + 1 == c->num_slots ? 0 : id + 1;
    return id;
}

void catalog_end(struct catalog *c, struct uscopei_trace *t, uint32_t id)
{
    struct catalog_entry *e = &c->entries[id];
    uscope_slot_clear(c->w, c->storage, (uint16_t)id);
    if (e->older == NO_ID)
        c->oldest = e->newer;
    else
        c->entries[e->older].newer = e->newer;
    if (e->newer == NO_ID)
        c->newest = e->older;
    else
        c->entries[e->newer].older = e->older;
    e->alive = false;
    e->ended = t->ordinal + 1;
    c->in_flight--;
}

bool catalog_alive(struct catalog *c, struct uscopei_trace *t, uint32_t id, const char *call)
{
    if (LIKELY(id < c->num_slots && c->entries[id].alive)) return true;
    if (id == NO_ID) return false;
    uscopei_reject(t, E_OP_SLOT, c->storage | UINT64_C(1) << 41 | (uint64_t)(unsigned char)call[4] << 48,
                   "%s: %s: %s %u is not in flight; call rejected", storage_name(c), call, c->noun, id);
    return false;
}
