/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes in memory, without a C library. */
#ifndef USCOPE_INDEX_BYTES_H
#define USCOPE_INDEX_BYTES_H

#include <stdint.h>

static inline void clear_bytes(void *bytes, uint64_t size)
{
    __builtin_memset(bytes, 0, (__SIZE_TYPE__)size);
}

static inline void copy_bytes(void *to, const void *from, uint64_t size)
{
    __builtin_memcpy(to, from, (__SIZE_TYPE__)size);
}

#define DEFINE_READ(type, name)                                                                              \
    static inline type name(const uint8_t *bytes)                                                            \
    {                                                                                                        \
        type value;                                                                                          \
        __builtin_memcpy(&value, bytes, sizeof value);                                                       \
        return value;                                                                                        \
    }
DEFINE_READ(uint16_t, read_u16)
DEFINE_READ(uint32_t, read_u32)
DEFINE_READ(uint64_t, read_u64)

/* The lowest bytes of a number, 1 to 4 of them. */
static inline uint32_t read_low(const uint8_t *bytes, uint32_t size)
{
    if (size >= 4) return read_u32(bytes);
    return size == 2 ? read_u16(bytes) : *bytes;
}

#endif
