/* SPDX-License-Identifier: Apache-2.0 */
/* Ids by name, and names by id; nothing is reported. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/schema.h"

/* FNV-1a; only distinguishes messages about different names. */
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

int uscopei_find_field_in(const struct field_info *fields, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(fields[i].name, name) == 0) return (int)i;
    }
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
    return uscopei_find_field_in(fields, schema->storages[storage].num_fields, name);
}

int uscopei_find_label(const struct uscopei_schema *schema, uint32_t enum_id, const char *label)
{
    return enum_id < schema->num_enums ? label_value(schema, &schema->enums[enum_id], label) : -1;
}

uint32_t uscopei_num_countable(const struct storage_shape *storages, uint32_t num_storages)
{
    uint32_t n = 0;
    while (n < num_storages && storages[n].num_slots > 0 && storages[n].num_fields > 0)
        n++;
    return n;
}
