/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The `cpu` protocol for in-order pipelines. A step writes records for all stages at once, and makes the same
 * items by single calls where anything is not as usual.
 */
#include <string.h>

#include "protocols/pipeline.h"

static inline void end_step(struct pipeline *p, uint32_t valid, uint32_t hold, uint32_t kill, uint32_t reason)
{
    p->valid = valid;
    p->hold = hold;
    p->kill = kill;
    p->reason = reason;
}

/* -- as single calls */

static void end_last_cycle(const struct pipeline *p)
{
    uint32_t killed = p->valid & p->kill, moved = p->valid & ~p->hold & ~p->kill;
    if (moved >> p->last_stage) uscope_slot_clear(p->w, p->entities, p->ids.in[p->last_stage]);
    for (unsigned i = p->last_stage + 1; i-- > 0;) {
        if (!(killed >> i & 1)) continue;
        uint32_t id = p->ids.in[i];
        uscope_event2(p->w, p->flush, id, p->reason);
        uscope_slot_clear(p->w, p->entities, (uint16_t)id);
    }
}

static void move(struct pipeline *p, uint32_t stayed)
{
    for (unsigned i = p->last_stage + 1; i-- > 0;) {
        if (!(stayed >> i & 1)) p->ids.in[i] = i > 0 ? p->ids.in[i - 1] : (uint8_t)p->next_id;
    }
}

static void enter(const struct pipeline *p, uint32_t arrives)
{
    for (unsigned i = 0; i <= p->last_stage; i++)
        if (arrives >> i & 1) uscope_event2(p->w, p->stage, p->ids.in[i], i);
    if (!p->has_registers) return;
    for (unsigned i = 1; i <= p->last_stage; i++)
        if (arrives >> i & 1) uscope_slot_put1(p->w, p->registers, (uint16_t)(i - 1), p->ids.in[i]);
}

static void record_step(struct pipeline *p, uint32_t was, uint32_t stayed, uint32_t is, uint64_t pc,
                        uint32_t inst, uint32_t text)
{
    uint32_t arrives = is & ~stayed;
    move(p, stayed);
    if (arrives & 1) {
        uint32_t id = p->ids.in[0];
        p->next_id = (p->next_id + 1) & p->last_id;
        uscope_slot_put3(p->w, p->entities, (uint16_t)id, id, pc, inst);
        if (text != USCOPE_NO_STRING) uscope_event2(p->w, p->annotate, id, text);
    }
    enter(p, arrives);
    if (p->has_registers) uscope_slot_clear_lanes(p->w, p->registers, (was & ~is) >> 1);
}

/* -- written */

static inline unsigned char *put_birth(struct pipeline *p, unsigned char *at, uint64_t pc, uint32_t inst,
                                       uint32_t text)
{
    uint32_t next = p->next_id;
    uint64_t id = next, slot = id << 32;
    p->next_id = (next + 1) & p->last_id;
    store_record(at, p->put[0] + slot, id);
    store_record(at + RECORD_BYTES, p->put[1] + slot, pc);
    store_record(at + 2 * RECORD_BYTES, p->put[2] + slot, inst);
    at += 3 * RECORD_BYTES;
    store_record(at, p->annotate_word, id | (uint64_t)text << p->text_shift);
    return LIKELY(text != USCOPE_NO_STRING) ? at + RECORD_BYTES : at;
}

/*
 * All stages in one record, and the registers in front of them in another, in which a lane is a stage or a
 * register. Both are written in any case and stay where one has been entered: which are changes from cycle to
 * cycle, and a branch on it would be guessed wrong.
 */
static inline unsigned char *put_stages(const struct pipeline *p, unsigned char *at, uint32_t arrives)
{
    uint32_t registers = (arrives & p->behind_registers) >> 1;
    store_record(at, p->stages_word | arrives << LANE_SHIFT, p->ids.all);
    at = arrives ? at + RECORD_BYTES : at;
    store_record(at, p->set | registers << LANE_SHIFT, p->ids.all >> 8);
    return registers ? at + RECORD_BYTES : at;
}

static inline unsigned char *put_emptied(const struct pipeline *p, unsigned char *at, uint32_t emptied)
{
    for (; emptied; emptied &= emptied - 1, at += RECORD_BYTES)
        store_record(at, p->cleared[__builtin_ctz(emptied)], 0);
    return at;
}

/* The handle is good, nothing is disabled, there is room. */
static inline bool is_usual(const struct pipeline *p, const void *handle, size_t bytes)
{
    if (!is_pipeline(p, handle)) return false;
    const struct uscopei_trace *t = p->t;
    return LIKELY(t->frame_handle == (uintptr_t)p->w && t->storages == p->shapes &&
                  t->cursor + bytes < t->limit);
}

static inline bool has_text(const struct pipeline *p, uint32_t text)
{
    return LIKELY(text < p->t->num_strings) || text == USCOPE_NO_STRING;
}

enum { STEP_BYTES = MAX_RECORDS * RECORD_BYTES };

/* A step may be written. */
static inline bool is_usual_step(const struct pipeline *p, const void *handle, uint32_t text)
{
    return is_usual(p, handle, STEP_BYTES) && may_put_lanes(p->t) && has_text(p, text);
}

