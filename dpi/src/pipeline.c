/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The `cpu` protocol for in-order pipelines. What the schema says was looked up when the pipeline was made; a
 * step writes records for all stages at once, and makes the same items by single calls where anything is not
 * as usual.
 */
#include "uscope_cpu.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"

enum {
    MAX_PIPELINES = 256,
    MAX_STAGES = 8, /* an id is a byte, and a word holds those of all stages */
    MAX_IDS = 256,
    /* retired; birth; transitions, registers set, registers cleared */
    MAX_RECORDS = 1 + 4 + MAX_STAGES + (MAX_STAGES - 1) + (MAX_STAGES - 1),
};

struct pipeline {
    uscope_writer_t *w;
    const struct storage_shape *shapes; /* the schema's: what the trace has while nothing is disabled */
    uint64_t ids;                       /* byte i: the entity in stage i */
    uint64_t next_id, last_id;          /* ids are given out in turn; last_id is a mask */
    /* of the last step: who was there, and how they left */
    uint32_t valid, stayed, killed, moved;
    uint32_t reason;
    uint32_t all; /* bits of the stages */
    uint32_t last_stage;
    uint32_t text_shift, register_bytes;
    bool has_registers;
    uint16_t entities, registers, stage, annotate, flush;
    uint64_t put[3], clear, stage_word, annotate_word, next_stage, set_register, clear_register;
    uint64_t keep[1 << MAX_STAGES]; /* bits of stages, each widened to the byte of an id */
};

/* A handle is the address of a place here, so that one that is none is never followed. */
static struct pipeline *pipelines[MAX_PIPELINES];
static pthread_mutex_t pipelines_lock = PTHREAD_MUTEX_INITIALIZER;

static struct pipeline *find_pipeline(const void *handle)
{
    uintptr_t at = (uintptr_t)handle - (uintptr_t)pipelines;
    if (UNLIKELY(at >= sizeof pipelines || at % sizeof *pipelines != 0)) return NULL;
    return pipelines[at / sizeof *pipelines];
}

/* Said once: a model that has lost its handle would say it in every cycle. */
static COLD struct pipeline *complain(const void *handle, const char *call)
{
    static atomic_bool said;
    if (handle && !atomic_exchange(&said, true))
        uscopei_error_say(
            E_OP_HANDLE,
            "%s: %p is not the handle of a pipeline; the call is ignored, as are all calls like it", call,
            handle);
    return NULL;
}

/* NULL, reported unless the handle is null, where there is none. */
static inline struct pipeline *resolve(const void *handle, const char *call)
{
    struct pipeline *p = find_pipeline(handle);
    return LIKELY(p != NULL) ? p : complain(handle, call);
}

static inline uint32_t id_in(uint64_t ids, unsigned stage)
{
    return ids >> (8 * stage) & 0xff;
}

/* -- as single calls */

static void end_last_cycle(const struct pipeline *p)
{
    if (p->moved >> p->last_stage)
        uscope_slot_clear(p->w, p->entities, (uint16_t)id_in(p->ids, p->last_stage));
    for (unsigned i = p->last_stage + 1; i-- > 0;) {
        if (!(p->killed >> i & 1)) continue;
        uint32_t id = id_in(p->ids, i);
        uscope_event2(p->w, p->flush, id, p->reason);
        uscope_slot_clear(p->w, p->entities, (uint16_t)id);
    }
}

static void move(struct pipeline *p, uint32_t arrives)
{
    for (unsigned i = p->last_stage + 1; i-- > 0;) {
        if (p->stayed >> i & 1) continue;
        uint64_t id = i > 0 ? id_in(p->ids, i - 1) : p->next_id;
        p->ids = (p->ids & ~(UINT64_C(0xff) << (8 * i))) | id << (8 * i);
    }
    if (arrives & 1) p->next_id = (p->next_id + 1) & p->last_id;
}

static void enter(const struct pipeline *p, uint32_t arrives)
{
    for (unsigned i = 0; i <= p->last_stage; i++) {
        if (!(arrives >> i & 1)) continue;
        uint32_t id = id_in(p->ids, i);
        uscope_event2(p->w, p->stage, id, i);
        if (i > 0 && p->has_registers) uscope_slot_set(p->w, p->registers, (uint16_t)(i - 1), 0, id);
    }
}

