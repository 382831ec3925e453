#include "grow.h"

#include <stdio.h>

#include "measure.h"
#include "trace.h"

enum { SLOTS = 64 };

void bench_grow(uint64_t cycles, uint64_t items, uint64_t storages)
{
    uscope_writer_t *trace = open_trace("grow");
    uint64_t start = wall_ns(), cpu_start = thread_ns();
    uint32_t storage = 0, slot = 0;
    for (uint64_t cycle = 0; cycle < cycles; cycle++) {
        uscope_begin_cycle(trace, cycle * 1000);
        for (uint64_t item = 0; item < items; item++) {
            uscope_slot_set(trace, (uint16_t)storage, (uint16_t)slot, 0, (cycle * 2654435761u >> 8) & 0xFFFF);
            if (++storage < storages) continue;
            storage = 0;
            slot = (slot + 1) % SLOTS;
        }
        uscope_end_cycle(trace);
    }
    double thread = (double)(thread_ns() - cpu_start);
    uscope_close_stats_t stats;
    close_trace(trace, &stats);
    double seconds = (double)(wall_ns() - start) * 1e-9;
    if (stats.items != cycles * items) {
        fprintf(stderr, "%lu items made, %llu in the file\n", cycles * items, stats.items);
        exit(1);
    }
    printf("{\"items\": %llu, \"seconds\": %.4f, \"thread_ns_per_item\": %.3f, \"file_bytes\": %llu}\n",
           stats.items, seconds, thread / (double)stats.items, stats.bytes);
}
