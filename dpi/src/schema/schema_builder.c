/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schemas made by calls: definitions are kept as a tree and written out as the JSON form of
 * docs/reference/schema.md. The daemon checks the result; here only what could not be written down is
 * refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/schema.h"

/* A key of a JSON object. Leaves have `value`, already in JSON; others have children. */
struct node {
    char *key;
    char *value;
    struct node *children, *last, *next;
};

struct uscope_schema {
    char *given; /* text that came from elsewhere */
    char *name;
    struct node top;
    char *text; /* of the tree, made when asked for */
};

struct out {
    char *text;
    size_t used, room;
    bool failed;
};

static void put(struct out *o, const char *text, size_t size)
{
    if (o->failed) return;
    if (o->room - o->used < size + 1) {
        size_t room = (o->used + size + 1) * 2;
        char *larger = realloc(o->text, room);
        if (!larger) {
            o->failed = true;
            return;
        }
        o->text = larger;
        o->room = room;
    }
    memcpy(o->text + o->used, text, size);
    o->used += size;
    o->text[o->used] = 0;
}

static void put_text(struct out *o, const char *text)
{
    put(o, text, strlen(text));
}

static void put_quoted(struct out *o, const char *text)
{
    put(o, "\"", 1);
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        char escape[8];
        if (byte == '"' || byte == '\\')
            snprintf(escape, sizeof escape, "\\%c", byte);
        else if (byte < 0x20)
            snprintf(escape, sizeof escape, "\\u%04x", byte);
        else {
            put(o, text, 1);
            continue;
        }
        put_text(o, escape);
    }
    put(o, "\"", 1);
}

static char *quoted(const char *text)
{
    struct out o = {0};
    put_quoted(&o, text ? text : "");
    if (o.failed) {
        free(o.text);
        return NULL;
    }
    return o.text;
}

static void put_children(struct out *o, const struct node *node)
{
    put(o, "{", 1);
    for (const struct node *child = node->children; child; child = child->next) {
        if (child != node->children) put(o, ",", 1);
        put_quoted(o, child->key);
        put(o, ":", 1);
        if (child->value)
            put_text(o, child->value);
        else
            put_children(o, child);
    }
    put(o, "}", 1);
}

/* -- the tree */

static struct node *find_child(struct node *parent, const char *key, size_t length)
{
    for (struct node *child = parent->children; child; child = child->next) {
        if (strlen(child->key) == length && memcmp(child->key, key, length) == 0) return child;
    }
    return NULL;
}

static struct node *add_child(struct node *parent, const char *key, char *value)
{
    struct node *child = calloc(1, sizeof *child);
    if (child) child->key = strdup(key);
    if (!child || !child->key) {
        free(child);
        free(value);
        uscopei_error(E_SCHEMA_LIMIT, "no memory for the schema");
        return NULL;
    }
    child->value = value;
    if (parent->last)
        parent->last->next = child;
    else
        parent->children = child;
    parent->last = child;
    return child;
}

/* A child that groups others: made when first needed. */
static struct node *section(struct node *parent, const char *key)
{
    struct node *found = find_child(parent, key, strlen(key));
    return found ? found : add_child(parent, key, NULL);
}

static struct node *add_new(struct node *parent, const char *key, char *value, const char *what)
{
    if (!parent) {
        free(value);
        return NULL;
    }
    if (find_child(parent, key, strlen(key))) {
        uscopei_error(E_SCHEMA_DUPLICATE, "%s \"%s\" is defined twice", what, key);
        free(value);
        return NULL;
    }
    return add_child(parent, key, value);
}

static void free_children(struct node *node)
{
    for (struct node *child = node->children; child;) {
        struct node *next = child->next;
        free_children(child);
        free(child->key);
        free(child->value);
        free(child);
        child = next;
    }
}

static bool writable(uscope_schema_t *schema)
{
    if (!schema) {
        uscopei_error(E_SCHEMA_NAME, "the schema is null");
        return false;
    }
    if (schema->given) {
        uscopei_error(E_SCHEMA_NAME, "a schema that came from text takes no further definitions");
        return false;
    }
    free(schema->text);
    schema->text = NULL;
    return true;
}

/* The scope that a path leads to, leaving its last component in *name; NULL when a scope is not defined. */
static struct node *scope_of(uscope_schema_t *schema, const char *path, const char **name)
{
    struct node *scope = &schema->top;
    const char *at = path ? path : "";
    for (const char *slash; (slash = strchr(at, '/')) != NULL; at = slash + 1) {
        struct node *scopes = find_child(scope, "scopes", 6);
        scope = scopes ? find_child(scopes, at, (size_t)(slash - at)) : NULL;
        if (!scope) {
            uscopei_error(E_SCHEMA_NAME, "\"%s\": the scope \"%.*s\" is not defined", path,
                          (int)(slash - path), path);
            return NULL;
        }
    }
    *name = at;
    return scope;
}

static struct node *definition(uscope_schema_t *schema, const char *kind, const char *path, const char *what)
{
    const char *name;
    struct node *scope = scope_of(schema, path, &name);
    struct node *defs = scope ? find_child(scope, kind, strlen(kind)) : NULL;
    struct node *found = defs ? find_child(defs, name, strlen(name)) : NULL;
    if (scope && !found) uscopei_error(E_SCHEMA_NAME, "%s \"%s\" is not defined", what, path ? path : "");
    return found;
}

static char *number_text(unsigned int number)
{
    char text[16];
    snprintf(text, sizeof text, "%u", number);
    return strdup(text);
}

