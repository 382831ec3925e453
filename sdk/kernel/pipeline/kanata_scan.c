/* SPDX-License-Identifier: Apache-2.0 */
/* The first pass over a Kanata log; the reference is sdk/src/formats/konata/scan.ts. */
#include "kanata.h"
#include "roster.h"

enum {
    MOST_STAGES = 256,
    MOST_NUMBERS = 64,
    NAME_BYTES = 8192,
    FLUSHED = 1,
};

/* Different numbers, in the order in which they first occur. */
struct numbers {
    uint32_t count, last;
    uint64_t values[MOST_NUMBERS];
};

/* The caller knows the order of the members. */
static struct scan {
    int64_t cycle, first_cycle;
    uint64_t begun, retired, flushed, labels, stages, dependencies;
    uint32_t has_first, most_in_flight, unfinished, num_stages;
    struct numbers lanes, threads;
    /* Ends of the names of the stages in `names`, in the order in which they first occur. */
    uint32_t name_ends[MOST_STAGES];
    uint8_t names[NAME_BYTES];
} scan;

/* Of those that ended in this cycle. */
static uint32_t ended_now;
static uint32_t last_stage;

struct scan *kanata_scan_at(void)
{
    scan.unfinished = roster_count();
    return &scan;
}

static int add_number(struct numbers *numbers, uint64_t value)
{
    if (numbers->count > 0 && numbers->values[numbers->last] == value) return 1;
    for (uint32_t i = 0; i < numbers->count; i++) {
        if (numbers->values[i] != value) continue;
        numbers->last = i;
        return 1;
    }
    if (numbers->count == MOST_NUMBERS) return 0;
    numbers->last = numbers->count;
    numbers->values[numbers->count++] = value;
    return 1;
}

static int is_stage(uint32_t stage, const uint8_t *text, uint32_t size)
{
    uint32_t from = stage == 0 ? 0 : scan.name_ends[stage - 1];
    if (scan.name_ends[stage] - from != size) return 0;
    for (uint32_t i = 0; i < size; i++)
        if (scan.names[from + i] != text[i]) return 0;
    return 1;
}

static int add_stage(const uint8_t *text, uint32_t size)
{
    /* The stages of a pipeline often follow one another. */
    uint32_t count = scan.num_stages;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t stage = last_stage + i < count ? last_stage + i : last_stage + i - count;
        if (!is_stage(stage, text, size)) continue;
        last_stage = stage;
        return 1;
    }
    uint32_t end = count == 0 ? 0 : scan.name_ends[count - 1];
    if (count == MOST_STAGES || size > NAME_BYTES - end) return 0;
    __builtin_memcpy(scan.names + end, text, size);
    scan.name_ends[count] = end + size;
    last_stage = scan.num_stages++;
    return 1;
}

INLINE void begin_clock(void)
{
    if (scan.has_first) return;
    scan.has_first = 1;
    scan.first_cycle = scan.cycle;
}

/* Something is said of an instruction. 0: there is no room for it. */
INLINE int meet(uint64_t id, int is_begin)
{
    begin_clock();
    if (roster_get(id) || !(is_begin || roster_is_new(id))) return 1;
    if (roster_count() == MOST_LIVES) return 0;
    roster_add(id);
    uint32_t in_flight = roster_count() + ended_now;
    if (in_flight > scan.most_in_flight) scan.most_in_flight = in_flight;
    return 1;
}

INLINE uint32_t room(int is_there)
{
    return is_there ? TAKEN : TOO_MANY;
}

INLINE uint32_t retire(uint64_t id, uint64_t type)
{
    if (!meet(id, 0)) return TOO_MANY;
    struct life *life = roster_get(id);
    if (!life) return TAKEN;
    roster_remove(life);
    ended_now++;
    if (type == FLUSHED)
        scan.flushed++;
    else
        scan.retired++;
    return TAKEN;
}

INLINE uint32_t take(const struct command *command)
{
    const uint64_t a = command->a, b = command->b, c = command->c;
    switch (command->kind) {
    case CYCLE:
        if ((int64_t)a != scan.cycle) ended_now = 0;
        scan.cycle = (int64_t)a;
        return TAKEN;
    case ADVANCE:
        if (!is_exact(scan.cycle + (int64_t)a)) return BEYOND_CYCLES;
        if (a != 0) ended_now = 0;
        scan.cycle += (int64_t)a;
        return TAKEN;
    case BEGIN: scan.begun++; return room(add_number(&scan.threads, c) && meet(a, 1));
    case LABEL: scan.labels++; return room(meet(a, 0));
    case START:
        scan.stages++;
        if (!add_number(&scan.lanes, b)) return TOO_MANY;
        if (b == 0 && !add_stage(command->text, command->size)) return TOO_MANY;
        return room(meet(a, 0));
    case END: return room(add_number(&scan.lanes, b) && meet(a, 0));
    case RETIRE: return retire(a, c);
    default:
        scan.dependencies++;
        begin_clock();
        return TAKEN;
    }
}

uint32_t kanata_scan_command(const struct command *command)
{
    return take(command);
}

/* Whole lines; returns the number of bytes that it took, before a line for the caller, or before TOO_MANY. */
uint32_t kanata_scan(const uint8_t *text, uint32_t size)
{
    const uint8_t *at = text, *end = text + size;
    struct command command;
    while (at < end) {
        const uint8_t *next = take_quick(at, &command);
        if (!next || take(&command) != TAKEN) break;
        at = next;
    }
    return (uint32_t)(at - text);
}
