/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A core of five stages that is traced while a page shows it: live-model SCHEMA CYCLES CYCLES_PER_MS. 0 of the last: as fast as it can.
 * Prints now and then "CYCLE MILLISECONDS", the wall clock when the cycle had been recorded; and at its end "cpu SECONDS".
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "uscope.h"

enum { STAGES = 5, SLOTS = 8, PRINTED = 512 };

static double ms_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    const unsigned long long cycles = strtoull(argv[2], NULL, 10);
    const unsigned long per_ms = strtoul(argv[3], NULL, 10);
    uscope_schema_t *schema = uscope_schema_from_file(argv[1]);
    uscope_open_options_t options = USCOPE_OPEN_OPTIONS_INIT;
    options.name = "core0";
    options.schema = schema;
    uscope_writer_t *w = uscope_writer_open_opts(&options);
    if (!w) return 1;
    const uint16_t entities = (uint16_t)uscope_storage_id(w, "core0/entities");
    const uint16_t stage_event = (uint16_t)uscope_event_id(w, "core0/stage_transition");
    const double start = ms_of(CLOCK_MONOTONIC);
    for (unsigned long long cycle = 0; cycle < cycles; cycle++) {
        const uint16_t slot = (uint16_t)(cycle % SLOTS);
        uscope_begin_cycle(w, cycle * 1000);
        if (cycle >= STAGES) uscope_slot_clear(w, entities, (uint16_t)((cycle - STAGES) % SLOTS));
        uscope_slot_set(w, entities, slot, 0, cycle & 0xffffffff);
        uscope_slot_set(w, entities, slot, 1, 0x80000000 + cycle % 64 * 4);
        uscope_slot_set(w, entities, slot, 2, 0x13);
        for (unsigned stage = 0; stage < STAGES && stage <= cycle; stage++)
            uscope_event2(w, stage_event, (cycle - stage) & 0xffffffff, stage);
        uscope_end_cycle(w);
        if (cycle % PRINTED == PRINTED - 1) {
            printf("%llu %.1f\n", cycle, ms_of(CLOCK_REALTIME));
            fflush(stdout);
        }
        while (per_ms && (double)cycle / (double)per_ms > ms_of(CLOCK_MONOTONIC) - start) {
            const struct timespec pause = {0, 500000};
            nanosleep(&pause, NULL);
        }
    }
    printf("cpu %.3f\n", ms_of(CLOCK_PROCESS_CPUTIME_ID) / 1e3);
    uscope_close(w);
    uscope_schema_free(schema);
    return 0;
}
