/* SPDX-License-Identifier: Apache-2.0 */
/* The records of a core's instructions, by their slots; the reference is
 * sdk/src/formats/pipeline/core-records.ts. */
#ifndef USCOPE_PIPELINE_CORE_H
#define USCOPE_PIPELINE_CORE_H

#include <stdint.h>

#include "output.h"

/* Numbers of what the schema has; sdk/src/formats/pipeline/kernel/pipeline-kernel.ts knows the order. */
struct core {
    /* Instructions in flight at a time, at most 65,535. */
    uint32_t slots;
    uint32_t entities, committed;
    uint32_t entity_id, pc, thread_id, gid, log_id;
    uint32_t flush_reason, dependency_types;
    struct event stage_transition, annotate, dependency, flush, retire, lane_start, lane_end, late_dependency;
};

extern struct core core;
struct core *core_at(void);

/* The slot of an instruction that begins; it must be known that there is one. */
uint32_t core_birth(void);
uint32_t slots_left(void);
/* Time has moved on: slots that were given back may be taken. */
void slots_settle(void);

INLINE void core_set(uint32_t slot, uint32_t field, uint64_t value)
{
    put_op(ACTION_SET, core.entities, slot, field, value);
}

void core_stage(uint32_t slot, uint32_t stage);
/* Returns the payload, for what follows in it. */
uint8_t *core_annotate(uint32_t slot, uint32_t string);
void core_flush(uint32_t slot);
void core_commit(void);
/* The instruction is over. */
void core_clear(uint32_t slot);

#endif
