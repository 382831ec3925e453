/* SPDX-License-Identifier: Apache-2.0 */
#include "pack.h"

static uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static uint32_t width_of(uint64_t value)
{
    return value == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(value);
}

/* The values of a miniblock, `MINIBLOCK` of them. */
static uint8_t *pack(const uint64_t *values, uint32_t width, uint8_t *out)
{
    struct bits bits = {out, 0, 0};
    if (width == 0) return out;
    if (width <= 32) {
        for (uint32_t i = 0; i < MINIBLOCK; i++)
            put_bits(&bits, values[i], width);
        return flush_bits(&bits);
    }
    for (uint32_t i = 0; i < MINIBLOCK; i++) {
        put_bits(&bits, values[i] & 0xffffffff, 32);
        put_bits(&bits, values[i] >> 32, width - 32);
    }
    return flush_bits(&bits);
}

/* Differences wrap, as the format says. */
static uint8_t *put_block(const int64_t *values, int64_t before, uint32_t count, uint8_t *out)
{
    uint64_t deltas[BLOCK];
    uint64_t previous = (uint64_t)before;
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        deltas[i] = (uint64_t)values[i] - previous;
        previous = (uint64_t)values[i];
        if ((int64_t)deltas[i] < least) least = (int64_t)deltas[i];
    }
    uint32_t padded = (count + MINIBLOCK - 1) / MINIBLOCK * MINIBLOCK;
    for (uint32_t i = 0; i < count; i++)
        deltas[i] -= (uint64_t)least;
    for (uint32_t i = count; i < padded; i++)
        deltas[i] = 0;
    out = put_varint(out, zigzag(least));
    uint8_t *widths = out;
    out += MINIBLOCKS;
    for (uint32_t mini = 0; mini < MINIBLOCKS; mini++) {
        const uint64_t *from = deltas + mini * MINIBLOCK;
        widths[mini] = 0;
        if (mini * MINIBLOCK >= padded) continue;
        uint64_t all = 0;
        for (uint32_t i = 0; i < MINIBLOCK; i++)
            all |= from[i];
        uint32_t width = width_of(all);
        widths[mini] = (uint8_t)width;
        out = pack(from, width, out);
    }
    return out;
}

uint32_t delta_pack(const int64_t *values, uint32_t count, uint8_t *out)
{
    uint8_t *at = put_varint(out, BLOCK);
    at = put_varint(at, MINIBLOCKS);
    at = put_varint(at, count);
    at = put_varint(at, zigzag(count > 0 ? values[0] : 0));
    for (uint32_t first = 1; first < count; first += BLOCK) {
        uint32_t left = count - first;
        at = put_block(values + first, values[first - 1], left < BLOCK ? left : BLOCK, at);
    }
    return (uint32_t)(at - out);
}
