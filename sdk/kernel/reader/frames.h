/* SPDX-License-Identifier: Apache-2.0 */
/* What the loops over frames read alike. */
#ifndef USCOPE_READER_FRAMES_H
#define USCOPE_READER_FRAMES_H

#include <stdint.h>

#include "../constants.h"

struct op {
    uint32_t action, storage, slot, field;
    uint64_t value;
};

static inline uint64_t load64(const uint8_t *from)
{
    uint64_t value;
    __builtin_memcpy(&value, from, 8);
    return value;
}

/* Bytes of the LEB128 number that a word begins with; 0 for more than three. */
static inline uint32_t delta_size(uint32_t word)
{
    if (!(word & 0x80)) return 1;
    if (!(word & 0x8000)) return 2;
    return word & 0x800000 ? 0 : 3;
}

static inline uint32_t delta_of(uint32_t word, uint32_t size)
{
    uint32_t groups = (word & 0x7f) | (word >> 1 & 0x3f80) | (word >> 2 & 0x1fc000);
    return groups & ((1u << 7 * size) - 1);
}

static inline struct op wide_op(uint64_t ids, uint64_t value)
{
    return (struct op){(uint32_t)ids >> 8 & 0xff, (uint32_t)ids >> 16, (uint32_t)(ids >> 32) & 0xffff,
                       (uint32_t)(ids >> 48), value};
}

/* tag, action, storage u8, slot u16, field u16, value u16 */
static inline struct op compact_op(uint64_t ids, uint64_t last)
{
    return (struct op){(uint32_t)ids >> 8 & 0xff, (uint32_t)ids >> 16 & 0xff, (uint32_t)(ids >> 24) & 0xffff,
                       (uint32_t)(ids >> 40) & 0xffff, ids >> 56 | (last & 0xff) << 8};
}

#endif
