/* SPDX-License-Identifier: Apache-2.0 */
/* The `cpu` protocol: what happens to instructions, as the items that record it. */
#include "uscope_cpu.h"

#include <stdlib.h>

#include "protocols/catalog.h"

struct cpu {
    struct catalog catalog; /* first: the table knows helpers as catalogs */
    int pc, inst_bits;      /* fields, -1: none */
    bool usual;             /* entity_id, pc and inst_bits are fields 0, 1, 2 */
    int pipeline_clear;
    struct catalog_event stage, annotate, dependency, flush, stall, trap;
};

static struct cpu *enter(uscope_cpu_t *handle, const char *call, struct uscopei_trace **t)
{
    return (struct cpu *)catalog_enter(handle, CATALOG_CPU, call, t);
}

static struct cpu *resolve(const uscope_cpu_t *handle, const char *call)
{
    return (struct cpu *)catalog_resolve(handle, CATALOG_CPU, call);
}

static struct cpu *lookup(const uscope_cpu_t *handle, const char *call)
{
    return (struct cpu *)catalog_lookup(handle, CATALOG_CPU, call);
}

/* The helper, when this entity of it is in flight. */
static struct cpu *enter_with(uscope_cpu_t *handle, unsigned id, const char *call, struct uscopei_trace **t)
{
    struct cpu *cpu = enter(handle, call, t);
    return cpu && catalog_alive(&cpu->catalog, *t, id, call) ? cpu : NULL;
}

static void bind_events(struct cpu *cpu)
{
    struct catalog *c = &cpu->catalog;
    catalog_bind(c, "stage_transition", &cpu->stage, 2, (const char *const[]){"entity_id", "stage"});
    catalog_bind(c, "annotate", &cpu->annotate, 2, (const char *const[]){"entity_id", "text"});
    catalog_bind(c, "dependency", &cpu->dependency, 3, (const char *const[]){"src_id", "dst_id", "dep_type"});
    catalog_bind(c, "flush", &cpu->flush, 2, (const char *const[]){"entity_id", "reason"});
    catalog_bind(c, "stall", &cpu->stall, 1, (const char *const[]){"reason"});
    catalog_bind(c, "trap", &cpu->trap, 4, (const char *const[]){"entity_id", "cause", "tval", "target"});
    cpu->pipeline_clear = cpu->flush.type >= 0 ? catalog_label(c, "flush", "reason", "pipeline_clear") : -1;
}

uscope_cpu_t *uscope_cpu_new(uscope_writer_t *w, const char *scope)
{
    if (!w) return NULL;
    struct cpu *cpu = calloc(1, sizeof *cpu);
    if (!cpu) return NULL;
    struct catalog *c = &cpu->catalog;
    c->kind = CATALOG_CPU;
    c->noun = "entity";
    c->id_name = "entity_id";
    void *handle = catalog_open(c, w, scope, "entities") ? catalog_register(c) : NULL;
    if (!handle) {
        catalog_close(c);
        free(cpu);
        return NULL;
    }
    cpu->pc = uscopei_find_field(c->schema, c->storage, "pc");
    cpu->inst_bits = uscopei_find_field(c->schema, c->storage, "inst_bits");
    cpu->usual = c->id_field == 0 && cpu->pc == 1 && cpu->inst_bits == 2;
    bind_events(cpu);
    return handle;
}

void uscope_cpu_free(uscope_cpu_t *handle)
{
    struct catalog *c = handle ? catalog_unregister(handle, CATALOG_CPU) : NULL;
    if (!c) return;
    catalog_close(c);
    free(c);
}

/* -- instructions */

unsigned int uscope_cpu_fetch(uscope_cpu_t *handle, unsigned long long pc, unsigned int inst_bits)
{
    struct uscopei_trace *t;
    struct cpu *cpu = enter(handle, "cpu_fetch", &t);
    if (!cpu) return USCOPE_CPU_NONE;
    struct catalog *c = &cpu->catalog;
    uint32_t id = catalog_birth(c, t, "cpu_fetch");
    if (id == NO_ID) return USCOPE_CPU_NONE;
    uint16_t slot = (uint16_t)id;
    if (LIKELY(cpu->usual)) {
        uscope_slot_put3(c->w, c->storage, slot, id, pc, inst_bits);
        return id;
    }
    uscope_slot_set(c->w, c->storage, slot, c->id_field, id);
    if (cpu->pc >= 0) uscope_slot_set(c->w, c->storage, slot, (uint16_t)cpu->pc, pc);
    if (cpu->inst_bits >= 0) uscope_slot_set(c->w, c->storage, slot, (uint16_t)cpu->inst_bits, inst_bits);
    return id;
}

