/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls a model makes millions of times a second. Each checks everything by a handful of compares and
 * appends; whatever does not pass is looked at again, carefully and with names, in append_slow.c.
 */
#include "record/append.h"

/* Appends an operation when there is room at the cursor. */
static inline __attribute__((always_inline)) bool append(struct uscopei_trace *t, uint64_t op, uint64_t value)
{
    unsigned char *at = t->cursor;
    if (UNLIKELY(at >= t->limit)) return false;
    put_record(at, op, value);
    t->cursor = at + RECORD_BYTES;
    return true;
}

/*
 * The careful twins take their arguments as they came, so that a fast path need not keep more than these in
 * registers.
 */
static COLD void set_slow(void *w, uint16_t storage, uint16_t slot, uint16_t field, uint64_t value)
{
    uscopei_op_slow(w, op_word(ACTION_SET, storage, slot, field), value);
}

static COLD void add_slow(void *w, uint16_t storage, uint16_t slot, uint16_t field, uint64_t value)
{
    uscopei_op_slow(w, op_word(ACTION_ADD, storage, slot, field), value);
}

static COLD void clear_slow(void *w, uint16_t storage, uint16_t slot)
{
    uscopei_op_slow(w, op_word(ACTION_CLEAR, storage, slot, 0), 0);
}

static COLD void prop_slow(void *w, uint16_t storage, uint16_t property, uint64_t value)
{
    uscopei_op_slow(w, op_word(ACTION_PROP_SET, storage, 0, property), value);
}

void uscope_slot_set(uscope_writer_t *w, uint16_t storage, uint16_t slot, uint16_t field,
                     unsigned long long value)
{
    struct uscopei_trace *t;
    if (LIKELY(in_frame(w, &t) && storage < t->num_storages)) {
        const struct storage_shape *shape = &t->storages[storage];
        if (LIKELY(slot < shape->num_slots && field < shape->num_fields && value < shape->limits[field] &&
                   append(t, slot_word(shape, ACTION_SET, slot, field), value)))
            return;
    }
    set_slow(w, storage, slot, field, value);
}

void uscope_slot_add(uscope_writer_t *w, uint16_t storage, uint16_t slot, uint16_t field,
                     unsigned long long value)
{
    struct uscopei_trace *t;
    if (LIKELY(in_frame(w, &t) && storage < t->num_storages)) {
        const struct storage_shape *shape = &t->storages[storage];
        if (LIKELY(slot < shape->num_slots && field < shape->num_fields &&
                   append(t, slot_word(shape, ACTION_ADD, slot, field), value)))
            return;
    }
    add_slow(w, storage, slot, field, value);
}

void uscope_slot_clear(uscope_writer_t *w, uint16_t storage, uint16_t slot)
{
    struct uscopei_trace *t;
    if (LIKELY(in_frame(w, &t) && storage < t->num_storages)) {
        const struct storage_shape *shape = &t->storages[storage];
        if (LIKELY(slot < shape->num_slots && append(t, slot_word(shape, ACTION_CLEAR, slot, 0), 0))) return;
    }
    clear_slow(w, storage, slot);
}

void uscope_prop_set(uscope_writer_t *w, uint16_t storage, uint16_t property, unsigned long long value)
{
    struct uscopei_trace *t;
    if (LIKELY(in_frame(w, &t) && storage < t->num_storages)) {
        struct property_shape shape = t->properties[storage];
        if (LIKELY(property < shape.count && value < t->field_limits[shape.first + property] &&
                   append(t, op_word(ACTION_PROP_SET, storage, 0, property), value)))
            return;
    }
    prop_slow(w, storage, property, value);
}

void uscope_begin_cycle(uscope_writer_t *w, unsigned long long time_ps)
{
    struct uscopei_trace *t = slot_of(w);
    if (LIKELY(t->idle_handle == (uintptr_t)w && time_ps >= t->last_time && time_ps < t->next_checkpoint &&
               t->cursor < t->limit && !atomic_load_explicit(&t->attention, memory_order_relaxed))) {
        uscopei_open_frame(t, (uintptr_t)w, time_ps);
        return;
    }
    uscopei_begin_slow(w, time_ps);
}

void uscope_end_cycle(uscope_writer_t *w)
{
    struct uscopei_trace *t;
    if (LIKELY(w && in_frame(w, &t))) {
        uscopei_close_frame(t, (uintptr_t)w);
        return;
    }
    uscopei_end_slow(w);
}

static COLD int next_slow(void *w, uint64_t time_ps)
{
    uscope_end_cycle(w);
    if (uscope_checkpoint_due(w, time_ps)) return 1;
    uscope_begin_cycle(w, time_ps);
    return 0;
}

int uscope_next_cycle(uscope_writer_t *w, unsigned long long time_ps)
{
    struct uscopei_trace *t;
    /* the null handle's trace stops at any time */
    if (LIKELY(in_frame(w, &t) && time_ps >= t->last_time && time_ps < t->next_stop &&
               t->cursor + RECORD_BYTES < t->limit &&
               !atomic_load_explicit(&t->attention, memory_order_relaxed))) {
        uscopei_next_frame(t, time_ps);
        return 0;
    }
    return next_slow(w, time_ps);
}
