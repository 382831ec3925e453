/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots of storages, sent in parts inside a checkpoint callback. */
#include <string.h>

#include "record/recording.h"

enum { PART = 32 << 10 };

void uscope_set_checkpoint_callback(uscope_writer_t *w, uscope_checkpoint_fn fn, void *user_data)
{
    struct uscopei_trace *t = uscopei_resolve(w, "set_checkpoint_callback");
    if (!t || t->session->state == ST_UNTRACED) return;
    struct uscopei_session *s = t->session;
    s->callback = fn;
    s->callback_data = user_data;
    uint64_t interval = s->interval_ps;
    /* grid points are multiples of the interval, whatever the trace's time is */
    uint64_t next = t->last_time / interval * interval;
    set_next_checkpoint(t, fn && next <= UINT64_MAX - interval ? next + interval : UINT64_MAX);
}

/* The bytes of a block are the mask, then the slots: read as one. */
struct source {
    const unsigned char *mask, *slots;
    size_t mask_size;
};

static void copy_from(const struct source *source, size_t offset, unsigned char *out, size_t size)
{
    size_t first = 0;
    if (offset < source->mask_size) {
        first = source->mask_size - offset < size ? source->mask_size - offset : size;
        memcpy(out, source->mask + offset, first);
    }
    if (size > first) memcpy(out + first, source->slots + (offset + first - source->mask_size), size - first);
}

static bool put_part(struct uscopei_trace *t, uint16_t storage, const struct source *source, uint32_t offset,
                     uint32_t size, uint32_t total)
{
    size_t payload = ((size_t)size + RECORD_BYTES - 1) / RECORD_BYTES * RECORD_BYTES;
    if (!uscopei_make_room(t, RECORD_BYTES + payload)) return false;
    unsigned char *at = t->cursor;
    if (payload > 0) put_record(at + payload, 0, 0);
    put_snapshot(at, storage, size, offset, total);
    copy_from(source, offset, at + RECORD_BYTES, size);
    t->cursor += RECORD_BYTES + payload;
    return true;
}

bool uscopei_empty_storage(struct uscopei_trace *t, uint16_t storage)
{
    static const unsigned char none[UINT16_MAX / 8 + 1];
    const struct source source = {none, NULL, sizeof none};
    uint32_t total = ((uint32_t)t->session->schema->storages[storage].num_slots + 7) / 8;
    return put_part(t, storage, &source, 0, total, total);
}

static uint32_t count_bits(const uint8_t *mask, uint32_t bits)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < bits; i++)
        count += mask[i / 8] >> (i % 8) & 1u;
    return count;
}

static bool check_snapshot(struct uscopei_trace *t, uint16_t storage, const uint8_t *mask, const void *slots,
                           uint32_t num_valid)
{
    const struct storage_info *info = &t->session->schema->storage_infos[storage];
    uint32_t num_slots = t->storages[storage].num_slots;
    if (info->sparse && !mask) {
        uscopei_reject(t, E_OP_SNAPSHOT, storage,
                       "%s is sparse: its snapshot needs a mask of valid slots; snapshot rejected",
                       info->name);
    } else if (!info->sparse && mask) {
        uscopei_reject(t, E_OP_SNAPSHOT, storage,
                       "%s is dense: its snapshot takes no mask; snapshot rejected", info->name);
    } else {
        uint32_t expected = mask ? count_bits(mask, num_slots) : num_slots;
        bool padded = mask && num_slots % 8 != 0 && mask[num_slots / 8] >> num_slots % 8 != 0;
        if (padded) {
            uscopei_reject(t, E_OP_SNAPSHOT, storage,
                           "%s: the mask names slots from %u on; snapshot rejected", info->name, num_slots);
        } else if (expected != num_valid) {
            uscopei_reject(t, E_OP_SNAPSHOT, storage,
                           "%s: snapshot of %u slots, %s has %u; snapshot rejected", info->name, num_valid,
                           mask ? "the mask" : "the storage", expected);
        } else if (!slots && num_valid > 0) {
            uscopei_reject(t, E_OP_SNAPSHOT, storage, "%s: snapshot without slot data; snapshot rejected",
                           info->name);
        } else {
            return true;
        }
    }
    return false;
}

void uscope_checkpoint_storage(uscope_writer_t *w, uint16_t storage, const uint8_t *valid_mask,
                               const void *slot_data, uint32_t num_valid)
{
    struct uscopei_trace *t = uscopei_resolve(w, "checkpoint_storage");
    if (!t || t->session->state == ST_UNTRACED) return;
    if (t->session->state != ST_CALLBACK) {
        uscopei_reject(t, E_OP_SNAPSHOT, UINT64_C(1) << 40,
                       "checkpoint_storage outside a checkpoint callback; snapshot rejected");
        return;
    }
    if (storage >= t->num_storages) {
        uscopei_reject(t, E_OP_STORAGE, storage,
                       "storage id %u is not in the schema, which has %u; snapshot rejected", storage,
                       t->num_storages);
        return;
    }
    if (uscopei_skips_storage(t, storage, 0)) return; /* it stays as it was left */
    if (!check_snapshot(t, storage, valid_mask, slot_data, num_valid)) return;
    struct source source = {valid_mask, slot_data, 0};
    if (valid_mask) source.mask_size = ((size_t)t->storages[storage].num_slots + 7) / 8;
    uint64_t total =
        source.mask_size + (uint64_t)num_valid * t->session->schema->storage_infos[storage].slot_size;
    if (total > UINT32_MAX) {
        uscopei_reject(t, E_OP_SNAPSHOT, storage, "%s: a snapshot of %llu bytes; snapshot rejected",
                       t->session->schema->storage_infos[storage].name, (unsigned long long)total);
        return;
    }
    for (uint64_t at = 0; at < total; at += PART) {
        uint32_t size = total - at < PART ? (uint32_t)(total - at) : PART;
        if (!put_part(t, storage, &source, (uint32_t)at, size, (uint32_t)total)) return;
    }
}
