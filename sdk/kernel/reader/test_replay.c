/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random bytes that look like frames, in memory of exactly their size, under the sanitizers: the loop stays
 * within them and within the state, and stops in front of what it does not know. That it does the same to a
 * state as the plain path is held against that path in sdk/src/reader/segment-replay.test.ts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test_random.h"
#include "replay.h"
#include "test_frames.h"

enum { RUNS = 20000, MAX_BYTES = 600 };

int main(void)
{
    static const uint64_t widths[FIELDS + PROPERTIES] = {0xff, UINT64_MAX, 0xffff};
    static const uint32_t event_sizes[] = {EVENT_SIZE};
    uint64_t frames = 0;
    for (int run = 0; run < RUNS; run++) {
        uint32_t size = 1 + random_below(MAX_BYTES), occupied = 0, set = 0;
        uint8_t *bytes = calloc(size, 1), *mask = calloc(1, 1);
        uint64_t *cells = calloc(SLOTS * FIELDS + PROPERTIES, sizeof *cells);
        struct storage storage = {SLOTS, FIELDS, PROPERTIES, &occupied, cells, cells + SLOTS * FIELDS,
                                  mask,  widths};
        fill_frames(bytes, size);
        struct replay r = {.bytes = bytes,
                           .end = size,
                           .storages = &storage,
                           .num_storages = 1,
                           .event_sizes = event_sizes,
                           .num_events = 1,
                           .until = random_below(4) ? UINT64_MAX : random_below(3000)};
        replay(&r);
        for (uint32_t slot = 0; slot < SLOTS; slot++)
            set += *mask >> slot & 1;
        frames += r.frames;
        if (r.at > size || r.time > r.until || set != occupied || cells[0] > widths[0]) {
            printf("run %d: at %u of %u, %u slots counted of %u\n", run, r.at, size, occupied, set);
            return 1;
        }
        free(bytes);
        free(mask);
        free(cells);
    }
    printf("replay: %d blobs, %llu frames\n", RUNS, (unsigned long long)frames);
    return frames < RUNS;
}