void uscope_cpu_set(uscope_cpu_t *handle, unsigned int id, int field, unsigned long long value)
{
    struct uscopei_trace *t;
    struct cpu *cpu = enter_with(handle, id, "cpu_set", &t);
    if (!cpu || field == -1) return;
    struct catalog *c = &cpu->catalog;
    if (field == c->id_field)
        uscopei_reject(t, E_OP_FIELD, c->storage | UINT64_C(1) << 42,
                       "%s: cpu_set: the field entity_id is the helper's own; call rejected",
                       c->schema->storage_infos[c->storage].name);
    else
        uscope_slot_set(c->w, c->storage, (uint16_t)id, (uint16_t)field, value);
}

void uscope_cpu_stage(uscope_cpu_t *handle, unsigned int id, unsigned int stage)
{
    struct uscopei_trace *t;
    struct cpu *cpu = enter_with(handle, id, "cpu_stage", &t);
    if (cpu) catalog_emit(&cpu->catalog, &cpu->stage, 2, (const uint64_t[]){id, stage});
}

void uscope_cpu_annotate(uscope_cpu_t *handle, unsigned int id, const char *text)
{
    struct uscopei_trace *t;
    struct cpu *cpu = enter_with(handle, id, "cpu_annotate", &t);
    if (!cpu || cpu->annotate.type < 0) return;
    unsigned int index = uscope_string(cpu->catalog.w, text);
    if (index != USCOPE_NO_STRING)
        catalog_emit(&cpu->catalog, &cpu->annotate, 2, (const uint64_t[]){id, index});
}

void uscope_cpu_dependency(uscope_cpu_t *handle, unsigned int producer, unsigned int consumer,
                           unsigned int type)
{
    struct uscopei_trace *t;
    struct cpu *cpu = enter_with(handle, producer, "cpu_dependency", &t);
    if (cpu && catalog_alive(&cpu->catalog, t, consumer, "cpu_dependency"))
        catalog_emit(&cpu->catalog, &cpu->dependency, 3, (const uint64_t[]){producer, consumer, type});
}

void uscope_cpu_stall(uscope_cpu_t *handle, unsigned int reason)
{
    struct uscopei_trace *t;
    struct cpu *cpu = enter(handle, "cpu_stall", &t);
    if (cpu) catalog_emit(&cpu->catalog, &cpu->stall, 1, (const uint64_t[]){reason});
}

void uscope_cpu_trap(uscope_cpu_t *handle, unsigned int id, unsigned long long cause, unsigned long long tval,
                     unsigned long long target)
{
    struct uscopei_trace *t;
    struct cpu *cpu = enter_with(handle, id, "cpu_trap", &t);
    if (cpu) catalog_emit(&cpu->catalog, &cpu->trap, 4, (const uint64_t[]){id, cause, tval, target});
}

void uscope_cpu_retire(uscope_cpu_t *handle, unsigned int id)
{
    struct uscopei_trace *t;
    struct cpu *cpu = enter_with(handle, id, "cpu_retire", &t);
    if (cpu) catalog_end(&cpu->catalog, t, id);
}

/* A flush counts as one only while the entity lives: the event goes first. */
static void squash(struct cpu *cpu, struct uscopei_trace *t, uint32_t id, uint64_t reason)
{
    catalog_forget(&cpu->catalog, id);
    catalog_emit(&cpu->catalog, &cpu->flush, 2, (const uint64_t[]){id, reason});
    catalog_end(&cpu->catalog, t, id);
}

static unsigned int squash_after(struct cpu *cpu, struct uscopei_trace *t, uint32_t id, uint64_t reason)
{
    unsigned int count = 0;
    for (; cpu->catalog.newest != id; count++)
        squash(cpu, t, cpu->catalog.newest, reason);
    return count;
}

void uscope_cpu_flush(uscope_cpu_t *handle, unsigned int id, unsigned int reason)
{
    struct uscopei_trace *t;
    struct cpu *cpu = enter_with(handle, id, "cpu_flush", &t);
    if (cpu) squash(cpu, t, id, reason);
}

unsigned int uscope_cpu_flush_younger(uscope_cpu_t *handle, unsigned int id, unsigned int reason)
{
    struct uscopei_trace *t;
    struct cpu *cpu = enter_with(handle, id, "cpu_flush_younger", &t);
    return cpu ? squash_after(cpu, t, id, reason) : 0;
}

unsigned int uscope_cpu_flush_all(uscope_cpu_t *handle, unsigned int reason)
{
    struct uscopei_trace *t;
    struct cpu *cpu = enter(handle, "cpu_flush_all", &t);
    return cpu ? squash_after(cpu, t, NO_ID, reason) : 0;
}

void uscope_cpu_reset(uscope_cpu_t *handle)
{
    struct uscopei_trace *t;
    struct cpu *cpu = enter(handle, "cpu_reset", &t);
    if (!cpu) return;
    squash_after(cpu, t, NO_ID, cpu->pipeline_clear < 0 ? 0 : (uint64_t)cpu->pipeline_clear);
    catalog_empty_buffers(&cpu->catalog);
}

