/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log of gem5 into the records of a trace, in the order of time: the log has its instructions in the order
 * of their ends. The reference is order.ts, timeline.ts and trace-copy.ts in sdk/src/formats/gem5, for logs
 * without lines of other debug flags.
 */
#include "core.h"
#include "gem5.h"
#include "memory.h"
#include "output.h"
#include "queue.h"
#include "strings.h"

enum {
    /* The moment after the stages. */
    SQUASH = STAGES,
    MOST_MOMENTS = STAGES + 1,
    /* Of a disassembly; the caller looks after longer ones. */
    MOST_TEXT = 192,
    MOST_DIGITS_OF_LABEL = 16,
    LEAST_PC_DIGITS = 8,
    FIRST_FLIGHTS = 1024,
    /* Windows after that of an instruction which are read before it begins, since lines about it may follow.
     */
    LATE_WINDOWS = 8,
    NO_SLOT = -1,
};

enum status {
    /* What is known to be complete has happened. */
    DONE,
    /* Records are to be pushed. */
    FULL,
    /* Errors, which the caller words. */
    TOO_MANY_IN_FLIGHT,
    LONG_TEXT,
    NO_MEMORY,
};

/* An instruction between its fetch and its end. */
struct flight {
    double ticks[MOST_MOMENTS];
    double store_tick;
    uint64_t seq, pc, micro_pc, id;
    int32_t slot;
    uint32_t size;
    uint8_t moments[MOST_MOMENTS];
    /* Of moments, and the next one that happens. */
    uint8_t count, at;
    uint8_t text[MOST_TEXT];
};

/* The caller knows the order of the members. */
static struct copy {
    /* Instructions of a window, number of windows. */
    uint32_t window, num_limits;
    /* The least fetch of each window and of all after it, which the caller fills: see gem5_copy_limits. */
    double *limits;
    /* What the last call ended with. */
    uint32_t status, reserved;
    uint64_t begun, stages, labels, retired, flushed, store_ticks;
} copy;

static struct block block;
static struct flight *flights;
static uint32_t *unused;
static uint32_t num_unused, capacity;
/* Before their fetch, and after it. */
static struct queue waiting;
static struct heap flying;
static uint64_t num_read, num_born;
static double limit;

struct copy *gem5_copy_at(void)
{
    return &copy;
}

/* Room for the limits of `count` windows of this number of instructions, a power of two. */
double *gem5_copy_limits(uint32_t count, uint32_t window)
{
    copy.window = window;
    copy.num_limits = count;
    return copy.limits = memory_grow(0, 0, count, sizeof *copy.limits);
}

struct block *gem5_block_at(void)
{
    return &block;
}

static void *more(const void *before, uint32_t count, uint32_t size)
{
    void *after = memory_take(2 * count * size);
    if (after && before) __builtin_memcpy(after, before, count * size);
    return after;
}

/* Room for twice the flights. 0: there is none. */
static int grow(void)
{
    uint32_t now = capacity == 0 ? FIRST_FLIGHTS / 2 : capacity;
    if (now > INT32_MAX / 2 / sizeof(struct flight)) return 0;
    struct flight *larger = more(flights, now, sizeof *flights);
    struct node *line = more(0, now, sizeof *line);
    struct node *late = more(waiting.late.nodes, now, sizeof *late);
    struct node *more_flying = more(flying.nodes, now, sizeof *flying.nodes);
    uint32_t *more_unused = more(unused, now, sizeof *unused);
    if (!larger || !line || !late || !more_flying || !more_unused) return 0;
    flights = larger;
    queue_grow(&waiting, line, late, 2 * now);
    flying.nodes = more_flying;
    unused = more_unused;
    for (uint32_t flight = 2 * now; flight > capacity; flight--)
        unused[num_unused++] = flight - 1;
    capacity = 2 * now;
    return 1;
}

/* After all that is not later. */
INLINE void add_moment(struct flight *flight, double tick, uint32_t moment)
{
    uint32_t at = flight->count++;
    for (; at > 0 && flight->ticks[at - 1] > tick; at--) {
        flight->ticks[at] = flight->ticks[at - 1];
        flight->moments[at] = flight->moments[at - 1];
    }
    flight->ticks[at] = tick;
    flight->moments[at] = (uint8_t)moment;
}

INLINE void fill(struct flight *flight, const struct block *from)
{
    double end = gem5_end(from);
    flight->count = 0;
    flight->at = 0;
    add_moment(flight, from->ticks[0], 0);
    for (uint32_t stage = 1; stage < RETIRE_STAGE; stage++)
        if (from->ticks[stage] > 0) add_moment(flight, from->ticks[stage], stage);
    if (from->ticks[RETIRE_STAGE] > 0)
        add_moment(flight, end > from->ticks[RETIRE_STAGE] ? end : from->ticks[RETIRE_STAGE], RETIRE_STAGE);
    else if (from->is_whole)
        add_moment(flight, end, SQUASH);
    flight->store_tick = from->store_tick;
    flight->seq = from->seq;
    flight->pc = from->pc;
    flight->micro_pc = from->micro_pc;
    flight->size = from->size;
    __builtin_memcpy(flight->text, from->text, from->size);
}

INLINE uint32_t take(const struct block *from)
{
    if (num_unused == 0 && !grow()) return NO_MEMORY;
    uint32_t number = unused[--num_unused];
    fill(&flights[number], from);
    queue_push(&waiting, (struct node){from->ticks[0], num_read++, number});
    if ((num_read & (copy.window - 1)) != 0) return DONE;
    uint64_t complete = num_read / copy.window;
    complete = complete > LATE_WINDOWS ? complete - LATE_WINDOWS : 0;
    if (complete < copy.num_limits) limit = copy.limits[complete];
    return DONE;
}

