/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots given slot by slot, for callers that have no packed bytes: SystemVerilog cannot pass pointers,
 * and not every simulator passes arrays. Callers that cannot be called back can also query whether a
 * snapshot is due.
 */
#include <stdlib.h>
#include <string.h>

#include "record/recording.h"

struct uscopei_snapshot {
    bool open;
    bool refused; /* the storage or one of its values was wrong: the rest is ignored */
    uint16_t storage;
    uint32_t given;       /* bits in `mask` */
    uint8_t *mask;        /* of the slots given */
    unsigned char *slots; /* of all slots, given or not */
};

static void drop(struct uscopei_snapshot *p)
{
    free(p->mask);
    free(p->slots);
    *p = (struct uscopei_snapshot){0};
}

void uscopei_snapshot_free(struct uscopei_snapshot *p)
{
    if (!p) return;
    drop(p);
    free(p);
}

void uscopei_snapshot_leave(struct uscopei_trace *t)
{
    struct uscopei_snapshot *p = t->session->snapshot;
    if (!p) return;
    if (p->open && !p->refused)
        uscopei_reject(t, E_OP_SNAPSHOT, p->storage | UINT64_C(1) << 41,
                       "%s: checkpoint_begin without checkpoint_end; snapshot rejected",
                       t->session->schema->storage_infos[p->storage].name);
    drop(p);
}

/* The trace, when a snapshot can be begun or continued; NULL, reported, when it cannot. */
static struct uscopei_trace *resolve_asked(void *w, const char *call)
{
    struct uscopei_trace *t = uscopei_resolve(w, call);
    if (!t || t->session->state == ST_UNTRACED) return NULL;
    if (t->session->state == ST_CALLBACK) return t;
    uscopei_reject(t, E_OP_SNAPSHOT, UINT64_C(1) << 42, "%s while no checkpoint is asked for; call rejected",
                   call);
    return NULL;
}

static bool make_room(struct uscopei_snapshot *p, uint32_t num_slots, uint32_t slot_size)
{
    p->mask = calloc(((size_t)num_slots + 7) / 8, 1);
    p->slots = calloc((size_t)num_slots * slot_size + 1, 1);
    return p->mask && p->slots;
}

void uscope_checkpoint_begin(uscope_writer_t *w, uint16_t storage)
{
    struct uscopei_trace *t = resolve_asked(w, "checkpoint_begin");
    if (!t) return;
    struct uscopei_session *s = t->session;
    uscopei_snapshot_leave(t);
    if (!s->snapshot) s->snapshot = calloc(1, sizeof *s->snapshot);
    struct uscopei_snapshot *p = s->snapshot;
    if (!p) return;
    p->open = p->refused = true;
    p->storage = storage;
    if (storage >= t->num_storages) {
        uscopei_reject(t, E_OP_STORAGE, storage,
                       "storage id %u is not in the schema, which has %u; snapshot rejected", storage,
                       t->num_storages);
    } else if (uscopei_skips_storage(t, storage, 0)) {
        p->storage = storage; /* it stays as it was left: the rest is passed over */
    } else if (!make_room(p, t->storages[storage].num_slots, s->schema->storage_infos[storage].slot_size)) {
        uscopei_reject(t, E_OP_SNAPSHOT, UINT64_C(1) << 43, "%s: no memory for a snapshot; snapshot rejected",
                       s->schema->storage_infos[storage].name);
    } else {
        p->refused = false;
    }
}

/* The snapshot under way, when it takes this slot; NULL otherwise, reported if that is news. */
static struct uscopei_snapshot *resolve_slot(struct uscopei_trace *t, uint16_t slot)
{
    struct uscopei_snapshot *p = t->session->snapshot;
    if (!p || !p->open) {
        uscopei_reject(t, E_OP_SNAPSHOT, UINT64_C(1) << 44,
                       "checkpoint_slot without checkpoint_begin; call rejected");
        return NULL;
    }
    if (p->refused) return NULL;
    uint32_t num_slots = t->storages[p->storage].num_slots;
    if (slot < num_slots) return p;
    p->refused = true;
    uscopei_reject(t, E_OP_SLOT, p->storage, "%s: slot %u is not below %u; snapshot rejected",
                   t->session->schema->storage_infos[p->storage].name, slot, num_slots);
    return NULL;
}

