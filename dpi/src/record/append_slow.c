/* SPDX-License-Identifier: Apache-2.0 */
/* The careful form of the per-cycle calls: finds out what is wrong and says it, or makes room and appends
 * after all. */
#include "record/append.h"

static const char *const action_names[] = {"?", "slot_set", "slot_clear", "slot_add", "prop_set"};

struct uscopei_trace *uscopei_resolve_in_frame(void *w, const char *call)
{
    struct uscopei_trace *t = uscopei_resolve(w, call);
    if (!t || t->frame_handle) return t;
    struct uscopei_session *s = t->session;
    if (s->state == ST_PAUSED_CYCLE) {
        skip_items(s, 1);
    } else if (s->state == ST_REJECTED_CYCLE) {
        s->rejected[E_OP_TIME]++;
        s->rejected_total++;
    } else if (s->state == ST_CALLBACK) {
        uscopei_reject(t, E_OP_OUTSIDE_CYCLE, 1, "%s inside a checkpoint callback; item rejected", call);
    } else if (s->state == ST_NORMAL) {
        uscopei_reject(t, E_OP_OUTSIDE_CYCLE, 0, "%s outside begin_cycle and end_cycle; item rejected", call);
    }
    return NULL;
}

static bool check_slot(struct uscopei_trace *t, uint16_t storage, uint16_t slot)
{
    if (slot < t->storages[storage].num_slots) return true;
    uscopei_reject(t, E_OP_SLOT, storage, "%s: slot %u is not below %u; item rejected",
                   t->session->schema->storage_infos[storage].name, slot, t->storages[storage].num_slots);
    return false;
}

static bool check_value(struct uscopei_trace *t, uint16_t storage, uint32_t field, uint64_t value)
{
    const struct uscopei_schema *schema = t->session->schema;
    const struct field_info *info = &schema->field_infos[field];
    uscopei_code code = uscopei_check_value(info->type, value, t->session->num_strings);
    if (code == E_NONE) return true;
    const char *owner = schema->storage_infos[storage].name;
    if (code == E_OP_STRING) {
        uscopei_reject(t, code, field, "%s.%s: string index %llu was never defined; item rejected", owner,
                       info->name, (unsigned long long)value);
    } else {
        char hex[32], type[80];
        uscopei_format_hex(value, hex, sizeof hex);
        uscopei_reject(t, code, field, "%s.%s: value %s does not fit %s; item rejected", owner, info->name,
                       hex, uscopei_describe_type(schema, info->type, info->enum_id, type, sizeof type));
    }
    return false;
}

static bool check_op(struct uscopei_trace *t, unsigned action, uint16_t storage, uint16_t slot,
                     uint16_t field, uint64_t value)
{
    if (storage >= t->num_storages) {
        uscopei_reject(t, E_OP_STORAGE, storage,
                       "storage id %u is not in the schema, which has %u; item rejected", storage,
                       t->num_storages);
        return false;
    }
    const char *name = t->session->schema->storage_infos[storage].name;
    if (action == ACTION_PROP_SET) {
        struct property_shape shape = t->properties[storage];
        if (field < shape.count) return check_value(t, storage, shape.first + field, value);
        uscopei_reject(t, E_OP_PROPERTY, storage, "%s: property %u is not below %u; item rejected", name,
                       field, shape.count);
        return false;
    }
    if (!check_slot(t, storage, slot)) return false;
    struct storage_shape shape = t->storages[storage];
    if (action != ACTION_CLEAR && field >= shape.num_fields) {
        uscopei_reject(t, E_OP_FIELD, storage, "%s: field %u is not below %u; item rejected", name, field,
                       shape.num_fields);
        return false;
    }
    return action != ACTION_SET ||
           check_value(t, storage, t->session->schema->storage_infos[storage].first_field + field, value);
}

