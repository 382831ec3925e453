/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32 against its definition, bit by bit. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test_random.h"
#include "crc32.h"

enum { MOST = 3000 };

static uint32_t by_definition(const uint8_t *bytes, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return ~crc;
}

/* Of bytes that end where their memory does: reading after them is an error that is seen. */
static bool agrees(size_t size)
{
    uint8_t *bytes = malloc(size + 1);
    for (size_t i = 0; i < size; i++)
        bytes[i + 1] = (uint8_t)random_below(256);
    uint32_t expected = by_definition(bytes + 1, size);
    bool good = crc32_of(bytes + 1, size) == expected && crc32_portable(bytes + 1, size) == expected;
    free(bytes);
    return good;
}

static bool every_size(void)
{
    for (size_t size = 0; size < 400; size++)
        if (!agrees(size)) return false;
    for (int i = 0; i < 300; i++)
        if (!agrees(random_below(MOST))) return false;
    return true;
}

static bool known_value(void)
{
    return crc32_of((const uint8_t *)"123456789", 9) == 0xcbf43926;
}

int main(void)
{
    bool first = known_value(), second = every_size();
    printf("%s check value of the polynomial\n", first ? "ok  " : "FAIL");
    printf("%s every size, with and without the processor's instructions\n", second ? "ok  " : "FAIL");
    printf("2 tests, %d failed\n", !first + !second);
    return !(first && second);
}
