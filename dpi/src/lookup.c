/* SPDX-License-Identifier: Apache-2.0 */
/* Ids by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "suggest.h"

/* Of the part of a message that says what was meant. */
#define HINT_BYTES 320u

/* FNV-1a; only tells messages about different names apart. */
uint64_t uscopei_hash_of(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash;
}

static int by_storage_name(const void *a, const void *b, void *schema)
{
    const struct storage_info *infos = ((const struct uscopei_schema *)schema)->storage_infos;
    return strcmp(infos[*(const uint32_t *)a].name, infos[*(const uint32_t *)b].name);
}

static int by_event_name(const void *a, const void *b, void *schema)
{
    char *const *names = ((const struct uscopei_schema *)schema)->event_names;
    return strcmp(names[*(const uint32_t *)a], names[*(const uint32_t *)b]);
}

void uscopei_schema_index_names(struct uscopei_schema *schema)
{
    for (uint32_t i = 0; i < schema->num_storages; i++)
        schema->storages_by_name[i] = i;
    for (uint32_t i = 0; i < schema->num_events; i++)
        schema->events_by_name[i] = i;
    qsort_r(schema->storages_by_name, schema->num_storages, sizeof(uint32_t), by_storage_name, schema);
    qsort_r(schema->events_by_name, schema->num_events, sizeof(uint32_t), by_event_name, schema);
}

const char *uscopei_describe_type(const struct uscopei_schema *schema, uint8_t type, uint8_t enum_id,
                                  char *out, size_t size)
{
    if (type != FT_ENUM) return uscopei_type_name(type);
    snprintf(out, size, "enum %s", schema->enums[enum_id].name);
    return out;
}

static const char *storage_name(const struct uscopei_schema *schema, uint32_t id)
{
    return schema->storage_infos[id].name;
}

static const char *event_name(const struct uscopei_schema *schema, uint32_t id)
{
    return schema->event_names[id];
}

static int find(const struct uscopei_schema *schema, const uint32_t *sorted, uint32_t count,
                const char *(*name_of)(const struct uscopei_schema *, uint32_t), const char *name)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(name, name_of(schema, sorted[middle]));
        if (order == 0) return (int)sorted[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return -1;
}

static const char *text_of(const char *name)
{
    return name ? name : "";
}

static const char *storage_name_of(const void *schema, uint32_t id)
{
    return storage_name(schema, id);
}

static const char *event_name_of(const void *schema, uint32_t id)
{
    return event_name(schema, id);
}

static const char *field_name_of(const void *fields, uint32_t id)
{
    return ((const struct field_info *)fields)[id].name;
}

/* For messages: which schema it is that lacks something. */
static const char *schema_of(const struct uscopei_trace *t)
{
    const char *name = t->session->schema_name;
    return name ? name : "that of the daemon";
}

int uscope_storage_id(uscope_writer_t *w, const char *name)
{
    struct uscopei_trace *t = uscopei_resolve(w, "storage_id");
    if (!t) return -1;
    const struct uscopei_schema *schema = t->session->schema;
    int id = find(schema, schema->storages_by_name, schema->num_storages, storage_name, text_of(name));
    if (id < 0) {
        char hint[HINT_BYTES];
        uscopei_suggest(text_of(name), storage_name_of, schema, schema->num_storages, hint, sizeof hint);
        uscopei_complain(t, E_OP_STORAGE, uscopei_hash_of(text_of(name)),
                         "no storage is named \"%s\"%s (schema: %s; correct the name or add the storage)",
                         text_of(name), hint, schema_of(t));
    }
    return id;
}

int uscope_event_id(uscope_writer_t *w, const char *name)
{
    struct uscopei_trace *t = uscopei_resolve(w, "event_id");
    if (!t) return -1;
    const struct uscopei_schema *schema = t->session->schema;
    int id = find(schema, schema->events_by_name, schema->num_events, event_name, text_of(name));
    if (id < 0) {
        char hint[HINT_BYTES];
        uscopei_suggest(text_of(name), event_name_of, schema, schema->num_events, hint, sizeof hint);
        uscopei_complain(t, E_OP_EVENT, uscopei_hash_of(text_of(name)),
                         "no event is named \"%s\"%s (schema: %s; correct the name or add the event)",
                         text_of(name), hint, schema_of(t));
    }
    return id;
}

static int find_field(const struct field_info *fields, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(fields[i].name, name) == 0) return (int)i;
    }
    return -1;
}

/* The trace, when the storage id is one; -1 from an earlier lookup has been reported then. */
static struct uscopei_trace *resolve_storage(void *w, const char *call, int storage)
{
    struct uscopei_trace *t = uscopei_resolve(w, call);
    if (!t) return NULL;
    if (storage >= 0 && (uint32_t)storage < t->num_storages) return t;
    uscopei_complain(t, E_OP_STORAGE, (uint64_t)(unsigned)storage, "%s: storage id %d is not in the schema",
                     call, storage);
    return NULL;
}

