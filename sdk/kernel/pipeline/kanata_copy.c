/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Kanata log into the records of a trace. The reference is sdk/src/formats/konata/to-uscope.ts with
 * sdk/src/formats/pipeline/sink.ts. A command is looked at before it changes anything: one that fails can be
 * given again, by the caller that words the error.
 */
#include "core.h"
#include "kanata.h"
#include "output.h"
#include "roster.h"
#include "strings.h"

enum {
    MOST_STAGES = 256,
    NAME_BYTES = 8192,
    FLUSHED = 1,
    PC_HEAD = 20,
    BARE_DIGITS = 4,
};

/* Kinds of what is reported when it occurs. */
enum tally { OF_LABELS, OF_LANES = LABEL_KINDS, OF_ENDS, OF_LATE, TALLIES };

/* The caller knows the order of the members. */
static struct copy {
    /* In: the cycle at time 0, the clock period in ps, and the last cycle that a trace may have after it. */
    int64_t zero;
    uint64_t period, most_cycles;
    /* Cycle of the log, and of the last thing that happened. */
    int64_t cycle, last;
    uint64_t begun, stages, retired, flushed, dependencies, lost;
    uint64_t tallies[TALLIES];
    /* Those that are not 0, in the order in which they first occurred. */
    uint32_t order[TALLIES];
    uint32_t num_order;
    uint32_t has_begun;
    /* Of the last label that the caller gave: whether it has to look for an address, of which instruction. */
    uint32_t wants_pc, slot, birth;
    uint32_t in_flight;
} copy;

struct stage_name {
    const uint8_t *text;
    uint32_t size;
};

static struct stage_name stages[MOST_STAGES];
static uint8_t names[NAME_BYTES];
static uint32_t num_stages, names_length, last_stage;

struct copy *kanata_copy_at(void)
{
    copy.in_flight = roster_count();
    return &copy;
}

/* The next stage of the schema, of at most 255 in all. Returns 0 when there is no room for its name. */
uint32_t kanata_add_stage(const uint8_t *text, uint32_t size)
{
    if (num_stages == MOST_STAGES || size > NAME_BYTES - names_length) return 0;
    uint8_t *name = names + names_length;
    __builtin_memcpy(name, text, size);
    stages[num_stages++] = (struct stage_name){name, size};
    names_length += size;
    return 1;
}

INLINE int is_stage(const struct stage_name *stage, const uint8_t *text, uint32_t size)
{
    if (stage->size != size) return 0;
    for (uint32_t i = 0; i < size; i++)
        if (stage->text[i] != text[i]) return 0;
    return 1;
}

/* Its number; 0 for one that is not known. */
INLINE uint32_t stage_of(const uint8_t *text, uint32_t size)
{
    for (uint32_t i = 0; i < num_stages; i++) {
        uint32_t stage = last_stage + i < num_stages ? last_stage + i : last_stage + i - num_stages;
        if (is_stage(&stages[stage], text, size)) return last_stage = stage;
    }
    return 0;
}

INLINE void count(uint32_t tally)
{
    if (copy.tallies[tally]++ == 0) copy.order[copy.num_order++] = tally;
}

/* Time
 * -------------------------------------------------------------------------------------------------------------
 */

INLINE uint32_t check_cycle(int64_t cycle)
{
    if (cycle < copy.last) return BACKWARDS;
    return (uint64_t)(cycle - copy.zero) > copy.most_cycles ? BEYOND_TIMES : TAKEN;
}

INLINE void move(int64_t cycle)
{
    copy.last = cycle;
    move_to((uint64_t)(cycle - copy.zero) * copy.period);
}

/* Before the first instruction any cycle may be set: that is where the log begins. */
INLINE uint32_t set_cycle(int64_t cycle)
{
    if (!is_exact(cycle)) return BEYOND_CYCLES;
    uint32_t status = copy.has_begun ? check_cycle(cycle) : TAKEN;
    if (status != TAKEN) return status;
    copy.cycle = cycle;
    if (copy.has_begun) move(cycle);
    return TAKEN;
}

INLINE uint32_t arrive(void)
{
    if (copy.has_begun) return TAKEN;
    uint32_t status = check_cycle(copy.cycle);
    if (status != TAKEN) return status;
    copy.has_begun = 1;
    move(copy.cycle);
    return TAKEN;
}

/* Instructions
 * ----------------------------------------------------------------------------------------------------- */

static struct life *birth(uint64_t id)
{
    struct life *life = roster_add(id);
    life->slot = core_birth();
    life->birth = (uint32_t)copy.begun++;
    core_set(life->slot, core.log_id, id);
    return life;
}

