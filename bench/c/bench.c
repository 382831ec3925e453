/* The C half of the benchmarks. Each mode prints one JSON object on stdout; run.mjs starts it, and the daemon
 * it needs. By mode, with its arguments:
 *
 * - floor WORKLOAD CYCLES RUNS: the loop alone; with empty calls; with unchecked stores of records; memcpy.
 * - client WORKLOAD CYCLES RUNS: the simulator's thread, through uscope.h and uscope.hpp; CYCLES must
 *   fit into the credit.
 * - latency WORKLOAD CYCLES NS: time of single cycles, begin to end, of a model whose cycles last at least
 * NS.
 * - path WORKLOAD CYCLES: first begin_cycle to the file's completion.
 * - paced WORKLOAD CYCLES NS: the same of a model whose cycles last at least NS.
 * - cores WORKLOAD CYCLES CORES: path with CORES traces at once, one thread each, CYCLES in all.
 * - records WORKLOAD CYCLES FILE: writes the records to a file, for the writer's benchmark.
 * - grow STORAGES CYCLES ITEMS: ITEMS in each cycle over STORAGES storages.
 *
 * client, latency, path, paced, cores and grow take the daemon from USCOPE_ENDPOINT and the schema from
 * USCOPE_SCHEMA.
 */
#include <stdio.h>
#include <string.h>

#include "cores.h"
#include "grow.h"
#include "measure.h"
#include "pace.h"
#include "trace.h"
#include "workloads.h"

#define MAX_RUNS   1000
#define COPY_BYTES (64u << 20)

uint64_t pace_ticks;

typedef struct {
    workload_t workload;
    uint64_t cycles;
    uint64_t runs;
} job_t;

static void *allocate(size_t size)
{
    void *memory = malloc(size);
    if (!memory) {
        fprintf(stderr, "no memory for %zu bytes\n", size);
        exit(1);
    }
    memset(memory, 1, size); /* touched, so that no page is missing when the clock runs */
    return memory;
}

/* Prints "name_min", "name_median" and "name_max" of n values. */
static void print_runs(const char *name, double *values, uint64_t n)
{
    qsort(values, n, sizeof *values, by_double);
    printf("\"%s_min\": %.3f, \"%s_median\": %.3f, \"%s_max\": %.3f, ", name, values[0], name, values[n / 2],
           name, values[n - 1]);
}

static uint32_t percentile_ns(const uint32_t *sorted_ticks, uint64_t n, double share)
{
    return ns_of_ticks(percentile(sorted_ticks, n, share));
}

/* Sorts them. */
static void print_percentiles(const char *name, uint32_t *times, uint64_t n)
{
    qsort(times, n, sizeof *times, by_u32);
    printf("\"%s_p50\": %u, \"%s_p99\": %u, \"%s_p9999\": %u, \"%s_max\": %u, ", name,
           percentile_ns(times, n, 0.5), name, percentile_ns(times, n, 0.99), name,
           percentile_ns(times, n, 0.9999), name, percentile_ns(times, n, 1));
}

/* Every item of the workloads is one record, and a cycle has two more. */
static uint64_t num_records(const job_t *job)
{
    return run_empty(job->workload, job->cycles) + 2 * job->cycles;
}

/* ns per item of the loop alone, elapsed and processor time; also the number of items. */
static void measure_empty(const job_t *job, double *wall, double *cpu, uint64_t *items)
{
    for (uint64_t run = 0; run < job->runs; run++) {
        uint64_t wall_start = wall_ns(), cpu_start = thread_ns();
        *items = run_empty(job->workload, job->cycles);
        cpu[run] = (double)(thread_ns() - cpu_start) / (double)*items;
        wall[run] = (double)(wall_ns() - wall_start) / (double)*items;
    }
}

/* The same with an empty call instead of each call of the client: the floor under anything behind DPI.
 */
static void measure_calls(const job_t *job, double *ns)
{
    for (uint64_t run = 0; run < job->runs; run++) {
        uint64_t start = wall_ns();
        uint64_t items = run_call(job->workload, job->cycles);
        ns[run] = (double)(wall_ns() - start) / (double)items;
    }
}

