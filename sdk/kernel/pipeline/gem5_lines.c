/* SPDX-License-Identifier: Apache-2.0 */
#include "gem5.h"

/* Up to 8 characters at `at`. */
INLINE int is_at(const uint8_t *at, const char *word, uint32_t size)
{
    uint64_t wanted = 0;
    for (uint32_t i = size; i > 0; i--)
        wanted = wanted << 8 | (uint8_t)word[i - 1];
    uint64_t differing = load64(at) ^ wanted;
    return (size == 8 ? differing : differing & ((1ull << 8 * size) - 1)) == 0;
}

/* The stage whose name and colon are at `at`; STAGES: none. */
INLINE const uint8_t *take_stage(const uint8_t *at, uint32_t *stage)
{
    switch (*at) {
    case 'f': *stage = 0; return is_at(at, "fetch:", 6) ? at + 6 : 0;
    case 'd':
        *stage = at[1] == 'e' ? 1 : 3;
        if (*stage == 1) return is_at(at, "decode:", 7) ? at + 7 : 0;
        return is_at(at, "dispatch", 8) && at[8] == ':' ? at + 9 : 0;
    case 'i': *stage = 4; return is_at(at, "issue:", 6) ? at + 6 : 0;
    case 'c': *stage = 5; return is_at(at, "complete", 8) && at[8] == ':' ? at + 9 : 0;
    default:
        *stage = at[1] == 'e' && at[2] == 'n' ? 2 : RETIRE_STAGE;
        if (*stage == 2) return is_at(at, "rename:", 7) ? at + 7 : 0;
        return is_at(at, "retire:", 7) ? at + 7 : 0;
    }
}

/* The line as far as its tick, which ends where this returns; NULL: it is no quick one. */
INLINE const uint8_t *take_head(const uint8_t *at, uint32_t *stage, double *tick)
{
    if (!is_at(at, "O3PipeVi", 8) || !is_at(at + 8, "ew:", 3)) return 0;
    at = take_stage(at + 11, stage);
    uint64_t number;
    at = at ? take_number(at, &number) : 0;
    if (at) *tick = (double)number;
    return at;
}

INLINE const uint8_t *take_column(const uint8_t *at, uint64_t *value)
{
    at = take_number(at, value);
    return at && *at == ':' ? at + 1 : 0;
}

INLINE const uint8_t *take_disassembly(const uint8_t *at, struct block *block)
{
    while (*at == BLANK)
        at++;
    const uint8_t *end = at;
    while (*end >= BLANK && *end <= LAST_PRINTABLE)
        end++;
    if (*end != LF) return 0;
    block->text = at;
    const uint8_t *last = end;
    while (last > at && last[-1] == BLANK)
        last--;
    block->size = (uint32_t)(last - at);
    return end + 1;
}

/* The rest of a fetch after its tick. */
INLINE const uint8_t *take_fetch(const uint8_t *at, struct block *block)
{
    if (!is_at(at, ":0x", 3)) return 0;
    const uint8_t *from = at + 3;
    at = take_hex(from, &block->pc);
    if (at == from || at - from > MOST_HEX_DIGITS || *at != ':') return 0;
    if (!(at = take_column(at + 1, &block->micro_pc))) return 0;
    if (!(at = take_column(at, &block->seq))) return 0;
    return take_disassembly(at, block);
}

/* The rest of a line of another stage after its tick. */
INLINE const uint8_t *take_rest(const uint8_t *at, uint32_t stage, struct block *block)
{
    if (*at == LF) {
        if (stage == RETIRE_STAGE) block->store_tick = 0;
        return at + 1;
    }
    if (stage != RETIRE_STAGE || !is_at(at, ":store:", 7)) return 0;
    uint64_t number;
    at = take_number(at + 7, &number);
    block->store_tick = (double)number;
    return at && *at == LF ? at + 1 : 0;
}

const uint8_t *gem5_take(const uint8_t *at, const uint8_t *end, struct block *block)
{
    uint32_t stage;
    at = take_head(at, &stage, &block->ticks[0]);
    if (!at || stage != 0 || !(at = take_fetch(at, block))) return 0;
    uint32_t seen = 1;
    while (at < end) {
        double tick;
        at = take_head(at, &stage, &tick);
        if (!at || stage == 0 || !(at = take_rest(at, stage, block))) return 0;
        block->ticks[stage] = tick;
        seen |= 1u << stage;
        if (stage != RETIRE_STAGE) continue;
        block->is_whole = 1;
        return seen == (1u << STAGES) - 1 ? at : 0;
    }
    return 0;
}
