// SPDX-License-Identifier: Apache-2.0
// The header is C++ as well: compiled, not run.
#include "uscope.h"
#include "uscope_cpu.h"
#include "uscope_noc.h"

#include <cstdint>

static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t), "64-bit arguments");

uscope_writer_t *open_it(const schema_t *schema, const dut_desc_t *dut)
{
    uscope_open_options_t options = USCOPE_OPEN_OPTIONS_INIT;
    options.name = "core0";
    uscope_writer_t *w = uscope_writer_open("core0", dut, schema, 1000);
    uscope_begin_cycle(w, std::uint64_t{5});
    uscope_slot_set(w, 1, 2, 3, std::uint64_t{4});
    uscope_end_cycle(w);
    return w ? w : uscope_writer_open_opts(&options);
}
