/* SPDX-License-Identifier: Apache-2.0 */
/* Recording switched off and on, triggers, commands from outside: what reaches the daemon, and what does not.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "uscope_cpu.h"

enum { PAUSE, RESUME, DISABLE, ENABLE, TRIGGER };
enum { TESTBENCH, OPERATOR };
enum { CONTROL = BARE + 1 };
enum { U32 = 3, STRING = 10, ENUM = 11 };

static struct fake_daemon *start_control_daemon(void)
{
    static struct test_schema s;
    s = core_schema;
    s.scopes[1] = "noc";
    s.scopes[2] = "uscope";
    s.enums[2] =
        (struct test_enum){"uscope_control_action", {"pause", "resume", "disable", "enable", "trigger"}};
    s.enums[3] = (struct test_enum){"uscope_control_source", {"testbench", "operator", "daemon"}};
    s.storages[TEXTS].scope = 2; /* of noc */
    s.events[CONTROL] = (struct test_event){
        "control",
        3,
        {{"action", ENUM, 2}, {"source", ENUM, 3}, {"subject", STRING, 0}, {"text", STRING, 0}}};
    return start_daemon_with(&s);
}

/* -- a trace as text: one word per record, frames in brackets */

struct listing {
    char text[1 << 20]; /* a busy machine lets a model run long before a command comes */
    size_t used;
    char strings[64][64];
};

static uint64_t u64_of(const unsigned char *at)
{
    uint64_t value;
    memcpy(&value, at, 8);
    return value;
}

static uint32_t u32_of(const unsigned char *at)
{
    uint32_t value;
    memcpy(&value, at, 4);
    return value;
}

__attribute__((format(printf, 2, 3))) static void say(struct listing *l, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(l->text + l->used, sizeof l->text - l->used, format, arguments);
    va_end(arguments);
    l->used += (size_t)n;
    CHECK(l->used < sizeof l->text);
}

static void say_event(struct listing *l, const unsigned char *at)
{
    static const char *const actions[] = {"pause", "resume", "disable", "enable", "trigger"};
    static const char *const sources[] = {"testbench", "operator"};
    unsigned type = (unsigned)at[2] | (unsigned)at[3] << 8;
    if (type != CONTROL) {
        say(l, " event%u", type);
        return;
    }
    CHECK_NUMBER(u32_of(at + 4), 10);
    CHECK(at[8] <= TRIGGER && at[9] <= OPERATOR);
    say(l, " %s(%s,%s,%s)", actions[at[8]], sources[at[9]], l->strings[u32_of(at + 10)],
        l->strings[u32_of(at + 14)]);
}

static const char *listing_of(struct fake_daemon *d, const char *name)
{
    static struct listing l;
    memset(&l, 0, sizeof l);
    struct fake_log log = log_of(d, name);
    for (const unsigned char *at = log.records, *end = at + log.size; at < end;) {
        uint32_t size = u32_of(at + 4);
        size_t payload = 0;
        switch (at[0]) {
        case 0x10: say(&l, "[%llu:", (unsigned long long)u64_of(at + 8)); break;
        case 0x11: say(&l, "] "); break;
        case 0x01: say(&l, " %u.%u=%llu", at[2], at[4], (unsigned long long)u64_of(at + 8)); break;
        case 0x03:
            say_event(&l, at);
            payload = size <= 8 ? 0 : size - 8;
            break;
        case 0x12:
            memcpy(l.strings[u64_of(at + 8)], at + 16, size);
            payload = size;
            break;
        case 0x13:
            for (uint32_t i = 0; i < size; i++)
                CHECK(at[2] == COMMITTED || at[16 + i] == 0);
            say(&l, "snapshot%u ", at[2]);
            payload = size;
            break;
        default: test_fail(__FILE__, __LINE__, "record 0x%x", at[0]);
        }
        at += 16 + (payload + 15) / 16 * 16;
    }
    return l.text;
}

static void cycle(uscope_writer_t *w, uint64_t time)
{
    uscope_begin_cycle(w, time);
    uscope_slot_set(w, ROB, 1, 0, time);
    uscope_slot_set(w, TEXTS, 2, 0, 0);
    uscope_event0(w, BARE);
    uscope_end_cycle(w);
}

/* -- the tests */

