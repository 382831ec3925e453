/* SPDX-License-Identifier: Apache-2.0 */
/* Ids by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "trace/session.h"

/* Of the part of a message that says what was meant. */
#define HINT_BYTES 320u

static const char *text_of(const char *name)
{
    return name ? name : "";
}

static const char *storage_name_of(const void *schema, uint32_t id)
{
    return ((const struct uscopei_schema *)schema)->storage_infos[id].name;
}

static const char *event_name_of(const void *schema, uint32_t id)
{
    return ((const struct uscopei_schema *)schema)->event_names[id];
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
    int id = uscopei_find_storage(schema, text_of(name));
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
    int id = uscopei_find_event(schema, text_of(name));
    if (id < 0) {
        char hint[HINT_BYTES];
        uscopei_suggest(text_of(name), event_name_of, schema, schema->num_events, hint, sizeof hint);
        uscopei_complain(t, E_OP_EVENT, uscopei_hash_of(text_of(name)),
                         "no event is named \"%s\"%s (schema: %s; correct the name or add the event)",
                         text_of(name), hint, schema_of(t));
    }
    return id;
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
    int id = uscopei_find_field_in(fields, num_fields, text_of(name));
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
    int id = uscopei_find_field_in(schema->field_infos + shape.first, shape.count, text_of(name));
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

int uscope_enum_value(uscope_writer_t *w, const char *enum_name, const char *label)
{
    struct uscopei_trace *t = uscopei_resolve(w, "enum_value");
    if (!t) return -1;
    const struct uscopei_schema *schema = t->session->schema;
    uint64_t id = uscopei_hash_of(text_of(enum_name)) * 31 + uscopei_hash_of(text_of(label));
    for (uint32_t i = 0; i < schema->num_enums; i++) {
        if (strcmp(schema->enums[i].name, text_of(enum_name)) != 0) continue;
        int value = uscopei_find_label(schema, i, text_of(label));
        if (value < 0)
            uscopei_complain(t, E_OP_VALUE, id, "enum %s has no label \"%s\"", enum_name, text_of(label));
        return value;
    }
    uscopei_complain(t, E_OP_VALUE, id, "no enum is named \"%s\"", text_of(enum_name));
    return -1;
}

/* What these return of a definition that is not there has been reported where its id was looked up. */

int uscope_field_type(uscope_writer_t *w, int storage, int field)
{
    struct uscopei_trace *t = uscopei_resolve(w, "field_type");
    if (!t || storage < 0 || (uint32_t)storage >= t->num_storages) return -1;
    const struct uscopei_schema *schema = t->session->schema;
    if (field < 0 || field >= schema->storages[storage].num_fields) return -1;
    return uscopei_fields_of(schema, (unsigned)storage)[field].type;
}

int uscope_property_type(uscope_writer_t *w, int storage, int property)
{
    struct uscopei_trace *t = uscopei_resolve(w, "property_type");
    if (!t || storage < 0 || (uint32_t)storage >= t->num_storages) return -1;
    const struct uscopei_schema *schema = t->session->schema;
    struct property_shape shape = schema->properties[storage];
    return property < 0 || (uint32_t)property >= shape.count
               ? -1
               : schema->field_infos[shape.first + (unsigned)property].type;
}

int uscope_num_slots(uscope_writer_t *w, int storage)
{
    struct uscopei_trace *t = uscopei_resolve(w, "num_slots");
    if (!t || storage < 0 || (uint32_t)storage >= t->num_storages) return -1;
    return t->session->schema->storages[storage].num_slots;
}

int uscope_event_field_type(uscope_writer_t *w, int event, int field)
{
    struct uscopei_trace *t = uscopei_resolve(w, "event_field_type");
    if (!t || event < 0 || (uint32_t)event >= t->num_events) return -1;
    struct event_shape shape = t->events[event];
    return field < 0 || field >= shape.num_fields ? -1 : shape.fields[field].type;
}

int uscope_num_event_fields(uscope_writer_t *w, int event)
{
    struct uscopei_trace *t = uscopei_resolve(w, "num_event_fields");
    if (!t || event < 0 || (uint32_t)event >= t->num_events) return -1;
    return t->events[event].num_fields;
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