static void measure_records(const job_t *job, double *ns, uint64_t *bytes)
{
    record_t *memory = allocate(num_records(job) * sizeof *memory);
    for (uint64_t run = 0; run < job->runs; run++) {
        record_sink_t sink = {memory, 0, 0};
        uint64_t start = wall_ns();
        uint64_t items = run_records(job->workload, job->cycles, &sink);
        ns[run] = (double)(wall_ns() - start) / (double)items;
        *bytes = (uint64_t)((char *)sink.next - (char *)memory);
    }
    free(memory);
}

/* GB/s of memcpy between two blocks larger than any cache. */
static void measure_copy(uint64_t runs, double *gb_per_s)
{
    char *from = allocate(COPY_BYTES), *to = allocate(COPY_BYTES);
    for (uint64_t run = 0; run < runs; run++) {
        uint64_t start = wall_ns();
        memcpy(to, from, COPY_BYTES);
        __asm__ volatile("" ::"r"(to) : "memory");
        gb_per_s[run] = (double)COPY_BYTES / (double)(wall_ns() - start);
    }
    free(from);
    free(to);
}

static void bench_floor(const job_t *job)
{
    double empty[MAX_RUNS], empty_cpu[MAX_RUNS], call[MAX_RUNS], store[MAX_RUNS], copy[MAX_RUNS];
    uint64_t items = 0, bytes = 0;
    measure_empty(job, empty, empty_cpu, &items);
    measure_calls(job, call);
    measure_records(job, store, &bytes);
    measure_copy(job->runs, copy);
    printf("{");
    print_runs("empty_ns_per_item", empty, job->runs);
    print_runs("call_ns_per_item", call, job->runs);
    print_runs("store_ns_per_item", store, job->runs);
    print_runs("copy_gb_per_s", copy, job->runs);
    printf("\"record_bytes_per_item\": %.2f, \"items\": %lu}\n", (double)bytes / (double)items, items);
}

/* ns per item of one run, elapsed and processor time, with a flush after it that is not measured. */
static void measure_run(const job_t *job, uscope_writer_t *trace, int is_cpp, uint64_t first, uint64_t items,
                        double *wall, double *cpu)
{
    uint64_t wall_start = wall_ns(), cpu_start = thread_ns();
    if (is_cpp)
        run_cpp(job->workload, job->cycles, first);
    else
        run_client(job->workload, job->cycles, first, trace);
    *cpu = (double)(thread_ns() - cpu_start) / (double)items;
    *wall = (double)(wall_ns() - wall_start) / (double)items;
    if (uscope_flush(trace) != 0) exit(1);
}

/* Through uscope.h and uscope.hpp in turn. */
static void bench_client(const job_t *job)
{
    double wall[2][MAX_RUNS], cpu[2][MAX_RUNS], ratio[MAX_RUNS], empty[MAX_RUNS], empty_cpu[MAX_RUNS];
    uint64_t items = 0, done = 0;
    measure_empty(job, empty, empty_cpu, &items);
    uscope_writer_t *trace = open_trace("client");
    use_cpp(trace);
    /* Run 0 touches the client's buffers for the first time and is not counted. */
    for (uint64_t run = 0; run <= job->runs; run++) {
        uint64_t at = run ? run - 1 : 0;
        for (int turn = 0; turn < 2; turn++) {
            int is_cpp = (turn + (int)run) & 1;
            measure_run(job, trace, is_cpp, done++ * job->cycles, items, &wall[is_cpp][at], &cpu[is_cpp][at]);
        }
        ratio[at] = cpu[1][at] / cpu[0][at];
    }
    uscope_close_stats_t stats;
    close_trace(trace, &stats);
    printf("{");
    print_runs("empty_ns_per_item", empty, job->runs);
    print_runs("empty_cpu_ns_per_item", empty_cpu, job->runs);
    print_runs("wall_ns_per_item", wall[0], job->runs);
    print_runs("cpu_ns_per_item", cpu[0], job->runs);
    print_runs("cpp_wall_ns_per_item", wall[1], job->runs);
    print_runs("cpp_cpu_ns_per_item", cpu[1], job->runs);
    print_runs("cpp_ratio", ratio, job->runs);
    printf("\"items\": %lu}\n", items);
}

