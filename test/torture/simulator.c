/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator of the torture tests: traces a pattern that follows from the cycle number alone, and keeps
 * a ledger, in a file that outlives it, of what it has recorded and what was acknowledged as durable.
 *
 *     simulator NAME CYCLES PACE LEDGER [END@CYCLE]
 *
 *   PACE    cycles between two pauses of a millisecond; 0: no pauses
 *   TORTURE_FLUSH_EVERY (environment)  cycles after which it waits until they are durable; default FLUSH_EVERY
 *   END     how it ends when that many cycles are complete, in the middle of the next one:
 *           kill, abort, segv, exit (with status 9, as $fatal does), hang
 */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "uscope.h"

/** Read by torture.mjs: three u64. */
struct ledger {
    _Atomic uint64_t completed; /* cycles whose end_cycle has returned */
    _Atomic uint64_t durable;   /* cycles that uscope_flush has vouched for */
    _Atomic uint64_t state;     /* 0 opening, 1 tracing, 2 closing, 3 closed, 4 refused */
};
enum { TRACING = 1, CLOSING, CLOSED, REFUSED };
enum { NOTE_EVERY = 7, FLUSH_EVERY = 500, SLOTS = 16 };

static const char *const schema = "uscope: 1\n"
                                  "clocks: {clk: 1000 ps}\n"
                                  "storages:\n"
                                  "  regs: {slots: 16, kind: dense, fields: {value: u64}}\n"
                                  "  c0: {slots: 1, kind: dense, fields: {count: u64}}\n"
                                  "  c1: {slots: 1, kind: dense, fields: {count: u64}}\n"
                                  "  c2: {slots: 1, kind: dense, fields: {count: u64}}\n"
                                  "events:\n"
                                  "  tick: {cycle: u64, low: u8}\n"
                                  "  note: {text: string}\n";

static struct ledger *open_ledger(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(struct ledger)) != 0) return NULL;
    void *at = mmap(NULL, sizeof(struct ledger), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void end_as(const char *how)
{
    if (strncmp(how, "kill", 4) == 0) kill(getpid(), SIGKILL);
    if (strncmp(how, "abort", 5) == 0) abort();
    if (strncmp(how, "segv", 4) == 0) raise(SIGSEGV);
    if (strncmp(how, "exit", 4) == 0) exit(9);
    for (;;)
        pause();
}

/* The items of cycle i; torture.mjs knows the same. */
static void record(uscope_writer_t *w, uint64_t i)
{
    uscope_slot_set(w, 0, (uint16_t)(i % SLOTS), 0, i);
    if (i % 3 == 0) uscope_slot_add(w, 0, (uint16_t)((i + 1) % SLOTS), 0, 1);
    uscope_count_lanes(w, 1, i & 7);
    uscope_event2(w, 0, i, i & 255);
    if (i % NOTE_EVERY == 0) {
        char text[32];
        snprintf(text, sizeof text, "cycle %llu", (unsigned long long)i);
        uscope_event1(w, 1, uscope_string(w, text));
    }
}

int main(int argc, char **argv)
{
    if (argc < 5) return 2;
    uint64_t cycles = strtoull(argv[2], NULL, 10), pace = strtoull(argv[3], NULL, 10);
    struct ledger *ledger = open_ledger(argv[4]);
    const char *at = argc > 5 ? strchr(argv[5], '@') : NULL;
    uint64_t end = at ? strtoull(at + 1, NULL, 10) : UINT64_MAX;
    if (!ledger) return 2;
    const char *every = getenv("TORTURE_FLUSH_EVERY");
    uint64_t flush_every = every ? strtoull(every, NULL, 10) : FLUSH_EVERY;

    uscope_schema_t *text = uscope_schema_from_text(schema, "torture.yaml");
    uscope_open_options_t options = USCOPE_OPEN_OPTIONS_INIT;
    options.name = argv[1];
    options.schema = text;
    options.interval_ps = 1000000;
    options.credit_mib = 1;
    uscope_writer_t *w = uscope_writer_open_opts(&options);
    uscope_schema_free(text);
    ledger->state = w ? TRACING : REFUSED;
    if (!w) return 4;
    puts("tracing");
    fflush(stdout);

    for (uint64_t i = 0; i < cycles; i++) {
        uscope_begin_cycle(w, i * 1000);
        if (i == end) end_as(argv[5]);
        record(w, i);
        uscope_end_cycle(w);
        ledger->completed = i + 1;
        if (i % flush_every == flush_every - 1 && uscope_flush(w) == 0) ledger->durable = i + 1;
        if (pace && i % pace == pace - 1) nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    ledger->state = CLOSING;
    uscope_close_stats_t stats;
    if (uscope_close_stats(w, &stats) != 0) return 5;
    ledger->durable = stats.frames;
    ledger->state = CLOSED;
    return 0;
}
