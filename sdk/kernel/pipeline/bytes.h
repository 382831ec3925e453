/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a text whose last one is a line feed, with TEXT_SLACK bytes after it that may be read. */
#ifndef USCOPE_PIPELINE_BYTES_H
#define USCOPE_PIPELINE_BYTES_H

#include <stdint.h>

#define RARE(condition) __builtin_expect((condition) != 0, 0)
#define INLINE          static inline __attribute__((always_inline))

enum {
    LF = 10,
    CR = 13,
    TAB = 9,
    BLANK = 32,
    LAST_PRINTABLE = 126,
    TEXT_BYTES = 1 << 20,
    TEXT_SLACK = 64,
    /* Digits that a double holds exactly. */
    MOST_DIGITS = 15,
    MOST_HEX_DIGITS = 13,
};

INLINE uint64_t load64(const uint8_t *at)
{
    uint64_t word;
    __builtin_memcpy(&word, at, sizeof word);
    return word;
}

/* A whole number of at most 15 digits; returns where it ends, NULL: there is none, or a longer one. */
INLINE const uint8_t *take_number(const uint8_t *at, uint64_t *value)
{
    const uint8_t *from = at;
    uint64_t number = 0;
    for (uint32_t digit = *at - 48u; digit <= 9; digit = *++at - 48u)
        number = number * 10 + digit;
    *value = number;
    return at > from && at - from <= MOST_DIGITS ? at : 0;
}

INLINE uint32_t hex_digit(uint8_t byte)
{
    uint32_t decimal = byte - 48u;
    if (decimal <= 9) return decimal;
    uint32_t letter = (byte | 0x20u) - 97u;
    return letter <= 5 ? letter + 10 : 16;
}

/* Digits at `at` as a number, modulo 2^64; returns where they end. */
INLINE const uint8_t *take_hex(const uint8_t *at, uint64_t *value)
{
    uint64_t number = 0;
    for (uint32_t digit = hex_digit(*at); digit < 16; digit = hex_digit(*++at))
        number = number << 4 | digit;
    *value = number;
    return at;
}

#endif
