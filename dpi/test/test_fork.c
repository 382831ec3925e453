/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that is copied: by fork, by a system call that runs no fork handlers, by a tool that restores it
 * from an image. The copy records nothing into the trace of its original, and may open new traces.
 *
 * The clients are children forked ahead of the daemon's thread, so that a client forks with no more threads
 * than a simulator has: its own and the client's.
 */
#include <dirent.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/common.h"
#include "client.h"

/* The linker puts this function before the client's (test.mk): a restored process has another start time. */
static _Atomic uint64_t restored;
struct uscopei_process __real_uscopei_this_process(void);
struct uscopei_process __wrap_uscopei_this_process(void);
struct uscopei_process __wrap_uscopei_this_process(void)
{
    struct uscopei_process process = __real_uscopei_this_process();
    process.start += restored;
    return process;
}

static struct fake_daemon *serve(void (*client)(void), int status)
{
    struct child child = child_new(client);
    struct fake_daemon *d = start_daemon();
    CHECK_NUMBER(child_run(child), (unsigned)status);
    return d;
}

static void check_whole(struct fake_daemon *d, const char *name, uint64_t cycles)
{
    struct fake_log log = log_of(d, name);
    CHECK(log.closed);
    check_cycles(&log, cycles);
}

static void wait_for(pid_t child)
{
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_NUMBER(status, 0);
}

static unsigned memory_files(void)
{
    unsigned files = 0;
    DIR *dir = opendir(test_directory());
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        files += strstr(entry->d_name, ".mem") != NULL;
    closedir(dir);
    return files;
}

static void use_inherited(uscope_writer_t *w)
{
    uscope_begin_cycle(w, 1000000);
    uscope_slot_add(w, COMMITTED, 0, 0, 99);
    uscope_event2(w, STAGE, 1, 1);
    uscope_slot_put2(w, ENTITIES, 0, 1, 2);
    CHECK_NUMBER(uscope_string(w, "of the child"), USCOPE_NO_STRING);
    CHECK_NUMBER(uscope_next_cycle(w, 2000000), 0);
    uscope_end_cycle(w);
    uscope_trigger(w, "of the child");
    CHECK(uscope_storage_id(w, "core0/rob") == -1);
    CHECK(uscope_flush(w) == -1);
    CHECK_TEXT(uscope_last_error_code(), "BRIDGE_FORKED");
    CHECK(uscope_close_stats(w, NULL) == -1);
    CHECK_TEXT(uscope_last_error_code(), "BRIDGE_FORKED");
}

static void fork_in_a_cycle(void)
{
    capture_messages();
    uscope_writer_t *w = open_trace("parent");
    run_cycles(w, 0, 10);
    uscope_begin_cycle(w, 10000);
    uscope_slot_add(w, COMMITTED, 0, 0, 1);
    pid_t child = fork_child();
    if (child == 0) {
        use_inherited(w);
        CHECK_NUMBER(num_messages(), 1);
        CHECK(strstr(message_at(0), "BRIDGE_FORKED: ") != NULL);
        exit(0); /* runs the exit handlers, too */
    }
    wait_for(child);
    CHECK_NUMBER(memory_files(), 1);
    uscope_slot_add(w, COMMITTED, 0, 0, 2);
    uscope_end_cycle(w);
    uscope_close_stats_t stats;
    CHECK_NUMBER(uscope_close_stats(w, &stats), 0);
    CHECK_NUMBER(stats.frames, 11);
    CHECK_NUMBER(num_messages(), 0);
    CHECK_NUMBER(memory_files(), 0);
}

TEST(a_forked_child_records_nothing_into_its_parents_trace)
{
    struct fake_daemon *d = serve(fork_in_a_cycle, 0);
    struct fake_log log = log_of(d, "parent");
    CHECK_NUMBER(log.frames, 11);
    CHECK_NUMBER(log.items, 72);
    finish(d, 0);
}

static void record_one(const char *name, uint64_t cycles)
{
    uscope_writer_t *w = open_trace(name);
    run_cycles(w, 0, cycles);
    uscope_close_stats_t stats;
    CHECK_NUMBER(uscope_close_stats(w, &stats), 0);
    CHECK_NUMBER(stats.frames, cycles);
}

static void fork_twice(void)
{
    capture_messages();
    uscope_writer_t *w = open_trace("parent");
    run_cycles(w, 0, 500);
    pid_t child = fork_child();
    if (child == 0) {
        uscope_writer_t *own = open_trace("child");
        CHECK(own != w);
        run_cycles(own, 0, 300);
        pid_t grandchild = fork_child();
        if (grandchild == 0) {
            use_inherited(w);
            use_inherited(own);
            record_one("grandchild", 200);
            CHECK_NUMBER(num_messages(), 1);
            exit(0);
        }
        use_inherited(w);
        run_cycles(own, 300, 300);
        wait_for(grandchild);
        exit(0); /* its own trace is closed at exit */
    }
    run_cycles(w, 500, 500);
    wait_for(child);
    run_cycles(w, 1000, 1000);
    uscope_close(w);
    CHECK_NUMBER(num_messages(), 0);
}

