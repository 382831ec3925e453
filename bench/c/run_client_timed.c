#include "pace.h"
#include "uscope.h"
#include "workloads.h"

static uscope_writer_t *trace;
static uint32_t *times;
static uint64_t began;

#define B_BEGIN(t)          (began = paced(began), uscope_begin_cycle(trace, t))
#define B_END()             (uscope_end_cycle(trace), *times++ = ticks_since(began))
#define B_SET(st, sl, f, v) uscope_slot_set(trace, st, (uint16_t)(sl), f, v)
#define B_CLR(st, sl)       uscope_slot_clear(trace, st, (uint16_t)(sl))
#define B_ADD(st, sl, f, v) uscope_slot_add(trace, st, sl, f, v)
#define B_PROP(st, p, v)    uscope_prop_set(trace, st, p, v)
#define B_STAGE(id, s)      uscope_event2(trace, 0, id, s)
#define B_FLUSH(id, r)      uscope_event2(trace, 3, id, r)
#include "../workload.h"

uint64_t run_client_timed(workload_t which, uint64_t cycles, void *into, uint32_t *ticks_of_cycle)
{
    trace = into;
    times = ticks_of_cycle;
    return which == WORKLOAD_STD ? workload_std(cycles) : workload_ooo(cycles);
}