TEST(a_paused_trace_has_no_frames_and_what_was_in_flight_is_not_any_more)
{
    struct fake_daemon *d = start_control_daemon();
    uscope_writer_t *w = open_trace("t");
    uscope_string(w, "text");
    cycle(w, 0);
    uscope_disable(w, NULL);
    for (uint64_t i = 1; i < 100; i++)
        cycle(w, i);
    uscope_trigger(w, "between");
    cycle(w, 100);
    uscope_enable(w, "");
    cycle(w, 101);
    CHECK_NUMBER(uscope_skipped(w), 300);
    CHECK_NUMBER(uscope_rejected(w), 0);
    uscope_close(w);
    CHECK_TEXT(listing_of(d, "t"),
               "[0: 2.1=0 4.2=0 event5] snapshot0 snapshot2 snapshot4 [1: pause(testbench,,)] "
               "[100: trigger(testbench,,between)] [101: resume(testbench,,) 2.1=101 4.2=0 event5] ");
    CHECK_NUMBER(log_of(d, "t").skipped, 300);
    CHECK_TEXT(log_of(d, "t").controlled.disabled, "");
    CHECK_TEXT(message_at(0),
               "t: 300 items were not recorded, as asked: tracing was paused or their scope disabled");
    finish(d, 1);
}

TEST(inside_a_cycle_it_takes_effect_at_once)
{
    struct fake_daemon *d = start_control_daemon();
    uscope_writer_t *w = open_trace("t");
    uscope_string(w, "text");
    uscope_begin_cycle(w, 5);
    uscope_slot_set(w, ROB, 1, 0, 1);
    uscope_disable(w, "");
    uscope_slot_set(w, ROB, 1, 0, 2);
    uscope_slot_put2(w, ENTITIES, 1, 0, 2);
    uscope_trigger(w, "inside");
    uscope_slot_set(w, ROB, 1, 0, 3);
    uscope_enable(w, "");
    uscope_slot_set(w, ROB, 1, 0, 4);
    uscope_end_cycle(w);
    uscope_begin_cycle(w, 6);
    uscope_disable(w, "");
    uscope_slot_set(w, ROB, 1, 0, 5);
    uscope_end_cycle(w);
    uscope_close(w);
    CHECK_TEXT(
        listing_of(d, "t"),
        "[5: 2.1=1] snapshot0 snapshot2 snapshot4 [5: pause(testbench,,)] [5: trigger(testbench,,inside)] "
        "[5: resume(testbench,,) 2.1=4] [6:] snapshot0 snapshot2 snapshot4 [6: pause(testbench,,)] ");
    CHECK_NUMBER(log_of(d, "t").skipped, 5);
    finish(d, 1);
}

TEST(a_disabled_scope_is_left_out_and_the_others_are_not)
{
    struct fake_daemon *d = start_control_daemon();
    uscope_writer_t *w = open_trace("t");
    uint8_t payload[64] = {0};
    uscope_string(w, "text");
    cycle(w, 0);
    uscope_disable(w, "core0");
    uscope_disable(w, "core0");
    uscope_begin_cycle(w, 1);
    uscope_slot_set(w, ROB, 1, 0, 1);
    uscope_slot_add(w, COMMITTED, 0, 0, 1);
    uscope_slot_clear(w, ROB, 1);
    uscope_slot_put1(w, ROB, 1, 7);
    uscope_prop_set(w, ROB, 0, 1);
    uscope_event0(w, BARE);
    uscope_event2(w, STAGE, 1, 1);
    uscope_event(w, STAGE, payload);
    uscope_event_bytes(w, STAGE, payload, 5);
    uscope_event(w, EIGHT, payload);
    uscope_slot_set(w, TEXTS, 3, 0, 0);
    uscope_slot_set(w, WIDE_DENSE, 3, 0, 9);
    uscope_end_cycle(w);
    uscope_disable(w, "noc");
    uscope_enable(w, "core0");
    cycle(w, 2);
    uscope_enable(w, "");
    cycle(w, 3);
    uscope_close(w);
    CHECK_TEXT(
        listing_of(d, "t"),
        "[0: 2.1=0 4.2=0 event5] snapshot0 snapshot2 [1: disable(testbench,core0,) event3 4.3=0 5.3=9] "
        "snapshot4 [2: disable(testbench,noc,) enable(testbench,core0,) 2.1=2 event5] "
        "[3: resume(testbench,,) 2.1=3 4.2=0 event5] ");
    CHECK_NUMBER(log_of(d, "t").skipped, 10);
    finish(d, 1);
}

