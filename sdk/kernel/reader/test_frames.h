/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that look like frames of a small schema. */
#ifndef USCOPE_TEST_FRAMES_H
#define USCOPE_TEST_FRAMES_H

#include <stdint.h>

#include "../test_random.h"

enum { SLOTS = 5, FIELDS = 2, PROPERTIES = 1, EVENT_SIZE = 5 };

/* Items of which most are valid. */
static void fill_frames(uint8_t *bytes, uint32_t size)
{
    uint32_t at = 0;
    while (size - at > 40) {
        uint8_t *item = bytes + at;
        switch (random_below(4)) {
        case 0:
            item[0] = (uint8_t)random_below(0x80);
            item[1] = (uint8_t)(1 + random_below(3));
            item[2] = 0;
            at += 3;
            break;
        case 1:
            item[0] = 3;
            item[4] = EVENT_SIZE;
            at += 8 + EVENT_SIZE;
            break;
        case 2:
            item[0] = 1;
            item[1] = (uint8_t)(1 + random_below(4));
            item[4] = (uint8_t)random_below(SLOTS);
            item[6] = (uint8_t)random_below(FIELDS);
            item[8] = (uint8_t)random_below(256);
            at += 16;
            break;
        default:
            item[0] = 2;
            item[1] = (uint8_t)(1 + random_below(4));
            item[3] = (uint8_t)random_below(SLOTS);
            item[7] = (uint8_t)random_below(256);
            at += 9;
        }
    }
    for (uint32_t damage = random_below(3); damage; damage--)
        bytes[random_below(size)] = (uint8_t)random_below(256);
}

#endif
