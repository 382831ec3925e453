/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of recording ask of each other: all of it runs on the trace's thread. */
#ifndef USCOPE_RECORDING_H
#define USCOPE_RECORDING_H

#include "link/io_thread.h"
#include "trace/session.h"

/* F defines a function for each number of values that one call takes: F(count, (parameters), values). */
#define FOR_EACH_COUNT(F)                                                                                    \
    F(1, (VALUE a), a)                                                                                       \
    F(2, (VALUE a, VALUE b), a, b)                                                                           \
    F(3, (VALUE a, VALUE b, VALUE c), a, b, c)                                                               \
    F(4, (VALUE a, VALUE b, VALUE c, VALUE d), a, b, c, d)                                                   \
    F(5, (VALUE a, VALUE b, VALUE c, VALUE d, VALUE e), a, b, c, d, e)                                       \
    F(6, (VALUE a, VALUE b, VALUE c, VALUE d, VALUE e, VALUE f), a, b, c, d, e, f)                           \
    F(7, (VALUE a, VALUE b, VALUE c, VALUE d, VALUE e, VALUE f, VALUE g), a, b, c, d, e, f, g)               \
    F(8, (VALUE a, VALUE b, VALUE c, VALUE d, VALUE e, VALUE f, VALUE g, VALUE h), a, b, c, d, e, f, g, h)
#define PARAMETERS(...) __VA_ARGS__
#define VALUE           unsigned long long

#pragma GCC visibility push(hidden)

/* chunks.c: the trace's side of the chunk memory */
/** Room for `bytes` more and an END, splitting the frame or waiting for credit as needed. False: the trace
 * failed. */
bool uscopei_make_room(struct uscopei_trace *t, size_t bytes);
bool uscopei_first_chunk(struct uscopei_trace *t);
void uscopei_seal_last(struct uscopei_trace *t);
/** In a cycle: where `bytes` would end after the limit only because a step of the careful path is due
 * (chunks.c), takes it, so that they fit. */
COLD void uscopei_take_step(struct uscopei_trace *t, size_t bytes);
uint32_t uscopei_frame_items(const struct uscopei_trace *t);
/** From now on lane records may be written, if the daemon takes them; the I/O thread announces them. Not in
 * a frame that began in an earlier chunk. */
void uscopei_begin_lanes(struct uscopei_trace *t);

/* failure.c */
/** A daemon that was lost or stopped may come back and take what it did not get from the memory. */
bool uscopei_keeps_memory(const struct uscopei_trace *t);
/** Runs the failure policy once after the I/O thread has given the trace up. */
void uscopei_handle_failure(struct uscopei_trace *t);

/* strings.c */
struct uscopei_string_cache *uscopei_string_cache_new(void);
void uscopei_string_cache_free(struct uscopei_string_cache *cache);
bool uscopei_valid_utf8(const unsigned char *text, size_t length);

/* snapshot.c */
void uscopei_snapshot_free(struct uscopei_snapshot *snapshot);
/** At the end of a callback: a snapshot that is not ended is refused. */
void uscopei_snapshot_leave(struct uscopei_trace *t);
/** At the begin_cycle after a uscope_checkpoint_due that said yes. */
void uscopei_snapshot_answered(struct uscopei_trace *t);

/* checkpoint.c */
/** The snapshot of a sparse storage in which no slot is valid, between frames. False: the trace failed. */
bool uscopei_empty_storage(struct uscopei_trace *t, uint16_t storage);

/* control.c */
void uscopei_control_free(struct uscopei_control *control);
/** Acts on a command from outside, between cycles. */
COLD void uscopei_take_command(struct uscopei_trace *t);
/** Begins a cycle of a trace that is paused, or has control events waiting. */
COLD void uscopei_begin_controlled(struct uscopei_trace *t, uint64_t time_ps);
/** Before the end: control events that wait for a frame get one. */
COLD void uscopei_control_finish(struct uscopei_trace *t);
/** True, and counted, when items of this storage or event are not recorded. */
COLD bool uscopei_skips_storage(struct uscopei_trace *t, uint16_t storage, unsigned items);
COLD bool uscopei_skips_event(struct uscopei_trace *t, uint16_t type);

/* recording.c */
/** Makes what the session needs to record, of its schema. */
void uscopei_recording_begin(struct uscopei_session *s);

#pragma GCC visibility pop

#endif
