/* SPDX-License-Identifier: Apache-2.0 */
/* The DPI shim without a simulator: its sv* functions are played by this file. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svdpi.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

void uscope_event_raw(void *w, unsigned short event_type_id, const svOpenArrayHandle payload);
void uscope_checkpoint_enable(void *w);

/* An open array of bytes with bounds, in the order of its indices or against it. */
struct array {
    int left, right;
    unsigned char *first; /* element at the left bound */
    bool has_pointer;
};

int svLeft(const svOpenArrayHandle h, int d)
{
    (void)d;
    return ((struct array *)h)->left;
}
int svRight(const svOpenArrayHandle h, int d)
{
    (void)d;
    return ((struct array *)h)->right;
}
int svSize(const svOpenArrayHandle h, int d)
{
    (void)d;
    struct array *a = h;
    return abs(a->left - a->right) + 1;
}
int svSizeOfArray(const svOpenArrayHandle h)
{
    return ((struct array *)h)->has_pointer ? svSize(h, 1) : 0;
}
void *svGetArrayPtr(const svOpenArrayHandle h)
{
    struct array *a = h;
    return a->has_pointer ? a->first : NULL;
}
void *svGetArrElemPtr1(const svOpenArrayHandle h, int index)
{
    struct array *a = h;
    return a->first + abs(index - a->left);
}

TEST(payloads_in_open_arrays_begin_at_the_left_bound)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = uscope_open("core0");
    CHECK(w);
    unsigned char bytes[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    struct array up = {0, 8, bytes, true}, down = {8, 0, bytes, true}, elements = {3, 11, bytes, false};
    struct array shorter = {0, 3, bytes, true};
    uscope_begin_cycle(w, 0);
    uscope_event_raw(w, FLAGGED, &up);
    uscope_event_raw(w, FLAGGED, &down);
    uscope_event_raw(w, FLAGGED, &elements);
    CHECK_NUMBER(num_messages(), 0);
    uscope_event_raw(w, FLAGGED, &shorter);
    CHECK_TEXT(message_at(0),
               "core0: OP_PAYLOAD: core0/flagged: a payload of 4 bytes, the event has 9; item rejected");
    uscope_event_raw(NULL, FLAGGED, &up);
    uscope_end_cycle(w);
    uscope_close(w);
    struct fake_log log = log_of(d, "core0");
    CHECK_NUMBER(log.items, 3);
    for (int i = 0; i < 3; i++)
        CHECK(memcmp(log.records + 16 + 32 * i + 8, bytes, 9) == 0);
    finish(d, 2);
}

