/* SPDX-License-Identifier: Apache-2.0 */
/* Random bytes that look like frames, in memory of exactly their size, under the sanitizers. That it finds
 * what the plain path finds is held against that path in sdk/src/reader/segment-watch.test.ts. */
#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../test_random.h"
#include "test_frames.h"
#include "watch.h"

enum { RUNS = 20000, MAX_BYTES = 600, CAPACITY = 6 };

int main(void)
{
    static const struct watch_limits limits = {SLOTS, FIELDS, PROPERTIES};
    static const uint32_t event_sizes[] = {EVENT_SIZE};
    uint64_t found = 0;
    for (int run = 0; run < RUNS; run++) {
        uint32_t size = 1 + random_below(MAX_BYTES);
        uint8_t *bytes = calloc(size, 1), *taken = calloc(SLOTS, 1), *wanted = calloc(256, 1);
        uint64_t *times = malloc(CAPACITY * sizeof *times);
        uint16_t *slots = malloc(CAPACITY * sizeof *slots);
        fill_frames(bytes, size);
        bool of_slots = random_below(2);
        wanted[0] = 1;
        struct watch w = {.bytes = bytes,
                          .end = size,
                          .limits = &limits,
                          .num_storages = 1,
                          .event_sizes = event_sizes,
                          .num_events = 1,
                          .until = random_below(4) ? UINT64_MAX : random_below(3000),
                          .storage = of_slots ? 0 : UINT32_MAX,
                          .taken = taken,
                          .event = of_slots ? UINT32_MAX : 0,
                          .label = random_below(2) ? EVENT_SIZE : 0,
                          .wanted = wanted,
                          .times = times,
                          .slots = slots,
                          .capacity = CAPACITY};
        watch(&w);
        assert(w.at <= size && w.time <= w.until && w.count <= CAPACITY);
        for (uint32_t i = 0; i < w.count; i++)
            assert(times[i] <= w.time && slots[i] < SLOTS);
        found += w.count;
        free(bytes), free(taken), free(wanted), free(times), free(slots);
    }
    printf("watch: %d blobs, %llu found\n", RUNS, (unsigned long long)found);
    return found < RUNS / 20;
}
