/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of an index as u32 words: sdk/src/trace-index/plan-words.ts writes and describes them. */
#ifndef USCOPE_INDEX_PLAN_H
#define USCOPE_INDEX_PLAN_H

#include <stdint.h>

enum {
    PLAN_LAYOUT = 6,
    PLAN_NONE = 0xffffffff,
    PLAN_BUCKET_CYCLES = 256,
    PLAN_MAP_BYTES = 256,
};

struct plan_head {
    uint32_t layout, storages, events, groups, cores;
    /* First words of the tables. */
    uint32_t group_table, storage_table, event_table, core_table, maps;
    uint32_t words, unused;
};

struct plan_group {
    uint32_t period; /* ps */
    uint32_t columns;
    uint32_t unused[2];
};

enum storage_kind { STORAGE_OTHER, STORAGE_SPARSE, STORAGE_DENSE_BUFFER, STORAGE_COUNTER };

struct plan_storage {
    uint32_t kind;
    uint32_t group;  /* PLAN_NONE: nothing of it is counted */
    uint32_t column; /* the first */
    uint32_t slots;
    uint32_t slot_bytes;
    uint32_t core; /* whose catalogue it is, + 1 */
    uint32_t fields;
    uint32_t unused;
};

enum event_role { EVENT_OTHER, EVENT_FLUSH, EVENT_STALL, EVENT_STAGE };

struct plan_event {
    uint32_t payload;
    uint32_t group, column;
    uint32_t label; /* its offset in the payload + 1; 0: none */
    uint32_t map;
    uint32_t role, core;
    uint32_t string; /* offset of the first one in the payload + 1; 0: none */
};

struct plan_core {
    uint32_t group;
    uint32_t catalogue, slots;
    uint32_t id_field, id_offset, id_bytes;
    uint32_t flush_id, flush_id_bytes; /* offset in the payload + 1 */
    uint32_t flush_reason, flush_map;
    uint32_t retired, squashed;
    uint32_t flushes, flush_columns;
    uint32_t stalls, stall_columns;
    uint32_t stall_reason, stall_map;
    uint32_t pc_field, pc_offset, pc_bytes; /* the offset is that in a slot */
    uint32_t bits_field, bits_offset, bits_bytes;
    uint32_t stage_id, stage_id_bytes, stage, stage_bytes; /* offsets in the payload + 1 */
    uint32_t stage_map;
    uint32_t stages; /* columns of them; 0: the core has no rows */
    uint32_t stall_id, stall_id_bytes;
    uint32_t mix_xlen; /* machine code is counted by class, as that of this word size; 0: it is not */
};

static inline const struct plan_head *plan_head(const uint32_t *plan)
{
    return (const struct plan_head *)plan;
}

static inline const struct plan_group *plan_groups(const uint32_t *plan)
{
    return (const struct plan_group *)(plan + plan_head(plan)->group_table);
}

static inline const struct plan_storage *plan_storages(const uint32_t *plan)
{
    return (const struct plan_storage *)(plan + plan_head(plan)->storage_table);
}

static inline const struct plan_event *plan_events(const uint32_t *plan)
{
    return (const struct plan_event *)(plan + plan_head(plan)->event_table);
}

static inline const struct plan_core *plan_cores(const uint32_t *plan)
{
    return (const struct plan_core *)(plan + plan_head(plan)->core_table);
}

/* By value, columns counted from the first one of labels. */
static inline const uint8_t *plan_labels(const uint32_t *plan, uint32_t map)
{
    const uint8_t *maps = (const uint8_t *)(plan + plan_head(plan)->maps);
    return maps + map * PLAN_MAP_BYTES;
}

static inline uint32_t plan_label(const uint32_t *plan, uint32_t map, uint8_t value)
{
    return plan_labels(plan, map)[value];
}

#endif
