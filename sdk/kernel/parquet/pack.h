/* SPDX-License-Identifier: Apache-2.0 */
/* Encodings of Parquet: each function writes to `out` and returns the number of bytes. */
#ifndef USCOPE_PARQUET_PACK_H
#define USCOPE_PARQUET_PACK_H

#include <stdint.h>

enum {
    BLOCK = 2048,
    MINIBLOCKS = 8,
    MINIBLOCK = BLOCK / MINIBLOCKS,
    VARINT_BYTES = 10,
    GROUP = 8, /* values that are packed into whole bytes */
};

/* DELTA_BINARY_PACKED. At most `count` + BLOCK times 8 bytes, 18 for each block and 40. */
uint32_t delta_pack(const int64_t *values, uint32_t count, uint8_t *out);

/* RLE, the hybrid of runs and packed groups. At most (`count` / 8 + 2) * (`width` + 5) bytes; width: 1 to 32.
 */
uint32_t runs_pack(const uint32_t *values, uint32_t count, uint32_t width, uint8_t *out);

static inline uint8_t *put_varint(uint8_t *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *out++ = (uint8_t)(value | 0x80);
    *out++ = (uint8_t)value;
    return out;
}

/* Bits on their way into bytes: fewer than 32 between two values. */
struct bits {
    uint8_t *out;
    uint64_t pending;
    uint32_t count;
};

/* `width` is at most 32: with the pending ones they fit a word. */
static inline void put_bits(struct bits *bits, uint64_t value, uint32_t width)
{
    bits->pending |= value << bits->count;
    bits->count += width;
    if (bits->count < 32) return;
    uint32_t whole = (uint32_t)bits->pending;
    __builtin_memcpy(bits->out, &whole, 4); /* little-endian, as the machines are that run this */
    bits->out += 4;
    bits->pending >>= 32;
    bits->count -= 32;
}

/* What is pending, which is whole bytes after a group. Returns where the bytes end. */
static inline uint8_t *flush_bits(struct bits *bits)
{
    for (; bits->count > 0; bits->count -= 8) {
        *bits->out++ = (uint8_t)bits->pending;
        bits->pending >>= 8;
    }
    return bits->out;
}

#endif