int uscope_cpu_is_in_flight(uscope_cpu_t *handle, unsigned int id)
{
    const struct cpu *cpu = resolve(handle, "cpu_is_in_flight");
    return cpu && id < cpu->catalog.num_slots && cpu->catalog.entries[id].alive;
}

unsigned int uscope_cpu_in_flight(uscope_cpu_t *handle)
{
    const struct cpu *cpu = resolve(handle, "cpu_in_flight");
    return cpu ? cpu->catalog.in_flight : 0;
}

/* -- buffers */

int uscope_cpu_buffer(uscope_cpu_t *handle, const char *name)
{
    struct cpu *cpu = lookup(handle, "cpu_buffer");
    return cpu ? catalog_buffer_open(&cpu->catalog, name ? name : "") : -1;
}

int uscope_cpu_push(uscope_cpu_t *handle, int buffer, unsigned int id)
{
    struct uscopei_trace *t;
    struct cpu *cpu = enter(handle, "cpu_push", &t);
    return cpu ? catalog_push(&cpu->catalog, t, buffer, id, "cpu_push") : -1;
}

void uscope_cpu_place(uscope_cpu_t *handle, int buffer, int slot, unsigned int id)
{
    struct uscopei_trace *t;
    struct cpu *cpu = enter(handle, "cpu_place", &t);
    if (cpu) catalog_place(&cpu->catalog, t, buffer, slot, id, "cpu_place");
}

unsigned int uscope_cpu_pop(uscope_cpu_t *handle, int buffer)
{
    struct uscopei_trace *t;
    struct cpu *cpu = enter(handle, "cpu_pop", &t);
    return cpu ? catalog_pop(&cpu->catalog, t, buffer, "cpu_pop") : USCOPE_CPU_NONE;
}

void uscope_cpu_remove(uscope_cpu_t *handle, int buffer, int slot)
{
    struct uscopei_trace *t;
    struct cpu *cpu = enter(handle, "cpu_remove", &t);
    if (cpu) catalog_remove(&cpu->catalog, t, buffer, slot, "cpu_remove");
}

void uscope_cpu_buffer_set(uscope_cpu_t *handle, int buffer, int slot, int field, unsigned long long value)
{
    struct uscopei_trace *t;
    struct cpu *cpu = enter(handle, "cpu_buffer_set", &t);
    if (cpu) catalog_buffer_set(&cpu->catalog, t, buffer, slot, field, value, "cpu_buffer_set");
}

unsigned int uscope_cpu_buffer_count(uscope_cpu_t *handle, int buffer)
{
    const struct cpu *cpu = resolve(handle, "cpu_buffer_count");
    return cpu ? catalog_buffer_count(&cpu->catalog, buffer) : 0;
}

/* -- counters and names */

int uscope_cpu_counter(uscope_cpu_t *handle, const char *name)
{
    const struct cpu *cpu = lookup(handle, "cpu_counter");
    return cpu ? catalog_storage(&cpu->catalog, name) : -1;
}

void uscope_cpu_count(uscope_cpu_t *handle, int counter, unsigned long long delta)
{
    struct uscopei_trace *t;
    struct cpu *cpu = enter(handle, "cpu_count", &t);
    if (cpu && counter != -1) uscope_slot_add(cpu->catalog.w, (uint16_t)counter, 0, 0, delta);
}

static int label(uscope_cpu_t *handle, const char *event, const char *field, const char *text)
{
    const struct cpu *cpu = lookup(handle, "cpu label");
    return cpu ? catalog_label(&cpu->catalog, event, field, text) : -1;
}

int uscope_cpu_stage_id(uscope_cpu_t *handle, const char *text)
{
    return label(handle, "stage_transition", "stage", text);
}

int uscope_cpu_flush_id(uscope_cpu_t *handle, const char *text)
{
    return label(handle, "flush", "reason", text);
}

int uscope_cpu_stall_id(uscope_cpu_t *handle, const char *text)
{
    return label(handle, "stall", "reason", text);
}

int uscope_cpu_dependency_id(uscope_cpu_t *handle, const char *text)
{
    return label(handle, "dependency", "dep_type", text);
}

int uscope_cpu_field(uscope_cpu_t *handle, const char *name)
{
    const struct cpu *cpu = lookup(handle, "cpu_field");
    return cpu ? uscopei_find_field(cpu->catalog.schema, cpu->catalog.storage, name ? name : "") : -1;
}

int uscope_cpu_buffer_field(uscope_cpu_t *handle, int buffer, const char *name)
{
    const struct cpu *cpu = lookup(handle, "cpu_buffer_field");
    return cpu ? catalog_buffer_field(&cpu->catalog, buffer, name) : -1;
}