TEST(a_forked_child_may_open_a_trace_of_its_own_and_so_may_its_child)
{
    struct fake_daemon *d = serve(fork_twice, 0);
    check_whole(d, "parent", 2000);
    check_whole(d, "child", 600);
    check_whole(d, "grandchild", 200);
    finish(d, 0);
}

static void fork_and_kill_parent_first(void)
{
    uscope_writer_t *w = open_trace("parent");
    run_cycles(w, 0, 100);
    int ends[2];
    CHECK(pipe(ends) == 0);
    fflush(NULL);
    if (fork() == 0) {
        char byte;
        close(ends[1]);
        CHECK(read(ends[0], &byte, 1) == 0); /* the parent has ended */
        uscope_end_cycle(w);
        record_one("child", 100);
        _exit(0);
    }
    exit(0);
}

static bool child_is_whole(void *d)
{
    struct fake_log log;
    return fake_log(d, "child", &log) && log.closed;
}

TEST(a_forked_child_may_outlive_its_parent)
{
    struct fake_daemon *d = serve(fork_and_kill_parent_first, 0);
    CHECK(wait_until(child_is_whole, d));
    check_whole(d, "parent", 100);
    check_whole(d, "child", 100);
    finish(d, 0);
}

/*
 * With AddressSanitizer a child now and then inherits a locked allocator from a thread that was allocating
 * when it was forked (harness.h).
 */
#ifndef __SANITIZE_ADDRESS__
enum { FORKS = 12 };
static atomic_bool enough;
static uint64_t recorded;

static void *record_on(void *w)
{
    while (!atomic_load(&enough))
        run_cycles(w, recorded++, 1);
    return NULL;
}

static void fork_while_recording(void)
{
    capture_messages();
    uscope_writer_t *w = open_trace("busy");
    pthread_t thread;
    pthread_create(&thread, NULL, record_on, w);
    pid_t children[FORKS];
    for (int i = 0; i < FORKS; i++) {
        sleep_ms(3);
        children[i] = fork_child();
        if (children[i] != 0) continue;
        char name[32];
        snprintf(name, sizeof name, "child%d", i);
        use_inherited(w);
        record_one(name, 50);
        exit(0);
    }
    for (int i = 0; i < FORKS; i++)
        wait_for(children[i]);
    atomic_store(&enough, true);
    pthread_join(thread, NULL);
    uscope_close_stats_t stats;
    CHECK_NUMBER(uscope_close_stats(w, &stats), 0);
    CHECK_NUMBER(stats.frames, recorded);
    CHECK_NUMBER(num_messages(), 0);
}

TEST(a_fork_while_another_thread_records_harms_neither)
{
    struct fake_daemon *d = serve(fork_while_recording, 0);
    struct fake_log log = log_of(d, "busy");
    CHECK(log.closed);
    check_cycles(&log, log.frames);
    for (int i = 0; i < FORKS; i++) {
        char name[32];
        snprintf(name, sizeof name, "child%d", i);
        check_whole(d, name, 50);
    }
    finish(d, 0);
}
#endif

static pid_t forked_in_callback = -1;

static void fork_in_callback(uscope_writer_t *w, void *unused)
{
    (void)w, (void)unused;
    if (forked_in_callback < 0) forked_in_callback = fork_child();
}

static void fork_at_a_checkpoint(void)
{
    capture_messages();
    uscope_open_options_t options = USCOPE_OPEN_OPTIONS_INIT;
    options.name = "parent";
    options.interval_ps = 50000;
    uscope_writer_t *w = uscope_writer_open_opts(&options);
    CHECK(w);
    uscope_set_checkpoint_callback(w, fork_in_callback, NULL);
    run_cycles(w, 0, 100);
    if (forked_in_callback == 0) {
        CHECK_TEXT(uscope_last_error_code(), "BRIDGE_FORKED");
        CHECK_NUMBER(num_messages(), 1);
        exit(0);
    }
    wait_for(forked_in_callback);
    uscope_close(w);
    CHECK_NUMBER(num_messages(), 0);
}

TEST(a_checkpoint_callback_may_fork)
{
    struct fake_daemon *d = serve(fork_at_a_checkpoint, 0);
    check_whole(d, "parent", 100);
    finish(d, 0);
}

