/* SPDX-License-Identifier: Apache-2.0 */
/* No daemon, the wrong daemon, a daemon that goes away: clear messages, and the policy decides what follows.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

TEST(without_a_daemon_open_gives_up_after_its_timeout)
{
    setenv("USCOPE_OPEN_TIMEOUT_MS", "150", 1);
    capture_messages();
    uscope_writer_t *w = uscope_writer_open("core0", NULL, NULL, 0);
    CHECK(!w);
    CHECK_TEXT(uscope_last_error_code(), "BRIDGE_NO_DAEMON");
    char expected[600];
    snprintf(expected, sizeof expected,
             "no daemon answers at %s yet; waiting for one for up to 150 ms (USCOPE_OPEN_TIMEOUT_MS)",
             test_endpoint());
    CHECK_TEXT(message_at(0), expected);
    snprintf(
        expected, sizeof expected,
        "cannot open trace \"core0\": BRIDGE_NO_DAEMON: no daemon answers at %s (waited 150 ms); start one with \"uscope "
        "serve\", or start the simulator with \"uscope run -- ...\"",
        test_endpoint());
    CHECK_TEXT(message_at(1), expected);
    CHECK_NUMBER(num_messages(), 2);
    run_cycles(w, 0, 10);
    uscope_close(w);
    CHECK_NUMBER(num_messages(), 2);
}

TEST(without_an_endpoint_and_without_a_daemon_open_does_not_wait)
{
    /* longer than a test may take: a call that waits fails */
    setenv("USCOPE_OPEN_TIMEOUT_MS", "3600000", 1);
    setenv("XDG_RUNTIME_DIR", test_directory(), 1);
    unsetenv("USCOPE_ENDPOINT");
    capture_messages();
    CHECK(!uscope_writer_open("core0", NULL, NULL, 0));
    CHECK_TEXT(uscope_last_error_code(), "BRIDGE_NO_DAEMON");
    char expected[600];
    snprintf(
        expected, sizeof expected,
        "cannot open trace \"core0\": BRIDGE_NO_DAEMON: USCOPE_ENDPOINT is not set, and no daemon listens at "
        "ipc://%s/uscope.sock; start the simulator with \"uscope run -- ...\", or start \"uscope serve\"",
        test_directory());
    CHECK_TEXT(message_at(0), expected);
    CHECK_NUMBER(num_messages(), 1);
}

static bool has_said_something(void *unused)
{
    (void)unused;
    return num_messages() > 0;
}

static void *open_and_close(void *unused)
{
    (void)unused;
    uscope_close(open_trace("core0"));
    return NULL;
}

TEST(a_daemon_that_does_not_answer_is_waited_for_and_named)
{
    size_t size;
    unsigned char *schema = schema_bytes(&core_schema, &size);
    struct fake_daemon *d = fake_new(test_endpoint(), schema, size);
    free(schema);
    capture_messages();
    pthread_t client;
    CHECK(pthread_create(&client, NULL, open_and_close, NULL) == 0);
    CHECK(wait_until(has_said_something, NULL));
    CHECK(strstr(message_at(0), "yet; waiting for one for up to 10000 ms"));
    fake_start(d);
    CHECK(pthread_join(client, NULL) == 0);
    finish(d, 1);
}

static void trace_100_cycles(void)
{
    run_cycles(open_trace("core0"), 0, 100);
}

TEST(a_daemon_that_starts_later_is_found)
{
    struct child client = child_new(trace_100_cycles);
    size_t size;
    unsigned char *schema = schema_bytes(&core_schema, &size);
    struct fake_daemon *d = fake_new(test_endpoint(), schema, size);
    free(schema);
    capture_messages();
    child_go(client);
    sleep_ms(300);
    fake_start(d);
    CHECK_NUMBER(child_wait(client), 0);
    CHECK_NUMBER(fake_frames(d, "core0"), 100);
    finish(d, 0);
}

