/* SPDX-License-Identifier: Apache-2.0 */
/* Many traces, many threads, many lives: what a long-lived or oddly built simulator does to the client. */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

enum { THREADS = 6, CYCLES = 3000, ROUNDS = 12 }; /* fewer traces in all than the daemon remembers: 128 */

/* -- threads */

static void *trace_alone(void *argument)
{
    const char *name = argument;
    uscope_writer_t *w = open_trace(name);
    for (uint64_t i = 0; i < CYCLES; i += CYCLES / 10) {
        run_cycles(w, i, CYCLES / 10);
        if (i % 600 == 0) CHECK(uscope_flush(w) == 0);
    }
    uscope_close(w);
    return NULL;
}

TEST(threads_trace_different_traces_at_once)
{
    struct fake_daemon *d = start_daemon();
    pthread_t threads[THREADS];
    char names[THREADS][24];
    for (int i = 0; i < THREADS; i++) {
        snprintf(names[i], sizeof names[i], "core%d", i);
        CHECK(pthread_create(&threads[i], NULL, trace_alone, names[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < THREADS; i++) {
        struct fake_log log = log_of(d, names[i]);
        CHECK(log.closed);
        check_cycles(&log, CYCLES);
    }
    finish(d, 0);
}

static void *open_and_close(void *argument)
{
    char name[32];
    for (int i = 0; i < ROUNDS; i++) {
        snprintf(name, sizeof name, "%s/%d", (const char *)argument, i);
        uscope_writer_t *w = open_trace(name);
        run_cycles(w, 0, 20);
        uscope_close(w);
        uscope_close(w);
    }
    return NULL;
}

TEST(threads_open_and_close_at_once)
{
    setenv("USCOPE_CREDIT_MIB", "1", 1); /* small ones: each trace has memory that the system clears */
    struct fake_daemon *d = start_daemon();
    pthread_t threads[THREADS];
    char names[THREADS][24];
    for (int i = 0; i < THREADS; i++) {
        snprintf(names[i], sizeof names[i], "thread%d", i);
        CHECK(pthread_create(&threads[i], NULL, open_and_close, names[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < THREADS; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s/%d", names[i], ROUNDS - 1);
        struct fake_log log = log_of(d, name);
        check_cycles(&log, 20);
    }
    finish(d, 0);
}

/* A trace may wander from thread to thread, as long as one at a time uses it. */
static void *ten_cycles(void *argument)
{
    static uint64_t next;
    run_cycles(argument, next, 10);
    next += 10;
    return NULL;
}

TEST(a_trace_passes_from_thread_to_thread)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, ten_cycles, w) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    uscope_close(w);
    struct fake_log log = log_of(d, "core0");
    check_cycles(&log, 200);
    finish(d, 0);
}

/* -- many lives */

static size_t bytes_in_use(void)
{
    return mallinfo2().uordblks;
}

static unsigned open_files(void)
{
    unsigned count = 0;
    for (int fd = 0; fd < 1024; fd++) {
        char path[32], target[8];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        count += readlink(path, target, sizeof target) >= 0;
    }
    return count;
}

/* ZeroMQ closes files in a thread, a moment after it was asked to. */
static bool no_more_files_than(void *most)
{
    return open_files() <= *(unsigned *)most;
}

static void one_life(void)
{
    uscope_writer_t *w = open_trace("core0");
    run_cycles(w, 0, 3);
    uscope_close(w);
}

/* The daemon of this test lives in the same process and remembers one trace, so what grows is the client's.
 */
TEST(many_traces_one_after_the_other_leave_nothing_behind)
{
    setenv("USCOPE_CREDIT_MIB", "1", 1);
    setenv("USCOPE_SHM_DIR", "/dev/shm", 1);
    const int lives = getenv("LIVES") ? atoi(getenv("LIVES")) : SANITIZED ? 30 : 200;
    alarm(60 + (unsigned)lives / 10);
    struct fake_daemon *d = start_daemon();
    for (int i = 0; i < (SANITIZED ? 15 : 50); i++)
        one_life();
    size_t bytes = bytes_in_use();
    unsigned files = open_files();
    for (int i = 0; i < lives; i++)
        one_life();
    CHECK(wait_until(no_more_files_than, &files));
    /* LeakSanitizer counts by itself, at the end; its allocator does not answer mallinfo */
    if (!SANITIZED && bytes_in_use() > bytes + (256 << 10))
        test_fail(__FILE__, __LINE__, "%zu bytes in use after %d traces, %zu before", bytes_in_use(), lives,
                  bytes);
    CHECK_TEXT(fake_violation(d), "");
    fake_free(d);
}

/* -- the order of exits */

static uscope_writer_t *left_open;

static void close_it(void)
{
    uscope_close(left_open);
    uscope_close(left_open);
}

/* Registered before the client's own hook, so it runs after it: the trace is closed by then. */
static void close_from_an_earlier_hook(void)
{
    atexit(close_it);
    left_open = open_trace("core0");
    run_cycles(left_open, 0, 100);
}

/* Registered after it: it runs before. */
static void close_from_a_later_hook(void)
{
    left_open = open_trace("core0");
    atexit(close_it);
    run_cycles(left_open, 0, 100);
    uscope_begin_cycle(left_open, 100000);
}

static void check_hundred(struct child client, uint64_t frames)
{
    struct fake_daemon *d = start_daemon();
    CHECK_NUMBER(child_run(client), 0);
    struct fake_log log = log_of(d, "core0");
    CHECK(log.closed);
    CHECK_NUMBER(log.frames, frames);
    CHECK_TEXT(fake_violation(d), "");
    fake_free(d);
}

TEST(close_from_an_exit_hook_before_the_clients_own)
{
    check_hundred(child_new(close_from_an_earlier_hook), 100);
}

TEST(close_from_an_exit_hook_after_the_clients_own)
{
    check_hundred(child_new(close_from_a_later_hook), 101);
}

static void exit_in_a_thread_of_its_own(void)
{
    pthread_t thread;
    left_open = open_trace("core0");
    run_cycles(left_open, 0, 100);
    CHECK(pthread_create(&thread, NULL, (void *(*)(void *))(void *)exit, NULL) == 0);
    pause();
}

TEST(exit_from_another_thread_closes_what_is_open)
{
    check_hundred(child_new(exit_in_a_thread_of_its_own), 100);
}

TEST(open_after_close_works_and_the_old_handle_stays_dead)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *first = open_trace("core0");
    run_cycles(first, 0, 10);
    uscope_close(first);
    uscope_writer_t *second = open_trace("core0");
    CHECK(first != second);
    run_cycles(second, 0, 25);
    uscope_close(first);
    uscope_close(second);
    uscope_close(second);
    uscope_close(first);
    struct fake_log log = log_of(d, "core0");
    check_cycles(&log, 25);
    finish(d, 0);
}
