/* The loop with an empty call instead of each of the client's. */
#include "call.h"
#include "workloads.h"

#define WORD(kind, storage, slot, field)                                                                     \
    ((uint64_t)(kind) | (uint64_t)(storage) << 16 | (uint64_t)(slot) << 32 | (uint64_t)(field) << 48)

#define B_BEGIN(t)          bench_call(RECORD_BEGIN, t)
#define B_END()             bench_call(RECORD_END, 0)
#define B_SET(st, sl, f, v) bench_call(WORD(RECORD_OP, st, sl, f), v)
#define B_CLR(st, sl)       bench_call(WORD(RECORD_OP, st, sl, 0), 0)
#define B_ADD(st, sl, f, v) bench_call(WORD(RECORD_OP, st, sl, f), v)
#define B_PROP(st, p, v)    bench_call(WORD(RECORD_OP, st, 0, p), v)
#define B_STAGE(id, s)      bench_call(RECORD_EVENT, (uint64_t)(id) | (uint64_t)(s) << 32)
#define B_FLUSH(id, r)      bench_call(RECORD_EVENT, (uint64_t)(id) | (uint64_t)(r) << 32)
#include "../workload.h"

uint64_t run_call(workload_t which, uint64_t cycles)
{
    return which == WORKLOAD_STD ? workload_std(cycles) : workload_ooo(cycles);
}