/* `80000000: addi ...` */
INLINE uint32_t label_of(const struct flight *flight)
{
    uint8_t label[MOST_DIGITS_OF_LABEL + 2 + MOST_TEXT + TEXT_SLACK];
    uint32_t digits = LEAST_PC_DIGITS;
    while (digits < MOST_DIGITS_OF_LABEL && flight->pc >> 4 * digits != 0)
        digits++;
    uint64_t rest = flight->pc;
    for (uint32_t at = digits; at > 0; at--, rest >>= 4)
        label[at - 1] = (uint8_t) "0123456789abcdef"[rest & 15];
    label[digits] = ':';
    label[digits + 1] = BLANK;
    __builtin_memcpy(label + digits + 2, flight->text, flight->size);
    return string_of(label, digits + 2 + flight->size);
}

/* A string of words around a number. */
static void annotate(uint32_t slot, const char *before, uint64_t number, const char *after)
{
    uint8_t text[64 + TEXT_SLACK], digits[20];
    uint32_t size = 0, count = 0;
    while (*before)
        text[size++] = (uint8_t)*before++;
    do {
        digits[count++] = (uint8_t)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    while (count > 0)
        text[size++] = digits[--count];
    while (*after)
        text[size++] = (uint8_t)*after++;
    core_annotate(slot, string_of(text, size));
    copy.labels++;
}

static void birth(struct flight *flight)
{
    move_to((uint64_t)flight->ticks[0]);
    uint32_t slot = core_birth();
    core_set(slot, core.gid, flight->seq);
    core_set(slot, core.thread_id, 0);
    core_set(slot, core.pc, flight->pc);
    core_annotate(slot, label_of(flight));
    copy.labels++;
    if (flight->micro_pc > 0) annotate(slot, "micro-op ", flight->micro_pc, "");
    flight->slot = (int32_t)slot;
    copy.begun++;
}

static void retire(const struct flight *flight)
{
    uint32_t slot = (uint32_t)flight->slot;
    if (flight->store_tick > 0) {
        annotate(slot, "store written at ", (uint64_t)flight->store_tick, " ps");
        copy.store_ticks++;
    }
    core_commit();
    copy.retired++;
    core_clear(slot);
}

/* All that it does at its next tick. */
INLINE void happen(struct flight *flight)
{
    double tick = flight->ticks[flight->at];
    if (flight->slot != NO_SLOT) move_to((uint64_t)tick);
    for (; flight->at < flight->count && flight->ticks[flight->at] == tick; flight->at++) {
        if (flight->slot == NO_SLOT) continue;
        uint32_t moment = flight->moments[flight->at];
        if (moment == SQUASH) {
            core_flush((uint32_t)flight->slot);
            copy.flushed++;
            core_clear((uint32_t)flight->slot);
            flight->slot = NO_SLOT;
            continue;
        }
        core_stage((uint32_t)flight->slot, moment);
        copy.stages++;
        if (moment != RETIRE_STAGE) continue;
        retire(flight);
        flight->slot = NO_SLOT;
    }
}

static uint32_t begin(void)
{
    if (slots_left() == 0) return TOO_MANY_IN_FLIGHT;
    uint32_t number = queue_pop(&waiting);
    struct flight *flight = &flights[number];
    flight->id = num_born++;
    birth(flight);
    happen(flight);
    if (flight->at < flight->count)
        heap_push(&flying, (struct node){flight->ticks[flight->at], flight->id, number});
    else
        unused[num_unused++] = number;
    return DONE;
}

static void step(void)
{
    uint32_t number = flying.nodes[0].value;
    struct flight *flight = &flights[number];
    happen(flight);
    if (flight->at < flight->count) {
        heap_delay(&flying, flight->ticks[flight->at]);
        return;
    }
    heap_pop(&flying);
    unused[num_unused++] = number;
}

/* What happens before `end`, until records are to be pushed. */
static uint32_t advance(double end)
{
    for (;;) {
        double born = queue_next(&waiting), next = heap_next(&flying);
        int is_birth = born < next;
        double tick = is_birth ? born : next;
        if (tick >= end) return DONE;
        if (is_full_before((uint64_t)tick)) return FULL;
        if (!is_birth) {
            step();
            continue;
        }
        uint32_t status = begin();
        if (status != DONE) return status;
    }
}

/* What is known to be complete, or, after the last instruction, all. */
uint32_t gem5_advance(uint32_t is_end)
{
    return copy.status = advance(is_end ? __builtin_inf() : limit);
}

/* An instruction that the caller has read into the block. */
uint32_t gem5_copy_block(void)
{
    return copy.status = block.size > MOST_TEXT ? LONG_TEXT : take(&block);
}

/* Quick instructions, and what is complete then; returns the number of bytes that it took, and leaves a
 * status. */
uint32_t gem5_copy(const uint8_t *text, uint32_t size)
{
    const uint8_t *at = text, *end = text + size;
    copy.status = DONE;
    while (at < end && copy.status == DONE) {
        const uint8_t *next = gem5_take(at, end, &block);
        if (!next || block.size > MOST_TEXT) break;
        copy.status = take(&block);
        if (copy.status != DONE) break;
        at = next;
        if (queue_next(&waiting) < limit) copy.status = advance(limit);
    }
    return (uint32_t)(at - text);
}
