/* What any tracer behind a DPI import costs at least: a call that the compiler cannot see into, and the 16
 * bytes of a record stored. */
#ifndef BENCH_CALL_H
#define BENCH_CALL_H

#include <stdint.h>

void bench_call(uint64_t lo, uint64_t hi);

#endif
