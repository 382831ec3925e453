/* SPDX-License-Identifier: Apache-2.0 */
/* Daemons that die, hang, lose messages or come back with too little: no frame is lost, none arrives twice.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

struct producer {
    uscope_writer_t *w;
    uint64_t cycles;
    unsigned pause; /* ms every 2,000 cycles */
    atomic_ullong at;
    pthread_t thread;
};

static void *produce(void *argument)
{
    struct producer *p = argument;
    for (uint64_t i = 0; i < p->cycles; i += 100) {
        run_cycles(p->w, i, 100);
        atomic_store(&p->at, i + 100);
        if (i % 2000 == 0) sleep_ms(p->pause); /* a real model has something to simulate, too */
    }
    return NULL;
}

static void start_producing(struct producer *p, const char *name, uint64_t cycles, unsigned pause)
{
    p->w = open_trace(name);
    p->cycles = cycles;
    p->pause = pause;
    atomic_init(&p->at, 0);
    pthread_create(&p->thread, NULL, produce, p);
}

struct opens {
    struct fake_daemon *d;
    uint64_t wanted;
};

static bool is_opened_so_often(void *argument)
{
    const struct opens *opens = argument;
    return log_of(opens->d, "core0").opens >= opens->wanted;
}

TEST(a_daemon_killed_and_restarted_again_and_again_gets_every_frame_once)
{
    enum { KILLS = 5 };
    struct fake_daemon *d = start_daemon();
    struct producer p;
    start_producing(&p, "core0", 200000, 6);
    for (uint64_t kills = 0; kills < KILLS; kills++) {
        /* a busy machine may take long to bring the trace back */
        struct opens opens = {d, kills + 1};
        CHECK(wait_until(is_opened_so_often, &opens));
        sleep_ms(60);
        fake_kill(d);
        sleep_ms(5);
        fake_start(d);
    }
    pthread_join(p.thread, NULL);
    uscope_close(p.w);
    struct fake_log log = log_of(d, "core0");
    check_cycles(&log, 200000);
    CHECK(log.opens >= KILLS);
    finish(d, 0);
}

static bool more_than_10000_frames(void *d)
{
    return fake_frames(d, "core0") > 10000;
}

TEST(what_was_received_but_not_acknowledged_is_sent_again)
{
    struct fake_daemon *d = start_daemon();
    atomic_store(&fake_switches(d)->withhold_acks, true);
    uscope_writer_t *w = open_trace("core0");
    run_cycles(w, 0, 20000);
    CHECK(wait_until(more_than_10000_frames, d));
    fake_kill(d);
    CHECK_NUMBER(fake_frames(d, "core0"), 0);
    run_cycles(w, 20000, 20000);
    atomic_store(&fake_switches(d)->withhold_acks, false);
    fake_start(d);
    uscope_close(w);
    struct fake_log log = log_of(d, "core0");
    check_cycles(&log, 40000);
    CHECK_NUMBER(log.opens, 2);
    finish(d, 0);
}

static void *start_later(void *argument)
{
    sleep_ms(300);
    fake_start(argument);
    return NULL;
}

TEST(a_daemon_that_is_away_at_close_gets_everything_when_it_returns)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    run_cycles(w, 0, 3000);
    fake_kill(d);
    run_cycles(w, 3000, 3000);
    /* close waits in this thread; the daemon is started again by another */
    pthread_t starter;
    pthread_create(&starter, NULL, start_later, d);
    uscope_close(w);
    pthread_join(starter, NULL);
    struct fake_log log = log_of(d, "core0");
    check_cycles(&log, 6000);
    CHECK(log.closed);
    finish(d, 0);
}

TEST(strings_behind_the_last_cycle_survive_a_restart)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    run_cycles(w, 0, 10);
    CHECK_NUMBER(uscope_flush(w), 0);
    fake_kill(d);
    CHECK_NUMBER(uscope_string(w, "never used"), 1);
    fake_start(d);
    uscope_close(w);
    struct fake_log log = log_of(d, "core0");
    CHECK_NUMBER(log.frames, 10);
    CHECK_NUMBER(log.strings, 2);
    finish(d, 0);
}

TEST(a_lost_message_is_noticed_and_everything_after_it_sent_again)
{
    struct fake_daemon *d = start_daemon();
    struct producer p;
    atomic_store(&fake_switches(d)->drop_data, true);
    start_producing(&p, "core0", 50000, 1);
    bool dropped = false;
    for (int i = 0; i < 4; i++) {
        sleep_ms(8);
        dropped |= !atomic_exchange(&fake_switches(d)->drop_data, true);
    }
    pthread_join(p.thread, NULL);
    /* on a busy machine the daemon may not have looked at any message yet */
    for (int i = 0; !dropped && i < 10000; i++) {
        sleep_ms(1);
        dropped = !atomic_load(&fake_switches(d)->drop_data);
    }
    CHECK(dropped);
    atomic_store(&fake_switches(d)->drop_data, false);
    uscope_close(p.w);
    struct fake_log log = log_of(d, "core0");
    check_cycles(&log, 50000);
    CHECK(log.opens > 1);
    finish(d, 0);
}

