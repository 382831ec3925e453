/* A bimodal branch predictor in C, traced through libuscope: 64 two-bit counters and a loop nest whose
 * branches it learns. Start it with `uscope run` (see the Makefile); started alone it says that no daemon
 * answers. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "uscope.h"

#define PERIOD_PS  1000
#define TABLE_SIZE 64

/* Ids of the schema, looked up by name once. */
typedef struct {
    uscope_writer_t *trace;
    uint16_t table, branches, mispredicts, branch;
} tracer_t;

typedef struct {
    tracer_t tracer;
    uint8_t table[TABLE_SIZE];
    uint64_t cycle, branches, mispredicts;
} model_t;

static uint16_t need(int id)
{
    if (id < 0) {
        fprintf(stderr, "%s: %s\n", uscope_last_error_code(), uscope_last_error_message());
        exit(1);
    }
    return (uint16_t)id;
}

static tracer_t open_trace(void)
{
    uscope_open_options_t options = USCOPE_OPEN_OPTIONS_INIT;
    options.name = "predictor";
    uscope_writer_t *trace = uscope_writer_open_opts(&options);
    if (!trace) exit(1); /* the library has said why */
    tracer_t tracer = {
        .trace = trace,
        .table = need(uscope_storage_id(trace, "predictor/table")),
        .branches = need(uscope_storage_id(trace, "predictor/branches")),
        .mispredicts = need(uscope_storage_id(trace, "predictor/mispredicts")),
        .branch = need(uscope_event_id(trace, "predictor/branch")),
    };
    return tracer;
}

/* One branch per cycle: predict, learn, and trace both. */
static void execute_branch(model_t *m, uint64_t pc, int taken)
{
    uscope_writer_t *trace = m->tracer.trace;
    uint16_t slot = (pc >> 2) % TABLE_SIZE;
    uint8_t counter = m->table[slot];
    int predicted = counter >= 2;
    if (taken && counter < 3)
        counter++;
    else if (!taken && counter > 0)
        counter--;

    uscope_begin_cycle(trace, m->cycle++ * PERIOD_PS);
    uscope_event3(trace, m->tracer.branch, pc, (unsigned)predicted, (unsigned)taken);
    uscope_slot_add(trace, m->tracer.branches, 0, 0, 1);
    if (counter != m->table[slot]) uscope_slot_set(trace, m->tracer.table, slot, 0, counter);
    if (predicted != taken) {
        uscope_slot_add(trace, m->tracer.mispredicts, 0, 0, 1);
        m->mispredicts++;
    }
    uscope_end_cycle(trace);

    m->table[slot] = counter;
    m->branches++;
}

/* for i in 0..n: for j in 0..i % 7: body; the loop branches are taken until the loop ends */
static void run_loops(model_t *m, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < i % 7; j++)
            execute_branch(m, 0x80000040, 1);
        execute_branch(m, 0x80000040, 0);
        execute_branch(m, 0x80000058, i + 1 < n);
    }
}

int main(void)
{
    model_t model = {.tracer = open_trace()};
    run_loops(&model, 20000);

    uscope_close_stats_t stats;
    if (uscope_close_stats(model.tracer.trace, &stats) != 0) {
        fprintf(stderr, "%s: %s\n", uscope_last_error_code(), uscope_last_error_message());
        return 1;
    }
    printf("branches %llu, mispredicted %llu; %llu items traced\n", (unsigned long long)model.branches,
           (unsigned long long)model.mispredicts, stats.items);
    return 0;
}
