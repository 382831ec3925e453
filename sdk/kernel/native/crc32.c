/* SPDX-License-Identifier: Apache-2.0 */
#include "crc32.h"

#include <pthread.h>
#include <string.h>

enum { POLYNOMIAL = (int)0xedb88320, TABLES = 8 };

/* tables[k][b]: the effect of byte b that k further bytes follow. */
static uint32_t tables[TABLES][256];
static pthread_once_t tables_built = PTHREAD_ONCE_INIT;

static void build_tables(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ (uint32_t)POLYNOMIAL : crc >> 1;
        tables[0][byte] = crc;
    }
    for (int k = 1; k < TABLES; k++) {
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t before = tables[k - 1][byte];
            tables[k][byte] = tables[0][before & 0xff] ^ before >> 8;
        }
    }
}

static uint64_t load64_le(const uint8_t *from)
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--)
        value = value << 8 | from[i];
    return value;
}

/* The register after `size` further bytes. */
static uint32_t advance(uint32_t crc, const uint8_t *bytes, size_t size)
{
    pthread_once(&tables_built, build_tables);
    for (; size >= 8; size -= 8, bytes += 8) {
        uint64_t mixed = load64_le(bytes) ^ crc;
        crc = 0;
        for (int k = 0; k < TABLES; k++)
            crc ^= tables[TABLES - 1 - k][mixed >> (8 * k) & 0xff];
    }
    for (; size > 0; size--)
        crc = tables[0][(crc ^ *bytes++) & 0xff] ^ crc >> 8;
    return crc;
}

uint32_t crc32_portable(const uint8_t *bytes, size_t size)
{
    return ~advance(UINT32_MAX, bytes, size);
}

#ifdef __x86_64__
#include <immintrin.h>

enum { LANE = 16, LANES = 4, STRIDE = LANE * LANES };

#define CARRYLESS __attribute__((target("pclmul,sse4.1")))

/* `before` moved on by the distance that the factors represent, onto the bytes there. */
CARRYLESS static inline __m128i fold(__m128i before, __m128i factors, __m128i bytes)
{
    __m128i low = _mm_clmulepi64_si128(before, factors, 0x00),
            high = _mm_clmulepi64_si128(before, factors, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), bytes);
}

CARRYLESS static inline __m128i load(const uint8_t *from)
{
    return _mm_loadu_si128((const __m128i *)(const void *)from);
}

/*
 * Carry-less multiplication takes a lane of 128 bits to a later place of the message, where it is added to
 * what is there: four lanes next to each other, then into one, and of that and the last bytes the register is
 * computed as ever. The factors are powers of x modulo the polynomial, reflected: of 544 and 480 for a
 * stride, of 160 and 96 for a lane.
 */
CARRYLESS static uint32_t crc32_folded(const uint8_t *bytes, size_t size)
{
    const __m128i stride = _mm_set_epi64x(0x1c6e41596, 0x154442bd4),
                  lane = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
    __m128i lanes[LANES];
    for (int i = 0; i < LANES; i++)
        lanes[i] = load(bytes + i * LANE);
    lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128(-1));
    const uint8_t *at = bytes + STRIDE, *end = bytes + size;
    for (; end - at >= STRIDE; at += STRIDE) {
        for (int i = 0; i < LANES; i++)
            lanes[i] = fold(lanes[i], stride, load(at + i * LANE));
    }
    __m128i sum = lanes[0];
    for (int i = 1; i < LANES; i++)
        sum = fold(sum, lane, lanes[i]);
    for (; end - at >= LANE; at += LANE)
        sum = fold(sum, lane, load(at));
    uint8_t rest[LANE];
    memcpy(rest, &sum, LANE);
    return ~advance(advance(0, rest, LANE), at, (size_t)(end - at));
}

uint32_t crc32_of(const uint8_t *bytes, size_t size)
{
    if (size < STRIDE || !__builtin_cpu_supports("pclmul")) return crc32_portable(bytes, size);
    return crc32_folded(bytes, size);
}
#else
uint32_t crc32_of(const uint8_t *bytes, size_t size)
{
    return crc32_portable(bytes, size);
}
#endif
