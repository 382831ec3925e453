/* SPDX-License-Identifier: Apache-2.0 */
/* Events: packed by the caller, or from field values by the schema. */
#include <string.h>

#include "record/append.h"

static struct uscopei_trace *resolve_event(void *w, const char *call, uint16_t type)
{
    struct uscopei_trace *t = uscopei_resolve_in_frame(w, call);
    if (!t) return NULL;
    if (type < t->num_events) return uscopei_skips_event(t, type) ? NULL : t;
    uscopei_reject(t, E_OP_EVENT, type, "event type %u is not in the schema, which has %u; item rejected",
                   type, t->num_events);
    return NULL;
}

static bool check_field(struct uscopei_trace *t, uint16_t type, const struct event_field *field,
                        uint64_t value)
{
    uscopei_code code = uscopei_check_value(field->type, value, t->session->num_strings);
    if (code == E_NONE) return true;
    const struct uscopei_schema *schema = t->session->schema;
    const char *name = schema->event_names[type];
    const char *field_name = schema->event_field_names[field - t->event_fields];
    uint64_t id = (uint64_t)(field - t->event_fields) | UINT64_C(1) << 32;
    if (code == E_OP_STRING) {
        uscopei_reject(t, code, id, "%s.%s: string index %llu was never defined; item rejected", name,
                       field_name, (unsigned long long)value);
    } else {
        char hex[32], type_name[80];
        uscopei_format_hex(value, hex, sizeof hex);
        uscopei_reject(
            t, code, id, "%s.%s: value %s does not fit %s; item rejected", name, field_name, hex,
            uscopei_describe_type(schema, field->type, field->enum_id, type_name, sizeof type_name));
    }
    return false;
}

/* Takes the place of an event at the cursor, where there is room, and writes all but its fields. */
static inline unsigned char *put_event(struct uscopei_trace *t, const struct event_shape *shape)
{
    unsigned char *at = t->cursor;
    size_t bytes = shape->bytes;
    put_record(at + bytes - RECORD_BYTES, 0, 0);
    memcpy(at, &shape->word, 8);
    t->cursor = at + bytes;
    t->more_items -= (uint32_t)(bytes / RECORD_BYTES) - 1;
    return at + 8;
}

static unsigned char *place_event(struct uscopei_trace *t, const struct event_shape *shape)
{
    bool fits = t->limit - t->cursor >= (ptrdiff_t)shape->bytes;
    return fits || uscopei_make_room(t, shape->bytes) ? put_event(t, shape) : NULL;
}

static inline bool is_good(const struct uscopei_trace *t, const struct event_field *field, uint64_t value)
{
    return LIKELY(value < field->limit) || (field->type == FT_STRING_REF && value < t->num_strings);
}

/*
 * Both forms below return true when nothing was wrong with the event and it is appended.
 *
 * Fields are written as 8 bytes each, one after the other: of what is too much, zeros, the next field
 * overwrites its part, and after the event there is always room for the END of the frame.
 */
static inline __attribute__((always_inline)) bool append_event(struct uscopei_trace *t,
                                                               const struct event_shape *shape,
                                                               const unsigned long long *values, unsigned n)
{
    if (UNLIKELY(shape->num_fields != n || t->limit - t->cursor < (ptrdiff_t)shape->bytes)) return false;
    const struct event_field *fields = shape->fields;
    UNROLL for (unsigned i = 0; i < n; i++)
    {
        if (UNLIKELY(!is_good(t, &fields[i], values[i]))) return false;
    }
    unsigned char *payload = put_event(t, shape);
    UNROLL for (unsigned i = 0; i < n; i++) memcpy(payload + fields[i].offset, &values[i], 8);
    return true;
}

/* When all that was missing was room. */
static bool append_again(void *w, uint16_t type, const unsigned long long *values, unsigned n)
{
    struct uscopei_trace *t;
    return uscopei_room_made(w) && in_frame(w, &t) && type < t->num_events &&
           append_event(t, &t->events[type], values, n);
}

/* The careful form: reports, and masks sign extension. */
static COLD void event_slow(void *w, const char *call, uint16_t type, const unsigned long long *values,
                            unsigned n)
{
    if (append_again(w, type, values, n)) return;
    struct uscopei_trace *t = resolve_event(w, call, type);
    if (!t) return;
    const struct event_shape *shape = &t->events[type];
    const struct event_field *fields = shape->fields;
    if (shape->num_fields != n) {
        uscopei_reject(t, E_OP_PAYLOAD, type, "%s: %u fields are given, the event has %u; item rejected",
                       t->session->schema->event_names[type], n, shape->num_fields);
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        if (values[i] >= fields[i].limit && !check_field(t, type, &fields[i], values[i])) return;
    }
    unsigned char *payload = place_event(t, shape);
    if (!payload) return;
    for (unsigned i = 0; i < n; i++)
        memcpy(payload + fields[i].offset, &values[i], fields[i].size);
}

