/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording switched off and on while the model runs, by scope or as a whole, and triggers
 * (docs/how-to/control.md).
 *
 * Nothing of this is on the way of a trace that records everything. A disabled storage or event gets limits
 * that no argument passes, so its calls end in the careful paths, which drop and count them. A trace that is
 * paused as a whole has no frames: its cycles are not begun, and every call in one takes the careful path.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/append.h"

enum { MOST_MARKS = 4096 };

/* A control event that waits for a frame. */
struct mark {
    uint8_t action, source;
    uint32_t subject, text;
};

struct uscopei_control {
    bool *off; /* by scope */
    bool paused;
    struct storage_shape *storages; /* the schema's, those of disabled scopes without slots */
    struct property_shape *properties;
    struct event_shape *events;
    struct mark *marks;
    uint32_t num_marks, room;
};

/* Larger than any chunk. */
#define ENDLESS UINT32_C(0x7FFFFFFF)

void uscopei_control_free(struct uscopei_control *c)
{
    if (!c) return;
    free(c->off);
    free(c->storages);
    free(c->properties);
    free(c->events);
    free(c->marks);
    free(c);
}

static void *copy_of(const void *from, uint32_t count, size_t size)
{
    void *copy = malloc(count * size + 1);
    if (copy && count > 0) memcpy(copy, from, count * size);
    return copy;
}

/* Made by the first call that switches or marks anything. NULL: no memory. */
static struct uscopei_control *control_of(struct uscopei_session *s)
{
    if (s->control) return s->control;
    const struct uscopei_schema *schema = s->schema;
    struct uscopei_control *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->off = calloc(schema->num_scopes, sizeof *c->off);
    c->storages = copy_of(schema->storages, schema->num_storages, sizeof *c->storages);
    c->properties = copy_of(schema->properties, schema->num_storages, sizeof *c->properties);
    c->events = copy_of(schema->events, schema->num_events, sizeof *c->events);
    if (!c->off || !c->storages || !c->properties || !c->events) {
        uscopei_control_free(c);
        return NULL;
    }
    s->control = c;
    return c;
}

/* -- scopes */

/* The control event's own scope is always recorded; -1 in a schema without. */
static int own_scope(const struct uscopei_schema *schema)
{
    return schema->control_event < 0 ? -1 : schema->event_scopes[schema->control_event];
}

static int find_scope(const struct uscopei_schema *schema, const char *path)
{
    for (uint32_t i = 0; i < schema->num_scopes; i++) {
        if (strcmp(schema->scopes[i].path, path) == 0) return (int)i == own_scope(schema) ? -1 : (int)i;
    }
    return -1;
}

/* Parents come before their children. */
static bool is_within(const struct uscopei_schema *schema, uint32_t scope, uint32_t other)
{
    while (scope > other)
        scope = schema->scopes[scope].parent;
    return scope == other;
}

static bool switches(const struct uscopei_schema *schema, uint32_t scope, uint32_t subject)
{
    return (int)scope != own_scope(schema) && is_within(schema, scope, subject);
}

static bool all_off(const struct uscopei_schema *schema, const struct uscopei_control *c, uint32_t subject)
{
    for (uint32_t i = 0; i < schema->num_scopes; i++) {
        if (!c->off[i] && switches(schema, i, subject)) return false;
    }
    return true;
}

/* -- what is skipped */

bool uscopei_skips_storage(struct uscopei_trace *t, uint16_t storage, unsigned items)
{
    struct uscopei_session *s = t->session;
    if (!s->control || storage >= t->num_storages) return false;
    if (!s->control->off[s->schema->storage_infos[storage].scope]) return false;
    skip_items(s, items);
    return true;
}

bool uscopei_skips_event(struct uscopei_trace *t, uint16_t type)
{
    struct uscopei_session *s = t->session;
    if (!s->control || !s->control->off[s->schema->event_scopes[type]]) return false;
    skip_items(s, 1);
    return true;
}

static void filter_storages(const struct uscopei_schema *schema, struct uscopei_control *c)
{
    for (uint32_t i = 0; i < schema->num_storages; i++) {
        bool off = c->off[schema->storage_infos[i].scope];
        c->storages[i].num_slots = off ? 0 : schema->storages[i].num_slots;
        c->properties[i].count = off ? 0 : schema->properties[i].count;
    }
}

static void filter_events(const struct uscopei_schema *schema, struct uscopei_control *c)
{
    for (uint32_t i = 0; i < schema->num_events; i++) {
        bool off = c->off[schema->event_scopes[i]];
        c->events[i].num_fields = off ? UINT16_MAX : schema->events[i].num_fields;
        c->events[i].bytes = off ? ENDLESS : schema->events[i].bytes;
        c->events[i].single = off ? NOT_SINGLE : schema->events[i].single;
    }
}

