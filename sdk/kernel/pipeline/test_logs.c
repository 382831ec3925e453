/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random logs, with damage, in memory of exactly their size and the slack, under the sanitizers: nothing is
 * read or written elsewhere, lines are taken as wholes, and the records that are made are sound. That they
 * are also right is held against TypeScript in sdk/src/formats/konata/compiled.test.ts and
 * gem5/compiled.test.ts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../test_random.h"
#include "core.h"
#include "gem5.h"
#include "kanata.h"
#include "output.h"

enum { RUNS = 60, LINES = 4000, MOST_LINE = 200 };

uint32_t kanata_scan(const uint8_t *text, uint32_t size);
uint32_t kanata_copy(const uint8_t *text, uint32_t size);
uint32_t kanata_add_stage(const uint8_t *text, uint32_t size);
uint32_t gem5_scan(const uint8_t *text, uint32_t size);
uint32_t gem5_copy(const uint8_t *text, uint32_t size);
uint32_t gem5_advance(uint32_t is_end);

/* What the caller fills: the beginnings of structures. */
struct kanata_copy_in {
    int64_t zero;
    uint64_t period, most_cycles;
} * kanata_copy_at(void);
struct gem5_copy_in {
    uint32_t window, num_limits;
    double *limits;
    uint32_t status;
} * gem5_copy_at(void);
double *gem5_copy_limits(uint32_t count, uint32_t window);

static char line[MOST_LINE];

static uint32_t some_id(void)
{
    return random_below(20) ? random_below(40) : random_below(UINT32_MAX);
}

static void kanata_line(void)
{
    static const char *const texts[] = {"80000000: addi", "0x8000 and some more words here", "add x1", "",
                                        "8"};
    static const char *const stages[] = {"F", "Dec", "Execute", "WritebackStage"};
    uint32_t id = some_id();
    switch (random_below(9)) {
    case 0: snprintf(line, sizeof line, "C\t%u\n", random_below(3)); return;
    case 1: snprintf(line, sizeof line, "I\t%u\t%u\t%u\n", id, random_below(99), random_below(2)); return;
    case 2:
        snprintf(line, sizeof line, "L\t%u\t%u\t%s\n", id, random_below(3), texts[random_below(5)]);
        return;
    case 3: snprintf(line, sizeof line, "R\t%u\t%u\t%u\n", id, random_below(99), random_below(2)); return;
    case 4: snprintf(line, sizeof line, "W\t%u\t%u\t0\n", id, some_id()); return;
    case 5:
        snprintf(line, sizeof line, "E\t%u\t%u\t%s\n", id, random_below(3), stages[random_below(4)]);
        return;
    default:
        snprintf(line, sizeof line, "S\t%u\t%u\t%s\n", id, random_below(8) == 0, stages[random_below(4)]);
    }
}

static void gem5_line(void)
{
    static const char *const stages[] = {"decode", "rename", "dispatch", "issue", "complete"};
    static uint32_t stage, tick, fetch, seq;
    if (random_below(400) == 0) stage = random_below(7);
    if (stage == 0)
        snprintf(line, sizeof line, "O3PipeView:fetch:%u:0x%x:%u:%u:  op %u  \n",
                 tick = fetch += 500 * random_below(2), random_below(UINT32_MAX), random_below(9) == 0, seq++,
                 random_below(500));
    else if (stage == 6)
        snprintf(line, sizeof line, "O3PipeView:retire:%u:store:%u\n", random_below(9) ? tick : 0,
                 random_below(2));
    else
        snprintf(line, sizeof line, "O3PipeView:%s:%u\n", stages[stage - 1], tick += 500 * random_below(3));
    stage = (stage + 1) % 7;
}

/* Returns the number of bytes. */
static uint32_t make_log(uint8_t **bytes, void (*make)(void))
{
    uint8_t *all = malloc(LINES * MOST_LINE);
    uint32_t size = 0, lines = 1 + random_below(LINES);
    for (uint32_t i = 0; i < lines; i++) {
        make();
        uint32_t length = (uint32_t)strlen(line);
        memcpy(all + size, line, length);
        if (random_below(200) == 0) all[size + random_below(length - 1)] = (uint8_t)random_below(256);
        size += length;
    }
    *bytes = malloc(size + TEXT_SLACK);
    memcpy(*bytes, all, size);
    memset(*bytes + size, 0xaa, TEXT_SLACK);
    free(all);
    return size;
}

