/* Several traces at once, from one process, as a simulator of several cores writes them. */
#ifndef BENCH_CORES_H
#define BENCH_CORES_H

#include "workloads.h"

/* `cycles` in all, shared out evenly; one thread per core. Prints one JSON object: items of all traces,
 * seconds from the first cycle of any to the completion of the last file, and the least and greatest seconds
 * that one of them took. */
void bench_cores(workload_t workload, uint64_t cycles, uint64_t cores);

#endif
