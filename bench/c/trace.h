/* A trace of the workload's schema, from the environment's daemon. */
#ifndef BENCH_TRACE_H
#define BENCH_TRACE_H

#include "uscope.h"

/* Ends the process with a message when there is no daemon or the file is not as it must be. */
uscope_writer_t *open_trace(const char *name);
void close_trace(uscope_writer_t *trace, uscope_close_stats_t *stats);

#endif
