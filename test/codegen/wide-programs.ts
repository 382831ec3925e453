/** The same steps in every generated language, over test/vectors/codegen/wide.yaml: fields of more than 64 bits (docs/reference/format.md#wide-fields). */

/** Some bits of `bus` are x, of `beat` z. */
export const EXPECTED_WIDE = [
  'set 0 3 0 1',
  'set 0 3 1 -2',
  'set 0 4 0 5',
  'set 0 4 1 6',
  'set 0 4 2 240',
  'set 0 4 3 165',
  'set 0 4 4 240',
  'set 0 4 5 128',
  'set 0 4 6 7',
  'prop 0 0 9',
  'prop 0 1 1',
  'event 0 2 3 68719476735 1 34359738368',
];

/** And what a client takes of the state of the storage. */
export const EXPECTED_WIDE_SNAPSHOT = 'snapshot slot 4 5 6 240 165 240 128 7';
/** `burst` packed (docs/reference/format.md#packing). */
export const PACKED_BURST = `event 1 0100000000000000${'00'.repeat(48)}000000000000008001`;

export const C_WIDE = `
#include "wide.h"

int main(void)
{
    const uint64_t data[2] = {1, UINT64_MAX - 1}, other[2] = {5, 6};
    const uint64_t bus[4] = {240, UINT64_MAX << 8 | 165, 240, 128}, line[2] = {9, UINT64_MAX};
    const uint64_t beat[4] = {3, UINT64_MAX, 1, UINT64_C(1) << 35}, burst[8] = {1, 0, 0, 0, 0, 0, 0, UINT64_C(1) << 63};
    uscope_writer_t *w = wide_open("t");
    wide_vregs_set_data(w, 3, data);
    wide_vregs_put(w, 4, other, bus, 7);
    wide_vregs_prop_line(w, line);
    wide_ev_beat(w, 2, beat);
    wide_vregs_snapshot_slot(w, 4, other, bus, 7);
    wide_ev_burst(w, burst, true);
    return 0;
}
`;

export const CPP_WIDE = `
#include "wide.hpp"

int main()
{
    const std::array<std::uint64_t, 2> data{1, UINT64_MAX - 1}, other{5, 6}, line{9, UINT64_MAX};
    const std::array<std::uint64_t, 4> bus{240, UINT64_MAX << 8 | 165, 240, 128};
    const std::array<std::uint64_t, 4> beat{3, UINT64_MAX, 1, std::uint64_t(1) << 35};
    const std::array<std::uint64_t, 8> burst{1, 0, 0, 0, 0, 0, 0, std::uint64_t(1) << 63};
    wide::vregs_handle vregs(nullptr);
    wide::trace t;
    vregs.set_data(3, data);
    vregs.put(4, other, bus, 7);
    vregs.prop_line(line);
    vregs.snapshot_slot(4, other, bus, 7);
    t.ev_beat(2, beat);
    t.ev_burst(burst, true);
    return 0;
}
`;

const SV_WIDE = `
module top;
  import wide_trace_pkg::*;
  initial begin
    chandle w;
    w = wide_open("t");
    vregs_set_data(w, 16'd3, 128'hFFFF_FFFF_FFFF_FFFE_0000_0000_0000_0001);
    vregs_put(w, 16'd4, {64'd6, 64'd5}, {8'bx010_0101, 56'd0, 8'hx0}, 8'd7);
    vregs_prop_line(w, {1'b1, 64'd9});
    ev_beat(w, 16'd2, {1'bx, 35'h7_FFFF_FFFF, 62'd0, 2'b1x});
    vregs_snapshot_slot(w, 16'd4, {64'd6, 64'd5}, {8'bx010_0101, 56'd0, 8'hx0}, 8'd7);
    $finish;
  end
endmodule
`;