static int status_of_open(const char *policy)
{
    setenv("USCOPE_OPEN_TIMEOUT_MS", "100", 1);
    setenv("USCOPE_ON_FAILURE", policy, 1);
    pid_t child = fork_child();
    if (child == 0) {
        capture_messages();
        uscope_writer_t *w = uscope_open("core0");
        run_cycles(w, 0, 10);
        uscope_close(w);
        exit(w || !any_message_has("continuing untraced") ? 1 : 0);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(open_without_a_daemon_stops_or_goes_on_as_the_environment_says)
{
    CHECK_NUMBER(status_of_open("stop"), 3);
    CHECK_NUMBER(status_of_open("continue"), 0);
}

/* All but `left` of the descriptors that this process may have are taken. */
static void leave_descriptors(int left)
{
    struct rlimit limit = {128, 128};
    setrlimit(RLIMIT_NOFILE, &limit);
    int last = -1;
    for (int fd; (fd = open("/dev/null", O_RDONLY)) >= 0;)
        last = fd;
    for (int i = 0; i < left; i++)
        close(last - i);
}

TEST(a_model_with_few_descriptors_left_goes_on_untraced)
{
    setenv("USCOPE_ON_FAILURE", "continue", 1);
    for (int left = 0; left <= 8; left++) {
        pid_t child = fork_child();
        if (child == 0) {
            capture_messages();
            leave_descriptors(left);
            uscope_writer_t *w = uscope_open("core0");
            run_cycles(w, 0, 10);
            /* the leak checker, which exit would run, needs descriptors */
            _exit(w || !any_message_has(left == 0 ? "BRIDGE_LIMIT" : "ENV_DESCRIPTORS") ? 1 : 0);
        }
        int status;
        waitpid(child, &status, 0);
        CHECK_NUMBER(status, 0);
    }
}

static void fork_a_simulation(void)
{
    capture_messages();
    uscope_writer_t *w = uscope_open("parent");
    run_cycles(w, 0, 10);
    pid_t child = fork_child();
    if (child == 0) {
        run_cycles(w, 10, 5);
        CHECK_TEXT(uscope_last_error_code(), "BRIDGE_FORKED");
        run_cycles(uscope_open("child"), 0, 20);
        exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_NUMBER(status, 0);
    run_cycles(w, 10, 10);
}

TEST(a_forked_simulation_records_into_a_trace_of_its_own)
{
    struct child client = child_new(fork_a_simulation);
    struct fake_daemon *d = start_daemon();
    CHECK_NUMBER(child_run(client), 0);
    struct fake_log parent = log_of(d, "parent"), child = log_of(d, "child");
    CHECK(parent.closed && child.closed);
    check_cycles(&parent, 20);
    check_cycles(&child, 20);
    finish(d, 0);
}

TEST(open_with_a_schema_sends_its_text)
{
    setenv("USCOPE_ON_FAILURE", "continue", 1);
    char path[300];
    snprintf(path, sizeof path, "%s/s.yaml", test_directory());
    FILE *file = fopen(path, "w");
    fputs("uscope: 1\n", file);
    fclose(file);
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = uscope_open_schema("core0", path);
    CHECK(w);
    uscope_close(w);
    CHECK_TEXT(log_of(d, "core0").schema, "uscope: 1\n");
    CHECK_TEXT(log_of(d, "core0").schema_name, path);
    w = uscope_open_schema("core1", "");
    CHECK(w);
    uscope_close(w);
    CHECK_NUMBER(num_messages(), 0);
    CHECK(!uscope_open_schema("core2", "/nonexistent"));
    CHECK_TEXT(
        message_at(0),
        "cannot open trace \"core2\": READER_OPEN: cannot read /nonexistent: No such file or directory");
    CHECK_TEXT(message_at(1), "continuing untraced");
    finish(d, 2);
}

TEST(what_generated_code_says_at_open_reaches_the_daemon)
{
    struct fake_daemon *d = start_daemon();
    const char *sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    uscope_close(uscope_open_checked("core0", "", sha256, "core=3,name=left"));
    struct fake_log log = log_of(d, "core0");
    CHECK_TEXT(log.schema, "");
    CHECK_TEXT(log.schema_sha256, sha256);
    CHECK_TEXT(log.vars, "core=3;name=left;");
    uscope_close(uscope_open_checked("core1", "", "", ""));
    CHECK_TEXT(log_of(d, "core1").schema_sha256, "");
    CHECK_TEXT(log_of(d, "core1").vars, "");
    finish(d, 0);
}

static svScope scope;

svScope svGetScope(void)
{
    return scope;
}
svScope svSetScope(const svScope given)
{
    svScope before = scope;
    scope = given;
    return before;
}

TEST(a_design_that_exports_no_function_is_told_so)
{
    struct fake_daemon *d = start_daemon();
    uscope_writer_t *w = open_trace("core0");
    scope = &scope;
    uscope_checkpoint_enable(w);
    CHECK_TEXT(message_at(0),
               "core0: OP_SNAPSHOT: checkpoint_enable: no function uscope_checkpoint is exported, "
               "or it was not linked in (Verilator: -LDFLAGS -Wl,-u,uscope_checkpoint); call "
               "rejected");
    run_cycles(w, 0, 10);
    uscope_close(w);
    struct fake_log log = log_of(d, "core0");
    check_cycles(&log, 10);
    finish(d, 1);
}
