/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "uscope.h"

enum { MAX_TESTS = 200, MAX_MESSAGES = 1000, LIMIT_SECONDS = 120, PATIENCE_MS = 60000 };

static struct {
    const char *name;
    test_fn fn;
} tests[MAX_TESTS];
static int num_tests;

void test_register(const char *name, test_fn fn)
{
    tests[num_tests].name = name;
    tests[num_tests++].fn = fn;
}

/* -- a test's directory */

static char directory[128], endpoint[192];

static void remove_directory(void)
{
    DIR *dir = opendir(directory);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (entry->d_name[0] != '.') unlink(path);
    }
    if (dir) closedir(dir);
    rmdir(directory);
}

const char *test_directory(void)
{
    return directory;
}

const char *test_endpoint(void)
{
    return endpoint;
}

static void prepare(void)
{
    setenv("USCOPE_ENDPOINT", endpoint, 1);
    setenv("USCOPE_SHM_DIR", directory, 1);
    unsetenv("USCOPE_SCHEMA");
    unsetenv("USCOPE_ON_FAILURE");
    unsetenv("USCOPE_RUN_ID");
    unsetenv("USCOPE_CORE");
}

/* -- checks */

void test_fail(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "  %s:%d: ", file, line);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    for (unsigned i = 0; i < num_messages(); i++)
        fprintf(stderr, "  message %u: %s\n", i, message_at(i));
    fflush(NULL);
    _exit(1);
}

void check_text(const char *file, int line, const char *got, const char *expected)
{
    if (strcmp(got, expected) != 0)
        test_fail(file, line, "got      \"%s\"\n           expected \"%s\"", got, expected);
}

void check_number(const char *file, int line, const char *what, unsigned long long got,
                  unsigned long long expected)
{
    if (got != expected) test_fail(file, line, "%s is %llu, expected %llu", what, got, expected);
}

/* -- messages */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *messages[MAX_MESSAGES];
static unsigned count;

static void keep(const char *message, void *unused)
{
    (void)unused;
    const char prefix[] = "uscope: ";
    if (strncmp(message, prefix, sizeof prefix - 1) == 0) message += sizeof prefix - 1;
    pthread_mutex_lock(&lock);
    if (count < MAX_MESSAGES) messages[count++] = strdup(message);
    pthread_mutex_unlock(&lock);
}

void capture_messages(void)
{
    uscope_set_message_handler(keep, NULL);
}

unsigned num_messages(void)
{
    pthread_mutex_lock(&lock);
    unsigned n = count;
    pthread_mutex_unlock(&lock);
    return n;
}

const char *whole_message_at(unsigned n)
{
    return n < num_messages() ? messages[n] : "";
}

const char *message_at(unsigned n)
{
    static char text[2048];
    const char *whole = whole_message_at(n);
    const char *cycle = strstr(whole, "in the cycle at ");
    const char *end = cycle ? strstr(cycle, " ps: ") : NULL;
    if (!end) return whole;
    snprintf(text, sizeof text, "%.*s%s", (int)(cycle - whole), whole, end + strlen(" ps: "));
    return text;
}

bool any_message_has(const char *part)
{
    for (unsigned i = 0; i < num_messages(); i++) {
        if (strstr(message_at(i), part)) return true;
    }
    return false;
}

/* -- time */

void sleep_ms(unsigned ms)
{
    struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

bool wait_until(bool (*condition)(void *), void *argument)
{
    for (unsigned waited = 0; waited < PATIENCE_MS; waited += 2) {
        if (condition(argument)) return true;
        sleep_ms(2);
    }
    return condition(argument);
}

/* -- processes of a test */

pid_t fork_child(void)
{
    fflush(NULL);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
    }
    return child;
}

struct child child_new(void (*fn)(void))
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    struct child c = {fork_child(), ends[1]};
    if (c.pid == 0) {
        char byte;
        close(ends[1]);
        if (read(ends[0], &byte, 1) != 1) _exit(1);
        fn();
        exit(0);
    }
    close(ends[0]);
    return c;
}

void child_go(struct child c)
{
    CHECK(write(c.gate, "g", 1) == 1);
    close(c.gate);
}

int child_wait(struct child c)
{
    int status = -1;
    CHECK(waitpid(c.pid, &status, 0) == c.pid);
    return status;
}

int child_run(struct child c)
{
    child_go(c);
    return child_wait(c);
}

/* -- running */

static bool run_one(int index)
{
    snprintf(directory, sizeof directory, "/tmp/uscope-test-XXXXXX");
    if (!mkdtemp(directory)) return false;
    snprintf(endpoint, sizeof endpoint, "ipc://%s/daemon.sock", directory);
    pid_t child = fork_child();
    if (child == 0) {
        alarm(LIMIT_SECONDS);
        prepare();
        tests[index].fn();
        exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    remove_directory();
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    printf("%s %s\n", good ? "ok  " : "FAIL", tests[index].name);
    if (!good && WIFSIGNALED(status)) printf("     ended by signal %d\n", WTERMSIG(status));
    return good;
}

int run_tests(int argc, char **argv)
{
    int failed = 0, run = 0;
    for (int i = 0; i < num_tests; i++) {
        if (argc > 1 && !strstr(tests[i].name, argv[1])) continue;
        run++;
        failed += !run_one(i);
    }
    printf("%d tests, %d failed\n", run, failed);
    return failed || run == 0;
}

__attribute__((weak)) int main(int argc, char **argv)
{
    return run_tests(argc, argv);
}
