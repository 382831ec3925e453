/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that look random and follow from the seed alone (xorshift64). */
#ifndef USCOPE_TEST_RANDOM_H
#define USCOPE_TEST_RANDOM_H

#include <stdint.h>

/** Not 0. */
static uint64_t state;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static uint64_t below(uint64_t n)
{
    return draw() % n;
}

#endif
