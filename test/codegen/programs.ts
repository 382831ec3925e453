/** The same steps in every generated language, over test/vectors/codegen/hostile.yaml. */

/** What the recorder prints for them. `text` is for languages with their own form of strings. */
export const EXPECTED = [
  'set 0 0 0 255',
  'add 3 0 0 -5',
  'set 3 0 0 -32768',
  'set 1 0 0 6',
  'string a "b"',
  'set 2 0 0 0',
  'set 7 65534 0 1',
  'set 7 65534 1 65535',
  'set 7 65534 2 2',
  'clear 7 65534',
  ...[
    '1',
    '65535',
    '4294967295',
    '-1',
    '-128',
    '-32768',
    '-2147483648',
    '-9223372036854775808',
    '1',
    '7',
    '5',
    '255',
  ].map((value, field) => `set 8 1 ${field} ${value}`),
  'prop 8 1 -2',
  'prop 8 2 1',
  'prop 8 4 0',
  'event 1',
  'event 3 1 2 3 4 5 6 7 8',
  'add 16 0 0 18',
];

/** What it prints after that where a client takes the state of storages slot by slot. */
export const EXPECTED_SNAPSHOTS = [
  'snapshot 3',
  'snapshot slot 0 -7',
  'snapshot end',
  'snapshot 7',
  'snapshot slot 65534 1 65535 2',
  'snapshot end',
  'snapshot 8',
  'snapshot slot 1 1 65535 4294967295 -1 -128 -32768 -2147483648 -9223372036854775808',
  ...['1', '7', '5', '255'].map((value, index) => `snapshot field 1 ${8 + index} ${value}`),
  'snapshot end',
];

/** And where it takes several lanes in one call. */
export const EXPECTED_LANES = [
  'set 4 0 0 17',
  'set 4 2 0 51',
  'clear 13 1',
  'clear 13 3',
  'add 10 0 0 1',
  'add 12 0 0 1',
  'event 0 5',
  'event 0 7',
  'event 5 1 9',
  'event 5 3 13',
];

export const C_PROGRAM = `
#include "hostile.h"
#include <stdint.h>

int main(void)
{
    uscope_writer_t *w = hostile_open("t", "lab", 3, "c", "x", -1);
    hostile_w_set(w, 255);
    hostile_signed_counter_add(w, -5);
    hostile_signed_counter_set(w, INT16_MIN);
    hostile_state_set(w, HOSTILE_CLASS_MRO);
    hostile_label_set_str(w, "a \\"b\\"");
    hostile_endmodule_put(w, 65534, 1, 65535, HOSTILE_CLASS_MODULE);
    hostile_endmodule_clear(w, 65534);
    hostile_all_types_put(w, 1, 1, 65535, UINT32_MAX, UINT64_MAX, INT8_MIN, INT16_MIN, INT32_MIN, INT64_MIN, true, 7,
                          HOSTILE_CLASS_TRUE, HOSTILE_LEVEL_HIGH);
    hostile_all_types_prop_pi(w, -2);
    hostile_all_types_prop_pb(w, true);
    hostile_all_types_prop_pe(w, HOSTILE_ST_DENSE);
    hostile_ev_nothing(w);
    hostile_ev_keywords(w, 1, 2, 3, 4, 5, 6, 7, 8);
    hostile_lane_site_shared_add(w, 18);
    hostile_signed_counter_snapshot(w, -7);
    hostile_endmodule_snapshot_begin(w);
    hostile_endmodule_snapshot_slot(w, 65534, 1, 65535, HOSTILE_CLASS_MODULE);
    hostile_endmodule_snapshot_end(w);
    hostile_all_types_snapshot_begin(w);
    hostile_all_types_snapshot_slot(w, 1, 1, 65535, UINT32_MAX, UINT64_MAX, INT8_MIN, INT16_MIN, INT32_MIN, INT64_MIN, true, 7,
                                    HOSTILE_CLASS_TRUE, HOSTILE_LEVEL_HIGH);
    hostile_all_types_snapshot_end(w);
    hostile_shared_set_v_lanes(w, 5, 0x003300220011ull, 16);
    hostile_lane_shared_clear_lanes(w, 10);
    hostile_count(w, HOSTILE_COUNT_R1_0 | HOSTILE_COUNT_HOSTILE_PKG);
    hostile_ev_set_lanes(w, 3, 0x0705, 8);
    hostile_ev_lane_shared_lanes(w, 5, 0x030201, 8, 9, 2);
    hostile_ev_nine(w, 1, -2, 3, 4, true, 5, HOSTILE_CLASS_TRUE, -6, -7);
    return 0;
}
`;

/** \`ev_nine\` packed (docs/reference/format.md#packing). */
export const PACKED_EVENT = 'event 4 01feff03000000040000000000000001' + '0500000005faffffffffffffff' + 'f9';

