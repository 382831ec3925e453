/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of the protocol helpers: rings with head and tail pointers, and slots in any order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/catalog.h"

static const char *buffer_name(const struct catalog *c, const struct catalog_buffer *b)
{
    return c->schema->storage_infos[b->storage].name;
}

static int pointer_of(const struct catalog *c, int storage, uint8_t role)
{
    struct property_shape shape = c->schema->properties[storage];
    for (uint32_t i = 0; i < shape.count; i++) {
        if (c->schema->field_infos[shape.first + i].role == role) return (int)i;
    }
    return -1;
}

static int complain(const struct catalog *c, const char *name, const char *what)
{
    struct uscopei_trace *t = uscopei_resolve(c->w, "buffer");
    if (t)
        uscopei_complain(t, E_OP_STORAGE, UINT64_C(1) << 41 | (uint64_t)(unsigned char)name[0],
                         "the scope \"%s\": \"%s\" %s", c->scope, name, what);
    return -1;
}

int catalog_buffer_open(struct catalog *c, const char *name)
{
    int storage = catalog_storage(c, name);
    if (storage < 0) return -1; /* optional, like everything but the catalog */
    for (int i = 0; i < c->num_buffers; i++) {
        if (c->buffers[i].storage == storage) return i;
    }
    int field = uscopei_find_field(c->schema, storage, c->id_name);
    if (field < 0 || storage == c->storage || !c->schema->storage_infos[storage].sparse)
        return complain(c, name, "is not a sparse storage that holds ids");
    if (c->num_buffers == MAX_BUFFERS) return complain(c, name, "is one buffer too many; 64 are allowed");
    struct catalog_buffer *b = &c->buffers[c->num_buffers];
    b->storage = (uint16_t)storage;
    b->id_field = (uint16_t)field;
    b->num_slots = c->schema->storages[storage].num_slots;
    b->head_property = pointer_of(c, storage, USCOPE_HEAD);
    b->tail_property = pointer_of(c, storage, USCOPE_TAIL);
    b->ring = b->head_property >= 0 || b->tail_property >= 0;
    b->head = b->count = 0;
    b->ids = malloc(b->num_slots * sizeof *b->ids);
    if (!b->ids) return -1;
    for (uint32_t i = 0; i < b->num_slots; i++)
        b->ids[i] = NO_ID;
    return c->num_buffers++;
}

static uint32_t wrap(const struct catalog_buffer *b, uint32_t slot)
{
    return slot >= b->num_slots ? slot - b->num_slots : slot;
}

static void show_head(const struct catalog *c, const struct catalog_buffer *b)
{
    if (b->head_property >= 0) uscope_prop_set(c->w, b->storage, (uint16_t)b->head_property, b->head);
}

static void show_tail(const struct catalog *c, const struct catalog_buffer *b)
{
    if (b->tail_property >= 0)
        uscope_prop_set(c->w, b->storage, (uint16_t)b->tail_property, wrap(b, b->head + b->count));
}

/* The buffer of an index; -1 is one that the schema does not have, and skipped. */
static struct catalog_buffer *resolve(struct catalog *c, struct uscopei_trace *t, int buffer,
                                      const char *call)
{
    if (LIKELY(buffer >= 0 && buffer < c->num_buffers)) return &c->buffers[buffer];
    if (buffer == -1) return NULL;
    uscopei_reject(t, E_OP_STORAGE, UINT64_C(1) << 42,
                   "%s: %d is not a buffer of scope \"%s\"; call rejected", call, buffer, c->scope);
    return NULL;
}

static void fill(struct catalog *c, struct catalog_buffer *b, uint32_t slot, uint32_t id)
{
    uscope_slot_set(c->w, b->storage, (uint16_t)slot, b->id_field, id);
    b->ids[slot] = id;
    c->entries[id].held++;
}

static void release(struct catalog *c, struct catalog_buffer *b, uint32_t slot)
{
    c->entries[b->ids[slot]].held--;
    b->ids[slot] = NO_ID;
}

static void empty(struct catalog *c, struct catalog_buffer *b, uint32_t slot)
{
    uscope_slot_clear(c->w, b->storage, (uint16_t)slot);
    release(c, b, slot);
}

int catalog_push(struct catalog *c, struct uscopei_trace *t, int buffer, uint32_t id, const char *call)
{
    struct catalog_buffer *b = resolve(c, t, buffer, call);
    if (!b || !catalog_alive(c, t, id, call)) return -1;
    uint32_t slot = b->ring ? wrap(b, b->head + b->count) : 0;
    if (!b->ring) {
        while (slot < b->num_slots && b->ids[slot] != NO_ID)
            slot++;
    }
    if (b->ring ? b->count == b->num_slots || b->ids[slot] != NO_ID : slot == b->num_slots) {
        uscopei_reject(t, E_OP_SLOT, b->storage | UINT64_C(1) << 42,
                       "%s: %s of %s %u: all %u slots are taken; call rejected", buffer_name(c, b), call,
                       c->noun, id, b->num_slots);
        return -1;
    }
    fill(c, b, slot, id);
    b->count++;
    if (b->ring) show_tail(c, b);
    return (int)slot;
}

