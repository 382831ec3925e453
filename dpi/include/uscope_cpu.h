/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file uscope_cpu.h
 * Helper for the `cpu` protocol: a model says what happens to its instructions, the helper makes the items of
 * it in the order that viewers rely on. It gives out entity slots, keeps count of what is in flight and of
 * what buffers hold, and works with any schema whose scope follows the protocol: names are looked up once,
 * and what the schema leaves out (events, optional fields, buffers, counters) is skipped.
 *
 * All calls but those that look up or create are inside a cycle (uscope_begin_cycle, uscope_end_cycle).
 * Items may be mixed with those of uscope.h, except on the entity catalog and on buffers the helper was
 * given. Misuse is rejected, counted and reported like that of uscope.h (OP_SLOT: an id that is not in
 * flight, no free slot, a full or an empty buffer). A null handle is legal everywhere: the call does nothing.
 *
 * Several helpers of one trace (one per core) and of several traces may be used; one by one thread at a time.
 */
#ifndef USCOPE_CPU_H
#define USCOPE_CPU_H

#include "uscope.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Opaque; `void`, so that it is usable as a DPI `chandle`. */
typedef void uscope_cpu_t;

/** Result of uscope_cpu_fetch when nothing was born. Every call takes it and does nothing. */
#define USCOPE_CPU_NONE 0xFFFFFFFFu

/**
 * A helper for the scope `scope` ("core0", "" for the root). NULL, reported, when it has no sparse storage
 * `entities` with a field `entity_id`; NULL for a null trace. Free with uscope_cpu_free, before or after the
 * trace is closed.
 */
USCOPE_API uscope_cpu_t *uscope_cpu_new(uscope_writer_t *w, const char *scope);
USCOPE_API void uscope_cpu_free(uscope_cpu_t *cpu);

/* ---- instructions */

/**
 * An instruction is fetched: the id of its entity, which is its slot, with `pc` and `inst_bits` set.
 * USCOPE_CPU_NONE, reported, when every slot is taken. A slot that was cleared is given out again in a later
 * cycle at the earliest, and not while a buffer holds its id.
 */
USCOPE_API unsigned int uscope_cpu_fetch(uscope_cpu_t *cpu, unsigned long long pc, unsigned int inst_bits);
/** Sets another field of an entity (thread_id, priv_level, ...), found by uscope_cpu_field. */
USCOPE_API void uscope_cpu_set(uscope_cpu_t *cpu, unsigned int id, int field, unsigned long long value);
USCOPE_API void uscope_cpu_stage(uscope_cpu_t *cpu, unsigned int id, unsigned int stage);
/** Text that begins with the PC in hexadecimal is taken as disassembly. */
USCOPE_API void uscope_cpu_annotate(uscope_cpu_t *cpu, unsigned int id, const char *text);
/** `consumer` waits for `producer`; both must be in flight. */
USCOPE_API void uscope_cpu_dependency(uscope_cpu_t *cpu, unsigned int producer, unsigned int consumer,
                                      unsigned int type);
/** A cycle in which the core made no progress, for this reason. */
USCOPE_API void uscope_cpu_stall(uscope_cpu_t *cpu, unsigned int reason);
/** The optional event `trap`: the instruction raised `cause`, the core continues at `target`. */
USCOPE_API void uscope_cpu_trap(uscope_cpu_t *cpu, unsigned int id, unsigned long long cause,
                                unsigned long long tval, unsigned long long target);
/** The instruction has retired: its slot is cleared. Buffers may still hold it (a store buffer does). */
USCOPE_API void uscope_cpu_retire(uscope_cpu_t *cpu, unsigned int id);
/** One instruction is squashed: out of all buffers, a flush event, then CLEAR. */
USCOPE_API void uscope_cpu_flush(uscope_cpu_t *cpu, unsigned int id, unsigned int reason);
/** All fetched after this one are squashed, youngest first; it stays. How many there were. */
USCOPE_API unsigned int uscope_cpu_flush_younger(uscope_cpu_t *cpu, unsigned int id, unsigned int reason);
/** All in flight are squashed, youngest first. How many there were. */
USCOPE_API unsigned int uscope_cpu_flush_all(uscope_cpu_t *cpu, unsigned int reason);
/**
 * The core is reset: all in flight are squashed with reason `pipeline_clear`, all buffers emptied, pointers
 * 0. Counters are the model's business. Legal at any time inside a cycle, as often as wanted.
 */
USCOPE_API void uscope_cpu_reset(uscope_cpu_t *cpu);
/** 1 while the entity is in flight. */
USCOPE_API int uscope_cpu_is_in_flight(uscope_cpu_t *cpu, unsigned int id);
USCOPE_API unsigned int uscope_cpu_in_flight(uscope_cpu_t *cpu);

/* ---- buffers: re-order buffer, queues, pipeline registers */

/** Handle of the buffer `name` of the scope; -1 when the schema has none, and calls with -1 do nothing. */
USCOPE_API int uscope_cpu_buffer(uscope_cpu_t *cpu, const char *name);
/**
 * Puts an entity in: at the tail of a buffer that has a head or tail pointer (a property with that role),
 * else in the lowest free slot. The slot, -1 (reported) when the buffer is full. The pointers follow: head is
 * the slot of the oldest, tail the slot that comes next.
 */
