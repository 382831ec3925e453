/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a killed client, read as docs/reference/bridge-protocol.md#memory-of-a-local-client describes
 * it and without the client's own code: every cycle that was complete when the process died is there.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

static unsigned char *memory;
static size_t memory_size;

static uint64_t u64(size_t at)
{
    uint64_t value;
    CHECK(at + 8 <= memory_size);
    memcpy(&value, memory + at, 8);
    return value;
}

static uint32_t u32(size_t at)
{
    uint32_t value;
    CHECK(at + 4 <= memory_size);
    memcpy(&value, memory + at, 4);
    return value;
}

/* Path of the only memory, "" when there is none. */
static const char *memory_path(void)
{
    static char path[512];
    path[0] = 0;
    DIR *dir = opendir(test_directory());
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (strncmp(entry->d_name, "uscope-", 7) == 0)
            snprintf(path, sizeof path, "%s/%s", test_directory(), entry->d_name);
    }
    closedir(dir);
    return path;
}

static void load_memory(void)
{
    const char *path = memory_path();
    CHECK(path[0]);
    struct stat info;
    CHECK(stat(path, &info) == 0);
    memory_size = (size_t)info.st_size;
    memory = malloc(memory_size);
    int fd = open(path, O_RDONLY);
    for (size_t at = 0; at < memory_size;) {
        ssize_t got = read(fd, memory + at, memory_size - at);
        CHECK(got > 0);
        at += (size_t)got;
    }
    close(fd);
}

/* Entry of the chunk with the lowest order above `after`, 0 when there is none. */
static size_t next_entry(uint64_t after)
{
    size_t found = 0;
    for (uint32_t i = 0; i < u32(60); i++) {
        size_t entry = u32(76) + (size_t)i * u32(72);
        if (u64(entry) > after && (!found || u64(entry) < u64(found))) found = entry;
    }
    return found;
}

struct stream {
    uint64_t frames, items, order;
};

static struct stream read_stream(void)
{
    struct stream s = {0};
    uint64_t expected = UINT64_MAX;
    for (size_t entry; (entry = next_entry(s.order)) != 0; s.order = u64(entry)) {
        size_t chunk = (size_t)u64(64) + (entry - u32(76)) / u32(72) * u32(56);
        uint64_t published = u64(entry + 24);
        if (published == 0) continue;
        if (expected != UINT64_MAX && u64(entry) == s.order + 1) CHECK_NUMBER(u64(entry + 8), expected);
        expected = u64(entry + 8);
        for (uint64_t at = 0; at < published;) {
            uint32_t size = u32(chunk + at + 4);
            unsigned kind = memory[chunk + at];
            if (kind == 0x11) {
                CHECK_NUMBER(u64(chunk + at + 8), expected);
                expected++;
                s.frames = expected;
                s.items += size;
            }
            at += kind == 0x03                   ? (size <= 8 ? 16 : (size + 8 + 15) / 16 * 16)
                  : kind == 0x12 || kind == 0x13 ? 16 + (size + 15) / 16 * 16
                                                 : 16;
        }
    }
    return s;
}

static void die_in_a_cycle(void)
{
    uscope_writer_t *w = open_trace("soc/core5");
    run_cycles(w, 0, 30000);
    uscope_begin_cycle(w, 1ull << 40);
    uscope_slot_add(w, COMMITTED, 0, 0, 1);
    kill(getpid(), SIGKILL);
}

TEST(a_killed_client_leaves_every_complete_cycle_in_its_memory)
{
    setenv("USCOPE_RUN_ID", "00112233445566778899aabbccddeeff", 1);
    setenv("USCOPE_CORE", "5", 1);
    struct child client = child_new(die_in_a_cycle);
    struct fake_daemon *d = start_daemon();
    atomic_store(&fake_switches(d)->withhold_acks, true);
    CHECK(WIFSIGNALED(child_run(client)));
    load_memory();
    CHECK(memcmp(memory, "uMEM", 4) == 0);
    CHECK_NUMBER(u32(4), 1);
    CHECK_NUMBER(memory[24], 0);
    CHECK_NUMBER(memory[39], 0xFF);
    CHECK_NUMBER(u32(40), 5);
    CHECK_NUMBER(u32(44), client.pid);
    CHECK(u64(48) > 0);
    CHECK_NUMBER(u64(80), 0);
    CHECK_TEXT((char *)memory + 96, "soc/core5");
    CHECK_NUMBER(memory_size, u64(64) + (uint64_t)u32(56) * u32(60));
    struct stream s = read_stream();
    CHECK_NUMBER(s.frames, 30000);
    CHECK_NUMBER(s.items, 210000);
    free(memory);
    fake_free(d);
}

static void die_flushed(void)
{
    uscope_writer_t *w = open_trace("core0");
    run_cycles(w, 0, 60000);
    uscope_flush(w);
    kill(getpid(), SIGKILL);
}

TEST(what_is_durable_is_noted_and_reused_chunks_are_told_apart)
{
    setenv("USCOPE_CREDIT_MIB", "2", 1);
    struct child client = child_new(die_flushed);
    struct fake_daemon *d = start_daemon();
    CHECK(WIFSIGNALED(child_run(client)));
    load_memory();
    CHECK_NUMBER(u64(80), 60000);
    CHECK_NUMBER(read_stream().frames, 60000);
    free(memory);
    CHECK_TEXT(fake_violation(d), "");
    fake_free(d);
}

static bool has_failed_message(void *unused)
{
    (void)unused;
    return any_message_has("core0: WRITER_DISK_FULL") || any_message_has("core0: BRIDGE_");
}

/* 100 cycles of which 40 are durable, then the trace fails; 25 more are not recorded. */
static void fail_by(struct fake_daemon *d, atomic_bool *failure)
{
    uscope_writer_t *w = open_trace("core0");
    run_cycles(w, 0, 40);
    CHECK_NUMBER(uscope_flush(w), 0);
    atomic_store(&fake_switches(d)->withhold_acks, true);
    run_cycles(w, 40, 60);
    atomic_store(failure, true);
    CHECK(wait_until(has_failed_message, NULL));
    run_cycles(w, 100, 25);
    uscope_close(w);
}

TEST(what_a_full_disk_has_not_taken_stays_in_the_memory_with_the_number_of_cycles_not_recorded)
{
    setenv("USCOPE_ON_FAILURE", "continue", 1);
    capture_messages();
    struct fake_daemon *d = start_daemon();
    fail_by(d, &fake_switches(d)->disk_full);
    CHECK(any_message_has("core0: what was recorded last is kept in "));
    load_memory();
    CHECK_NUMBER(u64(80), 40);
    CHECK_NUMBER(read_stream().frames + u64(88), 125);
    free(memory);
    fake_free(d);
}

TEST(records_that_a_daemon_refuses_are_not_kept)
{
    setenv("USCOPE_ON_FAILURE", "continue", 1);
    capture_messages();
    struct fake_daemon *d = start_daemon();
    fail_by(d, &fake_switches(d)->fatal_error);
    CHECK_TEXT(memory_path(), "");
    fake_free(d);
}