/* Whether the records that wait are whole frames, in the order of time if `time` is not NULL. */
static int are_sound(uint64_t *strings, uint64_t *time, uint64_t *frames)
{
    const uint32_t *words = words_at();
    uint32_t items = 0, is_open = 0;
    for (uint32_t at = 0; at < words_length();) {
        uint32_t kind = words[at] & 0xff, size = words[at + 1];
        uint64_t value = words[at + 2] | (uint64_t)words[at + 3] << 32;
        if (kind == RECORD_BEGIN) {
            if (is_open || (time && value < *time)) return 0;
            if (time) *time = value;
            is_open = 1;
            items = 0;
        } else if (kind == RECORD_END) {
            if (!is_open || size != items || value != (*frames)++) return 0;
            is_open = 0;
        } else if (kind == RECORD_STRING) {
            if (value != (*strings)++) return 0;
            at += (size + RECORD_BYTES - 1) / RECORD_BYTES * RECORD_WORDS;
        } else {
            if (!is_open || (kind != RECORD_OP && kind != RECORD_EVENT)) return 0;
            if (kind == RECORD_EVENT && size > EVENT_INLINE_BYTES)
                at += (size - EVENT_INLINE_BYTES + RECORD_BYTES - 1) / RECORD_BYTES * RECORD_WORDS;
            items++;
        }
        at += RECORD_WORDS;
    }
    words_clear();
    return !is_open;
}

static uint32_t next_line(const uint8_t *bytes, uint32_t at)
{
    while (bytes[at] != LF)
        at++;
    return at + 1;
}

static void set_core(uint32_t slots)
{
    static const uint32_t sizes[] = {5, 9, 13, 5, 16, 10, 10, 20};
    struct event *events = &core.stage_transition;
    core = (struct core){.slots = slots, .entities = 0, .committed = 1, .dependency_types = 4};
    for (uint32_t i = 0; i < 8; i++)
        events[i] = (struct event){i, sizes[i]};
}

/* A log through one of the loops; lines that it leaves are passed over. */
static int run(uint32_t (*take)(const uint8_t *, uint32_t), void (*make)(void), int is_gem5)
{
    uint8_t *bytes;
    uint64_t strings = 0, frames = 0, now = 0;
    /* The limits of a log of gem5 are not its own here: things may happen before others that have happened.
     */
    uint64_t *time = is_gem5 ? NULL : &now;
    uint32_t size = make_log(&bytes, make);
    int is_sound = 1;
    for (uint32_t at = 0; at < size && is_sound;) {
        uint32_t piece = random_below(4) ? size - at : next_line(bytes, at + random_below(size - at)) - at;
        uint32_t taken = take(bytes + at, piece);
        if (taken > piece || (taken > 0 && bytes[at + taken - 1] != LF)) is_sound = 0;
        at += taken;
        int is_stuck = is_gem5 && gem5_copy_at()->status > 1;
        if (is_full() || random_below(50) == 0) {
            frame_close();
            is_sound = is_sound && are_sound(&strings, time, &frames);
        } else if (taken < piece || is_stuck) {
            at = next_line(bytes, at);
        }
    }
    if (is_gem5 && take == gem5_copy)
        while (gem5_advance(1) == 1) {
            frame_close();
            is_sound = is_sound && are_sound(&strings, time, &frames);
        }
    finish();
    is_sound = is_sound && are_sound(&strings, time, &frames);
    free(bytes);
    return is_sound;
}

static int run_kind(uint32_t kind)
{
    set_core(random_below(4) ? 65535 : 1 + random_below(8));
    struct kanata_copy_in *kanata = kanata_copy_at();
    kanata->period = 1000;
    kanata->most_cycles = INT64_MAX / 1000;
    kanata_add_stage((const uint8_t *)"F", 1);
    kanata_add_stage((const uint8_t *)"WritebackStage", 14);
    uint32_t windows = LINES / 7 / 64 + 1;
    double *limits = gem5_copy_limits(windows, 64);
    for (uint32_t i = 0; i < windows; i++)
        limits[i] = random_below(2) ? 0 : 10000.0 * i;
    switch (kind) {
    case 0: return run(kanata_scan, kanata_line, 0);
    case 1: return run(kanata_copy, kanata_line, 0);
    case 2: return run(gem5_scan, gem5_line, 1);
    default: core.annotate.size = 8; return run(gem5_copy, gem5_line, 1);
    }
}

int main(void)
{
    for (uint32_t number = 0; number < RUNS; number++) {
        uint64_t next = seed + 0x9e3779b97f4a7c15ull;
        /* A log begins with memory that nothing has used. */
        pid_t child = fork();
        if (child == 0) _exit(run_kind(number % 4) ? 0 : 1);
        int status;
        if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            printf("run %u fails\n", number);
            return 1;
        }
        seed = next;
    }
    printf("pipeline: %d logs\n", RUNS);
    return 0;
}