static COLD void step_slow(struct pipeline *p, uint32_t valid, uint64_t pc, uint32_t inst, uint32_t text)
{
    uint32_t arrives = valid & ~p->stayed, emptied = p->valid & ~valid;
    end_last_cycle(p);
    move(p, arrives);
    if (arrives & 1) {
        uint32_t id = id_in(p->ids, 0);
        uscope_slot_put3(p->w, p->entities, (uint16_t)id, id, pc, inst);
        if (text != USCOPE_NO_STRING) uscope_event2(p->w, p->annotate, id, text);
    }
    enter(p, arrives);
    if (p->has_registers) uscope_slot_clear_lanes(p->w, p->registers, emptied >> 1);
}

/* -- written */

static inline unsigned char *put_birth(const struct pipeline *p, unsigned char *at, uint64_t id, uint64_t pc,
                                       uint64_t inst, uint64_t text)
{
    uint64_t slot = id << 32;
    store_record(at, p->put[0] + slot, id);
    store_record(at + RECORD_BYTES, p->put[1] + slot, pc);
    store_record(at + 2 * RECORD_BYTES, p->put[2] + slot, inst);
    store_record(at + 3 * RECORD_BYTES, p->annotate_word, id | text << p->text_shift);
    return at + 4 * RECORD_BYTES;
}

/*
 * Records are written in any case and stay where the stage has been entered: which are changes from cycle to
 * cycle, and a branch on it would be guessed wrong.
 */
static inline unsigned char *put_stages(const struct pipeline *p, unsigned char *at, uint64_t ids,
                                        uint64_t arrives)
{
    uint64_t word = p->stage_word, stage = 0, next = p->next_stage;
    uint64_t op = p->set_register, register_bytes = p->register_bytes;
    store_record(at, word, ids & 0xff);
    at += (arrives & 1) * RECORD_BYTES;
    while (arrives >>= 1) {
        size_t bytes = (arrives & 1) * RECORD_BYTES;
        ids >>= 8;
        stage += next;
        uint64_t id = ids & 0xff;
        store_record(at, word, id | stage);
        at += bytes;
        store_record(at, op, id);
        at += bytes & register_bytes;
        op += OP_SLOT;
    }
    return at;
}

static inline unsigned char *put_emptied(const struct pipeline *p, unsigned char *at, uint32_t emptied)
{
    for (emptied >>= 1; UNLIKELY(emptied); emptied &= emptied - 1) {
        store_record(at, p->clear_register + (uint64_t)__builtin_ctz(emptied) * OP_SLOT, 0);
        at += p->register_bytes;
    }
    return at;
}

/* Nothing is disabled, nobody was squashed, there is room. */
static inline bool is_usual(const struct pipeline *p, struct uscopei_trace **t)
{
    return in_frame(p->w, t) && (*t)->storages == p->shapes && !p->killed &&
           (*t)->cursor + (size_t)MAX_RECORDS * RECORD_BYTES < (*t)->limit;
}

unsigned int uscope_pipeline_step(uscope_pipeline_t *handle, unsigned int valid, unsigned int hold,
                                  unsigned int kill, unsigned int reason, unsigned long long pc,
                                  unsigned int inst_bits, unsigned int text)
{
    struct uscopei_trace *t;
    struct pipeline *p = resolve(handle, "pipeline_step");
    if (UNLIKELY(!p)) return 0;
    valid &= p->all;
    uint32_t arrives = valid & ~p->stayed;
    if (LIKELY(is_usual(p, &t) && (text < t->num_strings || !(arrives & 1)))) {
        unsigned char *at = t->cursor;
        for (unsigned i = 0; i < 4; i++)
            prefetch_ahead(at + i * 64);
        store_record(at, p->clear + ((uint64_t)id_in(p->ids, p->last_stage) << 32), 0);
        at += (size_t)(p->moved >> p->last_stage) * RECORD_BYTES;
        uint64_t kept = p->keep[p->stayed];
        uint64_t ids = (p->ids & kept) | ((p->ids << 8 | p->next_id) & ~kept);
        p->ids = ids;
        if (arrives & 1) {
            p->next_id = (p->next_id + 1) & p->last_id;
            at = put_birth(p, at, ids & 0xff, pc, inst_bits, text);
        }
        at = put_stages(p, at, ids, arrives);
        t->cursor = put_emptied(p, at, p->valid & ~valid);
    } else {
        step_slow(p, valid, pc, inst_bits, text);
    }
    uint32_t leave = valid & ~hold, stay = valid & hold;
    p->valid = valid;
    p->killed = valid & kill;
    p->stayed = stay & ~kill;
    p->moved = leave & ~kill;
    p->reason = reason;
    return arrives;
}

