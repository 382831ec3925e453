/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the protocol helpers have in common: a catalog of things in flight (instructions, transactions), each
 * in a separate slot for as long as it lives, and buffers that hold their ids.
 *
 * A slot is given out again only in a later frame than the one that cleared it, and only when no buffer names
 * the one that had it: a reader that looks at whole frames never takes two for one.
 */
#ifndef USCOPE_CATALOG_H
#define USCOPE_CATALOG_H

#include "record/append.h"

#pragma GCC visibility push(hidden)

enum { MAX_BUFFERS = 64 };
#define NO_ID 0xFFFFFFFFu

struct catalog_entry {
    uint32_t older, newer; /* in flight, by age */
    uint32_t held;         /* buffer slots that name it */
    bool alive;
    uint64_t ended; /* ordinal of the frame that cleared it, plus 1 */
};

struct catalog_buffer {
    uint16_t storage, id_field, num_slots;
    int head_property, tail_property; /* -1: none */
    bool ring;                        /* has one of them */
    uint32_t head, count;             /* ring: slots head .. head+count-1, with gaps */
    uint32_t *ids;                    /* NO_ID: empty */
};

/** An event of the scope, bound by the names of its fields. */
struct catalog_event {
    int type; /* -1: the schema has none, calls are skipped */
    unsigned num_fields;
    int at[4]; /* position of the n-th argument, -1: not recorded */
};

typedef enum catalog_kind { CATALOG_CPU = 1, CATALOG_NOC } catalog_kind;

struct catalog {
    catalog_kind kind;
    const char *noun, *id_name; /* "entity", "entity_id" */
    uscope_writer_t *w;
    char scope[256];
    const struct uscopei_schema *schema;
    uint16_t storage, num_slots, id_field;
    struct catalog_entry *entries;
    uint32_t oldest, newest, next, in_flight;
    struct catalog_buffer buffers[MAX_BUFFERS];
    int num_buffers;
};

/** Puts a helper into the table; its handle, or NULL when 256 are there. */
void *catalog_register(struct catalog *c);
/** Takes it out; NULL when the handle is none. */
struct catalog *catalog_unregister(void *handle, catalog_kind kind);
/** The helper of a handle; NULL (reported unless the handle is null) when it is none. */
struct catalog *catalog_resolve(const void *handle, catalog_kind kind, const char *call);
/** The same while the trace is open: what looks names up reads its schema. */
struct catalog *catalog_lookup(const void *handle, catalog_kind kind, const char *call);
/** The same, with the open trace when it is inside a cycle; NULL (reported) when it is not. */
struct catalog *catalog_enter(const void *handle, catalog_kind kind, const char *call,
                              struct uscopei_trace **t);

/** Binds to storage `scope`/`storage`; false, reported, when there is none with that id field. */
bool catalog_open(struct catalog *c, uscope_writer_t *w, const char *scope, const char *storage);
void catalog_close(struct catalog *c);

/** A free slot, taken; NO_ID, reported, when there is none. */
uint32_t catalog_birth(struct catalog *c, struct uscopei_trace *t, const char *call);
/** CLEAR. */
void catalog_end(struct catalog *c, struct uscopei_trace *t, uint32_t id);
/** True when it is in flight; otherwise reported, except for NO_ID, which a birth has reported. */
bool catalog_alive(struct catalog *c, struct uscopei_trace *t, uint32_t id, const char *call);

int catalog_buffer_open(struct catalog *c, const char *name);
int catalog_push(struct catalog *c, struct uscopei_trace *t, int buffer, uint32_t id, const char *call);
bool catalog_place(struct catalog *c, struct uscopei_trace *t, int buffer, int slot, uint32_t id,
                   const char *call);
/** The oldest of a ring, of others the one in the lowest slot; its id. */
uint32_t catalog_pop(struct catalog *c, struct uscopei_trace *t, int buffer, const char *call);
void catalog_remove(struct catalog *c, struct uscopei_trace *t, int buffer, int slot, const char *call);
void catalog_buffer_set(struct catalog *c, struct uscopei_trace *t, int buffer, int slot, int field,
                        uint64_t value, const char *call);
/** Empties what names this one; the youngest end of a ring retreats. */
void catalog_forget(struct catalog *c, uint32_t id);
/** Empties every buffer and sets the pointers to 0. */
void catalog_empty_buffers(struct catalog *c);

uint32_t catalog_buffer_count(const struct catalog *c, int buffer);
int catalog_buffer_field(const struct catalog *c, int buffer, const char *name);

/** `fields` are the names of the arguments; NULL for "the next in order". */
void catalog_bind(const struct catalog *c, const char *name, struct catalog_event *event, unsigned n,
                  const char *const *fields);
void catalog_emit(const struct catalog *c, const struct catalog_event *event, unsigned n,
                  const uint64_t *values);
/** Value of a label of the enum that a field of an event has; -1, reported, when there is none. */
int catalog_label(const struct catalog *c, const char *event, const char *field, const char *label);
/** Id of a counter or other storage of the scope, -1 when there is none. */
int catalog_storage(const struct catalog *c, const char *name);

#pragma GCC visibility pop

#endif