static void bench_latency(const job_t *job, uint64_t model_ns)
{
    calibrate_ticks();
    pace_ticks = ticks_of_ns(model_ns);
    uint32_t *times = allocate(job->cycles * sizeof *times);
    printf("{");
    run_empty_timed(job->workload, job->cycles, 0, times);
    print_percentiles("empty_ns", times, job->cycles);
    uscope_writer_t *trace = open_trace("latency");
    run_client_timed(job->workload, job->cycles, trace, times);
    print_percentiles("client_ns", times, job->cycles);
    /* sorted now */
    uint32_t median = percentile(times, job->cycles, 0.5);
    uscope_close_stats_t stats;
    close_trace(trace, &stats);
    run_empty_timed(job->workload, job->cycles, median, times);
    print_percentiles("held_ns", times, job->cycles);
    printf("\"cycles\": %lu}\n", job->cycles);
    free(times);
}

static void bench_path(const job_t *job)
{
    uscope_writer_t *trace = open_trace("path");
    uint64_t start = wall_ns(), processor = process_ns();
    uint64_t items = run_client(job->workload, job->cycles, 0, trace);
    double model = (double)(wall_ns() - start) * 1e-9;
    uscope_close_stats_t stats;
    close_trace(trace, &stats);
    double all = (double)(wall_ns() - start) * 1e-9;
    processor = process_ns() - processor;
    if (stats.items != items) {
        fprintf(stderr, "%lu items made, %llu in the file\n", items, stats.items);
        exit(1);
    }
    printf("{\"items\": %lu, \"seconds\": %.4f, \"model_seconds\": %.4f, \"processor_ns\": %lu, "
           "\"file_bytes\": %llu, \"segments\": %llu}\n",
           items, all, model, processor, stats.bytes, stats.segments);
}

/* How long the model runs, its cycles take, and it takes until the file is complete. */
static void bench_paced(const job_t *job, uint64_t model_ns)
{
    calibrate_ticks();
    pace_ticks = ticks_of_ns(model_ns);
    uint32_t *times = allocate(job->cycles * sizeof *times);
    uscope_writer_t *trace = open_trace("path");
    uint64_t start = wall_ns();
    uint64_t items = run_client_timed(job->workload, job->cycles, trace, times);
    double model = (double)(wall_ns() - start) * 1e-9;
    uscope_close_stats_t stats;
    close_trace(trace, &stats);
    double all = (double)(wall_ns() - start) * 1e-9;
    printf("{");
    print_percentiles("client_ns", times, job->cycles);
    printf("\"items\": %lu, \"seconds\": %.4f, \"model_seconds\": %.4f}\n", items, all, model);
    free(times);
}

static void write_records(const job_t *job, const char *path)
{
    record_t *memory = allocate(num_records(job) * sizeof *memory);
    record_sink_t sink = {memory, 0, 0};
    uint64_t items = run_records(job->workload, job->cycles, &sink);
    size_t records = (size_t)(sink.next - memory);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(memory, sizeof *memory, records, file) != records || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
    printf("{\"items\": %lu, \"bytes\": %zu}\n", items, records * sizeof *memory);
    free(memory);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(
            stderr,
            "usage: %s floor|client|latency|path|paced|cores|records std|ooo CYCLES [RUNS|CORES|NS|FILE], or grow STORAGES CYCLES ITEMS\n",
            argv[0]);
        return 2;
    }
    const char *mode = argv[1], *last = argc > 4 ? argv[4] : "1";
    job_t job = {strcmp(argv[2], "ooo") ? WORKLOAD_STD : WORKLOAD_OOO, strtoull(argv[3], 0, 10),
                 strtoull(last, 0, 10)};
    if (job.runs > MAX_RUNS) job.runs = MAX_RUNS;
    if (job.cycles == 0) {
        fprintf(stderr, "CYCLES must be at least 1\n");
        return 2;
    }
    if (!strcmp(mode, "records")) {
        write_records(&job, last);
        return 0;
    }
    if (!strcmp(mode, "latency")) {
        bench_latency(&job, strtoull(last, 0, 10));
        return 0;
    }
    if (!strcmp(mode, "paced")) {
        bench_paced(&job, strtoull(last, 0, 10));
        return 0;
    }
    if (job.runs == 0) job.runs = 1;
    if (!strcmp(mode, "floor"))
        bench_floor(&job);
    else if (!strcmp(mode, "client"))
        bench_client(&job);
    else if (!strcmp(mode, "path"))
        bench_path(&job);
    else if (!strcmp(mode, "cores"))
        bench_cores(job.workload, job.cycles, job.runs);
    else if (!strcmp(mode, "grow"))
        bench_grow(job.cycles, job.runs, strtoull(argv[2], 0, 10));
    else
        return 2;
    return 0;
}
