/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model that runs until a file named "stop" is there: every cycle sets a value in two scopes, and keeps one
 * slot of a sparse storage taken. Prints how many cycles it ran, and what it was not asked to record.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "uscope.h"

int main(int argc, char **argv)
{
    uscope_schema_t *schema = uscope_schema_from_file(argv[1]);
    uscope_open_options_t options = USCOPE_OPEN_OPTIONS_INIT;
    options.name = argc > 2 ? argv[2] : "core0";
    options.schema = schema;
    uscope_writer_t *w = uscope_writer_open_opts(&options);
    if (!w) return 1;
    uint16_t a = (uint16_t)uscope_storage_id(w, "a/value");
    uint16_t b = (uint16_t)uscope_storage_id(w, "b/value");
    uint16_t slots = (uint16_t)uscope_storage_id(w, "a/taken");
    uint16_t tick = (uint16_t)uscope_event_id(w, "b/tick");
    unsigned long long cycle = 0;
    const struct timespec pause = {0, 1000000};
    for (; cycle % 64 != 0 || access("stop", F_OK) != 0; cycle++) {
        uscope_begin_cycle(w, cycle * 1000);
        uscope_slot_set(w, a, 0, 0, cycle);
        if (cycle % 16 == 0) uscope_slot_set(w, slots, (uint16_t)(cycle / 16 % 4), 0, cycle);
        uscope_slot_set(w, b, 0, 0, cycle);
        uscope_event1(w, tick, cycle);
        uscope_end_cycle(w);
        if (cycle == 0) {
            puts("running");
            fflush(stdout);
        }
        if (cycle % 64 == 63) nanosleep(&pause, NULL);
    }
    printf("cycles %llu skipped %llu\n", cycle, uscope_skipped(w));
    uscope_close(w);
    uscope_schema_free(schema);
    return 0;
}