/* The shapes that the calls look at: without anything disabled they are the schema's own. */
static void apply_filters(struct uscopei_trace *t, struct uscopei_control *c)
{
    const struct uscopei_schema *schema = t->session->schema;
    bool any = false;
    for (uint32_t i = 0; i < schema->num_scopes; i++)
        any |= c->off[i];
    filter_storages(schema, c);
    filter_events(schema, c);
    t->storages = any ? c->storages : schema->storages;
    t->num_countable = uscopei_num_countable(t->storages, schema->num_storages);
    t->properties = any ? c->properties : schema->properties;
    t->events = any ? c->events : schema->events;
    c->paused = any && all_off(schema, c, 0);
    if (c->paused)
        atomic_fetch_or(&t->attention, ATTENTION_PAUSED);
    else
        atomic_fetch_and(&t->attention, ~(uint32_t)ATTENTION_PAUSED);
}

/* -- frames */

/* BEGIN, where there may be no room yet. False: the trace failed. */
static bool open_frame(struct uscopei_trace *t)
{
    if (t->cursor >= t->limit && !uscopei_make_room(t, RECORD_BYTES)) return false;
    t->session->state = ST_NORMAL;
    uscopei_open_frame(t, t->handle, t->last_time);
    return true;
}

/* Ends the frame of a cycle that continues without being recorded. */
static void leave_frame(struct uscopei_trace *t)
{
    uscopei_close_frame(t, t->handle);
    t->idle_handle = 0;
    t->session->state = ST_PAUSED_CYCLE;
}

/* What was in flight is not any more, for all that is known: stale slots would remain for the whole pause,
 * and longer. */
static bool empty_storages(struct uscopei_trace *t, const bool *was_off)
{
    const struct uscopei_schema *schema = t->session->schema;
    const struct uscopei_control *c = t->session->control;
    for (uint32_t i = 0; i < schema->num_storages; i++) {
        uint16_t scope = schema->storage_infos[i].scope;
        if (!schema->storage_infos[i].sparse || !c->off[scope] || was_off[scope]) continue;
        if (!uscopei_empty_storage(t, (uint16_t)i)) return false;
    }
    return true;
}

/* -- control events */

static void put_mark(struct uscopei_trace *t, struct mark m)
{
    int event = t->session->schema->control_event;
    if (event >= 0) uscope_event4((void *)t->handle, (uint16_t)event, m.action, m.source, m.subject, m.text);
}

static void put_marks(struct uscopei_trace *t)
{
    struct uscopei_control *c = t->session->control;
    atomic_fetch_and(&t->attention, ~(uint32_t)ATTENTION_MARKS);
    for (uint32_t i = 0; i < c->num_marks && t->frame_handle; i++)
        put_mark(t, c->marks[i]);
    c->num_marks = 0;
}

/* Remembers an event for the next frame; without end nobody may call this between two cycles. */
static bool keep_mark(struct uscopei_trace *t, struct mark m)
{
    struct uscopei_control *c = t->session->control;
    if (c->num_marks == c->room) {
        uint32_t room = c->room ? 2 * c->room : 8;
        struct mark *marks = room > MOST_MARKS ? NULL : realloc(c->marks, room * sizeof *marks);
        if (!marks) return false;
        c->marks = marks;
        c->room = room;
    }
    c->marks[c->num_marks++] = m;
    atomic_fetch_or(&t->attention, ATTENTION_MARKS);
    return true;
}

/* Records an event now, in a separate frame if the cycle has none, or with the next frame. */
static bool record_mark(struct uscopei_trace *t, struct mark m)
{
    struct uscopei_session *s = t->session;
    if (!t->frame_handle && s->state == ST_PAUSED_CYCLE) {
        if (!open_frame(t)) return false;
        put_mark(t, m);
        if (s->control->paused && t->frame_handle) leave_frame(t);
        return true;
    }
    if (!t->frame_handle) return keep_mark(t, m);
    put_mark(t, m);
    return true;
}

static bool make_mark(struct uscopei_trace *t, enum control_action action, enum control_source source,
                      const char *subject, const char *text, struct mark *out)
{
    void *w = (void *)t->handle;
    unsigned subject_index = uscope_string(w, subject);
    unsigned text_index = uscope_string(w, text);
    *out = (struct mark){(uint8_t)action, (uint8_t)source, subject_index, text_index};
    return subject_index != USCOPE_NO_STRING && text_index != USCOPE_NO_STRING;
}