/* A value that is wrong spoils the snapshot: half of a state is none. */
static bool check_value(struct uscopei_trace *t, struct uscopei_snapshot *p, uint32_t field, uint64_t value)
{
    const struct uscopei_schema *schema = t->session->schema;
    const struct field_info *info = &uscopei_fields_of(schema, p->storage)[field];
    uscopei_code code = uscopei_check_value(info->type, value, t->session->num_strings);
    if (code == E_NONE) return true;
    char hex[32], type[80];
    uscopei_format_hex(value, hex, sizeof hex);
    p->refused = true;
    uscopei_reject(t, code, schema->storage_infos[p->storage].first_field + field,
                   "%s.%s: value %s does not fit %s; snapshot rejected",
                   schema->storage_infos[p->storage].name, info->name, hex,
                   uscopei_describe_type(schema, info->type, info->enum_id, type, sizeof type));
    return false;
}

static void mark(struct uscopei_snapshot *p, uint16_t slot)
{
    uint8_t bit = (uint8_t)(1u << slot % 8);
    if (!(p->mask[slot / 8] & bit)) p->given++;
    p->mask[slot / 8] |= bit;
}

/* Where a field begins in a slot, and its size. */
static uint32_t place_of(const struct uscopei_trace *t, uint16_t storage, uint32_t field, unsigned *size)
{
    const struct field_info *infos = uscopei_fields_of(t->session->schema, storage);
    uint32_t offset = 0;
    for (uint32_t i = 0; i < field; i++)
        offset += uscopei_type_size(infos[i].type);
    *size = uscopei_type_size(infos[field].type);
    return offset;
}

static unsigned char *slot_bytes(const struct uscopei_trace *t, const struct uscopei_snapshot *p,
                                 uint16_t slot)
{
    return p->slots + (size_t)slot * t->session->schema->storage_infos[p->storage].slot_size;
}

static void give_slot(void *w, uint16_t slot, const unsigned long long *values, unsigned n)
{
    struct uscopei_trace *t = resolve_asked(w, "checkpoint_slot");
    struct uscopei_snapshot *p = t ? resolve_slot(t, slot) : NULL;
    if (!p) return;
    unsigned num_fields = t->storages[p->storage].num_fields;
    if (n != (num_fields < 8 ? num_fields : 8)) {
        p->refused = true;
        uscopei_reject(t, E_OP_SNAPSHOT, p->storage | UINT64_C(1) << 45,
                       "%s: checkpoint_slot%u, a slot has %u fields; snapshot rejected",
                       t->session->schema->storage_infos[p->storage].name, n, num_fields);
        return;
    }
    unsigned char *at = slot_bytes(t, p, slot);
    const struct field_info *infos = uscopei_fields_of(t->session->schema, p->storage);
    for (unsigned i = 0; i < n; i++) {
        unsigned size = uscopei_type_size(infos[i].type);
        if (!check_value(t, p, i, values[i])) return;
        memcpy(at, &values[i], size);
        at += size;
    }
    mark(p, slot);
}

#define CHECKPOINT_SLOT(n, parameters, ...)                                                                  \
    void uscope_checkpoint_slot##n(uscope_writer_t *w, uint16_t slot, PARAMETERS parameters)                 \
    {                                                                                                        \
        give_slot(w, slot, (const unsigned long long[]){__VA_ARGS__}, n);                                    \
    }
FOR_EACH_COUNT(CHECKPOINT_SLOT)
#undef CHECKPOINT_SLOT