static bool check_slot(const struct catalog *c, struct uscopei_trace *t, const struct catalog_buffer *b,
                       int slot, bool taken, const char *call)
{
    if (slot >= 0 && slot < b->num_slots && (!taken || b->ids[slot] != NO_ID)) return true;
    if (slot == -1) return false; /* a push has reported it */
    bool inside = slot >= 0 && slot < b->num_slots;
    uscopei_reject(t, E_OP_SLOT, b->storage | UINT64_C(1) << 43, "%s: %s: slot %d is %s; call rejected",
                   buffer_name(c, b), call, slot, inside ? "empty" : "not in the buffer");
    return false;
}

bool catalog_place(struct catalog *c, struct uscopei_trace *t, int buffer, int slot, uint32_t id,
                   const char *call)
{
    struct catalog_buffer *b = resolve(c, t, buffer, call);
    if (!b || !catalog_alive(c, t, id, call) || !check_slot(c, t, b, slot, false, call)) return false;
    if (b->ring) {
        uscopei_reject(t, E_OP_SLOT, b->storage | UINT64_C(1) << 44,
                       "%s: %s: a buffer with head and tail takes push and pop; call rejected",
                       buffer_name(c, b), call);
        return false;
    }
    if (b->ids[slot] != NO_ID)
        release(c, b, (uint32_t)slot);
    else
        b->count++;
    fill(c, b, (uint32_t)slot, id);
    return true;
}

/* The head goes past what is empty, so that it is at the oldest there is. */
static void advance(const struct catalog *c, struct catalog_buffer *b)
{
    uint32_t before = b->head;
    while (b->count > 0 && b->ids[b->head] == NO_ID) {
        b->head = wrap(b, b->head + 1);
        b->count--;
    }
    if (b->head != before) show_head(c, b);
}

static void take_out(struct catalog *c, struct catalog_buffer *b, uint32_t slot)
{
    empty(c, b, slot);
    if (b->ring)
        advance(c, b);
    else
        b->count--;
}

uint32_t catalog_pop(struct catalog *c, struct uscopei_trace *t, int buffer, const char *call)
{
    struct catalog_buffer *b = resolve(c, t, buffer, call);
    if (!b) return NO_ID;
    if (b->count == 0) {
        uscopei_reject(t, E_OP_SLOT, b->storage | UINT64_C(1) << 45,
                       "%s: %s: the buffer is empty; call rejected", buffer_name(c, b), call);
        return NO_ID;
    }
    uint32_t slot = b->ring ? b->head : 0;
    while (b->ids[slot] == NO_ID)
        slot++;
    uint32_t id = b->ids[slot];
    take_out(c, b, slot);
    return id;
}

void catalog_remove(struct catalog *c, struct uscopei_trace *t, int buffer, int slot, const char *call)
{
    struct catalog_buffer *b = resolve(c, t, buffer, call);
    if (b && check_slot(c, t, b, slot, true, call)) take_out(c, b, (uint32_t)slot);
}

void catalog_buffer_set(struct catalog *c, struct uscopei_trace *t, int buffer, int slot, int field,
                        uint64_t value, const char *call)
{
    struct catalog_buffer *b = resolve(c, t, buffer, call);
    if (!b || field == -1 || !check_slot(c, t, b, slot, true, call)) return;
    if (field == b->id_field) {
        uscopei_reject(t, E_OP_FIELD, b->storage | UINT64_C(1) << 42,
                       "%s: %s: the field %s is the helper's own; call rejected", buffer_name(c, b), call,
                       c->id_name);
        return;
    }
    uscope_slot_set(c->w, b->storage, (uint16_t)slot, (uint16_t)field, value);
}

/* Of a ring whose youngest are gone: the tail goes back to after the youngest there is. */
static void retreat(const struct catalog *c, struct catalog_buffer *b)
{
    uint32_t before = b->count;
    while (b->count > 0 && b->ids[wrap(b, b->head + b->count - 1)] == NO_ID)
        b->count--;
    if (b->count != before) show_tail(c, b);
}

void catalog_forget(struct catalog *c, uint32_t id)
{
    for (int i = 0; i < c->num_buffers && c->entries[id].held > 0; i++) {
        struct catalog_buffer *b = &c->buffers[i];
        bool found = false;
        for (uint32_t slot = 0; slot < b->num_slots; slot++) {
            if (b->ids[slot] != id) continue;
            empty(c, b, slot);
            found = true;
            if (!b->ring) b->count--;
        }
        if (found && b->ring) {
            retreat(c, b);
            advance(c, b);
        }
    }
}

void catalog_empty_buffers(struct catalog *c)
{
    for (int i = 0; i < c->num_buffers; i++) {
        struct catalog_buffer *b = &c->buffers[i];
        for (uint32_t slot = 0; slot < b->num_slots; slot++) {
            if (b->ids[slot] != NO_ID) empty(c, b, slot);
        }
        b->head = b->count = 0;
        if (b->ring) {
            show_head(c, b);
            show_tail(c, b);
        }
    }
}

uint32_t catalog_buffer_count(const struct catalog *c, int buffer)
{
    if (buffer < 0 || buffer >= c->num_buffers) return 0;
    const struct catalog_buffer *b = &c->buffers[buffer];
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < b->num_slots; slot++)
        count += b->ids[slot] != NO_ID;
    return count;
}

int catalog_buffer_field(const struct catalog *c, int buffer, const char *name)
{
    if (buffer < 0 || buffer >= c->num_buffers) return -1;
    return uscopei_find_field(c->schema, c->buffers[buffer].storage, name ? name : "");
}