int uscope_field_id(uscope_writer_t *w, int storage, const char *name)
{
    struct uscopei_trace *t = resolve_storage(w, "field_id", storage);
    if (!t) return -1;
    const struct uscopei_schema *schema = t->session->schema;
    const struct field_info *fields = uscopei_fields_of(schema, (unsigned)storage);
    unsigned num_fields = schema->storages[storage].num_fields;
    int id = find_field(fields, num_fields, text_of(name));
    if (id < 0) {
        char hint[HINT_BYTES];
        uscopei_suggest(text_of(name), field_name_of, fields, num_fields, hint, sizeof hint);
        uscopei_complain(t, E_OP_FIELD, uscopei_hash_of(text_of(name)) ^ (uint64_t)storage,
                         "%s has no field \"%s\"%s (schema: %s)", schema->storage_infos[storage].name,
                         text_of(name), hint, schema_of(t));
    }
    return id;
}

int uscope_property_id(uscope_writer_t *w, int storage, const char *name)
{
    struct uscopei_trace *t = resolve_storage(w, "property_id", storage);
    if (!t) return -1;
    const struct uscopei_schema *schema = t->session->schema;
    struct property_shape shape = schema->properties[storage];
    int id = find_field(schema->field_infos + shape.first, shape.count, text_of(name));
    if (id < 0) {
        uscopei_complain(t, E_OP_PROPERTY, uscopei_hash_of(text_of(name)) ^ (uint64_t)storage,
                         "%s has no property \"%s\"", schema->storage_infos[storage].name, text_of(name));
    }
    return id;
}

int uscope_event_field_id(uscope_writer_t *w, int event, const char *name)
{
    struct uscopei_trace *t = uscopei_resolve(w, "event_field_id");
    if (!t) return -1;
    if (event < 0 || (uint32_t)event >= t->num_events) {
        uscopei_complain(t, E_OP_EVENT, (uint64_t)(unsigned)event,
                         "event_field_id: event type %d is not in the schema", event);
        return -1;
    }
    struct event_shape shape = t->events[event];
    for (uint32_t i = 0; i < shape.num_fields; i++) {
        if (strcmp(t->session->schema->event_field_names[shape.first_field + i], text_of(name)) == 0)
            return (int)i;
    }
    uscopei_complain(t, E_OP_FIELD, uscopei_hash_of(text_of(name)) ^ (uint64_t)event << 32,
                     "%s has no field \"%s\"", t->session->schema->event_names[event], text_of(name));
    return -1;
}

static int label_value(const struct uscopei_schema *schema, const struct enum_info *info, const char *label)
{
    for (uint32_t i = 0; i < info->num_labels; i++) {
        const struct enum_label *candidate = &schema->labels[info->first_label + i];
        if (strcmp(candidate->name, label) == 0) return candidate->value;
    }
    return -1;
}

int uscope_enum_value(uscope_writer_t *w, const char *enum_name, const char *label)
{
    struct uscopei_trace *t = uscopei_resolve(w, "enum_value");
    if (!t) return -1;
    const struct uscopei_schema *schema = t->session->schema;
    uint64_t id = uscopei_hash_of(text_of(enum_name)) * 31 + uscopei_hash_of(text_of(label));
    for (uint32_t i = 0; i < schema->num_enums; i++) {
        if (strcmp(schema->enums[i].name, text_of(enum_name)) != 0) continue;
        int value = label_value(schema, &schema->enums[i], text_of(label));
        if (value < 0)
            uscopei_complain(t, E_OP_VALUE, id, "enum %s has no label \"%s\"", enum_name, text_of(label));
        return value;
    }
    uscopei_complain(t, E_OP_VALUE, id, "no enum is named \"%s\"", text_of(enum_name));
    return -1;
}

static const char *clock_name_of(const void *schema, uint32_t id)
{
    return ((const struct uscopei_schema *)schema)->clocks[id].name;
}

unsigned int uscope_clock_period(uscope_writer_t *w, const char *name)
{
    struct uscopei_trace *t = uscopei_resolve(w, "clock_period");
    if (!t) return 0;
    const struct uscopei_schema *schema = t->session->schema;
    if (*text_of(name) == 0 && schema->num_clocks > 0) return schema->clocks[0].period_ps;
    for (uint32_t i = 0; i < schema->num_clocks; i++) {
        if (strcmp(schema->clocks[i].name, text_of(name)) == 0) return schema->clocks[i].period_ps;
    }
    char hint[HINT_BYTES];
    uscopei_suggest(text_of(name), clock_name_of, schema, schema->num_clocks, hint, sizeof hint);
    uscopei_complain(t, E_SCHEMA_CLOCK, uscopei_hash_of(text_of(name)),
                     "no clock is named \"%s\"%s (schema: %s)", text_of(name), hint, schema_of(t));
    return 0;
}

/* -- the same for the library itself, which may live without */

int uscopei_find_storage(const struct uscopei_schema *schema, const char *name)
{
    return find(schema, schema->storages_by_name, schema->num_storages, storage_name, name);
}

int uscopei_find_event(const struct uscopei_schema *schema, const char *name)
{
    return find(schema, schema->events_by_name, schema->num_events, event_name, name);
}

int uscopei_find_field(const struct uscopei_schema *schema, int storage, const char *name)
{
    const struct field_info *fields = uscopei_fields_of(schema, (unsigned)storage);
    return find_field(fields, schema->storages[storage].num_fields, name);
}

int uscopei_find_label(const struct uscopei_schema *schema, uint32_t enum_id, const char *label)
{
    return enum_id < schema->num_enums ? label_value(schema, &schema->enums[enum_id], label) : -1;
}