USCOPE_API int uscope_cpu_push(uscope_cpu_t *cpu, int buffer, unsigned int id);
/** Puts an entity into a slot that the model has chosen, instead of what is there. Not in rings. */
USCOPE_API void uscope_cpu_place(uscope_cpu_t *cpu, int buffer, int slot, unsigned int id);
/** Takes the oldest out of a ring, of others that in the lowest slot. Its id, USCOPE_CPU_NONE (reported). */
USCOPE_API unsigned int uscope_cpu_pop(uscope_cpu_t *cpu, int buffer);
/** Empties a slot; the head of a ring goes past slots that are empty. */
USCOPE_API void uscope_cpu_remove(uscope_cpu_t *cpu, int buffer, int slot);
/** Sets a field of an entry, found by uscope_cpu_buffer_field; not entity_id. */
USCOPE_API void uscope_cpu_buffer_set(uscope_cpu_t *cpu, int buffer, int slot, int field,
                                      unsigned long long value);
/** Entries in a buffer. */
USCOPE_API unsigned int uscope_cpu_buffer_count(uscope_cpu_t *cpu, int buffer);

/* ---- counters */

/** Handle of the counter `name` of the scope, -1 when the schema has none; counting with -1 does nothing. */
USCOPE_API int uscope_cpu_counter(uscope_cpu_t *cpu, const char *name);
USCOPE_API void uscope_cpu_count(uscope_cpu_t *cpu, int counter, unsigned long long delta);

/* ---- in-order pipelines: all instructions in one call for each cycle */

/** Opaque; `void`, so that it is usable as a DPI `chandle`. */
typedef void uscope_pipeline_t;

/**
 * An in-order pipeline of 2 to 8 stages in the scope `scope`: the model says which stages are occupied and
 * how their instructions leave, and who is where follows from that. It makes the items that single calls
 * would make, at a fraction of their cost, and has nothing to do with a helper of the same scope: use one or
 * the other. Free it with uscope_pipeline_free, before or after the trace is closed; there may be 256 at a
 * time.
 *
 * The scope has a sparse storage `entities` that begins with entity_id, pc (64 bits) and inst_bits (32 bits),
 * with four times as many slots as there are stages; and the events stage_transition {entity_id, stage},
 * whose labels are in the order of the stages, annotate {entity_id, text} and flush {entity_id, reason}.
 * The sparse storage `registers`, "" for none, holds the pipeline registers: in the first field of slot i the
 * entity in stage i + 1. NULL, reported, where anything of this is missing; NULL for a null trace.
 */
USCOPE_API uscope_pipeline_t *uscope_pipeline_new(uscope_writer_t *w, const char *scope,
                                                  const char *registers, unsigned int num_stages);
USCOPE_API void uscope_pipeline_free(uscope_pipeline_t *pipeline);
/**
 * What the cycle has been. Bit i of a mask is stage i, 0 being fetch: `valid`, who is there; `hold`, who
 * stays for another cycle; `kill`, who is squashed at its end, for `reason`. Neither held nor killed, an
 * instruction moves on, and out of the last stage it retires. Who comes into stage 0 is born there, with
 * `pc`, `inst_bits` and `text`, an index from uscope_string (USCOPE_NO_STRING: no annotation). What the end
 * of a cycle does (retired, squashed) is recorded by the next step, in the cycle in which it can be seen. The
 * stages that were entered are returned.
 */
USCOPE_API unsigned int uscope_pipeline_step(uscope_pipeline_t *pipeline, unsigned int valid,
                                             unsigned int hold, unsigned int kill, unsigned int reason,
                                             unsigned long long pc, unsigned int inst_bits,
                                             unsigned int text);
/** The entity that the last step had in this stage; meaningless where nobody was. */
USCOPE_API unsigned int uscope_pipeline_entity(uscope_pipeline_t *pipeline, unsigned int stage);
/**
 * The instruction in stage `consumer` needs a value of that in stage `producer`, both as the last step had
 * them: the event dependency {src_id, dst_id, dep_type}, which only this call asks of the scope.
 */
USCOPE_API void uscope_pipeline_dependency(uscope_pipeline_t *pipeline, unsigned int producer,
                                           unsigned int consumer, unsigned int dep_type);

/* ---- names: numbers of labels, by the enums of the schema; -1, reported, when there is none */

USCOPE_API int uscope_cpu_stage_id(uscope_cpu_t *cpu, const char *label);
USCOPE_API int uscope_cpu_flush_id(uscope_cpu_t *cpu, const char *label);
USCOPE_API int uscope_cpu_stall_id(uscope_cpu_t *cpu, const char *label);
USCOPE_API int uscope_cpu_dependency_id(uscope_cpu_t *cpu, const char *label);
/** A field of `entities`, of a buffer; -1, not reported, when there is none: setting it does nothing. */
USCOPE_API int uscope_cpu_field(uscope_cpu_t *cpu, const char *name);
USCOPE_API int uscope_cpu_buffer_field(uscope_cpu_t *cpu, int buffer, const char *name);

#ifdef __cplusplus
}
#endif
#endif