/* -- reports for the daemon */

/* Disabled scopes, of those within one another the outermost that is disabled as a whole. */
static uint32_t list_disabled(const struct uscopei_schema *schema, const struct uscopei_control *c,
                              uint16_t *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < schema->num_scopes; i++) {
        if (!c->off[i]) continue;
        bool covered = false;
        for (uint32_t k = 0; k < count && !covered; k++)
            covered = is_within(schema, i, out[k]) && all_off(schema, c, out[k]);
        if (!covered) out[count++] = (uint16_t)i;
    }
    return count;
}

/** @param done number of a command from outside, 0 for a call of the testbench */
static void report(struct uscopei_trace *t, uint64_t done, const char *code, const char *message)
{
    struct uscopei_session *s = t->session;
    pthread_mutex_lock(&uscopei_io.lock);
    struct uscopei_report *r = &s->report;
    if (!r->scopes) r->scopes = calloc(s->schema->num_scopes, sizeof *r->scopes);
    r->num_scopes = r->scopes && s->control ? list_disabled(s->schema, s->control, r->scopes) : 0;
    if (done) {
        r->done = done;
        snprintf(r->code, sizeof r->code, "%s", code);
        snprintf(r->message, sizeof r->message, "%s", message);
    }
    pthread_mutex_unlock(&uscopei_io.lock);
    atomic_store(&s->report_wanted, true);
    uscopei_io_wake();
}

/* -- switching */

/* Sets the flags of a scope and those below; *was_off is as it was. False: nothing has changed, or no memory.
 */
static bool set_flags(struct uscopei_session *s, uint32_t subject, bool off, bool **was_off)
{
    struct uscopei_control *c = s->control;
    bool changed = false;
    *was_off = copy_of(c->off, s->schema->num_scopes, sizeof *c->off);
    if (!*was_off) return false;
    for (uint32_t i = 0; i < s->schema->num_scopes; i++) {
        if (!switches(s->schema, i, subject)) continue;
        changed |= c->off[i] != off;
        c->off[i] = off;
    }
    return changed;
}

/*
 * The frame of the cycle is ended, so that the snapshots are between two; the event follows in a frame of
 * its own, which gives the emptied state a time.
 */
static void switch_off(struct uscopei_trace *t, struct mark m, const bool *was_off)
{
    struct uscopei_session *s = t->session;
    bool framed = t->frame_handle != 0;
    if (framed) {
        uscopei_close_frame(t, t->handle);
        t->idle_handle = 0;
    }
    apply_filters(t, s->control);
    /* before the first frame there is nothing to empty */
    if (t->ordinal > 0 && !empty_storages(t, was_off)) return;
    if (framed && !open_frame(t)) return;
    record_mark(t, m);
    if (framed && s->control->paused && t->frame_handle) leave_frame(t);
}

/* The model's own snapshots, if it gives any, come with the next cycle. */
static void switch_on(struct uscopei_trace *t, struct mark m)
{
    apply_filters(t, t->session->control);
    atomic_fetch_or(&t->attention, ATTENTION_RESYNC);
    t->session->resync = true;
    set_next_asked(t, 0);
    record_mark(t, m);
}

/* True when the recording is as asked afterwards. */
static bool switch_scope(struct uscopei_trace *t, uint32_t subject, bool off, enum control_source source)
{
    struct uscopei_session *s = t->session;
    bool *was_off = NULL;
    struct mark m;
    if (set_flags(s, subject, off, &was_off)) {
        enum control_action action = off ? CONTROL_DISABLE : CONTROL_ENABLE;
        if (subject == 0) action = off ? CONTROL_PAUSE : CONTROL_RESUME;
        /* strings first: they precede what uses them */
        if (make_mark(t, action, source, s->schema->scopes[subject].path, "", &m)) {
            if (off)
                switch_off(t, m, was_off);
            else
                switch_on(t, m);
        }
    }
    bool done = was_off != NULL;
    free(was_off);
    return done;
}

/* -- the calls */

/* The trace, when it can be switched here; NULL otherwise, reported. */
static struct uscopei_trace *resolve(uscope_writer_t *w, const char *call)
{
    struct uscopei_trace *t = uscopei_resolve(w, call);
    if (!t || t->session->state == ST_UNTRACED) return NULL;
    if (t->session->state == ST_CALLBACK && !t->session->asked) {
        uscopei_reject(t, E_OP_NESTED_CYCLE, 6, "%s inside a checkpoint callback; call rejected", call);
        return NULL;
    }
    if (control_of(t->session)) return t;
    uscopei_complain(t, E_OP_SCOPE, 1, "%s: no memory; call rejected", call);
    return NULL;
}