/* What is said of an instruction: `is_over` when it has ended. One that is not in flight yet begins, by
 * `subject`. */
struct found {
    struct life *life;
    int is_over;
};

INLINE uint32_t find(uint64_t id, struct found *found)
{
    found->life = roster_get(id);
    found->is_over = 0;
    if (found->life) return TAKEN;
    found->is_over = !roster_is_new(id);
    return found->is_over || slots_left() > 0 ? TAKEN : NO_SLOT;
}

INLINE struct life *subject(uint64_t id, const struct found *found)
{
    return found->life ? found->life : birth(id);
}

INLINE uint32_t begin(uint64_t id, uint64_t gid, uint64_t thread)
{
    struct life *life = roster_get(id);
    if (life && life->is_declared) return BEGUN_TWICE;
    if (!life && slots_left() == 0) return NO_SLOT;
    if (thread > UINT32_MAX) return LARGE_THREAD;
    if (!life) life = birth(id);
    life->is_declared = 1;
    core_set(life->slot, core.gid, gid);
    core_set(life->slot, core.thread_id, thread);
    return TAKEN;
}

/* Labels
 * -----------------------------------------------------------------------------------------------------------
 */

enum pc_found { PC_FOUND, PC_NONE, PC_UNSURE };

INLINE int is_alphanumeric(uint8_t byte)
{
    return byte - 48u <= 9 || (byte | 0x20u) - 97 <= 25;
}

/*
 * The address that a text begins with, by the rules of sdk/src/formats/pipeline/pc.ts, as far as this text
 * alone decides it: PC_UNSURE where more text may change it, and for what is not plain ASCII.
 */
INLINE enum pc_found leading_pc(const uint8_t *text, uint32_t size, uint64_t *pc)
{
    const uint8_t *end = text + size, *at = text;
    while (at < end && *at == BLANK)
        at++;
    const uint8_t *from = at;
    while (at < end && hex_digit(*at) < 16)
        at++;
    uint32_t digits = (uint32_t)(at - from);
    if (digits > 0 && digits <= MOST_HEX_DIGITS && at < end && *at == ':') {
        take_hex(from, pc);
        return PC_FOUND;
    }
    int has_prefix = digits == 1 && *from == '0' && at < end && (*at | 0x20) == 'x';
    if (has_prefix) {
        from = ++at;
        while (at < end && hex_digit(*at) < 16)
            at++;
        digits = (uint32_t)(at - from);
    }
    if (at == end || *at < BLANK || *at > LAST_PRINTABLE || digits > MOST_HEX_DIGITS) return PC_UNSURE;
    if (has_prefix) {
        if (digits == 0 || is_alphanumeric(*at)) return PC_NONE;
    } else {
        if (digits < BARE_DIGITS || *at != BLANK) return *at == ':' ? PC_UNSURE : PC_NONE;
        uint32_t decimals = 0;
        for (const uint8_t *digit = from; digit < at; digit++)
            decimals += *digit <= '9';
        if (decimals == 0) return PC_NONE;
    }
    uint32_t characters = 0;
    for (; from < end; from++)
        characters += *from < 0x80;
    if (characters <= PC_HEAD) return PC_UNSURE;
    take_hex(at - digits, pc);
    return PC_FOUND;
}

INLINE uint32_t label(const struct command *command, int is_quick)
{
    struct found found;
    copy.wants_pc = 0;
    uint32_t status = find(command->a, &found);
    if (status != TAKEN) return status;
    if (found.is_over) {
        copy.lost++;
        return TAKEN;
    }
    if (command->b >= LABEL_KINDS) return LARGE_KIND;
    if (command->size > MAX_STRING_BYTES) return LONG_STRING;
    uint32_t state = found.life ? found.life->pc : PC_NOT_SEEN;
    uint64_t pc = 0;
    enum pc_found is_found = PC_NONE;
    if (command->b == 0 && state != PC_SETTLED)
        is_found = state == PC_CALLER ? PC_UNSURE : leading_pc(command->text, command->size, &pc);
    if (is_quick && is_found == PC_UNSURE) return FOR_CALLER;
    struct life *life = subject(command->a, &found);
    put8(core_annotate(life->slot, string_of(command->text, command->size)) + 8, command->b);
    if (is_found == PC_FOUND) core_set(life->slot, core.pc, pc);
    if (command->b == 0) life->pc = is_found == PC_UNSURE ? PC_CALLER : PC_SETTLED;
    copy.wants_pc = is_found == PC_UNSURE;
    copy.slot = life->slot;
    copy.birth = life->birth;
    count(OF_LABELS + (uint32_t)command->b);
    return TAKEN;
}

