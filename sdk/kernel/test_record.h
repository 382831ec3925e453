/* SPDX-License-Identifier: Apache-2.0 */
/* Records (docs/bridge-protocol.md#records), word by word. */
#ifndef USCOPE_TEST_RECORD_H
#define USCOPE_TEST_RECORD_H

#include <stdint.h>

/* Puts one, and returns the place after it. */
static uint32_t *record(uint32_t *at, uint32_t word0, uint32_t word1, uint32_t lo, uint32_t hi)
{
    at[0] = word0;
    at[1] = word1;
    at[2] = lo;
    at[3] = hi;
    return at + 4;
}

#endif