/* The event is one record: its first field fills what the others leave of it. */
static inline __attribute__((always_inline)) bool append_single(struct uscopei_trace *t,
                                                                const struct event_shape *shape,
                                                                const unsigned long long *values, unsigned n)
{
    unsigned char *at = t->cursor;
    if (UNLIKELY(at >= t->limit)) return false;
    const struct event_field *fields = shape->fields;
    UNROLL for (unsigned i = 0; i < n; i++)
    {
        if (UNLIKELY(!is_good(t, &fields[i], values[i]))) return false;
    }
    put_record(at, shape->word, n > 0 ? values[0] : 0);
    UNROLL for (unsigned i = 1; i < n; i++) memcpy(at + 8 + fields[i].offset, &values[i], 8);
    t->cursor = at + RECORD_BYTES;
    return true;
}

/*
 * uscope_eventN, and its two twins for longer events and for what is wrong. They take the values as they
 * came, in registers, so that the path of most events needs no stack.
 */
#define EVENT(n, parameters, ...)                                                                            \
    static COLD void event_slow##n(void *w, uint16_t type, PARAMETERS parameters)                            \
    {                                                                                                        \
        event_slow(w, "event" #n, type, (const unsigned long long[]){__VA_ARGS__}, n);                       \
    }                                                                                                        \
    static __attribute__((noinline)) void event_long##n(                                                     \
        struct uscopei_trace *t, const struct event_shape *shape, PARAMETERS parameters)                     \
    {                                                                                                        \
        if (UNLIKELY(!append_event(t, shape, (const unsigned long long[]){__VA_ARGS__}, n)))                 \
            event_slow##n((void *)t->frame_handle, (uint16_t)(shape - t->events), __VA_ARGS__);              \
    }                                                                                                        \
    void uscope_event##n(uscope_writer_t *w, uint16_t type, PARAMETERS parameters)                           \
    {                                                                                                        \
        struct uscopei_trace *t;                                                                             \
        if (LIKELY(in_frame(w, &t) && type < t->num_events)) {                                               \
            const struct event_shape *shape = &t->events[type];                                              \
            if (UNLIKELY(shape->single != n)) {                                                              \
                event_long##n(t, shape, __VA_ARGS__);                                                        \
                return;                                                                                      \
            }                                                                                                \
            if (LIKELY(append_single(t, shape, (const unsigned long long[]){__VA_ARGS__}, n))) return;       \
        }                                                                                                    \
        event_slow##n(w, type, __VA_ARGS__);                                                                 \
    }
FOR_EACH_COUNT(EVENT)
#undef EVENT

void uscope_event0(uscope_writer_t *w, uint16_t type)
{
    struct uscopei_trace *t;
    if (LIKELY(in_frame(w, &t) && type < t->num_events && t->events[type].single == 0 &&
               append_single(t, &t->events[type], NULL, 0)))
        return;
    event_slow(w, "event0", type, NULL, 0);
}

/* Of packed payloads only what has no meaning for some bytes is checked: booleans and strings. */
static bool check_packed(struct uscopei_trace *t, uint16_t type, const unsigned char *payload)
{
    const struct event_shape *shape = &t->events[type];
    const struct event_field *field = shape->fields;
    for (unsigned i = 0; i < shape->num_fields; i++, field++) {
        if (field->type != FT_BOOL && field->type != FT_STRING_REF) continue;
        uint64_t value = 0;
        memcpy(&value, payload + field->offset, field->size);
        if (!check_field(t, type, field, value)) return false;
    }
    return true;
}

/* Where there is no room, maybe because the event is disabled: its place is made out to be endless then. */
static COLD bool find_place(struct uscopei_trace *t, uint16_t type)
{
    return !uscopei_skips_event(t, type) && uscopei_make_room(t, t->events[type].bytes);
}

static void append_packed(struct uscopei_trace *t, uint16_t type, const unsigned char *payload)
{
    const struct event_shape *shape = &t->events[type];
    if (UNLIKELY(t->limit - t->cursor < (ptrdiff_t)shape->bytes) && !find_place(t, type)) return;
    uint32_t size = shape->size;
    if (size > 0 && (!payload || !check_packed(t, type, payload))) {
        if (!payload) {
            uscopei_reject(t, E_OP_PAYLOAD, type, "%s: no payload, the event has %u bytes; item rejected",
                           t->session->schema->event_names[type], size);
        }
        return;
    }
    unsigned char *at = put_event(t, shape);
    if (size > 0) memcpy(at, payload, size);
}

void uscope_event(uscope_writer_t *w, uint16_t type, const void *payload)
{
    struct uscopei_trace *t;
    if (UNLIKELY(!in_frame(w, &t) || type >= t->num_events)) {
        t = resolve_event(w, "event", type);
        if (!t) return;
    }
    append_packed(t, type, payload);
}

void uscope_event_bytes(uscope_writer_t *w, uint16_t type, const void *payload, uint32_t size)
{
    struct uscopei_trace *t = resolve_event(w, "event", type);
    if (!t) return;
    if (size != t->events[type].size) {
        uscopei_reject(t, E_OP_PAYLOAD, type, "%s: a payload of %u bytes, the event has %u; item rejected",
                       t->session->schema->event_names[type], size, t->events[type].size);
        return;
    }
    append_packed(t, type, payload);
}
