/* SPDX-License-Identifier: Apache-2.0 */
#include "columns.h"

uint32_t present_numbers(const double *values, uint32_t count, int64_t *present, uint32_t *levels)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t is_there = values[i] == values[i];
        /* A missing one is overwritten by the next. */
        present[at] = is_there ? (int64_t)values[i] : 0;
        levels[i] = is_there;
        at += is_there;
    }
    return at;
}

uint32_t present_words(const int64_t *values, const uint8_t *missing, uint32_t count, int64_t *present,
                       uint32_t *levels)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t is_there = missing[i] == 0;
        present[at] = values[i];
        levels[i] = is_there;
        at += is_there;
    }
    return at;
}

uint32_t present_codes(const int32_t *values, uint32_t count, uint32_t *present, uint32_t *levels)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t is_there = values[i] >= 0;
        present[at] = (uint32_t)values[i];
        levels[i] = is_there;
        at += is_there;
    }
    return at;
}

uint32_t list_levels(const uint32_t *counts, uint32_t rows, const uint32_t *levels, uint32_t filled,
                     uint32_t *repetition, uint32_t *definition)
{
    uint32_t at = 0, entry = 0;
    for (uint32_t row = 0; row < rows; row++) {
        repetition[at] = 0;
        if (counts[row] == 0) definition[at++] = 1;
        for (uint32_t i = 0; i < counts[row]; i++) {
            repetition[at] = i > 0;
            definition[at++] = filled - 1 + levels[entry++];
        }
    }
    return at;
}

void bounds(const int64_t *values, uint32_t count, int64_t *lowest_and_highest)
{
    int64_t lowest = values[0], highest = values[0];
    for (uint32_t i = 1; i < count; i++) {
        if (values[i] < lowest) lowest = values[i];
        if (values[i] > highest) highest = values[i];
    }
    lowest_and_highest[0] = lowest;
    lowest_and_highest[1] = highest;
}
