#include "uscope.h"
#include "workloads.h"

/* Several threads may run, each with a separate trace. */
static _Thread_local uscope_writer_t *trace;
static _Thread_local uint64_t start_ps;

#define B_BEGIN(t)          uscope_begin_cycle(trace, start_ps + (t))
#define B_END()             uscope_end_cycle(trace)
#define B_SET(st, sl, f, v) uscope_slot_set(trace, st, (uint16_t)(sl), f, v)
#define B_CLR(st, sl)       uscope_slot_clear(trace, st, (uint16_t)(sl))
#define B_ADD(st, sl, f, v) uscope_slot_add(trace, st, sl, f, v)
#define B_PROP(st, p, v)    uscope_prop_set(trace, st, p, v)
#define B_STAGE(id, s)      uscope_event2(trace, 0, id, s)
#define B_FLUSH(id, r)      uscope_event2(trace, 3, id, r)
#define W_STATE             static _Thread_local
#include "../workload.h"

uint64_t run_client(workload_t which, uint64_t cycles, uint64_t first_cycle, void *into)
{
    trace = into;
    start_ps = first_cycle * 1000;
    return which == WORKLOAD_STD ? workload_std(cycles) : workload_ooo(cycles);
}
