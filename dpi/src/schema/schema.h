/* SPDX-License-Identifier: Apache-2.0 */
/* The schema as the calls need it: shapes, limits, names; decoded from the binary chunk. */
#ifndef USCOPE_SCHEMA_H
#define USCOPE_SCHEMA_H

#include "base/common.h"

#pragma GCC visibility push(hidden)

struct storage_shape {
    uint16_t num_slots;
    uint16_t num_fields;
    uint32_t set;           /* op_half of a SET */
    const uint64_t *limits; /* field_limits from the storage's first field on */
};

/** The lower half of the word of an operation, in which its slot and field are not. */
static inline uint32_t op_half(unsigned action, uint16_t storage)
{
    return RECORD_OP | action << 8 | (uint32_t)storage << 16;
}

struct property_shape {
    uint32_t first; /* into field_limits and field_infos */
    uint32_t count;
};

#define NOT_SINGLE UINT32_MAX

struct event_shape {
    uint64_t word;                    /* the first half of its record */
    const struct event_field *fields; /* event_fields from first_field on */
    uint32_t first_field;             /* into event_fields */
    uint32_t bytes;                   /* of its records */
    uint16_t num_fields;
    uint16_t size;   /* payload bytes */
    uint32_t single; /* the number of fields, where all fit into one record; else NOT_SINGLE */
};

static inline uint64_t event_word(uint16_t type, uint32_t size)
{
    return RECORD_EVENT | (uint64_t)type << 16 | (uint64_t)size << 32;
}

/** The first record of an event has room for 8 bytes of payload, each further one for 16. */
static inline uint32_t event_bytes(uint32_t size)
{
    return (size + 8 + RECORD_BYTES - 1) / RECORD_BYTES * RECORD_BYTES;
}

/** Values below `limit` are good without a closer look; 0 for strings, which need one always. */
struct event_field {
    uint64_t limit;
    uint16_t offset; /* in the payload; fields lie there one after the other */
    uint8_t type;
    uint8_t size;
    uint8_t enum_id;
    uint8_t reserved[3];
};

struct field_info {
    const char *name;
    uint8_t type;
    uint8_t enum_id;
    uint8_t role, pair; /* of properties: uscope_property_role_t */
};

struct storage_info {
    char *name; /* scope path without the root */
    uint32_t slot_size;
    uint32_t first_field; /* into field_limits and field_infos */
    uint16_t scope;       /* into scopes */
    bool sparse;
};

/** Parents come before their children; scope 0 is the root, whose path is empty. */
struct scope_info {
    char *path;
    uint16_t parent;
};

struct clock_info {
    const char *name;
    uint32_t period_ps; /* 0: unknown */
};

struct enum_label {
    const char *name;
    uint8_t value;
};

struct enum_info {
    const char *name;
    uint32_t first_label;
    uint32_t num_labels;
};

struct uscopei_schema {
    unsigned char *payload; /* the chunk; names point into it */
    size_t payload_size;
    uint32_t num_clocks, num_scopes, num_storages, num_events, num_enums, num_fields, num_event_fields,
        num_labels;
    struct storage_shape *storages;
    struct property_shape *properties;
    struct storage_info *storage_infos;
    uint64_t *field_limits; /* slot fields and properties of all storages */
    struct field_info *field_infos;
    struct scope_info *scopes;
    struct event_shape *events;
    char **event_names;
    uint16_t *event_scopes;
    struct event_field *event_fields;
    const char **event_field_names;
    struct clock_info *clocks;
    struct enum_info *enums;
    struct enum_label *labels;
    uint32_t *storages_by_name, *events_by_name; /* ids sorted by name */
    int control_event;                           /* uscope/control; -1: a schema without */
    bool has_strings;                            /* besides those of the control event */
};

/** Of a storage's fields, from the first on. */
static inline const struct field_info *uscopei_fields_of(const struct uscopei_schema *schema,
                                                         unsigned storage)
{
    return schema->field_infos + schema->storage_infos[storage].first_field;
}

/** Decodes a schema chunk payload (docs/reference/format.md#schema). NULL and *code, *detail on bytes that do
 * not make sense. */
struct uscopei_schema *uscopei_schema_decode(const void *bytes, size_t size, uscopei_code *code,
                                             const char **detail);
/** Fills storages_by_name and events_by_name. */
void uscopei_schema_index_names(struct uscopei_schema *schema);
/** Storages up to the first one without slots or fields. */
uint32_t uscopei_num_countable(const struct storage_shape *storages, uint32_t num_storages);
/** Distinguishes complaints about different names. */
uint64_t uscopei_hash_of(const char *name);
/** Ids by full name, -1 when there is none; nothing is reported. */
int uscopei_find_storage(const struct uscopei_schema *schema, const char *name);
int uscopei_find_event(const struct uscopei_schema *schema, const char *name);
/** -1 when there is none. */
int uscopei_find_field_in(const struct field_info *fields, uint32_t count, const char *name);
/** Index of a slot field of a storage. */
int uscopei_find_field(const struct uscopei_schema *schema, int storage, const char *name);
/** Value of a label of an enum. */
int uscopei_find_label(const struct uscopei_schema *schema, uint32_t enum_id, const char *label);
void uscopei_schema_destroy(struct uscopei_schema *schema);
unsigned uscopei_type_size(uint8_t type);
const char *uscopei_type_name(uint8_t type);
/** "u32", "enum flush_reason" */
const char *uscopei_describe_type(const struct uscopei_schema *schema, uint8_t type, uint8_t enum_id,
                                  char *out, size_t size);
/** Exclusive limit below which a value certainly fits (see struct event_field). */
uint64_t uscopei_type_limit(uint8_t type);

/* values.c */
/** Checks a value against a type. E_NONE, E_OP_VALUE or E_OP_STRING. `strings` is the number of strings
 * defined. */
uscopei_code uscopei_check_value(uint8_t type, uint64_t value, uint32_t strings);
/** "0x1_0000_0000" */
void uscopei_format_hex(uint64_t value, char *out, size_t size);

/* schema_builder.c */
const char *uscopei_schema_source_name(const uscope_schema_t *schema);

#pragma GCC visibility pop

#endif
