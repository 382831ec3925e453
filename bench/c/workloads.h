/* The workloads against each API under test: one source file per API, because workload.h is compiled once for
 * each. */
#ifndef BENCH_WORKLOADS_H
#define BENCH_WORKLOADS_H

#include <stdint.h>

#include "records.h"

typedef enum { WORKLOAD_STD, WORKLOAD_OOO } workload_t;

/* All return the number of items (ops and events). */

/* The loop alone: every value is computed and thrown away. */
uint64_t run_empty(workload_t which, uint64_t cycles);
/* A call that stores 16 bytes for every call of the client. */
uint64_t run_call(workload_t which, uint64_t cycles);
/* Records stored without a check; `sink` is advanced. */
uint64_t run_records(workload_t which, uint64_t cycles, record_sink_t *sink);
/* Through the C client; cycle 0 of the workload is at the time of `first_cycle`. */
uint64_t run_client(workload_t which, uint64_t cycles, uint64_t first_cycle, void *trace);
/* The same through uscope.hpp, into the trace that use_cpp() got. */
void use_cpp(void *trace);
uint64_t run_cpp(workload_t which, uint64_t cycles, uint64_t first_cycle);
/* run_empty and run_client with the time of each cycle, begin to end, in ticks_of_cycle[0..cycles). */
uint64_t run_empty_timed(workload_t which, uint64_t cycles, uint32_t hold_ticks, uint32_t *ticks_of_cycle);
uint64_t run_client_timed(workload_t which, uint64_t cycles, void *trace, uint32_t *ticks_of_cycle);

#endif