TEST(a_malformed_endpoint_is_named)
{
    setenv("USCOPE_ENDPOINT", "nonsense", 1);
    capture_messages();
    CHECK(!uscope_writer_open("core0", NULL, NULL, 0));
    CHECK_TEXT(
        message_at(0),
        "cannot open trace \"core0\": BRIDGE_ENDPOINT: cannot connect to \"nonsense\": Invalid argument");
}

TEST(a_daemon_of_another_protocol_version_is_refused)
{
    struct fake_daemon *d = start_daemon();
    atomic_store(&fake_switches(d)->version, 2);
    CHECK(!uscope_writer_open("core0", NULL, NULL, 0));
    CHECK_TEXT(
        message_at(0),
        "cannot open trace \"core0\": BRIDGE_VERSION: this daemon is of another age (the daemon speaks protocol "
        "version 2, this client version 1)");
    finish(d, 1);
}

TEST(what_the_daemon_refuses_is_passed_on)
{
    struct fake_daemon *d = start_daemon();
    atomic_store(&fake_switches(d)->refuse, 1);
    CHECK(!uscope_writer_open("core0", NULL, NULL, 0));
    CHECK_TEXT(uscope_last_error_code(), "BRIDGE_NAME_BUSY");
    CHECK_TEXT(message_at(0),
               "cannot open trace \"core0\": BRIDGE_NAME_BUSY: another live session writes this trace");
    atomic_store(&fake_switches(d)->refuse, 0);
    uscope_close(open_trace("core0"));
    CHECK(!uscope_writer_open("", NULL, NULL, 0));
    CHECK_TEXT(uscope_last_error_code(), "BRIDGE_NAME");
    CHECK(!uscope_writer_open(NULL, NULL, NULL, 0));
    finish(d, 3);
}

TEST(a_grant_of_too_little_credit_is_an_error_not_a_deadlock)
{
    struct fake_daemon *d = start_daemon();
    atomic_store(&fake_switches(d)->credit, 4096);
    CHECK(!uscope_writer_open("core0", NULL, NULL, 0));
    CHECK_TEXT(
        message_at(0),
        "cannot open trace \"core0\": BRIDGE_LIMIT: the daemon allows 4096 bytes of credit; at least 1 MiB is needed");
    CHECK(log_of(d, "core0").closed);
    finish(d, 1);
}

TEST(a_schema_chunk_that_makes_no_sense_is_an_error)
{
    struct fake_daemon *d = fake_new(test_endpoint(), "short", 5);
    fake_start(d);
    capture_messages();
    CHECK(!uscope_writer_open("core0", NULL, NULL, 0));
    CHECK_TEXT(
        message_at(0),
        "cannot open trace \"core0\": FORMAT_LENGTH: schema from the daemon: the schema chunk ends inside its definitions");
    fake_free(d);
}

/* -- failures in the middle */

static struct {
    unsigned calls;
    char code[40];
} seen;

static int go_on(uscope_writer_t *w, const char *code, const char *message, void *user)
{
    CHECK(w && message[0] && user == &seen);
    seen.calls++;
    snprintf(seen.code, sizeof seen.code, "%s", code);
    return USCOPE_ON_FAILURE_CONTINUE;
}

static bool has_failed_message(void *unused)
{
    (void)unused;
    return num_messages() > 0;
}

