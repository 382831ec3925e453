/* SPDX-License-Identifier: Apache-2.0 */
/* An in-order pipeline as its steps see it. What the schema says was looked up when it was made. */
#ifndef USCOPE_PIPELINE_H
#define USCOPE_PIPELINE_H

#include "record/append.h"
#include "uscope_cpu.h"

#pragma GCC visibility push(hidden)

enum {
    MAX_PIPELINES = 256, /* a power of two */
    PIPELINE_STRIDE = 512,
    MAX_STAGES = 8, /* an id is a byte, and a word holds those of all stages */
    MAX_IDS = 256,
    /* retired; birth; transitions; registers set, registers cleared */
    MAX_RECORDS = 1 + 4 + 1 + 1 + (MAX_STAGES - 1),
};

/* As the handle of a trace, this is not an address: any value names some place of the table. */
#define PIPELINE_MARK ((uintptr_t)0xF75D << (sizeof(uintptr_t) * 8 - 16))
#define PIPELINE_SLOT ((uintptr_t)(MAX_PIPELINES - 1) * PIPELINE_STRIDE)

struct pipeline {
    uintptr_t handle; /* 0: nobody's */
    struct uscopei_trace *t;
    uscope_writer_t *w;                 /* its handle, which may have been closed */
    const struct storage_shape *shapes; /* the schema's: what the trace has while nothing is disabled */
    union {
        uint64_t all;
        uint8_t in[MAX_STAGES];
    } ids; /* the entity in each stage */
    /* of the last step: who was there, and how they left, where they were */
    uint32_t valid, hold, kill, reason;

    uint32_t stages; /* a bit for each */
    uint32_t last_stage, last_bit;
    uint32_t next_id, last_id; /* ids are given out in turn; last_id is a mask */
    uint32_t text_shift;
    uint32_t behind_registers; /* stages that have a register in front of them */
    struct {
        uint64_t word, limit;
        uint32_t bytes, more_records, at[3]; /* its fields, from the record on */
    } depends;
    bool has_registers, has_dependency;
    uint16_t entities, registers, stage, annotate, flush, dependency;
    uint64_t clear, put[3], annotate_word;
    uint64_t stages_word, set;    /* lane records of no lanes */
    uint64_t cleared[MAX_STAGES]; /* of the pipeline register in front of a stage; of stage 0 there is none */
};

union uscopei_pipeline_slot {
    struct pipeline pipeline;
    unsigned char bytes[PIPELINE_STRIDE];
};

extern union uscopei_pipeline_slot uscopei_pipelines[MAX_PIPELINES];
/** Bits of stages, each widened to the byte of an id. */
extern uint64_t uscopei_stage_bytes[1 << MAX_STAGES];

static inline struct pipeline *pipeline_at(const void *handle)
{
    unsigned char *table = (unsigned char *)uscopei_pipelines;
    return (struct pipeline *)(void *)(table + ((uintptr_t)handle & PIPELINE_SLOT));
}

/** NULL, reported once unless the handle is null. */
COLD struct pipeline *uscopei_no_pipeline(const void *handle, const char *call);

static inline bool is_pipeline(const struct pipeline *p, const void *handle)
{
    return LIKELY(p->handle == (uintptr_t)handle && handle);
}

static inline struct pipeline *resolve_pipeline(const void *handle, const char *call)
{
    struct pipeline *p = pipeline_at(handle);
    return is_pipeline(p, handle) ? p : uscopei_no_pipeline(handle, call);
}

#pragma GCC visibility pop

#endif