/* The fast form's checks. What is wrong, and what it is called, check_op says. */
static bool is_good(const struct uscopei_trace *t, unsigned action, uint16_t storage, uint16_t slot,
                    uint16_t field, uint64_t value)
{
    if (storage >= t->num_storages) return false;
    if (action == ACTION_PROP_SET) {
        struct property_shape shape = t->properties[storage];
        return field < shape.count && value < t->field_limits[shape.first + field];
    }
    const struct storage_shape *shape = &t->storages[storage];
    if (slot >= shape->num_slots || (action != ACTION_CLEAR && field >= shape->num_fields)) return false;
    return action != ACTION_SET || value < shape->limits[field];
}

/* When all that was missing was room. */
static bool append_again(void *w, uint64_t op, uint64_t value)
{
    struct uscopei_trace *t;
    if (!uscopei_room_made(w) || !in_frame(w, &t)) return false;
    if (!is_good(t, op >> 8 & 0xFF, (uint16_t)(op >> 16), (uint16_t)(op >> 32), (uint16_t)(op >> 48), value))
        return false;
    put_record(t->cursor, op, value);
    t->cursor += RECORD_BYTES;
    return true;
}

void uscopei_op_slow(void *w, uint64_t op, uint64_t value)
{
    if (append_again(w, op, value)) return;
    unsigned action = op >> 8 & 0xFF;
    struct uscopei_trace *t = uscopei_resolve_in_frame(w, action_names[action]);
    if (!t || uscopei_skips_storage(t, (uint16_t)(op >> 16), 1)) return;
    if (!check_op(t, action, (uint16_t)(op >> 16), (uint16_t)(op >> 32), (uint16_t)(op >> 48), value)) return;
    if (t->cursor >= t->limit && !uscopei_make_room(t, RECORD_BYTES)) return;
    put_record(t->cursor, op, value);
    t->cursor += RECORD_BYTES;
}

/* Of a cycle that is not recorded, one item has been counted. */
static void skip_rest_of_put(void *w, unsigned n)
{
    struct uscopei_trace *t = slot_of(w);
    if (w && t->handle == (uintptr_t)w && is_paused_cycle(t)) skip_items(t->session, n - 1);
}

/* A call that names no slot is refused as a whole, a field or value that is wrong by itself. */
void uscopei_put_slow(void *w, uint16_t storage, uint16_t slot, const unsigned long long *values, unsigned n)
{
    struct uscopei_trace *t = uscopei_resolve_in_frame(w, "slot_put");
    if (!t) {
        skip_rest_of_put(w, n);
        return;
    }
    if (uscopei_skips_storage(t, storage, n)) return;
    if (!check_op(t, ACTION_CLEAR, storage, slot, 0, 0)) return;
    for (uint16_t field = 0; field < n; field++) {
        if (!check_op(t, ACTION_SET, storage, slot, field, values[field])) continue;
        if (t->cursor >= t->limit && !uscopei_make_room(t, RECORD_BYTES)) return;
        put_record(t->cursor, op_word(ACTION_SET, storage, slot, field), values[field]);
        t->cursor += RECORD_BYTES;
    }
}

/* Asks the callback for snapshots when the grid of checkpoints is crossed. */
static void ask_for_checkpoint(struct uscopei_trace *t, uint64_t time_ps)
{
    struct uscopei_session *s = t->session;
    atomic_fetch_and(&t->attention, ~(uint32_t)ATTENTION_RESYNC);
    if (!s->callback) return;
    uint64_t interval = s->interval_ps;
    uint64_t next = time_ps / interval * interval;
    set_next_checkpoint(t, next > UINT64_MAX - interval ? UINT64_MAX : next + interval);
    /* before the first frame there is nothing that a segment could end with */
    if (t->ordinal == 0) return;
    uintptr_t handle = t->idle_handle;
    t->idle_handle = 0;
    s->state = ST_CALLBACK;
    s->callback((void *)handle, s->callback_data);
    /* the callback may have forked, and this be the child */
    if (t->session == s && s->state == ST_CALLBACK) {
        uscopei_snapshot_leave(t);
        s->state = ST_NORMAL;
        t->idle_handle = handle;
    }
}