TEST(an_error_with_retry_makes_the_trace_resume)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    run_cycles(w, 0, 5000);
    /* what follows comes in data messages, of which the next one is answered so */
    atomic_store(&fake_switches(d)->retry_error, true);
    run_cycles(w, 5000, 45000);
    uscope_close(w);
    struct fake_log log = log_of(d, "core0");
    check_cycles(&log, 50000);
    CHECK_NUMBER(log.opens, 2);
    finish(d, 0);
}

TEST(a_resume_in_the_middle_of_a_giant_cycle_loses_nothing)
{
    setenv("USCOPE_CREDIT_MIB", "8", 1);
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    run_cycles(w, 0, 100);
    uscope_begin_cycle(w, 200000);
    for (int i = 0; i < 300000; i++) {
        uscope_event2(w, FLAGGED, (unsigned long long)i & 1, (unsigned long long)i);
        if (i == 150000) {
            fake_kill(d);
            fake_start(d);
        }
        if (i % 50000 == 0) sleep_ms(5);
    }
    uscope_end_cycle(w);
    uscope_close_stats_t stats;
    CHECK_NUMBER(uscope_close_stats(w, &stats), 0);
    CHECK_NUMBER(stats.items, 300700);
    finish(d, 0);
}

struct named {
    struct fake_daemon *d;
    const char *name;
};

static bool some_is_there(void *argument)
{
    const struct named *trace = argument;
    return fake_frames(trace->d, trace->name) > 0;
}

TEST(several_traces_resume_on_one_new_connection)
{
    struct fake_daemon *d = start_daemon();
    struct producer p[3];
    const char *names[3] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++)
        start_producing(&p[i], names[i], 60000, 1);
    for (int i = 0; i < 3; i++)
        CHECK(wait_until(some_is_there, &(struct named){d, names[i]}));
    fake_kill(d);
    fake_start(d);
    for (int i = 0; i < 3; i++) {
        pthread_join(p[i].thread, NULL);
        uscope_close(p[i].w);
        struct fake_log log = log_of(d, names[i]);
        check_cycles(&log, 60000);
        CHECK_NUMBER(log.opens, 2);
    }
    finish(d, 0);
}

struct hellos {
    struct fake_daemon *d;
    uint64_t before;
};

static bool has_said_hello_again(void *argument)
{
    const struct hellos *hellos = argument;
    return fake_hellos(hellos->d) > hellos->before;
}

TEST(a_daemon_that_hangs_is_replaced_without_loss)
{
    /* another connection after 4 s, and the end after 8: a busy machine has the time between */
    setenv("USCOPE_TIMEOUT_MS", "8000", 1);
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    run_cycles(w, 0, 1000);
    CHECK_NUMBER(uscope_flush(w), 0);
    struct hellos hellos = {d, fake_hellos(d)};
    atomic_store(&fake_switches(d)->silent, true);
    run_cycles(w, 1000, 1000);
    CHECK(wait_until(has_said_hello_again, &hellos));
    atomic_store(&fake_switches(d)->silent, false);
    uscope_close(w);
    struct fake_log log = log_of(d, "core0");
    check_cycles(&log, 2000);
    finish(d, 0);
}

TEST(a_daemon_that_has_lost_what_it_acknowledged_is_found_out)
{
    setenv("USCOPE_ON_FAILURE", "continue", 1);
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    run_cycles(w, 0, 1000);
    CHECK_NUMBER(uscope_flush(w), 0);
    fake_kill(d);
    atomic_store(&fake_switches(d)->forget, true);
    fake_start(d);
    run_cycles(w, 1000, 10);
    CHECK_NUMBER(uscope_close_stats(w, NULL), (unsigned long long)-1);
    CHECK_TEXT(uscope_last_error_code(), "BRIDGE_SEQUENCE");
    CHECK_TEXT(message_at(0),
               "core0: BRIDGE_SEQUENCE: after reconnecting the daemon has 0 frames, but had acknowledged "
               "1000: frames are lost on the daemon's side");
    fake_free(d);
}

TEST(an_idle_trace_survives_a_restart)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    run_cycles(w, 0, 100);
    CHECK_NUMBER(uscope_flush(w), 0);
    fake_kill(d);
    sleep_ms(50);
    fake_start(d);
    struct opens opens = {d, 2};
    CHECK(wait_until(is_opened_so_often, &opens));
    run_cycles(w, 100, 100);
    uscope_close(w);
    struct fake_log log = log_of(d, "core0");
    check_cycles(&log, 200);
    finish(d, 0);
}
