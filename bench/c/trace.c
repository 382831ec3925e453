#include "trace.h"

#include <stdio.h>
#include <stdlib.h>

/* 10,000 cycles of 1000 ps, as the workload asks. */
#define CHECKPOINT_INTERVAL_PS 10000000ull

static void fail(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", what, uscope_last_error_code(), uscope_last_error_message());
    exit(1);
}

uscope_writer_t *open_trace(const char *name)
{
    uscope_open_options_t options = USCOPE_OPEN_OPTIONS_INIT;
    options.name = name;
    options.interval_ps = CHECKPOINT_INTERVAL_PS;
    uscope_writer_t *trace = uscope_writer_open_opts(&options);
    if (!trace) fail("open");
    return trace;
}

void close_trace(uscope_writer_t *trace, uscope_close_stats_t *stats)
{
    if (uscope_close_stats(trace, stats) != 0) fail("close");
    if (stats->rejected || stats->lost) {
        fprintf(stderr, "%llu rejected, %llu lost: the numbers would mean nothing\n", stats->rejected,
                stats->lost);
        exit(1);
    }
}