static bool may_begin(struct uscopei_trace *t, uint64_t time_ps)
{
    struct uscopei_session *s = t->session;
    if (t->frame_handle) {
        uscopei_reject(t, E_OP_NESTED_CYCLE, 0,
                       "begin_cycle(%llu ps) inside the cycle at %llu ps, for which end_cycle is missing; "
                       "call rejected",
                       (unsigned long long)time_ps, (unsigned long long)t->last_time);
        return false;
    }
    if (s->state == ST_CALLBACK) {
        uscopei_reject(t, E_OP_NESTED_CYCLE, 1,
                       "begin_cycle(%llu ps) inside a checkpoint callback; call rejected",
                       (unsigned long long)time_ps);
        return false;
    }
    if (s->state == ST_PAUSED_CYCLE) {
        uscopei_reject(
            t, E_OP_NESTED_CYCLE, 5,
            "begin_cycle(%llu ps) inside the cycle at %llu ps, which is not recorded; call rejected",
            (unsigned long long)time_ps, (unsigned long long)t->last_time);
        return false;
    }
    if (s->state == ST_REJECTED_CYCLE) {
        uscopei_reject(t, E_OP_NESTED_CYCLE, 2, "begin_cycle(%llu ps) inside a rejected cycle; call rejected",
                       (unsigned long long)time_ps);
        return false;
    }
    if (time_ps < t->last_time) {
        s->state = ST_REJECTED_CYCLE;
        t->idle_handle = 0;
        uscopei_reject(t, E_OP_TIME, 0,
                       "begin_cycle(%llu ps) after %llu ps: time runs backwards; cycle rejected",
                       (unsigned long long)time_ps, (unsigned long long)t->last_time);
        return false;
    }
    return true;
}

void uscopei_begin_slow(void *w, uint64_t time_ps)
{
    struct uscopei_trace *t = uscopei_resolve(w, "begin_cycle");
    if (!t || t->session->state == ST_UNTRACED) return;
    if (has_failed(t)) {
        uscopei_handle_failure(t);
        return;
    }
    if (t->session->asked) uscopei_snapshot_answered(t);
    if (!may_begin(t, time_ps)) return;
    uint32_t attention = atomic_load(&t->attention);
    if (attention & ATTENTION_COMMAND) {
        uscopei_take_command(t);
        attention = atomic_load(&t->attention);
    }
    bool paused = (attention & ATTENTION_PAUSED) != 0;
    if (!paused && (time_ps >= t->next_checkpoint || attention & ATTENTION_RESYNC))
        ask_for_checkpoint(t, time_ps);
    if (!t->idle_handle) return;
    if (paused || attention & ATTENTION_MARKS) {
        uscopei_begin_controlled(t, time_ps);
        return;
    }
    if (t->cursor >= t->limit && !uscopei_make_room(t, RECORD_BYTES)) return;
    uscopei_open_frame(t, (uintptr_t)w, time_ps);
}

void uscopei_end_slow(void *w)
{
    struct uscopei_trace *t = uscopei_resolve(w, "end_cycle");
    if (!t) return;
    struct uscopei_session *s = t->session;
    if (s->state == ST_UNTRACED) {
        uscopei_pool_count_unrecorded(s->pool);
    } else if (s->state == ST_REJECTED_CYCLE || s->state == ST_PAUSED_CYCLE) {
        s->state = ST_NORMAL;
        t->idle_handle = t->handle;
    } else if (s->state == ST_CALLBACK) {
        uscopei_reject(t, E_OP_OUTSIDE_CYCLE, 2, "end_cycle inside a checkpoint callback; call rejected");
    } else if (s->state == ST_NORMAL) {
        uscopei_reject(t, E_OP_OUTSIDE_CYCLE, 3, "end_cycle without begin_cycle; call rejected");
    }
}