/** Instead of the DPI calls, which Icarus does not have. */
const PRINTED_CALLS = `
package uscope_pkg;
  function automatic longint uscope_open_checked(input string name, input string path, input string sha, input string variables);
    return 1;
  endfunction
  function automatic void uscope_slot_set(input longint w, input shortint unsigned st, input shortint unsigned slot,
      input shortint unsigned field, input longint value);
    $display("set %0d %0d %0d %0d", st, slot, field, value);
  endfunction
  function automatic void uscope_prop_set(input longint w, input shortint unsigned st, input shortint unsigned field, input longint value);
    $display("prop %0d %0d %0d", st, field, value);
  endfunction
  function automatic void uscope_slot_put7(input longint w, input shortint unsigned st, input shortint unsigned slot,
      input longint a, input longint b, input longint c, input longint d, input longint e, input longint f, input longint g);
    uscope_slot_set(w, st, slot, 0, a); uscope_slot_set(w, st, slot, 1, b); uscope_slot_set(w, st, slot, 2, c);
    uscope_slot_set(w, st, slot, 3, d); uscope_slot_set(w, st, slot, 4, e); uscope_slot_set(w, st, slot, 5, f);
    uscope_slot_set(w, st, slot, 6, g);
  endfunction
  function automatic void uscope_event5(input longint w, input shortint unsigned id, input longint a, input longint b, input longint c,
      input longint d, input longint e);
    $display("event %0d %0d %0d %0d %0d %0d", id, a, b, c, d, e);
  endfunction
  function automatic void uscope_checkpoint_slot7(input longint w, input shortint unsigned slot,
      input longint a, input longint b, input longint c, input longint d, input longint e, input longint f, input longint g);
    $display("snapshot slot %0d %0d %0d %0d %0d %0d %0d %0d", slot, a, b, c, d, e, f, g);
  endfunction
endpackage
`;

export const PYTHON_WIDE = `
from typing import Mapping, Sequence
from wide import Trace, wide_open

class Recorder:
    def slot_set(self, storage: int, slot: int, field: int, value: int, /) -> None:
        print("set", storage, slot, field, value - (1 << 64) if value >> 63 else value)
    def slot_clear(self, storage: int, slot: int, /) -> None: ...
    def slot_add(self, storage: int, slot: int, field: int, delta: int, /) -> None: ...
    def prop_set(self, storage: int, prop: int, value: int, /) -> None:
        print("prop", storage, prop, value)
    def event(self, event_type: int, values: Sequence[int], /) -> None:
        print("event", event_type, *values)
    def string(self, text: str, /) -> int:
        return 0

def open_trace(name: str, /, *, schema_sha256: str, variables: Mapping[str, str]) -> Trace:
    return Recorder()

t = wide_open(open_trace, "t")
t.vregs.set_data(3, 0xFFFFFFFFFFFFFFFE << 64 | 1)
t.vregs.put(4, 6 << 64 | 5, (165 << 64 | 240, 128 << 64 | 240), 7)
t.vregs.prop_line(1 << 64 | 9)
t.ev_beat(2, (((1 << 36) - 1) << 64 | 3, 1 << 99 | 1))
`;

/** Package and program as one module without DPI, since Icarus cannot call void functions of packages from each other. */
export function icarusModule(generated: string): string {
  const called = generated
    .replace(/`ifndef VERILATOR[\s\S]*?`endif\s*`endif/g, '')
    .replace(/ {2}function automatic void (\w+_lanes|\w+_begin|\w+_end|\w*add_tag)\([\s\S]*?endfunction/g, '')
    .replace(/localparam (shortint unsigned|int unsigned|string)/g, 'localparam');
  const whole = [PRINTED_CALLS, called, SV_WIDE.replace('module top;', '')].join('\n');
  const body = whole
    .replace(/^\s*(package .*|endpackage|import .*)$/gm, '')
    .replace(/function automatic void (\w+\([^;]*;[\s\S]*?)endfunction/g, 'task automatic $1endtask');
  return `module top;\n${body.replaceAll('chandle', 'longint')}`;
}
