/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of one segment (docs/format.md#index-containers), as test/oracle/index has it
 * plainly. The result depends on plan, checkpoint, frames and carry alone. Nothing is allocated and nothing
 * is kept: the caller gives the memory.
 */
#ifndef USCOPE_INDEX_PASS_H
#define USCOPE_INDEX_PASS_H

#include <stdint.h>

enum {
    /* What went before is not known, or is in the carry (of no bytes: this is the first segment). */
    CARRY_UNKNOWN,
    CARRY_KNOWN,
};

struct index_job {
    const uint32_t *plan;
    const uint8_t *checkpoint;
    const uint8_t *frames; /* interleaved */
    const uint8_t *carry;
    uint8_t *scratch; /* index_scratch_bytes, 8-aligned */
    uint8_t *out;
    uint32_t checkpoint_size, frames_size, carry_size, carry_known;
    uint32_t scratch_size, out_size;
    uint32_t plan_crc;
    /* 0: ops name the slots of a storage only, as in files of ours. */
    uint32_t strange_slots;
    uint64_t start; /* time_start_ps */
    /* Results: where the CARRY part is in `out`. */
    uint32_t carry_at, carry_length;
    /* Frames of v0.1 list ops first: a flush is about the one that was cleared, not about its successor. */
    uint32_t events_last;
};

/* UINT32_MAX: the schema is too large for an index. */
uint32_t index_scratch_bytes(const uint32_t *plan, uint32_t strange_slots);

/*
 * Writes the container, with neither file offset nor checksum. Returns its size; 0: frames or checkpoint do
 * not follow the schema, or it does not fit.
 */
uint32_t index_segment(struct index_job *job);

#endif
