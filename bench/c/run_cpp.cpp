// The workloads through uscope.hpp, with the numbers of the schema as constants, as generated code has them
// and the C half too: handles that are looked up by name keep theirs in memory, as variables of a C model do.
#include "uscope.hpp"

extern "C" {
#include "workloads.h"
}

namespace
{

enum : int { STAGE_TRANSITION = 0, FLUSH = 3 };

/* A trace that is never destroyed: the writer is closed where it was opened. */
union kept {
    kept() : trace()
    {
    }
    ~kept()
    {
    }
    uscope::trace trace;
} kept;
std::uint64_t start_ps;

template <int STORAGE> uscope::storage storage()
{
    return {kept.trace.get(), STORAGE};
}
template <int STORAGE, int FIELD> void set(std::uint32_t slot, std::uint64_t value)
{
    const auto at = static_cast<std::uint16_t>(slot);
    if constexpr (STORAGE == 0 && FIELD == 1)
        storage<STORAGE>().set(at, uscope::field<std::uint64_t>{FIELD}, value);
    else if constexpr (STORAGE == 0 && FIELD == 3)
        storage<STORAGE>().set(at, uscope::field<std::uint16_t>{FIELD}, static_cast<std::uint16_t>(value));
    else
        storage<STORAGE>().set(at, uscope::field<std::uint32_t>{FIELD}, static_cast<std::uint32_t>(value));
}
template <int EVENT> void event(std::uint32_t id, std::uint8_t what)
{
    uscope::event<std::uint32_t, std::uint8_t>(kept.trace.get(), EVENT)(id, what);
}

} // namespace

#define B_BEGIN(t)          kept.trace.begin_cycle(start_ps + (t))
#define B_END()             kept.trace.end_cycle()
#define B_SET(st, sl, f, v) set<st, f>(sl, v)
#define B_CLR(st, sl)       storage<st>().clear(static_cast<std::uint16_t>(sl))
#define B_ADD(st, sl, f, v) storage<st>().count(v)
#define B_PROP(st, p, v)                                                                                     \
    storage<st>().set_property(uscope::field<std::uint16_t>{p}, static_cast<std::uint16_t>(v))
#define B_STAGE(id, s) event<STAGE_TRANSITION>(id, s)
#define B_FLUSH(id, r) event<FLUSH>(id, r)
#include "../workload.h"

extern "C" void use_cpp(void *into)
{
    kept.trace = uscope::trace(static_cast<uscope_writer_t *>(into));
}

extern "C" std::uint64_t run_cpp(workload_t which, std::uint64_t cycles, std::uint64_t first_cycle)
{
    start_ps = first_cycle * 1000;
    return which == WORKLOAD_STD ? workload_std(cycles) : workload_ooo(cycles);
}