/* What the caller found for a label that wants an address. */
void kanata_set_pc(uint32_t slot, uint64_t pc)
{
    core_set(slot, core.pc, pc);
}

/* It need not look any more. */
void kanata_close_pc(uint64_t id)
{
    struct life *life = roster_get(id);
    if (life) life->pc = PC_SETTLED;
}

/* Stages
 * -----------------------------------------------------------------------------------------------------------
 */

static void of_lane(struct event event, uint32_t slot, const struct command *command)
{
    uint32_t string = string_of(command->text, command->size);
    uint8_t *payload = put_event(event);
    put32(payload, slot);
    put16(payload + 4, command->b);
    put32(payload + 6, string);
}

INLINE uint32_t stage(const struct command *command)
{
    struct found found;
    uint32_t status = find(command->a, &found);
    if (status != TAKEN) return status;
    if (found.is_over) {
        copy.lost++;
        return TAKEN;
    }
    int is_start = command->kind == START;
    if (is_start && command->b == 0) {
        core_stage(subject(command->a, &found)->slot, stage_of(command->text, command->size));
        copy.stages++;
        return TAKEN;
    }
    if (command->b > UINT16_MAX) return LARGE_LANE;
    if (command->size > MAX_STRING_BYTES) return LONG_STRING;
    of_lane(is_start ? core.lane_start : core.lane_end, subject(command->a, &found)->slot, command);
    count(is_start ? OF_LANES : OF_ENDS);
    return TAKEN;
}

/* Ends and dependencies
 * -------------------------------------------------------------------------------------------- */

INLINE uint32_t retire(uint64_t id, uint64_t number, uint64_t type)
{
    struct found found;
    uint32_t status = find(id, &found);
    if (status != TAKEN) return status;
    if (found.is_over) {
        copy.lost++;
        return TAKEN;
    }
    if (type > UINT32_MAX) return LARGE_TYPE;
    struct life *life = subject(id, &found);
    uint8_t *payload = put_event(core.retire);
    put32(payload, life->slot);
    put64(payload + 4, number);
    put32(payload + 12, type);
    if (type == FLUSHED) {
        core_flush(life->slot);
        copy.flushed++;
    } else {
        core_commit();
        copy.retired++;
    }
    core_clear(life->slot);
    roster_remove(life);
    return TAKEN;
}

INLINE uint32_t dependency(uint64_t consumer, uint64_t producer, uint64_t type)
{
    if (type > UINT32_MAX) return LARGE_TYPE;
    const struct life *to = roster_get(consumer), *from = roster_get(producer);
    if (to && from) {
        uint8_t *payload = put_event(core.dependency);
        put32(payload, from->slot);
        put32(payload + 4, to->slot);
        put8(payload + 8, type < core.dependency_types ? type : 0);
        put32(payload + 9, type);
        copy.dependencies++;
        return TAKEN;
    }
    uint8_t *payload = put_event(core.late_dependency);
    put64(payload, consumer);
    put64(payload + 8, producer);
    put32(payload + 16, type);
    count(OF_LATE);
    return TAKEN;
}

/* Commands
 * ---------------------------------------------------------------------------------------------------------
 */

INLINE uint32_t take(const struct command *command, int is_quick)
{
    if (command->kind == CYCLE) return set_cycle((int64_t)command->a);
    if (command->kind == ADVANCE) return set_cycle(copy.cycle + (int64_t)command->a);
    uint32_t status = arrive();
    if (RARE(status != TAKEN)) return status;
    switch (command->kind) {
    case BEGIN: return begin(command->a, command->b, command->c);
    case LABEL: return label(command, is_quick);
    case START:
    case END: return stage(command);
    case RETIRE: return retire(command->a, command->b, command->c);
    default: return dependency(command->a, command->b, command->c);
    }
}

uint32_t kanata_copy_command(const struct command *command)
{
    return take(command, 0);
}

/* Whole lines; returns the number of bytes that it took, before a line for the caller, or when records are to
 * be pushed. */
uint32_t kanata_copy(const uint8_t *text, uint32_t size)
{
    const uint8_t *at = text, *end = text + size;
    struct command command;
    while (at < end) {
        const uint8_t *next = take_quick(at, &command);
        if (!next || take(&command, 1) != TAKEN) break;
        at = next;
        if (is_full()) break;
    }
    return (uint32_t)(at - text);
}
