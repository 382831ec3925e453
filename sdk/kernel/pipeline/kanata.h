/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of a Kanata log as commands. Quick lines are those of sdk/src/formats/konata/quick-lines.ts,
 * which says what they are; all others the caller parses, and gives as a command.
 */
#ifndef USCOPE_PIPELINE_KANATA_H
#define USCOPE_PIPELINE_KANATA_H

#include <stdint.h>

#include "bytes.h"

enum kind { ADVANCE, CYCLE, BEGIN, LABEL, START, END, RETIRE, DEPENDENCY };

enum {
    LABEL_KINDS = 256,
    MOST_WORD = 32,
};

/* The caller knows the order of the members. */
struct command {
    /* The columns that are numbers, in their order; of CYCLE with a sign. */
    uint64_t a, b, c;
    /* What a column that is none holds, at `text`. */
    uint32_t kind, size;
    const uint8_t *text;
};

/* What becomes of a command. None of those after FOR_CALLER has changed anything. */
enum status {
    TAKEN,
    /* Only the caller can take this line. */
    FOR_CALLER,
    /* More stages, lanes, threads or instructions in flight than there is room for. */
    TOO_MANY,
    /* Errors, which the caller words: see sdk/src/formats/konata/compiled-copy.ts. */
    BEYOND_CYCLES,
    BEYOND_TIMES,
    BACKWARDS,
    BEGUN_TWICE,
    NO_SLOT,
    LARGE_THREAD,
    LARGE_KIND,
    LARGE_LANE,
    LARGE_TYPE,
    LONG_STRING,
};

#define MOST_CYCLES ((1ll << 53) - 1)

INLINE int is_exact(int64_t cycle)
{
    return cycle <= MOST_CYCLES && cycle >= -MOST_CYCLES;
}

INLINE const uint8_t *take_column(const uint8_t *at, uint64_t *value)
{
    at = take_number(at, value);
    return at && *at == TAB ? at + 1 : 0;
}

INLINE const uint8_t *take_last(const uint8_t *at, uint64_t *value)
{
    at = take_number(at, value);
    return at && *at == LF ? at + 1 : 0;
}

INLINE const uint8_t *take_three(const uint8_t *at, struct command *command)
{
    if (!(at = take_column(at, &command->a))) return 0;
    if (!(at = take_column(at, &command->b))) return 0;
    return take_last(at, &command->c);
}

INLINE const uint8_t *take_word(const uint8_t *at, struct command *command)
{
    if (!(at = take_column(at, &command->a))) return 0;
    if (!(at = take_column(at, &command->b))) return 0;
    command->text = at;
    while (*at > BLANK && *at <= LAST_PRINTABLE)
        at++;
    command->size = (uint32_t)(at - command->text);
    return *at == LF && command->size >= 1 && command->size <= MOST_WORD ? at + 1 : 0;
}

INLINE const uint8_t *take_text(const uint8_t *at, struct command *command)
{
    if (!(at = take_column(at, &command->a))) return 0;
    if (!(at = take_column(at, &command->b))) return 0;
    command->text = at;
    while (*at <= LAST_PRINTABLE && *at != LF && *at != TAB && *at != CR)
        at++;
    command->size = (uint32_t)(at - command->text);
    return *at == LF ? at + 1 : 0;
}

/* The line at `at`; returns where the next one begins, NULL: it is no quick one. */
INLINE const uint8_t *take_quick(const uint8_t *at, struct command *command)
{
    if (at[0] == LF || at[1] != TAB) return 0;
    switch (at[0]) {
    case 'S': command->kind = START; return take_word(at + 2, command);
    case 'E': command->kind = END; return take_word(at + 2, command);
    case 'L': command->kind = LABEL; return take_text(at + 2, command);
    case 'C': command->kind = ADVANCE; return take_last(at + 2, &command->a);
    case 'I': command->kind = BEGIN; return take_three(at + 2, command);
    case 'R': command->kind = RETIRE; return take_three(at + 2, command);
    case 'W': command->kind = DEPENDENCY; return take_three(at + 2, command);
    default: return 0;
    }
}

#endif