TEST(a_scope_that_is_not_there_is_refused)
{
    struct fake_daemon *d = start_control_daemon();
    uscope_writer_t *w = open_trace("t");
    uscope_disable(w, "core7");
    CHECK_TEXT(uscope_last_error_code(), "OP_SCOPE");
    uscope_disable(w, "uscope");
    uscope_trigger(w, "\xFF");
    cycle(w, 0);
    CHECK_NUMBER(uscope_rejected(w), 3);
    uscope_close(w);
    CHECK_TEXT(listing_of(d, "t"), "[0: 2.1=0 4.2=0 event5] ");
    CHECK_TEXT(message_at(0), "t: OP_SCOPE: disable: no scope \"core7\" that can be switched; call rejected");
    finish(d, 4);
}

static void answer(uscope_writer_t *w, void *user)
{
    uint64_t count = ++*(uint64_t *)user;
    uint8_t mask[64] = {1};
    uint64_t slot[4] = {0};
    uscope_checkpoint_storage(w, COMMITTED, NULL, &count, 1);
    uscope_checkpoint_storage(w, TEXTS, mask, slot, 1);
    uscope_disable(w, "core0");
}

TEST(the_model_is_asked_for_its_state_after_a_pause)
{
    struct fake_daemon *d = start_control_daemon();
    uscope_writer_t *w = open_trace("t");
    uint64_t asked = 0;
    uscope_string(w, "text");
    uscope_set_checkpoint_callback(w, answer, &asked);
    cycle(w, 0);
    uscope_disable(w, "noc");
    uscope_disable(w, "core0");
    cycle(w, 1);
    uscope_enable(w, "core0");
    cycle(w, 2);
    CHECK_NUMBER(asked, 1);
    cycle(w, 3);
    CHECK_NUMBER(asked, 1);
    /* the snapshot of what is disabled is passed over */
    uscope_close(w);
    CHECK_TEXT(
        listing_of(d, "t"),
        "[0: 2.1=0 4.2=0 event5] snapshot4 snapshot0 snapshot2 [1: disable(testbench,noc,) "
        "disable(testbench,core0,)] snapshot1 [2: enable(testbench,core0,) 2.1=2 event5] [3: 2.1=3 event5] ");
    CHECK_TEXT(message_at(0), "t: OP_NESTED_CYCLE: disable inside a checkpoint callback; call rejected");
    finish(d, 3);
}

TEST(a_model_that_asks_is_told_that_a_checkpoint_is_due)
{
    struct fake_daemon *d = start_control_daemon();
    uscope_writer_t *w = open_trace("t");
    uscope_string(w, "text");
    cycle(w, 0);
    CHECK_NUMBER(uscope_checkpoint_due(w, 1), 0);
    uscope_disable(w, "");
    CHECK_NUMBER(uscope_checkpoint_due(w, 1), 0);
    cycle(w, 1);
    uscope_enable(w, "");
    CHECK_NUMBER(uscope_checkpoint_due(w, 2), 1);
    uscope_checkpoint_begin(w, COMMITTED);
    uscope_checkpoint_slot1(w, 0, 42);
    uscope_checkpoint_end(w);
    cycle(w, 2);
    CHECK_NUMBER(uscope_checkpoint_due(w, 3), 0);
    uscope_close(w);
    CHECK_TEXT(listing_of(d, "t"),
               "[0: 2.1=0 4.2=0 event5] snapshot0 snapshot2 snapshot4 [1: pause(testbench,,)] snapshot1 "
               "[2: resume(testbench,,) 2.1=2 4.2=0 event5] ");
    finish(d, 1);
}