export const SV_PROGRAM = `
module top;
  import hostile_trace_pkg::*;
  initial begin
    chandle w;
    w = hostile_open("t", "lab", .class_("c"));
    w_set(w, 8'd255);
    signed_counter_add(w, -64'sd5);
    signed_counter_set(w, -16'sd32768);
    state_set(w, CLASS_MRO);
    label_set_str(w, "a \\"b\\"");
    endmodule_put(w, 16'd65534, 8'd1, 16'd65535, CLASS_MODULE);
    endmodule_clear(w, 16'd65534);
    all_types_put(w, 16'd1, 8'd1, 16'hFFFF, 32'hFFFF_FFFF, 64'hFFFF_FFFF_FFFF_FFFF, -8'sd128, -16'sd32768,
      -32'sd2147483648, 64'sh8000_0000_0000_0000, 1'b1, 32'd7, CLASS_TRUE, LEVEL_HIGH);
    all_types_prop_pi(w, -64'sd2);
    all_types_prop_pb(w, 1'b1);
    all_types_prop_pe(w, ST_DENSE);
    ev_nothing(w);
    ev_keywords(w, 8'd1, 8'd2, 8'd3, 8'd4, 8'd5, 8'd6, 8'd7, 8'd8);
    lane_site_shared_add(w, 64'd18);
    signed_counter_snapshot(w, -16'sd7);
    endmodule_snapshot_begin(w);
    endmodule_snapshot_slot(w, 16'd65534, 8'd1, 16'd65535, CLASS_MODULE);
    endmodule_snapshot_end(w);
    all_types_snapshot_begin(w);
    all_types_snapshot_slot(w, 16'd1, 8'd1, 16'hFFFF, 32'hFFFF_FFFF, 64'hFFFF_FFFF_FFFF_FFFF, -8'sd128, -16'sd32768,
      -32'sd2147483648, 64'sh8000_0000_0000_0000, 1'b1, 32'd7, CLASS_TRUE, LEVEL_HIGH);
    all_types_snapshot_end(w);
    shared_set_v_lanes(w, 64'b101, 64'h0033_0022_0011, 32'd16);
    lane_shared_clear_lanes(w, 64'b1010);
    count(w, COUNT_R1_0 | COUNT_HOSTILE_PKG);
    ev_set_lanes(w, 64'b11, 64'h0705, 32'd8);
    ev_lane_shared_lanes(w, 64'b101, 64'h030201, 32'd8, 8'd9, 32'd2);
    $finish;
  end
endmodule
`;

export const PYTHON_PROGRAM = `
import sys
from typing import Mapping, Sequence
from hostile import Class, HostileTrace, Level, St, Trace, hostile_open

class Recorder:
    def __init__(self, name: str, schema_sha256: str, variables: Mapping[str, str]) -> None:
        self.strings = 0
        print("open", name, schema_sha256[:8], ",".join(f"{k}={v}" for k, v in variables.items()))
    def slot_set(self, storage: int, slot: int, field: int, value: int, /) -> None:
        if storage == 8 and field == 3: value -= 1 << 64  # as a C program prints it
        print("set", storage, slot, field, int(value))
    def slot_clear(self, storage: int, slot: int, /) -> None:
        print("clear", storage, slot)
    def slot_add(self, storage: int, slot: int, field: int, delta: int, /) -> None:
        print("add", storage, slot, field, int(delta))
    def prop_set(self, storage: int, prop: int, value: int, /) -> None:
        print("prop", storage, prop, int(value))
    def event(self, event_type: int, values: Sequence[int], /) -> None:
        print("event", *map(int, (event_type, *values)))
    def string(self, text: str, /) -> int:
        print("string", text)
        self.strings += 1
        return self.strings - 1

def open_trace(name: str, /, *, schema_sha256: str, variables: Mapping[str, str]) -> Trace:
    return Recorder(name, schema_sha256, variables)

t: HostileTrace = hostile_open(open_trace, "t", site="lab", class_="c")
t.w.set(255)
t.signed_counter.add(-5)
t.signed_counter.set(-32768)
t.state.set(Class.MRO)
t.label.set('a "b"')
t.endmodule.put(65534, 1, 65535, Class.MODULE)
t.endmodule.clear(65534)
t.all_types.put(1, 1, 65535, 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF, -128, -32768, -(1 << 31), -(1 << 63), True, 7, Class.TRUE,
    Level.HIGH)
t.all_types.prop_pi(-2)
t.all_types.prop_pb(True)
t.all_types.prop_pe(St.DENSE)
t.ev_nothing()
t.ev_keywords(1, 2, 3, 4, 5, 6, 7, 8)
t.lane_site_shared.add(18)
`;
