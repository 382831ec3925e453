/* SPDX-License-Identifier: Apache-2.0 */
/* Pipelines made and freed: the schema is looked up here, for all their steps. */
#include <stdio.h>
#include <string.h>

#include "base/fork.h"
#include "protocols/pipeline.h"

_Static_assert(sizeof(struct pipeline) <= PIPELINE_STRIDE, "a pipeline must fit its slot");

union uscopei_pipeline_slot uscopei_pipelines[MAX_PIPELINES] __attribute__((aligned(4096)));
uint64_t uscopei_stage_bytes[1 << MAX_STAGES];

static pthread_mutex_t pipelines_lock = PTHREAD_MUTEX_INITIALIZER;
FORK_SAFE_LOCK(pipelines_lock, pipelines_lock)
static uintptr_t generation; /* of the last handle, so that one that was freed is not another's */

struct pipeline *uscopei_no_pipeline(const void *handle, const char *call)
{
    static atomic_bool said;
    /* once: a model that has lost its handle would say it in every cycle */
    if (handle && !atomic_exchange(&said, true))
        uscopei_error_say(
            E_OP_HANDLE,
            "%s: %p is not the handle of a pipeline; the call is ignored, as are all calls like it", call,
            handle);
    return NULL;
}

/* -- what the schema has */

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
           uscopei_check_value(uscopei_fields_of(schema, (unsigned)storage)[index].type, most, 0) == E_NONE;
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

static bool has_dependency(const struct uscopei_schema *schema, int event)
{
    static const char *const wanted[] = {"src_id", "dst_id", "dep_type"};
    if (event < 0 || schema->events[event].num_fields != 3) return false;
    const struct event_shape *shape = &schema->events[event];
    const char **names = schema->event_field_names + shape->first_field;
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(names[i], wanted[i]) != 0) return false;
    }
    return shape->fields[0].limit >= MAX_IDS && shape->fields[1].limit >= MAX_IDS;
}

/* What the scope is to have, and has not; NULL when it has all. */
static const char *missing_storage(const struct uscopei_schema *schema, const char *scope,
                                   const char *registers, unsigned num_stages, int ids[6])
{
    if (num_stages < 2 || num_stages > MAX_STAGES) return "pipeline of that many stages: 2 to 8 are possible";
    ids[0] = find(schema, scope, "entities", false);
    ids[1] = *registers ? find(schema, scope, registers, false) : ids[0];
    if (!has_entities(schema, ids[0], num_stages))
        return "sparse storage entities {entity_id, pc, inst_bits}, four times as large as there are stages";
    return has_registers(schema, ids[1], num_stages) ? NULL : "buffer for the pipeline registers";
}

static const char *missing_event(const struct uscopei_schema *schema, const char *scope, int ids[6])
{
    ids[2] = find(schema, scope, "stage_transition", true);
    ids[3] = find(schema, scope, "annotate", true);
    ids[4] = find(schema, scope, "flush", true);
    ids[5] = find(schema, scope, "dependency", true);
    if (!has_event(schema, ids[2], "stage")) return "event stage_transition {entity_id, stage}";
    if (!has_event(schema, ids[3], "text")) return "event annotate {entity_id, text}";
    return has_event(schema, ids[4], "reason") ? NULL : "event flush {entity_id, reason}";
}

/* -- made and freed */

/* Without the event its limit stays 0: there is no type of dependency. */
static void bind_dependency(struct pipeline *p, const struct event_shape *shape)
{
    p->depends.word = shape->word;
    p->depends.limit = shape->fields[2].limit;
    p->depends.bytes = shape->bytes;
    p->depends.more_records = shape->bytes / RECORD_BYTES - 1;
    for (unsigned i = 0; i < 3; i++)
        p->depends.at[i] = 8u + shape->fields[i].offset;
}