unsigned int uscope_pipeline_entity(uscope_pipeline_t *handle, unsigned int stage)
{
    struct pipeline *p = resolve(handle, "pipeline_entity");
    return p && stage <= p->last_stage ? id_in(p->ids, stage) : 0;
}

/* -- made and freed */

static int find(const struct uscopei_schema *schema, const char *scope, const char *name, bool event)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s%s", scope, *scope ? "/" : "", name);
    return event ? uscopei_find_event(schema, full) : uscopei_find_storage(schema, full);
}

/* A field that holds every value up to `most`. */
static bool has_field(const struct uscopei_schema *schema, int storage, const char *name, int index,
                      uint64_t most)
{
    return uscopei_find_field(schema, storage, name) == index &&
           uscopei_check_value(
               schema->field_infos[schema->storages[storage].first_field + (unsigned)index].type, most, 0) ==
               E_NONE;
}

static bool has_entities(const struct uscopei_schema *schema, int storage, unsigned num_stages)
{
    return storage >= 0 && schema->storage_infos[storage].sparse &&
           schema->storages[storage].num_slots >= 4 * num_stages &&
           has_field(schema, storage, "entity_id", 0, MAX_IDS - 1) &&
           has_field(schema, storage, "pc", 1, UINT64_MAX) &&
           has_field(schema, storage, "inst_bits", 2, UINT32_MAX);
}

static bool has_registers(const struct uscopei_schema *schema, int storage, unsigned num_stages)
{
    return storage >= 0 && schema->storage_infos[storage].sparse &&
           schema->storages[storage].num_slots >= num_stages - 1 &&
           schema->storages[storage].num_fields > 0 && schema->storages[storage].limits[0] >= MAX_IDS;
}

/* An event in one record: an id, and one of these. */
static bool has_event(const struct uscopei_schema *schema, int event, const char *second)
{
    if (event < 0 || schema->events[event].single != 2) return false;
    const struct event_shape *shape = &schema->events[event];
    const char **names = schema->event_field_names + shape->first_field;
    bool is_text = shape->fields[1].type == FT_STRING_REF;
    return strcmp(names[0], "entity_id") == 0 && shape->fields[0].limit >= MAX_IDS &&
           strcmp(names[1], second) == 0 && is_text == (strcmp(second, "text") == 0) &&
           (is_text || shape->fields[1].limit >= MAX_STAGES);
}

/* What the scope is to have, and has not; NULL when it has all. */
static const char *missing_storage(const struct uscopei_schema *schema, const char *scope,
                                   const char *registers, unsigned num_stages, int ids[5])
{
    if (num_stages < 2 || num_stages > MAX_STAGES) return "pipeline of that many stages: 2 to 8 are possible";
    ids[0] = find(schema, scope, "entities", false);
    ids[1] = *registers ? find(schema, scope, registers, false) : ids[0];
    if (!has_entities(schema, ids[0], num_stages))
        return "sparse storage entities {entity_id, pc, inst_bits}, four times as large as there are stages";
    return has_registers(schema, ids[1], num_stages) ? NULL : "buffer for the pipeline registers";
}

static const char *missing_event(const struct uscopei_schema *schema, const char *scope, int ids[5])
{
    ids[2] = find(schema, scope, "stage_transition", true);
    ids[3] = find(schema, scope, "annotate", true);
    ids[4] = find(schema, scope, "flush", true);
    if (!has_event(schema, ids[2], "stage")) return "event stage_transition {entity_id, stage}";
    if (!has_event(schema, ids[3], "text")) return "event annotate {entity_id, text}";
    return has_event(schema, ids[4], "reason") ? NULL : "event flush {entity_id, reason}";
}