TEST(the_helper_follows_what_is_in_flight_through_a_pause)
{
    struct fake_daemon *d = start_control_daemon();
    uscope_writer_t *w = open_trace("t");
    uscope_cpu_t *cpu = uscope_cpu_new(w, "core0");
    CHECK(cpu);
    uscope_begin_cycle(w, 0);
    unsigned id = uscope_cpu_fetch(cpu, 0x1000, 0x13);
    uscope_end_cycle(w);
    uscope_disable(w, "");
    uscope_begin_cycle(w, 1);
    uscope_cpu_retire(cpu, id);
    uscope_end_cycle(w);
    /* more than the catalog has slots, without a frame in between */
    for (uint64_t i = 2; i < 1500; i++) {
        uscope_begin_cycle(w, i);
        unsigned one = uscope_cpu_fetch(cpu, 0x2000, 0x13);
        CHECK(one != USCOPE_CPU_NONE);
        if (i < 1499) uscope_cpu_retire(cpu, one);
        id = one;
        uscope_end_cycle(w);
    }
    uscope_enable(w, "");
    uscope_begin_cycle(w, 1500);
    uscope_cpu_retire(cpu, id);
    uscope_end_cycle(w);
    CHECK_NUMBER(uscope_rejected(w), 0);
    uscope_cpu_free(cpu);
    uscope_close(w);
    finish(d, 2); /* the schema lacks a label of flushes */
}

static bool controlled_once(void *argument)
{
    struct fake_log log;
    return fake_log(argument, "t", &log) && log.controlled.count > 0;
}

struct command {
    struct fake_daemon *d;
    uscope_writer_t *w;
    uint64_t number, *time;
};

/* One more cycle, in which the model may obey. */
static bool is_done(void *argument)
{
    const struct command *command = argument;
    cycle(command->w, (*command->time)++);
    struct fake_log log;
    return fake_log(command->d, "t", &log) && log.controlled.done == command->number;
}

static bool done_is(struct fake_daemon *d, uscope_writer_t *w, uint64_t number, uint64_t *time)
{
    return wait_until(is_done, &(struct command){d, w, number, time});
}

/* On a loaded machine, the model makes frames before the command reaches the client, and checkpoints become
 * due. */
static const char *after_whole_frames(const char *text)
{
    for (;;) {
        char frame[64];
        unsigned time = 0;
        int snapshot = 0;
        if (sscanf(text, "snapshot%u %n", &time, &snapshot) == 1) {
            text += snapshot;
            continue;
        }
        if (sscanf(text, "[%u:", &time) != 1) return text;
        int length = snprintf(frame, sizeof frame, "[%u: 2.1=%u 4.2=0 event5] ", time, time);
        if (strncmp(text, frame, (size_t)length) != 0) return text;
        text += length;
    }
}

/* The first `count` frames, the last one up to its first record, each time left out. */
static const char *without_times(const char *text, unsigned count)
{
    static char out[256];
    size_t used = 0;
    for (; *text && used + 1 < sizeof out; text++) {
        if (*text == '[' && count-- == 0) break;
        if (count == 0 && text[0] == ' ' && text[-1] != ':') break;
        out[used++] = *text;
        if (*text == '[') text += strspn(text + 1, "0123456789");
    }
    out[used] = 0;
    return out;
}

TEST(a_command_from_outside_is_carried_out_at_the_next_cycle)
{
    struct fake_daemon *d = start_control_daemon();
    uscope_writer_t *w = open_trace("t");
    uint64_t time = 0;
    uscope_string(w, "text");
    fake_control(d, "t", 7, "pause", NULL, NULL);
    sleep_ms(50);
    CHECK(!controlled_once(d)); /* the model is stopped, whether or not the command has come */
    CHECK(done_is(d, w, 7, &time));
    CHECK_TEXT(log_of(d, "t").controlled.disabled, "=;");
    fake_control(d, "t", 8, "trigger", NULL, "seen");
    CHECK(done_is(d, w, 8, &time));
    fake_control(d, "t", 8, "trigger", NULL, "twice"); /* repeated */
    fake_control(d, "t", 9, "disable", "core9", NULL);
    CHECK(done_is(d, w, 9, &time));
    CHECK_TEXT(log_of(d, "t").controlled.code, "OP_SCOPE");
    fake_kill(d);
    fake_start(d);
    fake_control(d, "t", 10, "resume", NULL, NULL);
    CHECK(done_is(d, w, 10, &time));
    CHECK_TEXT(log_of(d, "t").controlled.disabled, "");
    CHECK_NUMBER(uscope_rejected(w), 0);
    uscope_close(w);
    CHECK_TEXT(without_times(after_whole_frames(listing_of(d, "t")), 3),
               "[: pause(operator,,)] [: trigger(operator,,seen)] [: resume(operator,,)");
    CHECK_TEXT(fake_violation(d), "");
    fake_free(d);
}
