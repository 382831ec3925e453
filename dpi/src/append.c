/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls a model makes millions of times a second. Each checks everything by a handful of compares and
 * appends; whatever does not pass is looked at again, carefully and with names, in append_slow.c.
 */
#include "append.h"

void uscope_slot_set(uscope_writer_t *w, uint16_t storage, uint16_t slot, uint16_t field,
                     unsigned long long value)
{
    struct uscopei_trace *t;
    if (LIKELY(in_frame(w, &t) && storage < t->num_storages)) {
        struct storage_shape shape = t->storages[storage];
        if (LIKELY(slot < shape.num_slots && field < shape.num_fields &&
                   value < t->field_limits[shape.first_field + field] && t->cursor < t->limit)) {
            put_record(t->cursor, op_word(ACTION_SET, storage, slot, field), value);
            t->cursor += RECORD_BYTES;
            return;
        }
    }
    uscopei_op_slow(w, storage, slot, field, value, ACTION_SET);
}

void uscope_slot_add(uscope_writer_t *w, uint16_t storage, uint16_t slot, uint16_t field,
                     unsigned long long value)
{
    struct uscopei_trace *t;
    if (LIKELY(in_frame(w, &t) && storage < t->num_storages)) {
        struct storage_shape shape = t->storages[storage];
        if (LIKELY(slot < shape.num_slots && field < shape.num_fields && t->cursor < t->limit)) {
            put_record(t->cursor, op_word(ACTION_ADD, storage, slot, field), value);
            t->cursor += RECORD_BYTES;
            return;
        }
    }
    uscopei_op_slow(w, storage, slot, field, value, ACTION_ADD);
}

void uscope_slot_clear(uscope_writer_t *w, uint16_t storage, uint16_t slot)
{
    struct uscopei_trace *t;
    if (LIKELY(in_frame(w, &t) && storage < t->num_storages && slot < t->storages[storage].num_slots &&
               t->cursor < t->limit)) {
        put_record(t->cursor, op_word(ACTION_CLEAR, storage, slot, 0), 0);
        t->cursor += RECORD_BYTES;
        return;
    }
    uscopei_op_slow(w, storage, slot, 0, 0, ACTION_CLEAR);
}

void uscope_prop_set(uscope_writer_t *w, uint16_t storage, uint16_t property, unsigned long long value)
{
    struct uscopei_trace *t;
    if (LIKELY(in_frame(w, &t) && storage < t->num_storages)) {
        struct property_shape shape = t->properties[storage];
        if (LIKELY(property < shape.count && value < t->field_limits[shape.first + property] &&
                   t->cursor < t->limit)) {
            put_record(t->cursor, op_word(ACTION_PROP_SET, storage, 0, property), value);
            t->cursor += RECORD_BYTES;
            return;
        }
    }
    uscopei_op_slow(w, storage, 0, property, value, ACTION_PROP_SET);
}

void uscope_begin_cycle(uscope_writer_t *w, unsigned long long time_ps)
{
    struct uscopei_trace *t = slot_of(w);
    if (LIKELY(t && t->idle_handle == (uintptr_t)w && time_ps >= t->last_time &&
               time_ps < t->next_checkpoint && t->cursor < t->limit &&
               !atomic_load_explicit(&t->failed, memory_order_relaxed))) {
        uscopei_open_frame(t, (uintptr_t)w, time_ps);
        return;
    }
    uscopei_begin_slow(w, time_ps);
}

void uscope_end_cycle(uscope_writer_t *w)
{
    struct uscopei_trace *t;
    if (LIKELY(in_frame(w, &t))) {
        uscopei_close_frame(t, (uintptr_t)w);
        return;
    }
    uscopei_end_slow(w);
}
