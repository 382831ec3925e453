#include "workloads.h"

static record_sink_t sink;

#define B_BEGIN(t)          put_begin(&sink, t)
#define B_END()             put_end(&sink)
#define B_SET(st, sl, f, v) put_op(&sink, ACTION_SET, st, sl, f, v)
#define B_CLR(st, sl)       put_op(&sink, ACTION_CLEAR, st, sl, 0, 0)
#define B_ADD(st, sl, f, v) put_op(&sink, ACTION_ADD, st, sl, f, v)
#define B_PROP(st, p, v)    put_op(&sink, ACTION_PROP_SET, st, 0, p, v)
#define B_STAGE(id, s)      put_event(&sink, 0, id, s)
#define B_FLUSH(id, r)      put_event(&sink, 3, id, r)
#include "../workload.h"

uint64_t run_records(workload_t which, uint64_t cycles, record_sink_t *into)
{
    sink = *into;
    uint64_t items = which == WORKLOAD_STD ? workload_std(cycles) : workload_ooo(cycles);
    *into = sink;
    return items;
}