/* Distinguishes messages about different paths. */
static uint64_t id_of(const char *path)
{
    uint64_t id = 2;
    for (; *path; path++)
        id = id * 31 + (unsigned char)*path;
    return id;
}

static void switch_by_call(uscope_writer_t *w, const char *call, const char *path, bool off)
{
    struct uscopei_trace *t = resolve(w, call);
    if (!t) return;
    if (!path) path = "";
    int subject = find_scope(t->session->schema, path);
    if (subject < 0) {
        uscopei_reject(t, E_OP_SCOPE, id_of(path),
                       "%s: no scope \"%.200s\" that can be switched; call rejected", call, path);
        return;
    }
    switch_scope(t, (uint32_t)subject, off, SOURCE_TESTBENCH);
    report(t, 0, "", "");
}

void uscope_disable(uscope_writer_t *w, const char *scope)
{
    switch_by_call(w, "disable", scope, true);
}

void uscope_enable(uscope_writer_t *w, const char *scope)
{
    switch_by_call(w, "enable", scope, false);
}

void uscope_trigger(uscope_writer_t *w, const char *label)
{
    struct uscopei_trace *t = resolve(w, "trigger");
    struct mark m;
    if (!t) return;
    if (t->session->schema->control_event < 0)
        uscopei_reject(t, E_OP_EVENT, UINT64_C(1) << 40,
                       "trigger: the schema has no event uscope/control; call rejected");
    else if (make_mark(t, CONTROL_TRIGGER, SOURCE_TESTBENCH, "", label ? label : "", &m) &&
             !record_mark(t, m))
        uscopei_reject(t, E_OP_OUTSIDE_CYCLE, 4, "more than %d triggers between two cycles; call rejected",
                       MOST_MARKS);
}

unsigned long long uscope_skipped(uscope_writer_t *w)
{
    struct uscopei_trace *t = uscopei_resolve(w, "skipped");
    return t ? atomic_load_explicit(&t->session->skipped, memory_order_relaxed) : 0;
}

/* -- from outside */

static void obey(struct uscopei_trace *t, const struct uscopei_command *command)
{
    struct uscopei_session *s = t->session;
    char message[256];
    struct mark m;
    if (!control_of(s)) {
        report(t, command->number, "BRIDGE_LIMIT", "no memory");
        return;
    }
    if (command->action == CONTROL_TRIGGER) {
        bool put = s->schema->control_event >= 0 &&
                   make_mark(t, CONTROL_TRIGGER, SOURCE_OPERATOR, "", command->text, &m) && record_mark(t, m);
        report(t, command->number, put ? "" : "OP_EVENT", put ? "" : "the trace has no event uscope/control");
        return;
    }
    int subject = find_scope(s->schema, command->scope);
    if (subject < 0) {
        snprintf(message, sizeof message, "no scope \"%.200s\" that can be switched", command->scope);
        report(t, command->number, "OP_SCOPE", message);
        return;
    }
    bool off = command->action == CONTROL_DISABLE || command->action == CONTROL_PAUSE;
    bool done = switch_scope(t, (uint32_t)subject, off, SOURCE_OPERATOR);
    report(t, command->number, done ? "" : "BRIDGE_LIMIT", done ? "" : "no memory");
}

void uscopei_take_command(struct uscopei_trace *t)
{
    struct uscopei_session *s = t->session;
    pthread_mutex_lock(&uscopei_io.lock);
    atomic_fetch_and(&t->attention, ~(uint32_t)ATTENTION_COMMAND);
    struct uscopei_command command = s->command;
    pthread_mutex_unlock(&uscopei_io.lock);
    obey(t, &command);
}

/* -- cycles */

void uscopei_begin_controlled(struct uscopei_trace *t, uint64_t time_ps)
{
    struct uscopei_control *c = t->session->control;
    if (!t->idle_handle) return;
    t->last_time = time_ps;
    if (c->num_marks > 0) {
        if (!open_frame(t)) return;
        put_marks(t);
        if (c->paused && t->frame_handle) leave_frame(t);
    } else if (c->paused) {
        t->idle_handle = 0;
        t->session->state = ST_PAUSED_CYCLE;
    }
}

void uscopei_control_finish(struct uscopei_trace *t)
{
    struct uscopei_session *s = t->session;
    if (!s->control || s->control->num_marks == 0 || s->state == ST_UNTRACED || has_failed(t)) return;
    if (!t->frame_handle && open_frame(t)) put_marks(t);
}
