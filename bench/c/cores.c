#include "cores.h"

#include <pthread.h>
#include <stdio.h>

#include "measure.h"
#include "trace.h"

#define MAX_CORES 64

typedef struct {
    pthread_t thread;
    pthread_barrier_t *start;
    workload_t workload;
    uint64_t cycles;
    uscope_writer_t *trace;
    uint64_t items;
    uint64_t began, ended;
    uscope_close_stats_t stats;
} core_t;

static void *run_core(void *argument)
{
    core_t *core = argument;
    pthread_barrier_wait(core->start);
    core->began = wall_ns();
    core->items = run_client(core->workload, core->cycles, 0, core->trace);
    close_trace(core->trace, &core->stats);
    core->ended = wall_ns();
    return NULL;
}

static void check(const core_t *core)
{
    if (core->stats.items == core->items) return;
    fprintf(stderr, "%lu items made, %llu in the file\n", core->items, core->stats.items);
    exit(1);
}

static double seconds(uint64_t ns)
{
    return (double)ns * 1e-9;
}

void bench_cores(workload_t workload, uint64_t cycles, uint64_t cores)
{
    static core_t all[MAX_CORES];
    pthread_barrier_t start;
    if (cores > MAX_CORES) cores = MAX_CORES;
    pthread_barrier_init(&start, NULL, (unsigned)cores);
    for (uint64_t i = 0; i < cores; i++) {
        char name[16];
        snprintf(name, sizeof name, "core%lu", i);
        all[i] = (core_t){.start = &start, .workload = workload, .cycles = cycles / cores};
        all[i].trace = open_trace(name);
    }
    for (uint64_t i = 0; i < cores; i++)
        if (pthread_create(&all[i].thread, NULL, run_core, &all[i]) != 0) exit(1);
    uint64_t items = 0, began = UINT64_MAX, ended = 0, least = UINT64_MAX, most = 0, bytes = 0;
    for (uint64_t i = 0; i < cores; i++) {
        const core_t *core = &all[i];
        pthread_join(core->thread, NULL);
        check(core);
        uint64_t took = core->ended - core->began;
        items += core->items;
        bytes += core->stats.bytes;
        if (core->began < began) began = core->began;
        if (core->ended > ended) ended = core->ended;
        if (took < least) least = took;
        if (took > most) most = took;
    }
    pthread_barrier_destroy(&start);
    printf(
        "{\"items\": %lu, \"seconds\": %.4f, \"least_seconds\": %.4f, \"most_seconds\": %.4f, \"file_bytes\": %lu}\n",
        items, seconds(ended - began), seconds(least), seconds(most), bytes);
}
