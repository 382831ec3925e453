// The workloads through uscope.hpp, with handles that are looked up by name as a model does.
#include "uscope.hpp"

extern "C" {
#include "workloads.h"
}

namespace
{

struct handles {
    uscope::storage entities, committed, misses, rob;
    uscope::field<std::uint32_t> entity_id, inst_bits, rob_id;
    uscope::field<std::uint64_t> pc;
    uscope::field<std::uint16_t> rbid, pointers[2];
    uscope::event<std::uint32_t, std::uint8_t> stage, flush;
};

handles find(const uscope::trace &trace)
{
    handles found;
    found.entities = trace.storage("core0/entities");
    found.committed = trace.storage("core0/committed_insns");
    found.misses = trace.storage("core0/bp_misses");
    found.rob = trace.storage("core0/rob");
    found.entity_id = found.entities.field<std::uint32_t>("entity_id");
    found.pc = found.entities.field<std::uint64_t>("pc");
    found.inst_bits = found.entities.field<std::uint32_t>("inst_bits");
    found.rbid = found.entities.field<std::uint16_t>("rbid");
    found.rob_id = found.rob.field<std::uint32_t>("entity_id");
    found.pointers[0] = found.rob.property<std::uint16_t>("retire_ptr");
    found.pointers[1] = found.rob.property<std::uint16_t>("allocate_ptr");
    found.stage = trace.event<std::uint32_t, std::uint8_t>("core0/stage_transition");
    found.flush = trace.event<std::uint32_t, std::uint8_t>("core0/flush");
    return found;
}

uscope::trace *trace; // never deleted: the writer is closed where it was opened
handles h;
std::uint64_t start_ps;

/** What the C half names by numbers. */
template <int STORAGE, int FIELD> void set(std::uint32_t slot, std::uint64_t value)
{
    const auto at = static_cast<std::uint16_t>(slot);
    if constexpr (STORAGE == 3)
        h.rob.set(at, h.rob_id, static_cast<std::uint32_t>(value));
    else if constexpr (FIELD == 0)
        h.entities.set(at, h.entity_id, static_cast<std::uint32_t>(value));
    else if constexpr (FIELD == 1)
        h.entities.set(at, h.pc, value);
    else if constexpr (FIELD == 2)
        h.entities.set(at, h.inst_bits, static_cast<std::uint32_t>(value));
    else
        h.entities.set(at, h.rbid, static_cast<std::uint16_t>(value));
}
template <int STORAGE> const uscope::storage &storage()
{
    if constexpr (STORAGE == 0)
        return h.entities;
    else if constexpr (STORAGE == 1)
        return h.committed;
    else if constexpr (STORAGE == 2)
        return h.misses;
    else
        return h.rob;
}

} // namespace

#define B_BEGIN(t)          trace->begin_cycle(start_ps + (t))
#define B_END()             trace->end_cycle()
#define B_SET(st, sl, f, v) set<st, f>(sl, v)
#define B_CLR(st, sl)       storage<st>().clear(static_cast<std::uint16_t>(sl))
#define B_ADD(st, sl, f, v) storage<st>().count(v)
#define B_PROP(st, p, v)    storage<st>().set_property(h.pointers[p], static_cast<std::uint16_t>(v))
#define B_STAGE(id, s)      h.stage(id, s)
#define B_FLUSH(id, r)      h.flush(id, r)
#include "../workload.h"

extern "C" void use_cpp(void *into)
{
    trace = new uscope::trace(static_cast<uscope_writer_t *>(into));
    h = find(*trace);
}

extern "C" std::uint64_t run_cpp(workload_t which, std::uint64_t cycles, std::uint64_t first_cycle)
{
    start_ps = first_cycle * 1000;
    return which == WORKLOAD_STD ? workload_std(cycles) : workload_ooo(cycles);
}
