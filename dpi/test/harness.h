/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small test runner. Every test runs in a separate process, because the client reads its environment once
 * and lives as long as its process; a test that hangs is ended by an alarm.
 */
#ifndef USCOPE_TEST_HARNESS_H
#define USCOPE_TEST_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef void (*test_fn)(void);
void test_register(const char *name, test_fn fn);

#define TEST(name)                                                                                           \
    static void name(void);                                                                                  \
    __attribute__((constructor)) static void register_##name(void)                                           \
    {                                                                                                        \
        test_register(#name, name);                                                                          \
    }                                                                                                        \
    static void name(void)

/** Ends the test's process. */
__attribute__((noreturn, format(printf, 3, 4))) void test_fail(const char *file, int line, const char *format,
                                                               ...);
void check_text(const char *file, int line, const char *got, const char *expected);
void check_number(const char *file, int line, const char *what, unsigned long long got,
                  unsigned long long expected);

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) test_fail(__FILE__, __LINE__, "not true: %s", #condition);                         \
    } while (0)
#define CHECK_TEXT(got, expected) check_text(__FILE__, __LINE__, got, expected)
#define CHECK_NUMBER(got, expected)                                                                          \
    check_number(__FILE__, __LINE__, #got, (unsigned long long)(got), (unsigned long long)(expected))

/** Captures the client's messages from here on. */
void capture_messages(void);
unsigned num_messages(void);
/** The n-th message without "uscope: ", "" when there are fewer. */
/** A message without the time of the cycle in which it was said, and all of it. */
const char *message_at(unsigned n);
const char *whole_message_at(unsigned n);
bool any_message_has(const char *part);

void sleep_ms(unsigned ms);
/** Waits until the function says so; false when it has not for a minute. */
bool wait_until(bool (*condition)(void *), void *argument);
/** A directory of this test's own, removed at its end. */
const char *test_directory(void);
/** ipc:// endpoint in that directory, also put into USCOPE_ENDPOINT. */
const char *test_endpoint(void);

/**
 * fork() of a process that dies with the test. Call it while the test has one thread: a fork among others can
 * inherit a locked allocator (with AddressSanitizer it does, now and then), and the child then hangs in its
 * first malloc.
 */
pid_t fork_child(void);
/** A child forked ahead of the threads it shall meet: it runs `fn` when child_run lets it go, then exits with
 * 0. */
struct child {
    pid_t pid;
    int gate;
};
struct child child_new(void (*fn)(void));
void child_go(struct child c);
/** Its status, as waitpid gives it. */
int child_wait(struct child c);
int child_run(struct child c);

int run_tests(int argc, char **argv);

#endif