/* As a tool does that copies processes by itself. */
static void clone_without_handlers(void)
{
    capture_messages();
    uscope_writer_t *w = open_trace("parent");
    run_cycles(w, 0, 10);
    uscope_flush(w);
    uscope_begin_cycle(w, 10000);
    fflush(NULL);
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        alarm(60);
        uscope_slot_add(w, COMMITTED, 0, 0, 99);
        uscope_end_cycle(w);
        CHECK(uscope_flush(w) == -1);
        record_one("child", 100);
        uscope_begin_cycle(w, 20000);
        CHECK_TEXT(uscope_last_error_code(), "BRIDGE_FORKED");
        exit(0);
    }
    wait_for(child);
    uscope_end_cycle(w);
    run_cycles(w, 11, 9);
    uscope_close(w);
    CHECK_NUMBER(num_messages(), 0);
}

TEST(a_child_made_without_fork_handlers_is_a_forked_child)
{
    struct fake_daemon *d = serve(clone_without_handlers, 0);
    CHECK_NUMBER(log_of(d, "parent").frames, 20);
    check_whole(d, "child", 100);
    finish(d, 0);
}

static void clone_and_end(void)
{
    uscope_writer_t *w = open_trace("parent");
    run_cycles(w, 0, 10);
    uscope_flush(w);
    fflush(NULL);
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        alarm(60);
        exit(0);
    }
    wait_for(child);
    CHECK_NUMBER(memory_files(), 1);
    uscope_close(w);
}

TEST(its_exit_waits_for_no_thread_of_its_parent_and_removes_nothing)
{
    struct fake_daemon *d = serve(clone_and_end, 0);
    check_whole(d, "parent", 10);
    finish(d, 0);
}

extern char **environ;

static void spawn_while_tracing(void)
{
    uscope_writer_t *w = open_trace("parent");
    run_cycles(w, 0, 10);
    /* the shell, and what it starts, have its three descriptors and no other */
    char *arguments[] = {"sh", "-c", "test -z \"$(ls -l /proc/$$/fd | grep -e socket -e anon_inode)\"", NULL};
    pid_t child;
    CHECK(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) == 0);
    wait_for(child);
    pid_t second = vfork();
    if (second == 0) {
        execv("/bin/sh", arguments);
        _exit(1);
    }
    wait_for(second);
    run_cycles(w, 10, 10);
    uscope_close(w);
}

TEST(a_started_program_inherits_nothing_of_the_client)
{
    struct fake_daemon *d = serve(spawn_while_tracing, 0);
    check_whole(d, "parent", 20);
    finish(d, 0);
}

static bool has_failed_as_restored(void *w)
{
    return uscope_flush(w) == -1 && strcmp(uscope_last_error_code(), "BRIDGE_FORKED") == 0;
}

static void restore(void)
{
    setenv("USCOPE_ON_FAILURE", "continue", 1);
    capture_messages();
    uscope_writer_t *w = open_trace("saved");
    run_cycles(w, 0, 100);
    uscope_flush(w);
    restored = 12345;
    CHECK(wait_until(has_failed_as_restored, w));
    CHECK(any_message_has("saved: BRIDGE_FORKED: this process was restored from an image of process"));
    run_cycles(w, 100, 10);
    uscope_close(w);
    CHECK_NUMBER(memory_files(), 1); /* that of the process that was saved */
    record_one("restored", 100);
}

TEST(a_process_restored_from_an_image_gives_up_its_traces_and_may_open_others)
{
    struct fake_daemon *d = serve(restore, 0);
    CHECK_NUMBER(log_of(d, "saved").frames, 100);
    CHECK(!log_of(d, "saved").closed);
    check_whole(d, "restored", 100);
    finish(d, 0);
}

static void restore_and_stop(void)
{
    uscope_writer_t *w = open_trace("saved");
    run_cycles(w, 0, 100);
    uscope_flush(w);
    restored = 12345;
    for (uint64_t i = 100;; i++) {
        run_cycles(w, i, 1);
        sleep_ms(1);
    }
}

TEST(a_restored_simulation_stops_where_the_policy_is_to_stop)
{
    struct fake_daemon *d = serve(restore_and_stop, 3 << 8);
    CHECK(!log_of(d, "saved").closed);
    finish(d, 0);
}

/* A simulator that saves its own state brings the handle back in a process that has opened nothing. */
static void use_saved_handle(void)
{
    setenv("USCOPE_ON_FAILURE", "continue", 1);
    capture_messages();
    uscope_writer_t *saved = (uscope_writer_t *)((uintptr_t)0xF75C << 48 | 512 | 1);
    run_cycles(saved, 0, 10);
    uscope_close(saved);
    CHECK_NUMBER(num_messages(), 1);
    CHECK(strstr(message_at(0), "OP_HANDLE: ") != NULL);
    CHECK(open_trace("first") == saved); /* what makes it one that a saved handle can be */
    exit(0);
}

TEST(a_handle_saved_by_another_process_leads_nowhere)
{
    struct fake_daemon *d = serve(use_saved_handle, 0);
    CHECK_NUMBER(log_of(d, "first").frames, 0);
    finish(d, 0);
}
