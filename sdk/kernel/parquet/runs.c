/* SPDX-License-Identifier: Apache-2.0 */
#include "pack.h"

/* How many values are equal from `at` on. */
static uint32_t run_at(const uint32_t *values, uint32_t at, uint32_t count)
{
    uint32_t end = at + 1;
    /* Most columns are one long run of levels: a group at a time. */
    for (; count - end >= GROUP; end += GROUP) {
        uint32_t differ = 0;
        for (uint32_t i = 0; i < GROUP; i++)
            differ |= values[end + i] ^ values[at];
        if (differ) break;
    }
    while (end < count && values[end] == values[at])
        end++;
    return end - at;
}

static int begins_run(const uint32_t *values, uint32_t at, uint32_t count)
{
    if (count - at < GROUP) return 0;
    for (uint32_t i = 1; i < GROUP; i++)
        if (values[at + i] != values[at]) return 0;
    return 1;
}

uint32_t runs_pack(const uint32_t *values, uint32_t count, uint32_t width, uint8_t *out)
{
    uint8_t *to = out;
    for (uint32_t at = 0; at < count;) {
        uint32_t run = run_at(values, at, count);
        if (run >= GROUP) {
            to = put_varint(to, (uint64_t)run << 1);
            for (uint32_t bit = 0; bit < width; bit += 8)
                *to++ = (uint8_t)(values[at] >> bit);
            at += run;
            continue;
        }
        uint32_t end = at + GROUP;
        while (end < count && !begins_run(values, end, count))
            end += GROUP;
        to = put_varint(to, (uint64_t)((end - at) / GROUP) << 1 | 1);
        struct bits bits = {to, 0, 0};
        /* The last group may lack some: readers know the count. */
        for (; at < end; at++)
            put_bits(&bits, at < count ? values[at] : 0, width);
        to = flush_bits(&bits);
    }
    return (uint32_t)(to - out);
}