/* Where everything is as usual: all but how the last step's instructions ended. */
static inline __attribute__((always_inline)) void write_step(struct pipeline *p, unsigned char *at,
                                                             uint32_t was, uint32_t stayed, uint32_t is,
                                                             uint64_t pc, uint32_t inst, uint32_t text)
{
    uint32_t arrives = is & ~stayed;
    uint64_t ids = p->ids.all, moved = ids << 8 | p->next_id;
    p->ids.all = moved ^ ((ids ^ moved) & uscopei_stage_bytes[stayed]);
    if (arrives & 1) at = put_birth(p, at, pc, inst, text);
    at = put_stages(p, at, arrives);
    uint32_t emptied = was & ~is & p->behind_registers;
    if (UNLIKELY(emptied)) at = put_emptied(p, at, emptied);
    p->t->cursor = at;
}

/* For a pipeline of this handle or none. */
static COLD unsigned int step_slow(uscope_pipeline_t *handle, uint32_t valid, uint32_t hold, uint32_t kill,
                                   uint32_t reason, unsigned long long pc, uint32_t inst, uint32_t text)
{
    struct pipeline *p = resolve_pipeline(handle, "pipeline_step");
    if (!p) return 0;
    uint32_t was = p->valid, stayed = was & p->hold & ~p->kill, is = valid & p->stages;
    uint32_t arrives = is & ~stayed;
    end_last_cycle(p);
    if (p->t->frame_handle == (uintptr_t)p->w) uscopei_take_step(p->t, STEP_BYTES);
    if (is_usual(p, handle, STEP_BYTES)) uscopei_begin_lanes(p->t);
    if (is_usual_step(p, handle, text))
        write_step(p, p->t->cursor, was, stayed, is, pc, inst, text);
    else
        record_step(p, was, stayed, is, pc, inst, text);
    end_step(p, is, hold, kill, reason);
    return arrives;
}

unsigned int uscope_pipeline_step(uscope_pipeline_t *handle, unsigned int valid, unsigned int hold,
                                  unsigned int kill, unsigned int reason, unsigned long long pc,
                                  unsigned int inst_bits, unsigned int text)
{
    struct pipeline *p = pipeline_at(handle);
    uint32_t was = p->valid;
    if (UNLIKELY(!is_usual_step(p, handle, text) || was & p->kill))
        return step_slow(handle, valid, hold, kill, reason, pc, inst_bits, text);
    uint32_t stayed = was & p->hold, is = valid & p->stages;
    end_step(p, is, hold, kill, reason);
    unsigned char *at = p->t->cursor;
    /* from the second line on: BEGIN is in the first */
    prefetch_ahead(at + 64);
    prefetch_ahead(at + 128);
    store_record(at, p->clear + ((uint64_t)p->ids.in[p->last_stage] << 32), 0);
    at += ((was ^ stayed) >> p->last_stage & 1) * RECORD_BYTES;
    write_step(p, at, was, stayed, is, pc, inst_bits, text);
    return is & ~stayed;
}

/* -- who is where */

unsigned int uscope_pipeline_entity(uscope_pipeline_t *handle, unsigned int stage)
{
    struct pipeline *p = resolve_pipeline(handle, "pipeline_entity");
    return p && stage <= p->last_stage ? p->ids.in[stage] : 0;
}

static COLD void refuse_dependency(const struct pipeline *p, unsigned producer, unsigned consumer)
{
    struct uscopei_trace *t = uscopei_resolve_in_frame(p->w, "pipeline_dependency");
    if (!t) return;
    if (!p->has_dependency)
        uscopei_reject(t, E_OP_EVENT, UINT64_C(1) << 34,
                       "pipeline_dependency: the pipeline's scope has no event dependency {src_id, dst_id, "
                       "dep_type}; item rejected");
    else
        uscopei_reject(t, E_OP_VALUE, UINT64_C(1) << 34,
                       "pipeline_dependency: stages %u and %u of %u; item rejected", producer, consumer,
                       p->last_stage + 1);
}

/* By a single call, or refused. */
static COLD void dependency_slow(uscope_pipeline_t *handle, uint32_t producer, uint32_t consumer,
                                 uint32_t dep_type)
{
    struct pipeline *p = resolve_pipeline(handle, "pipeline_dependency");
    if (!p) return;
    if (p->has_dependency && producer <= p->last_stage && consumer <= p->last_stage)
        uscope_event3(p->w, p->dependency, p->ids.in[producer], p->ids.in[consumer], dep_type);
    else
        refuse_dependency(p, producer, consumer);
}

void uscope_pipeline_dependency(uscope_pipeline_t *handle, unsigned int producer, unsigned int consumer,
                                unsigned int dep_type)
{
    struct pipeline *p = pipeline_at(handle);
    if (UNLIKELY(!is_usual(p, handle, p->depends.bytes) || producer > p->last_stage ||
                 consumer > p->last_stage || dep_type >= p->depends.limit)) {
        dependency_slow(handle, producer, consumer, dep_type);
        return;
    }
    struct uscopei_trace *t = p->t;
    unsigned char *at = t->cursor;
    uint64_t ids[] = {p->ids.in[producer], p->ids.in[consumer]}, type = dep_type;
    put_record(at + p->depends.bytes - RECORD_BYTES, 0, 0);
    memcpy(at, &p->depends.word, 8);
    /* each overwrites what was too much of the one before */
    memcpy(at + p->depends.at[0], &ids[0], 8);
    memcpy(at + p->depends.at[1], &ids[1], 8);
    memcpy(at + p->depends.at[2], &type, 8);
    t->cursor = at + p->depends.bytes;
    t->more_items -= p->depends.more_records;
}