static int done(const struct node *node)
{
    return node ? 0 : -1;
}

/* -- calls */

uscope_schema_t *uscope_schema_new(void)
{
    uscope_schema_t *schema = calloc(1, sizeof *schema);
    if (schema && !add_child(&schema->top, "uscope", strdup("1"))) {
        free(schema);
        schema = NULL;
    }
    return schema;
}

uscope_schema_t *uscope_schema_from_text(const char *text, const char *name)
{
    uscope_schema_t *schema = calloc(1, sizeof *schema);
    if (!schema) return NULL;
    schema->given = strdup(text ? text : "");
    schema->name = name ? strdup(name) : NULL;
    return schema;
}

uscope_schema_t *uscope_schema_from_file(const char *path)
{
    size_t size;
    char *text = uscopei_read_file(path ? path : "", &size);
    if (!text) return NULL;
    uscope_schema_t *schema = uscope_schema_from_text(text, path);
    free(text);
    return schema;
}

void uscope_schema_free(uscope_schema_t *schema)
{
    if (!schema) return;
    free_children(&schema->top);
    free(schema->given);
    free(schema->name);
    free(schema->text);
    free(schema);
}

const char *uscope_schema_text(uscope_schema_t *schema)
{
    if (!schema) return NULL;
    if (schema->given) return schema->given;
    if (!schema->text) {
        struct out o = {0};
        put_children(&o, &schema->top);
        if (o.failed) {
            free(o.text);
            return NULL;
        }
        schema->text = o.text;
    }
    return schema->text;
}

const char *uscopei_schema_source_name(const uscope_schema_t *schema)
{
    return schema->name;
}

int uscope_schema_dut(uscope_schema_t *schema, const char *key, const char *value)
{
    if (!writable(schema)) return -1;
    return done(add_new(section(&schema->top, "dut"), key ? key : "", quoted(value), "DUT property"));
}

int uscope_schema_clock(uscope_schema_t *schema, const char *name, unsigned int period_ps)
{
    if (!writable(schema)) return -1;
    struct node *clock = add_new(section(&schema->top, "clocks"), name ? name : "", NULL, "clock");
    return clock ? done(add_child(clock, "period_ps", number_text(period_ps))) : -1;
}

int uscope_schema_enum_value(uscope_schema_t *schema, const char *enum_name, const char *label,
                             unsigned int value)
{
    if (!writable(schema)) return -1;
    struct node *enums = section(&schema->top, "enums");
    struct node *labels = enums ? section(enums, enum_name ? enum_name : "") : NULL;
    return done(add_new(labels, label ? label : "", number_text(value), "enum label"));
}

int uscope_schema_scope(uscope_schema_t *schema, const char *path, const char *protocol, const char *clock)
{
    const char *name;
    struct node *parent = writable(schema) ? scope_of(schema, path, &name) : NULL;
    struct node *scope = parent ? add_new(section(parent, "scopes"), name, NULL, "scope") : NULL;
    if (!scope) return -1;
    if (protocol && !add_child(scope, "protocol", quoted(protocol))) return -1;
    return clock ? done(add_child(scope, "clock", quoted(clock))) : 0;
}

int uscope_schema_storage(uscope_schema_t *schema, const char *path, unsigned int num_slots,
                          uscope_storage_kind_t kind)
{
    static const char *const kinds[] = {"dense", "sparse", "dense_buffer", "buffer"};
    const char *name;
    struct node *scope = writable(schema) ? scope_of(schema, path, &name) : NULL;
    struct node *storage = scope ? add_new(section(scope, "storages"), name, NULL, "storage") : NULL;
    if (!storage) return -1;
    return done(add_child(storage, "slots", number_text(num_slots)) &&
                        add_child(storage, "kind", quoted(kinds[(unsigned)kind & 3]))
                    ? section(storage, "fields")
                    : NULL);
}

int uscope_schema_field(uscope_schema_t *schema, const char *storage, const char *name, const char *type)
{
    struct node *def = writable(schema) ? definition(schema, "storages", storage, "storage") : NULL;
    return def ? done(add_new(section(def, "fields"), name ? name : "", quoted(type), "field")) : -1;
}

int uscope_schema_property(uscope_schema_t *schema, const char *storage, const char *name, const char *type,
                           uscope_property_role_t role, unsigned int pair)
{
    static const char *const roles[] = {"plain", "head", "tail"};
    struct node *def = writable(schema) ? definition(schema, "storages", storage, "storage") : NULL;
    struct node *property =
        def ? add_new(section(def, "properties"), name ? name : "", NULL, "property") : NULL;
    if (!property || !add_child(property, "type", quoted(type))) return -1;
    if (role == USCOPE_PLAIN) return 0;
    return done(add_child(property, "role", quoted(roles[(unsigned)role % 3]))
                    ? add_child(property, "pair", number_text(pair))
                    : NULL);
}

int uscope_schema_event(uscope_schema_t *schema, const char *path)
{
    const char *name;
    struct node *scope = writable(schema) ? scope_of(schema, path, &name) : NULL;
    return scope ? done(add_new(section(scope, "events"), name, NULL, "event")) : -1;
}

int uscope_schema_event_field(uscope_schema_t *schema, const char *event, const char *name, const char *type)
{
    struct node *def = writable(schema) ? definition(schema, "events", event, "event") : NULL;
    return def ? done(add_new(def, name ? name : "", quoted(type), "event field")) : -1;
}