static void bind(struct pipeline *p, const struct uscopei_schema *schema, const int ids[6], bool registers)
{
    p->entities = (uint16_t)ids[0];
    p->registers = (uint16_t)ids[1];
    p->stage = (uint16_t)ids[2];
    p->annotate = (uint16_t)ids[3];
    p->flush = (uint16_t)ids[4];
    p->dependency = (uint16_t)ids[5];
    p->has_dependency = has_dependency(schema, ids[5]);
    if (p->has_dependency) bind_dependency(p, &schema->events[ids[5]]);
    p->has_registers = registers;
    p->shapes = schema->storages;
    for (uint16_t i = 0; i < 3; i++)
        p->put[i] = op_word(ACTION_SET, p->entities, 0, i);
    p->clear = op_word(ACTION_CLEAR, p->entities, 0, 0);
    p->annotate_word = schema->events[ids[3]].word;
    p->text_shift = 8u * schema->events[ids[3]].fields[1].offset;
    const struct event_shape *stage = &schema->events[ids[2]];
    p->stages_word = event_lanes_word(p->stage, (unsigned)(stage->word >> 32), 8u * stage->fields[1].offset);
    p->set = set_lanes_word(p->registers, 0, 0);
    for (uint16_t i = 1; i < MAX_STAGES; i++)
        p->cleared[i] = op_word(ACTION_CLEAR, p->registers, (uint16_t)(i - 1), 0);
}

static void fill(struct pipeline *p, uscope_writer_t *w, const struct uscopei_schema *schema,
                 const int ids[6], bool registers, unsigned num_stages)
{
    memset(p, 0, sizeof *p);
    p->w = w;
    p->t = slot_of(w);
    bind(p, schema, ids, registers);
    p->last_stage = num_stages - 1;
    p->last_bit = 1u << p->last_stage;
    p->stages = (1u << num_stages) - 1;
    p->behind_registers = registers ? p->stages & ~1u : 0;
    unsigned num_ids = MAX_IDS;
    while (num_ids > schema->storages[p->entities].num_slots)
        num_ids /= 2;
    p->last_id = num_ids - 1;
}

static void fill_stage_bytes(void)
{
    for (unsigned i = 0; i < 1u << MAX_STAGES; i++) {
        uint64_t bytes = 0;
        for (unsigned stage = 0; stage < MAX_STAGES; stage++)
            bytes |= (i >> stage & 1) * (UINT64_C(0xff) << (8 * stage));
        uscopei_stage_bytes[i] = bytes;
    }
}

/* A free place, which is the caller's as long as it holds the lock. */
static struct pipeline *free_place(void)
{
    for (unsigned i = 0; i < MAX_PIPELINES; i++) {
        if (!uscopei_pipelines[i].pipeline.handle) return &uscopei_pipelines[i].pipeline;
    }
    uscopei_error_say(E_BRIDGE_LIMIT, "%d pipelines are in use", MAX_PIPELINES);
    return NULL;
}

static uscope_pipeline_t *make(uscope_writer_t *w, const struct uscopei_schema *schema, const int ids[6],
                               bool registers, unsigned num_stages)
{
    uintptr_t handle = 0;
    pthread_mutex_lock(&pipelines_lock);
    struct pipeline *p = free_place();
    if (p) {
        if (generation == 0) fill_stage_bytes();
        generation = generation % (PIPELINE_STRIDE - 1) + 1;
        fill(p, w, schema, ids, registers, num_stages);
        handle = PIPELINE_MARK | ((uintptr_t)p - (uintptr_t)uscopei_pipelines) | generation;
        p->handle = handle;
    }
    pthread_mutex_unlock(&pipelines_lock);
    return (uscope_pipeline_t *)handle;
}

uscope_pipeline_t *uscope_pipeline_new(uscope_writer_t *w, const char *scope, const char *registers,
                                       unsigned int num_stages)
{
    struct uscopei_trace *t = w ? uscopei_resolve(w, "pipeline_new") : NULL;
    if (!t) return NULL;
    if (!scope) scope = "";
    if (!registers) registers = "";
    int ids[6];
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
    uscopei_begin_lanes(t);
    return make(w, t->session->schema, ids, *registers != 0, num_stages);
}

void uscope_pipeline_free(uscope_pipeline_t *handle)
{
    pthread_mutex_lock(&pipelines_lock);
    struct pipeline *p = pipeline_at(handle);
    bool is_open = handle && p->handle == (uintptr_t)handle;
    if (is_open) p->handle = 0;
    pthread_mutex_unlock(&pipelines_lock);
    if (!is_open) uscopei_no_pipeline(handle, "pipeline_free");
}