TEST(a_daemon_lost_for_too_long_ends_the_trace_by_the_handler)
{
    /* long enough for the flush on a busy machine */
    setenv("USCOPE_TIMEOUT_MS", "3000", 1);
    struct fake_daemon *d = start_daemon();
    uscope_set_failure_handler(go_on, &seen);
    uscope_writer_t *w = open_trace("core0");
    run_cycles(w, 0, 100);
    CHECK_NUMBER(uscope_flush(w), 0);
    fake_kill(d);
    run_cycles(w, 100, 1);
    CHECK(wait_until(has_failed_message, NULL));
    CHECK(strstr(message_at(0), "core0: BRIDGE_LOST: the daemon has not answered for "));
    CHECK(strstr(message_at(0), "frames below 100 are durable, later ones are not in the file"));
    CHECK_NUMBER(seen.calls, 0);
    run_cycles(w, 101, 1000);
    CHECK_NUMBER(seen.calls, 1);
    CHECK_TEXT(seen.code, "BRIDGE_LOST");
    CHECK(strstr(message_at(1), "core0: what was recorded last is kept in "));
    CHECK_TEXT(message_at(2), "continuing untraced");
    CHECK_NUMBER(uscope_string(w, "x"), USCOPE_NO_STRING);
    CHECK_NUMBER(uscope_flush(w), (unsigned long long)-1);
    CHECK_NUMBER(uscope_close_stats(w, NULL), (unsigned long long)-1);
    CHECK_TEXT(uscope_last_error_code(), "BRIDGE_LOST");
    CHECK_NUMBER(num_messages(), 3);
    fake_free(d);
}

struct simulation {
    uscope_writer_t *w;
    uint64_t cycles;
};

/* One more cycle, of a trace that may have ended meanwhile. */
static bool simulates_untraced(void *argument)
{
    struct simulation *simulation = argument;
    run_cycles(simulation->w, simulation->cycles++, 1);
    return strcmp(uscope_last_error_code(), "BRIDGE_LOST") == 0;
}

static void lose_the_daemon(void)
{
    setenv("USCOPE_TIMEOUT_MS", "600", 1);
    struct fake_daemon *d = start_daemon();
    uscope_set_message_handler(NULL, NULL);
    uscope_writer_t *w = open_trace("core0");
    run_cycles(w, 0, 10);
    fake_kill(d);
    struct simulation simulation = {w, 10};
    CHECK(wait_until(simulates_untraced, &simulation));
    uscope_close(w);
    fake_free(d);
}

static int status_of(void (*fn)(void), char *output, size_t size)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    pid_t child = fork_child();
    if (child == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        fn();
        exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; (got = read(ends[0], output + used, size - 1 - used)) > 0;)
        used += (size_t)got;
    output[used] = 0;
    close(ends[0]);
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(by_default_a_lost_daemon_stops_the_simulation_with_status_3)
{
    char output[4096];
    CHECK_NUMBER(status_of(lose_the_daemon, output, sizeof output), 3);
    CHECK(strstr(output, "uscope: core0: BRIDGE_LOST: the daemon has not answered for "));
    CHECK(strstr(
        output,
        "uscope: stopping the simulation with status 3 (set USCOPE_ON_FAILURE=continue to continue untraced)\n"));
}

TEST(with_continue_the_simulation_goes_on_untraced)
{
    setenv("USCOPE_ON_FAILURE", "continue", 1);
    char output[4096];
    int status = status_of(lose_the_daemon, output, sizeof output);
    if (status != 0) test_fail(__FILE__, __LINE__, "status %d, output:\n%s", status, output);
    CHECK(strstr(output, "uscope: continuing untraced\n"));
}

TEST(a_trace_the_daemon_has_given_up_ends)
{
    setenv("USCOPE_ON_FAILURE", "continue", 1);
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    uscope_writer_t *other = open_trace("other");
    run_cycles(w, 0, 10);
    CHECK_NUMBER(uscope_flush(w), 0);
    atomic_store(&fake_switches(d)->fatal_error, true);
    CHECK(wait_until(has_failed_message, NULL));
    CHECK(any_message_has("core0: BRIDGE_RECORD: the fake daemon says no"));
    run_cycles(w, 10, 10);
    CHECK(any_message_has("continuing untraced"));
    uscope_close(w);
    uscope_close(other);
    fake_free(d);
}

static bool goes_on(void *unused)
{
    (void)unused;
    return num_messages() >= 2;
}