void uscope_checkpoint_field(uscope_writer_t *w, uint16_t slot, uint16_t field, unsigned long long value)
{
    struct uscopei_trace *t = resolve_asked(w, "checkpoint_field");
    struct uscopei_snapshot *p = t ? resolve_slot(t, slot) : NULL;
    if (!p) return;
    unsigned num_fields = t->storages[p->storage].num_fields;
    if (field >= num_fields) {
        p->refused = true;
        uscopei_reject(t, E_OP_FIELD, p->storage, "%s: field %u is not below %u; snapshot rejected",
                       t->session->schema->storage_infos[p->storage].name, field, num_fields);
        return;
    }
    if (!check_value(t, p, field, value)) return;
    unsigned size;
    uint32_t offset = place_of(t, p->storage, field, &size);
    memcpy(slot_bytes(t, p, slot) + offset, &value, size);
    mark(p, slot);
}

/* A checkpoint block holds the valid slots of a sparse storage only, one after the other. */
static void close_gaps(struct uscopei_snapshot *p, uint32_t num_slots, uint32_t slot_size)
{
    size_t out = 0;
    for (uint32_t slot = 0; slot < num_slots; slot++) {
        if (!(p->mask[slot / 8] >> slot % 8 & 1)) continue;
        memmove(p->slots + out, p->slots + (size_t)slot * slot_size, slot_size);
        out += slot_size;
    }
}

void uscope_checkpoint_end(uscope_writer_t *w)
{
    struct uscopei_trace *t = resolve_asked(w, "checkpoint_end");
    if (!t) return;
    struct uscopei_snapshot *p = t->session->snapshot;
    if (!p || !p->open) {
        uscopei_reject(t, E_OP_SNAPSHOT, UINT64_C(1) << 46,
                       "checkpoint_end without checkpoint_begin; call rejected");
        return;
    }
    if (!p->refused) {
        const struct storage_info *info = &t->session->schema->storage_infos[p->storage];
        if (info->sparse) close_gaps(p, t->storages[p->storage].num_slots, info->slot_size);
        uscope_checkpoint_storage(w, p->storage, info->sparse ? p->mask : NULL, p->slots, p->given);
    }
    drop(p);
}

/* -- asking instead of being called */

static uint64_t after(uint64_t time_ps, uint64_t interval)
{
    uint64_t grid = time_ps / interval * interval;
    return grid > UINT64_MAX - interval ? UINT64_MAX : grid + interval;
}

static COLD int due_slow(uscope_writer_t *w, uint64_t time_ps)
{
    struct uscopei_trace *t = uscopei_resolve(w, "checkpoint_due");
    if (!t || t->session->state == ST_UNTRACED) return 0;
    struct uscopei_session *s = t->session;
    if (!t->idle_handle) {
        if (s->state != ST_REJECTED_CYCLE)
            uscopei_complain(t, E_OP_NESTED_CYCLE, 4, "checkpoint_due inside a cycle; call rejected");
        return 0;
    }
    if (atomic_load(&t->attention) & ATTENTION_PAUSED) return 0;
    if (t->next_asked == 0) set_next_asked(t, after(t->last_time, s->interval_ps));
    if (time_ps < t->next_asked && !s->resync) return 0;
    s->resync = false;
    set_next_asked(t, after(time_ps, s->interval_ps));
    /* before the first frame there is nothing that a segment could end with */
    if (t->ordinal == 0) return 0;
    s->state = ST_CALLBACK;
    s->asked = true;
    t->idle_handle = 0;
    return 1;
}

int uscope_checkpoint_due(uscope_writer_t *w, unsigned long long time_ps)
{
    struct uscopei_trace *t = slot_of(w);
    if (LIKELY(t->idle_handle == (uintptr_t)w && time_ps < t->next_asked)) return 0;
    return due_slow(w, time_ps);
}

void uscopei_snapshot_answered(struct uscopei_trace *t)
{
    uscopei_snapshot_leave(t);
    t->session->asked = false;
    t->session->state = ST_NORMAL;
    t->idle_handle = t->handle;
}