static void bind(struct pipeline *p, const struct uscopei_schema *schema, const int ids[5], bool registers)
{
    p->entities = (uint16_t)ids[0];
    p->registers = (uint16_t)ids[1];
    p->stage = (uint16_t)ids[2];
    p->annotate = (uint16_t)ids[3];
    p->flush = (uint16_t)ids[4];
    p->shapes = schema->storages;
    p->has_registers = registers;
    p->register_bytes = registers ? RECORD_BYTES : 0;
    for (uint16_t i = 0; i < 3; i++)
        p->put[i] = op_word(ACTION_SET, p->entities, 0, i);
    p->clear = op_word(ACTION_CLEAR, p->entities, 0, 0);
    p->set_register = op_word(ACTION_SET, p->registers, 0, 0);
    p->clear_register = op_word(ACTION_CLEAR, p->registers, 0, 0);
    p->stage_word = schema->events[ids[2]].word;
    p->next_stage = UINT64_C(1) << (8 * schema->events[ids[2]].fields[1].offset);
    p->annotate_word = schema->events[ids[3]].word;
    p->text_shift = 8u * schema->events[ids[3]].fields[1].offset;
}

static struct pipeline *make(uscope_writer_t *w, const struct uscopei_schema *schema, const int ids[5],
                             bool registers, unsigned num_stages)
{
    struct pipeline *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->w = w;
    bind(p, schema, ids, registers);
    p->last_stage = num_stages - 1;
    p->all = (1u << num_stages) - 1;
    unsigned num_ids = MAX_IDS;
    while (num_ids > schema->storages[p->entities].num_slots)
        num_ids /= 2;
    p->last_id = num_ids - 1;
    for (unsigned i = 0; i < 1u << MAX_STAGES; i++) {
        for (unsigned stage = 0; stage < MAX_STAGES; stage++)
            p->keep[i] |= (i >> stage & 1) * (UINT64_C(0xff) << (8 * stage));
    }
    return p;
}

static void *enlist(struct pipeline *p)
{
    void *handle = NULL;
    pthread_mutex_lock(&pipelines_lock);
    for (int i = 0; i < MAX_PIPELINES && !handle; i++) {
        if (pipelines[i]) continue;
        pipelines[i] = p;
        handle = &pipelines[i];
    }
    pthread_mutex_unlock(&pipelines_lock);
    if (!handle) uscopei_error_say(E_BRIDGE_LIMIT, "%d pipelines are in use", MAX_PIPELINES);
    return handle;
}

uscope_pipeline_t *uscope_pipeline_new(uscope_writer_t *w, const char *scope, const char *registers,
                                       unsigned int num_stages)
{
    struct uscopei_trace *t = w ? uscopei_resolve(w, "pipeline_new") : NULL;
    if (!t) return NULL;
    if (!scope) scope = "";
    if (!registers) registers = "";
    int ids[5];
    uscopei_code code = E_OP_STORAGE;
    const char *wanted = missing_storage(t->session->schema, scope, registers, num_stages, ids);
    if (!wanted) {
        code = E_OP_EVENT;
        wanted = missing_event(t->session->schema, scope, ids);
    }
    if (wanted) {
        uscopei_complain(t, code, uscopei_hash_of(scope) * 31 + uscopei_hash_of(wanted),
                         "the scope \"%s\" has no %s", scope, wanted);
        return NULL;
    }
    struct pipeline *p = make(w, t->session->schema, ids, *registers != 0, num_stages);
    void *handle = p ? enlist(p) : NULL;
    if (!handle) free(p);
    return handle;
}

void uscope_pipeline_free(uscope_pipeline_t *handle)
{
    pthread_mutex_lock(&pipelines_lock);
    struct pipeline *p = find_pipeline(handle);
    if (p) *(struct pipeline **)handle = NULL;
    pthread_mutex_unlock(&pipelines_lock);
    if (!p) complain(handle, "pipeline_free");
    free(p);
}
