/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that look random and are the same in every run (xorshift64). */
#ifndef USCOPE_TEST_RANDOM_H
#define USCOPE_TEST_RANDOM_H

#include <stdint.h>

static uint64_t seed = 88172645463325252ull;

static uint32_t random_below(uint32_t limit)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 32) % limit;
}

#endif
