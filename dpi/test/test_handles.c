/* SPDX-License-Identifier: Apache-2.0 */
/* Handles that are none, any more or in this process; and what becomes of traces at exit. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

TEST(a_handle_of_a_closed_trace_does_not_reach_the_next_one)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *first = open_trace("a");
    uscope_close(first);
    uscope_writer_t *second = open_trace("b");
    CHECK(first != second);
    uscope_begin_cycle(second, 0);
    uscope_slot_add(first, COMMITTED, 0, 0, 1);
    uscope_close(first);
    uscope_slot_add(second, COMMITTED, 0, 0, 1);
    uscope_end_cycle(second);
    uscope_close(second);
    CHECK_NUMBER(log_of(d, "b").items, 1);
    CHECK(strstr(message_at(0), "the handle of a trace that is closed"));
    finish(d, 1);
}

TEST(a_handle_of_a_closed_trace_switches_nothing)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *first = open_trace("a");
    uscope_close(first);
    uscope_writer_t *second = open_trace("b");
    uscope_disable(first, "");
    CHECK_TEXT(uscope_last_error_code(), "OP_HANDLE");
    uscope_enable(first, "");
    uscope_trigger(first, "late");
    run_cycles(second, 0, 3);
    uscope_close(second);
    struct fake_log log = log_of(d, "b");
    check_cycles(&log, 3);
    CHECK(strstr(message_at(0), "OP_HANDLE: disable: ") &&
          strstr(message_at(0), "the handle of a trace that is closed"));
    finish(d, 1);
}

static void use_handle(void *w)
{
    uint8_t mask[64] = {0};
    uscope_begin_cycle(w, 0);
    uscope_slot_set(w, 0, 0, 0, 0);
    uscope_slot_put1(w, 0, 0, 0);
    uscope_slot_put8(w, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    uscope_slot_clear(w, 0, 0);
    uscope_slot_add(w, 0, 0, 0, 0);
    uscope_prop_set(w, 0, 0, 0);
    uscope_event(w, 0, mask);
    uscope_event_bytes(w, 0, mask, 5);
    uscope_event0(w, 0);
    uscope_event1(w, 0, 0);
    uscope_event8(w, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    uscope_end_cycle(w);
    CHECK_NUMBER(uscope_string(w, "x"), USCOPE_NO_STRING);
    uscope_set_checkpoint_callback(w, NULL, NULL);
    uscope_checkpoint_storage(w, 0, mask, mask, 0);
    CHECK(uscope_storage_id(w, "a") == -1 && uscope_field_id(w, 0, "a") == -1);
    CHECK(uscope_property_id(w, 0, "a") == -1 && uscope_event_id(w, "a") == -1);
    CHECK(uscope_event_field_id(w, 0, "a") == -1 && uscope_enum_value(w, "a", "b") == -1);
    uscope_disable(w, "core0");
    uscope_enable(w, NULL);
    uscope_trigger(w, "x");
    CHECK_NUMBER(uscope_skipped(w), 0);
    CHECK_NUMBER(uscope_rejected(w), 0);
    CHECK_TEXT(uscope_path(w), "");
    uscope_flush(w);
    uscope_close(w);
}

TEST(garbage_handles_are_reported_once_and_never_followed)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    uintptr_t good = (uintptr_t)w;
    const uintptr_t garbage[] = {1,         0xDEADBEEF, UINTPTR_MAX, good + 1,
                                 good + 16, good - 1,   good + 512,  good + (1 << 20)};
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++)
        use_handle((void *)garbage[i]);
    CHECK_NUMBER(num_messages(), 1);
    CHECK_TEXT(
        message_at(0),
        "OP_HANDLE: begin_cycle: 0x1 is not a handle of a trace; the call is ignored, as are all calls like it");
    CHECK_TEXT(uscope_last_error_code(), "OP_HANDLE");
    run_cycles(w, 0, 5);
    uscope_close(w);
    CHECK_NUMBER(log_of(d, "core0").frames, 5);
    finish(d, 1);
}

TEST(null_handles_are_quiet)
{
    capture_messages();
    use_handle(NULL);
    CHECK_NUMBER(num_messages(), 0);
    CHECK_TEXT(uscope_last_error_code(), "");
}

static void leave_two_traces_open(void)
{
    run_cycles(open_trace("one"), 0, 1000);
    run_cycles(open_trace("two"), 0, 2000);
}

TEST(traces_still_open_at_exit_are_closed)
{
    /* the daemon lives in this process; the client must be another one */
    struct child client = child_new(leave_two_traces_open);
    struct fake_daemon *d = start_daemon();
    CHECK_NUMBER(child_run(client), 0);
    CHECK(log_of(d, "one").closed);
    CHECK(log_of(d, "two").closed);
    CHECK_NUMBER(log_of(d, "one").frames, 1000);
    CHECK_NUMBER(log_of(d, "two").frames, 2000);
    finish(d, 0);
}
