/* SPDX-License-Identifier: Apache-2.0 */
#include "lz4_decode.h"

#include <stdbool.h>

#define COPY(to, from, size) __builtin_memcpy(to, from, size)

enum {
    VECTOR = 16,
    MIN_MATCH = 4,
    NIBBLE_MAX = 15, /* continued by bytes, up to and with the first below 255 */
};

/*
 * Adds up the bytes that continue a length. More than `most` is too much wherever it ends; so the sum cannot
 * overflow.
 */
static inline bool long_length(const uint8_t **at, const uint8_t *end, uint32_t most, uint32_t *length)
{
    uint32_t byte;
    do {
        if (*at >= end || *length > most) return false;
        byte = *(*at)++;
        *length += byte;
    } while (byte == 255);
    return true;
}

/* At least `length` bytes, which do not overlap but for whole vectors. */
static inline void copy_vectors(uint8_t *to, const uint8_t *from, uint32_t length)
{
    const uint8_t *end = to + length;
    do {
        COPY(to, from, VECTOR);
        to += VECTOR;
        from += VECTOR;
    } while (to < end);
}

/* A match may reach into what it writes itself: then it repeats its first `distance` bytes. */
static inline void copy_match(uint8_t *to, uint32_t distance, uint32_t length)
{
    if (distance < VECTOR) {
        /* The shortest row of repetitions that is as long as a vector; from then on that is the distance. */
        uint32_t row = distance;
        while (row < VECTOR)
            row += distance;
        const uint8_t *from = to - distance;
        for (uint32_t i = 0; i < row && i < length; i++)
            to[i] = from[i];
        if (length <= row) return;
        to += row;
        length -= row;
        distance = row;
    }
    copy_vectors(to, to - distance, length);
}

static inline uint32_t load16(const uint8_t *from)
{
    return (uint32_t)(from[0] | from[1] << 8);
}

uint32_t lz4_decompress(const uint8_t *source, uint32_t size, uint8_t *target, uint32_t raw_size)
{
    const uint8_t *in = source, *in_end = source + size;
    uint8_t *out = target, *out_end = target + raw_size;
    while (in < in_end) {
        uint32_t token = *in++;
        uint32_t literals = token >> 4, length = token & 15;
        if (literals < NIBBLE_MAX && in_end - in > VECTOR && out_end - out > 3 * VECTOR) {
            /* Nearly every sequence: neither end is near, and the literals are fewer than a vector. */
            COPY(out, in, VECTOR);
            out += literals;
            in += literals;
        } else {
            if (literals == NIBBLE_MAX && !long_length(&in, in_end, raw_size, &literals)) return 0;
            if (literals > (uint32_t)(in_end - in) || literals > (uint32_t)(out_end - out)) return 0;
            copy_vectors(out, in, literals);
            out += literals;
            in += literals;
            if (in == in_end) return out == out_end;
            if (in_end - in < 2) return 0;
        }
        uint32_t distance = load16(in);
        in += 2;
        if (length < NIBBLE_MAX && distance >= VECTOR && distance <= (uint32_t)(out - target) &&
            out_end - out >= 2 * VECTOR) {
            COPY(out, out - distance, VECTOR);
            COPY(out + VECTOR, out - distance + VECTOR, 4);
            out += length + MIN_MATCH;
            continue;
        }
        if (length == NIBBLE_MAX && !long_length(&in, in_end, raw_size, &length)) return 0;
        length += MIN_MATCH;
        if (distance == 0 || distance > (uint32_t)(out - target) || length > (uint32_t)(out_end - out))
            return 0;
        copy_match(out, distance, length);
        out += length;
    }
    return 0;
}
