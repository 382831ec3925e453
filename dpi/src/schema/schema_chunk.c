/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binary schema chunk (docs/reference/format.md#schema) -> the tables the calls use. The bytes come from the
 * daemon; every offset and count is checked all the same.
 */
#include <stdlib.h>
#include <string.h>

#include "schema/schema.h"

enum { HEADER = 12, CLOCK_DEF = 8, SCOPE_DEF = 12, STORAGE_DEF = 16, EVENT_DEF = 8, FIELD_DEF = 8 };
#define CONTROL_EVENT "uscope/control"
enum { ROOT = 0xFFFF, MAX_PATH = 4096, SF_SPARSE = 1 };

struct reader {
    const unsigned char *bytes;
    size_t size, at;
    size_t pool;   /* offset of the string pool */
    size_t clocks; /* offset of the clock definitions */
    size_t scopes; /* offset of the scope definitions */
    unsigned num_scopes;
    uscopei_code code;
    const char *detail;
};

static bool wrong(struct reader *r, uscopei_code code, const char *detail)
{
    if (r->code == E_NONE) {
        r->code = code;
        r->detail = detail;
    }
    return false;
}

static unsigned u16_at(const struct reader *r, size_t at)
{
    return (unsigned)r->bytes[at] | (unsigned)r->bytes[at + 1] << 8;
}

/* Steps over `count` structures of `size` bytes; *start is where they begin. */
static bool take(struct reader *r, size_t count, size_t size, size_t *start)
{
    *start = r->at;
    if (count * size > r->size - r->at)
        return wrong(r, E_FORMAT_LENGTH, "the schema chunk ends inside its definitions");
    r->at += count * size;
    return true;
}

static const char *name_at(struct reader *r, unsigned offset)
{
    size_t at = r->pool + offset;
    if (at >= r->size || !memchr(r->bytes + at, 0, r->size - at)) {
        wrong(r, E_FORMAT_STRING_POOL, "a name of the schema chunk lies outside its string pool");
        return "";
    }
    return (const char *)r->bytes + at;
}

/* -- first pass: counts, and that everything is there */

static bool count_fields(struct reader *r, struct uscopei_schema *schema, unsigned storages, unsigned events)
{
    size_t at;
    for (unsigned i = 0; i < storages; i++) {
        if (!take(r, 1, STORAGE_DEF, &at)) return false;
        unsigned fields = u16_at(r, at + 6) + u16_at(r, at + 12);
        schema->num_fields += fields;
        if (!take(r, fields, FIELD_DEF, &at)) return false;
    }
    for (unsigned i = 0; i < events; i++) {
        if (!take(r, 1, EVENT_DEF, &at)) return false;
        unsigned fields = u16_at(r, at + 4);
        schema->num_event_fields += fields;
        if (!take(r, fields, FIELD_DEF, &at)) return false;
    }
    return true;
}

static bool count_labels(struct reader *r, struct uscopei_schema *schema)
{
    size_t at;
    for (unsigned i = 0; i < schema->num_enums; i++) {
        if (!take(r, 1, 4, &at)) return false;
        schema->num_labels += r->bytes[at + 2];
        if (!take(r, r->bytes[at + 2], 4, &at)) return false;
    }
    return true;
}

static bool survey(struct reader *r, struct uscopei_schema *schema, size_t *enums, size_t *definitions)
{
    size_t at;
    if (!take(r, 1, HEADER, &at)) return false;
    schema->num_enums = r->bytes[0];
    schema->num_storages = u16_at(r, 4);
    schema->num_events = u16_at(r, 6);
    r->num_scopes = u16_at(r, 2);
    schema->num_scopes = r->num_scopes > 0 ? r->num_scopes : 1;
    schema->control_event = -1;
    r->pool = u16_at(r, 10);
    schema->num_clocks = r->bytes[1];
    if (!take(r, schema->num_clocks, CLOCK_DEF, &r->clocks) || !take(r, r->num_scopes, SCOPE_DEF, &r->scopes))
        return false;
    *enums = r->at;
    if (!count_labels(r, schema)) return false;
    *definitions = r->at;
    if (!count_fields(r, schema, schema->num_storages, schema->num_events) ||
        !take(r, u16_at(r, 8), FIELD_DEF, &at))
        return false;
    if (r->pool < r->at || r->pool > r->size)
        return wrong(r, E_FORMAT_STRING_POOL,
                     "the string pool of the schema chunk lies inside its definitions");
    return true;
}

static bool allocate(struct reader *r, struct uscopei_schema *schema)
{
#define TABLE(member, count) ((schema->member = calloc((size_t)(count) + 1, sizeof *schema->member)) != NULL)
    bool done = TABLE(scopes, schema->num_scopes) && TABLE(event_scopes, schema->num_events) &&
                TABLE(storages, schema->num_storages) && TABLE(properties, schema->num_storages) &&
                TABLE(storage_infos, schema->num_storages) && TABLE(storages_by_name, schema->num_storages) &&
                TABLE(field_limits, schema->num_fields) && TABLE(field_infos, schema->num_fields) &&
                TABLE(events, schema->num_events) && TABLE(event_names, schema->num_events) &&
                TABLE(events_by_name, schema->num_events) && TABLE(event_fields, schema->num_event_fields) &&
                TABLE(event_field_names, schema->num_event_fields) && TABLE(enums, schema->num_enums) &&
                TABLE(labels, schema->num_labels) && TABLE(clocks, schema->num_clocks);
#undef TABLE
    return done || wrong(r, E_BRIDGE_LIMIT, "no memory for the schema");
}

/* -- second pass: values */

/* Scope path without the root, and the definition's own name: "core0/rob". Parents come before children, so
 * it ends. */
static char *qualified_name(struct reader *r, unsigned scope, const char *name)
{
    char path[MAX_PATH];
    size_t at = sizeof path - 1;
    path[at] = 0;
    const char *part = name;
    unsigned last = ROOT;
    for (;;) {
        size_t length = strlen(part);
        if (length + 1 > at) {
            wrong(r, E_FORMAT_LENGTH, "a scope path of the schema chunk is too long");
            return NULL;
        }
        at -= length;
        memcpy(path + at, part, length);
        if (scope == ROOT || scope == 0) break;
        if (scope >= r->num_scopes || scope >= last) {
            wrong(r, E_FORMAT_ID, "a scope id of the schema chunk is not defined before its use");
            return NULL;
        }
        part = name_at(r, u16_at(r, r->scopes + (size_t)scope * SCOPE_DEF));
        last = scope;
        scope = u16_at(r, r->scopes + (size_t)scope * SCOPE_DEF + 4);
        path[--at] = '/';
    }
    return strdup(path + at);
}

/* Storages and events of the root may name it or no scope at all. */
static uint16_t scope_of(struct reader *r, unsigned scope)
{
    if (scope == ROOT || (scope == 0 && r->num_scopes == 0)) return 0;
    if (scope < r->num_scopes) return (uint16_t)scope;
    wrong(r, E_FORMAT_ID, "a scope id of the schema chunk is not defined before its use");
    return 0;
}

static bool read_scopes(struct reader *r, struct uscopei_schema *schema)
{
    schema->scopes[0].path = strdup("");
    for (unsigned i = 1; i < r->num_scopes; i++) {
        size_t at = r->scopes + (size_t)i * SCOPE_DEF;
        unsigned parent = u16_at(r, at + 4);
        if (parent != ROOT && parent >= i)
            return wrong(r, E_FORMAT_ID, "a scope of the schema chunk precedes its parent");
        schema->scopes[i].parent = parent == ROOT ? 0 : (uint16_t)parent;
        schema->scopes[i].path = qualified_name(r, parent, name_at(r, u16_at(r, at)));
        if (!schema->scopes[i].path) return false;
    }
    return schema->scopes[0].path != NULL;
}

static void read_clocks(struct reader *r, struct uscopei_schema *schema)
{
    for (unsigned i = 0; i < schema->num_clocks; i++) {
        size_t at = r->clocks + (size_t)i * CLOCK_DEF;
        schema->clocks[i].name = name_at(r, u16_at(r, at));
        schema->clocks[i].period_ps = u16_at(r, at + 4) | (uint32_t)u16_at(r, at + 6) << 16;
    }
}

static bool check_type(struct reader *r, const struct uscopei_schema *schema, uint8_t type, uint8_t enum_id)
{
    if (uscopei_type_size(type) == 0)
        return wrong(r, E_FORMAT_VALUE, "a field of the schema chunk has an unknown type");
    if (type == FT_ENUM && enum_id >= schema->num_enums)
        return wrong(r, E_FORMAT_ID, "a field of the schema chunk names an enum that is not there");
    return true;
}

/* Fields and properties of a storage go into one table, fields first. */
static bool read_field(struct reader *r, struct uscopei_schema *schema, uint32_t index, uint32_t *packed)
{
    size_t at;
    if (!take(r, 1, FIELD_DEF, &at)) return false;
    struct field_info *info = &schema->field_infos[index];
    info->name = name_at(r, u16_at(r, at));
    info->type = r->bytes[at + 2];
    info->enum_id = r->bytes[at + 3];
    info->role = r->bytes[at + 4];
    info->pair = r->bytes[at + 5];
    if (!check_type(r, schema, info->type, info->enum_id)) return false;
    schema->field_limits[index] = uscopei_type_limit(info->type);
    schema->has_strings |= info->type == FT_STRING_REF;
    *packed += uscopei_type_size(info->type);
    return true;
}

static bool read_storage(struct reader *r, struct uscopei_schema *schema, unsigned id, uint32_t *next_field)
{
    size_t at;
    if (!take(r, 1, STORAGE_DEF, &at)) return false;
    if (u16_at(r, at + 2) != id)
        return wrong(r, E_FORMAT_ID, "the storage ids of the schema chunk are not 0, 1, 2, ...");
    struct storage_shape *shape = &schema->storages[id];
    shape->num_slots = (uint16_t)u16_at(r, at + 4);
    shape->num_fields = (uint16_t)u16_at(r, at + 6);
    shape->set = op_half(ACTION_SET, (uint16_t)id);
    shape->limits = schema->field_limits + *next_field;
    struct storage_info *info = &schema->storage_infos[id];
    info->first_field = *next_field;
    info->sparse = (u16_at(r, at + 8) & SF_SPARSE) != 0;
    info->scope = scope_of(r, u16_at(r, at + 10));
    info->name = qualified_name(r, u16_at(r, at + 10), name_at(r, u16_at(r, at)));
    struct property_shape *properties = &schema->properties[id];
    properties->first = *next_field + shape->num_fields;
    properties->count = u16_at(r, at + 12);
    if (!info->name) return false;
    for (unsigned i = 0; i < shape->num_fields; i++) {
        if (!read_field(r, schema, (*next_field)++, &info->slot_size)) return false;
    }
    uint32_t ignored = 0;
    for (unsigned i = 0; i < properties->count; i++) {
        if (!read_field(r, schema, (*next_field)++, &ignored)) return false;
    }
    return true;
}

/* action, source, subject, text; an event of a model's own that happens to have the name is left alone */
static bool is_control_shape(const struct event_shape *shape)
{
    static const uint8_t types[] = {FT_ENUM, FT_ENUM, FT_STRING_REF, FT_STRING_REF};
    if (shape->num_fields != sizeof types) return false;
    for (unsigned i = 0; i < sizeof types; i++) {
        if (shape->fields[i].type != types[i]) return false;
    }
    return true;
}

static bool read_event(struct reader *r, struct uscopei_schema *schema, unsigned id, uint32_t *next_field)
{
    size_t at, field_at;
    if (!take(r, 1, EVENT_DEF, &at)) return false;
    if (u16_at(r, at + 2) != id)
        return wrong(r, E_FORMAT_ID, "the event ids of the schema chunk are not 0, 1, 2, ...");
    struct event_shape *shape = &schema->events[id];
    shape->num_fields = (uint16_t)u16_at(r, at + 4);
    shape->first_field = *next_field;
    shape->fields = schema->event_fields + *next_field;
    schema->event_names[id] = qualified_name(r, u16_at(r, at + 6), name_at(r, u16_at(r, at)));
    if (!schema->event_names[id]) return false;
    schema->event_scopes[id] = scope_of(r, u16_at(r, at + 6));
    bool is_control = strcmp(schema->event_names[id], CONTROL_EVENT) == 0;
    if (is_control) schema->control_event = (int)id;
    uint32_t size = 0;
    for (unsigned i = 0; i < shape->num_fields; i++) {
        uint32_t index = (*next_field)++;
        struct event_field *field = &schema->event_fields[index];
        if (!take(r, 1, FIELD_DEF, &field_at)) return false;
        schema->event_field_names[index] = name_at(r, u16_at(r, field_at));
        field->type = r->bytes[field_at + 2];
        field->enum_id = r->bytes[field_at + 3];
        if (!check_type(r, schema, field->type, field->enum_id)) return false;
        field->limit = uscopei_type_limit(field->type);
        field->size = (uint8_t)uscopei_type_size(field->type);
        field->offset = (uint16_t)size;
        schema->has_strings |= field->type == FT_STRING_REF && !is_control;
        size += field->size;
        if (size > MAX_PAYLOAD)
            return wrong(r, E_FORMAT_LENGTH,
                         "an event of the schema chunk has more than 65,520 payload bytes");
    }
    shape->size = (uint16_t)size;
    shape->bytes = event_bytes(size);
    shape->word = event_word((uint16_t)id, size);
    shape->single = shape->bytes == RECORD_BYTES ? shape->num_fields : NOT_SINGLE;
    if (is_control && !is_control_shape(shape)) schema->control_event = -1;
    return true;
}

static bool read_enums(struct reader *r, struct uscopei_schema *schema)
{
    size_t at;
    uint32_t next = 0;
    for (unsigned i = 0; i < schema->num_enums; i++) {
        if (!take(r, 1, 4, &at)) return false;
        struct enum_info *info = &schema->enums[i];
        info->name = name_at(r, u16_at(r, at));
        info->num_labels = r->bytes[at + 2];
        info->first_label = next;
        for (unsigned k = 0; k < info->num_labels; k++) {
            if (!take(r, 1, 4, &at)) return false;
            schema->labels[next].value = r->bytes[at];
            schema->labels[next++].name = name_at(r, u16_at(r, at + 2));
        }
    }
    return true;
}

static bool read_all(struct reader *r, struct uscopei_schema *schema, size_t enums, size_t definitions)
{
    read_clocks(r, schema);
    r->at = enums;
    if (!read_enums(r, schema) || !read_scopes(r, schema)) return false;
    r->at = definitions;
    uint32_t next = 0;
    for (unsigned i = 0; i < schema->num_storages; i++) {
        if (!read_storage(r, schema, i, &next)) return false;
    }
    next = 0;
    for (unsigned i = 0; i < schema->num_events; i++) {
        if (!read_event(r, schema, i, &next)) return false;
    }
    return r->code == E_NONE;
}

struct uscopei_schema *uscopei_schema_decode(const void *bytes, size_t size, uscopei_code *code,
                                             const char **detail)
{
    struct uscopei_schema *schema = calloc(1, sizeof *schema);
    struct reader r = {.size = size};
    size_t enums, definitions;
    if (schema) schema->payload = malloc(size + 1);
    if (!schema || !schema->payload) {
        wrong(&r, E_BRIDGE_LIMIT, "no memory for the schema");
    } else {
        if (size > 0) memcpy(schema->payload, bytes, size);
        schema->payload_size = size;
        r.bytes = schema->payload;
        if (survey(&r, schema, &enums, &definitions) && allocate(&r, schema) &&
            read_all(&r, schema, enums, definitions)) {
            uscopei_schema_index_names(schema);
            return schema;
        }
    }
    *code = r.code;
    *detail = r.detail;
    uscopei_schema_destroy(schema);
    return NULL;
}

void uscopei_schema_destroy(struct uscopei_schema *schema)
{
    if (!schema) return;
    for (uint32_t i = 0; schema->scopes && i < schema->num_scopes; i++)
        free(schema->scopes[i].path);
    free(schema->scopes);
    free(schema->event_scopes);
    for (uint32_t i = 0; schema->storage_infos && i < schema->num_storages; i++)
        free(schema->storage_infos[i].name);
    for (uint32_t i = 0; schema->event_names && i < schema->num_events; i++)
        free(schema->event_names[i]);
    free(schema->payload);
    free(schema->storages);
    free(schema->properties);
    free(schema->storage_infos);
    free(schema->storages_by_name);
    free(schema->field_limits);
    free(schema->field_infos);
    free(schema->events);
    free(schema->event_names);
    free(schema->events_by_name);
    free(schema->event_fields);
    free(schema->event_field_names);
    free(schema->clocks);
    free(schema->enums);
    free(schema->labels);
    free(schema);
}
