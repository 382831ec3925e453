/* SPDX-License-Identifier: Apache-2.0 */
/* What the checkpoint of a segment says. */
#include "state.h"

enum { BLOCK_HEAD_BYTES = 8 };

static uint32_t bits_in(uint32_t byte)
{
    return (uint32_t)__builtin_popcount(byte);
}

static uint32_t count_taken(const uint8_t *mask, uint32_t size)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < size; i++)
        count += bits_in(mask[i]);
    return count;
}

/* Occupied: slots with data. Which of the others are, only ops say. */
static void take_dense(struct followed *followed, const struct plan_storage *storage)
{
    for (uint32_t slot = 0; slot < storage->slots; slot++) {
        const uint8_t *bytes = followed->block + (uint64_t)slot * storage->slot_bytes;
        for (uint32_t i = 0; i < storage->slot_bytes; i++)
            if (bytes[i]) followed->taken[slot] = 1;
    }
}

static bool load_block(struct pass *pass, uint32_t id, const uint8_t *block, uint32_t size)
{
    const struct plan_storage *storage = pass->storages + id;
    struct followed *followed = pass->followed + id;
    followed->block = block;
    followed->block_size = size;
    if (storage->kind == STORAGE_SPARSE) {
        uint32_t bytes = mask_bytes(storage);
        if (size < bytes) return false;
        if (!is_mask(block, storage)) return false;
        uint64_t slots = count_taken(block, bytes);
        if (size < bytes + slots * storage->slot_bytes) return false;
        take_mask(followed, block);
    } else if (size < (uint64_t)storage->slots * storage->slot_bytes) {
        return false;
    }
    if (storage->kind == STORAGE_DENSE_BUFFER) take_dense(followed, storage);
    if (storage->kind == STORAGE_COUNTER) followed->value = read_u64(block);
    return true;
}

static bool load_blocks(struct pass *pass)
{
    const uint8_t *at = pass->job->checkpoint, *end = at + pass->job->checkpoint_size;
    while (at < end) {
        if (end - at < BLOCK_HEAD_BYTES) return false;
        uint32_t id = read_u16(at), size = read_u32(at + 4);
        at += BLOCK_HEAD_BYTES;
        if (size > (uint64_t)(end - at) || id >= pass->head->storages) return false;
        if (!load_block(pass, id, at, size)) return false;
        at += size;
    }
    for (uint32_t id = 0; id < pass->head->storages; id++) {
        struct followed *followed = pass->followed + id;
        if (!followed->track) continue;
        followed->track->count = slots_taken(followed);
    }
    return true;
}

static uint64_t read_wide(const uint8_t *bytes, uint32_t size)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < size && i < 8; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static void load_written(struct written *written, const struct plan_core *core, uint32_t slot,
                         const uint8_t *data)
{
    struct slot_text *text = written->slots + slot;
    text->pc = read_wide(data + core->pc_offset, core->pc_bytes);
    text->bits = (uint32_t)read_wide(data + core->bits_offset, core->bits_bytes);
}

static void load_core(struct pass *pass, uint32_t index)
{
    const struct plan_core *core = pass->cores + index;
    struct slots *slots = pass->slots + index;
    if (!slots->size) return;
    const struct followed *followed = pass->followed + core->catalogue;
    const struct plan_storage *storage = pass->storages + core->catalogue;
    if (!followed->block) return;
    const uint8_t *data = followed->block + mask_bytes(storage);
    struct written *written = pass->written + index;
    for (uint32_t slot = 0; slot < storage->slots; slot++) {
        if (!followed->taken[slot]) continue;
        bool has_id = core->id_field != PLAN_NONE;
        slots_bear(slots, slot, has_id ? read_low(data + core->id_offset, core->id_bytes) : slot, false);
        if (written->slots) load_written(written, core, slot, data);
        data += storage->slot_bytes;
    }
}

bool load_checkpoint(struct pass *pass)
{
    if (!load_blocks(pass)) return false;
    for (uint32_t i = 0; i < pass->head->cores; i++)
        load_core(pass, i);
    return true;
}
