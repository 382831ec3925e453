/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes written within bounds, and LEB128 numbers read within bounds. What does not fit sets `failed`;
 * nothing else happens then. */
#ifndef USCOPE_INDEX_OUTPUT_H
#define USCOPE_INDEX_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

struct output {
    uint8_t *at, *end;
    bool failed;
};

static inline void put_byte(struct output *out, uint8_t byte)
{
    if (out->at < out->end)
        *out->at++ = byte;
    else
        out->failed = true;
}

static inline void put_u16(struct output *out, uint32_t value)
{
    put_byte(out, (uint8_t)value);
    put_byte(out, (uint8_t)(value >> 8));
}

static inline void put_u32(struct output *out, uint32_t value)
{
    put_u16(out, value & 0xffff);
    put_u16(out, value >> 16);
}

static inline void put_leb(struct output *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_byte(out, (uint8_t)(value | 0x80));
    put_byte(out, (uint8_t)value);
}

/* Bits of a number without those in front that are 0. */
static inline uint32_t bit_size(uint64_t value)
{
    return value ? 64 - (uint32_t)__builtin_clzll(value) : 0;
}

static inline uint32_t leb_size(uint64_t value)
{
    return (bit_size(value | 1) + 6) / 7;
}

static inline uint64_t zigzag(uint64_t value)
{
    return value << 1 ^ (value >> 63 ? ~(uint64_t)0 : 0);
}

struct input {
    const uint8_t *at, *end;
    bool failed;
};

static inline uint64_t get_leb(struct input *in)
{
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64 && in->at < in->end; shift += 7) {
        uint8_t byte = *in->at++;
        if (shift == 63 && byte > 1) break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
    in->failed = true;
    return 0;
}

/* `size` bytes of it; NULL: it has fewer. */
static inline const uint8_t *get_bytes(struct input *in, uint64_t size)
{
    if (size > (uint64_t)(in->end - in->at)) {
        in->failed = true;
        return 0;
    }
    const uint8_t *bytes = in->at;
    in->at += size;
    return bytes;
}

#endif