static bool stalled_is_sent(void *d)
{
    return !atomic_load(&fake_switches(d)->stalled);
}

TEST(a_stall_is_reported_once_and_again_when_it_ends)
{
    struct fake_daemon *d = start_daemon();
    atomic_store(&fake_switches(d)->withhold_acks, true);
    uscope_writer_t *w = open_trace("core0");
    run_cycles(w, 0, 10);
    for (int i = 0; i < 3; i++) {
        atomic_store(&fake_switches(d)->stalled, true);
        CHECK(wait_until(stalled_is_sent, d));
    }
    CHECK(wait_until(has_failed_message, NULL));
    sleep_ms(40); /* for a second one, which does not come */
    CHECK_NUMBER(num_messages(), 1);
    CHECK_TEXT(message_at(0), "core0: WRITER_DISK_FULL: no space left; free some; waiting");
    atomic_store(&fake_switches(d)->withhold_acks, false);
    atomic_store(&fake_switches(d)->ack_now, true);
    CHECK(wait_until(goes_on, NULL));
    CHECK_TEXT(message_at(1), "core0: the trace continues");
    uscope_close(w);
    finish(d, 2);
}

static bool has_six_pings(void *d)
{
    return fake_pings(d) >= 6;
}

TEST(while_it_waits_the_client_pings)
{
    setenv("USCOPE_TIMEOUT_MS", "4000", 1);
    struct fake_daemon *d = start_daemon();
    atomic_store(&fake_switches(d)->withhold_acks, true);
    uscope_writer_t *w = open_trace("core0");
    run_cycles(w, 0, 10);
    /* nothing is acknowledged for longer than the timeout, but the daemon answers: no reason to give up.
       There is a second between two pings. */
    CHECK(wait_until(has_six_pings, d));
    CHECK_NUMBER(log_of(d, "core0").opens, 1);
    CHECK_NUMBER(num_messages(), 0);
    atomic_store(&fake_switches(d)->withhold_acks, false);
    uscope_close(w);
    finish(d, 0);
}

/* -- memory */

TEST(the_memory_is_a_private_file_that_goes_with_the_trace)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    char command[300];
    snprintf(command, sizeof command, "test $(stat -c %%a %s/uscope-*.mem) = 600", test_directory());
    CHECK_NUMBER(system(command), 0);
    uscope_close(w);
    snprintf(command, sizeof command, "ls %s | grep -q mem", test_directory());
    CHECK(system(command) != 0);
    finish(d, 0);
}

TEST(without_shared_memory_the_trace_works_and_says_what_is_missing)
{
    setenv("USCOPE_SHM_DIR", "/nonexistent", 1);
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    CHECK_TEXT(
        message_at(0),
        "core0: note: no shared memory in /nonexistent (No such file or directory): should this process crash, its "
        "last cycles cannot be salvaged");
    run_cycles(w, 0, 1000);
    uscope_close(w);
    CHECK_NUMBER(fake_frames(d, "core0"), 1000);
    finish(d, 1);
}

TEST(numbers_in_the_environment_that_are_none_are_reported)
{
    setenv("USCOPE_CREDIT_MIB", "lots", 1);
    setenv("USCOPE_RUN_ID", "xyz", 1);
    setenv("USCOPE_ON_FAILURE", "panic", 1);
    struct fake_daemon *d = start_daemon();
    uscope_close(open_trace("core0"));
    CHECK_TEXT(message_at(0), "USCOPE_CREDIT_MIB=lots is not a number from 1 to 4095; 32 is used");
    CHECK_TEXT(message_at(1),
               "USCOPE_ON_FAILURE=panic is neither \"stop\" nor \"continue\"; \"stop\" is used");
    CHECK_TEXT(message_at(2), "USCOPE_RUN_ID=xyz is not 32 hexadecimal digits; it is ignored");
    finish(d, 3);
}
