/* A client of which a conversation is recorded: every kind of record, snapshots, flushes, and what is
 * refused. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uscope.h"

enum { CYCLES = 48, PERIOD_PS = 1000, INTERVAL_PS = 10000, REGS = 4 };

static uint16_t need(int id)
{
    if (id >= 0) return (uint16_t)id;
    fprintf(stderr, "%s: %s\n", uscope_last_error_code(), uscope_last_error_message());
    exit(1);
}

/* The registers as the model has them: u32 value and i8 sign each, packed. */
static void checkpoint(uscope_writer_t *w, void *user_data)
{
    uint8_t state[REGS * 5];
    memset(state, *(int *)user_data, sizeof state);
    uscope_checkpoint_storage(w, need(uscope_storage_id(w, "core0/regs")), NULL, state, REGS);
}

static void run(uscope_writer_t *w, int with_restart)
{
    uint16_t entities = need(uscope_storage_id(w, "core0/entities"));
    uint16_t rob = need(uscope_storage_id(w, "core0/rob"));
    uint16_t counters = need(uscope_storage_id(w, "core0/committed_insns"));
    uint16_t stage = need(uscope_event_id(w, "core0/stage_transition"));
    uint16_t annotate = need(uscope_event_id(w, "core0/annotate"));
    uint16_t dependency = need(uscope_event_id(w, "core0/dependency"));
    uint16_t beat = need(uscope_event_id(w, "noc0/beat"));
    int cycle = 0;
    uscope_set_checkpoint_callback(w, checkpoint, &cycle);
    for (; cycle < CYCLES; cycle++) {
        char text[32];
        snprintf(text, sizeof text, "add x%d, x1, x2 é", cycle % 7);
        uscope_begin_cycle(w, (unsigned long long)cycle * PERIOD_PS);
        uscope_slot_put3(w, entities, (uint16_t)(cycle % 12), (unsigned)cycle,
                         0xffffffff80000000ull + (unsigned)cycle, (unsigned long long)-cycle);
        uscope_event2(w, annotate, (unsigned)cycle, uscope_string(w, text));
        uscope_slot_set_lanes(w, rob, 0, 0x0full, 0x0403020100ull + (unsigned)cycle, 8);
        uscope_event2_lanes(w, dependency, 0x05ull, 0x030201ull, 8, 9, 1);
        uscope_count_lanes(w, counters, 0x03ull);
        uscope_prop_set(w, rob, 1, (unsigned)cycle % 9);
        if (cycle % 5 == 4) uscope_slot_clear(w, entities, (uint16_t)((cycle + 3) % 12));
        if (cycle % 6 == 0) uscope_event3(w, beat, (unsigned)cycle, 0x0123456789abcdefull, 1);
        if (cycle == 20) uscope_slot_set(w, rob, 200, 0, 1); /* there is no such slot: refused and counted */
        uscope_event2(w, stage, (unsigned)cycle, (unsigned)cycle % 4);
        uscope_end_cycle(w);
        if (cycle % 12 == 11 && !(with_restart && cycle > 30)) uscope_flush(w);
    }
}

/* client WITH_RESTART; the schema is that of USCOPE_SCHEMA */
int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    uscope_open_options_t options = USCOPE_OPEN_OPTIONS_INIT;
    options.name = "core0";
    options.interval_ps = INTERVAL_PS;
    options.core_index = 0;
    uscope_writer_t *w = uscope_writer_open_opts(&options);
    if (!w) return 1;
    run(w, atoi(argv[1]));
    uscope_close_stats_t stats;
    if (uscope_close_stats(w, &stats) != 0) {
        fprintf(stderr, "%s: %s\n", uscope_last_error_code(), uscope_last_error_message());
        return 1;
    }
    return stats.frames == CYCLES && stats.rejected == 1 && stats.lost == 0 ? 0 : 1;
}
