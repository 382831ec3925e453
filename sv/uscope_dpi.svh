// SPDX-License-Identifier: Apache-2.0
// The imports of libuscope_dpi. Included by uscope_pkg.sv; include it directly where a tool wants imports visible in
// every file that uses them. Times are picoseconds. A null handle is legal everywhere: the call does nothing.
// No include guard: each scope that includes this file gets its own imports, as it must.

// -- life cycle (docs/reference/format.md#names-of-calls)
// Opens trace `path` ("core0") with the schema file named by USCOPE_SCHEMA, or the daemon's default.
import "DPI-C" function chandle uscope_open(input string path);
// Opens a trace with its own schema file.
import "DPI-C" function chandle uscope_open_schema(input string name, input string schema_path);
// What generated code calls. schema_path "": as uscope_open; schema_sha256: the schema the code was generated from, "" not
// checked; variables: values of schema variables, "core=0,name=x". A number for `core` is also the trace's core index.
import "DPI-C" function chandle uscope_open_checked(input string name, input string schema_path,
  input string schema_sha256, input string variables);
// Ends an open cycle, waits until the file is complete and durable.
import "DPI-C" function void uscope_close(input chandle w);
// Waits until every complete cycle is durable; 0 when it is.
import "DPI-C" function int uscope_flush(input chandle w);

// -- per cycle
// uscope_next_cycle is uscope_end_cycle, uscope_checkpoint_due and, unless that says yes, uscope_begin_cycle: 0 when the next
// cycle is begun, 1 when snapshots may be given first and uscope_begin_cycle has to follow.
// Beginning a cycle may call the design's uscope_checkpoint, for which the language wants `context`. Verilator needs only the
// scope, which the library sets; there the call stays as cheap as the others.
`ifdef VERILATOR
import "DPI-C" function void uscope_begin_cycle(input chandle w, input longint unsigned time_ps);
import "DPI-C" function int uscope_next_cycle(input chandle w, input longint unsigned time_ps);
`else
import "DPI-C" context function void uscope_begin_cycle(input chandle w, input longint unsigned time_ps);
import "DPI-C" context function int uscope_next_cycle(input chandle w, input longint unsigned time_ps);
`endif
import "DPI-C" function void uscope_end_cycle(input chandle w);
import "DPI-C" function void uscope_slot_set(input chandle w, input shortint unsigned storage_id,
  input shortint unsigned slot, input shortint unsigned field, input longint unsigned value);
// Fields 0 .. n-1 of a slot in one call.
import "DPI-C" function void uscope_slot_put1(input chandle w, input shortint unsigned storage_id,
  input shortint unsigned slot, input longint unsigned f0);
import "DPI-C" function void uscope_slot_put2(input chandle w, input shortint unsigned storage_id,
  input shortint unsigned slot, input longint unsigned f0, input longint unsigned f1);
import "DPI-C" function void uscope_slot_put3(input chandle w, input shortint unsigned storage_id,
  input shortint unsigned slot, input longint unsigned f0, input longint unsigned f1, input longint unsigned f2);
import "DPI-C" function void uscope_slot_put4(input chandle w, input shortint unsigned storage_id,
  input shortint unsigned slot, input longint unsigned f0, input longint unsigned f1, input longint unsigned f2,
  input longint unsigned f3);
import "DPI-C" function void uscope_slot_put5(input chandle w, input shortint unsigned storage_id,
  input shortint unsigned slot, input longint unsigned f0, input longint unsigned f1, input longint unsigned f2,
  input longint unsigned f3, input longint unsigned f4);
import "DPI-C" function void uscope_slot_put6(input chandle w, input shortint unsigned storage_id,
  input shortint unsigned slot, input longint unsigned f0, input longint unsigned f1, input longint unsigned f2,
  input longint unsigned f3, input longint unsigned f4, input longint unsigned f5);
import "DPI-C" function void uscope_slot_put7(input chandle w, input shortint unsigned storage_id,
  input shortint unsigned slot, input longint unsigned f0, input longint unsigned f1, input longint unsigned f2,
  input longint unsigned f3, input longint unsigned f4, input longint unsigned f5, input longint unsigned f6);
import "DPI-C" function void uscope_slot_put8(input chandle w, input shortint unsigned storage_id,
  input shortint unsigned slot, input longint unsigned f0, input longint unsigned f1, input longint unsigned f2,
  input longint unsigned f3, input longint unsigned f4, input longint unsigned f5, input longint unsigned f6,
  input longint unsigned f7);
import "DPI-C" function void uscope_slot_clear(input chandle w, input shortint unsigned storage_id,
  input shortint unsigned slot);
import "DPI-C" function void uscope_slot_add(input chandle w, input shortint unsigned storage_id,
  input shortint unsigned slot, input shortint unsigned field, input longint unsigned value);
import "DPI-C" function void uscope_prop_set(input chandle w, input shortint unsigned storage_id,
  input shortint unsigned property_id, input longint unsigned value);

// Index of a text for a string field; 32'hFFFF_FFFF when the text was rejected.
import "DPI-C" function int unsigned uscope_string(input chandle w, input string text);

// -- events: field values in the order of the schema, packed by the client
import "DPI-C" function void uscope_event0(input chandle w, input shortint unsigned event_type_id);
import "DPI-C" function void uscope_event1(input chandle w, input shortint unsigned event_type_id,
  input longint unsigned f0);
import "DPI-C" function void uscope_event2(input chandle w, input shortint unsigned event_type_id,
  input longint unsigned f0, input longint unsigned f1);
import "DPI-C" function void uscope_event3(input chandle w, input shortint unsigned event_type_id,
  input longint unsigned f0, input longint unsigned f1, input longint unsigned f2);
import "DPI-C" function void uscope_event4(input chandle w, input shortint unsigned event_type_id,
  input longint unsigned f0, input longint unsigned f1, input longint unsigned f2, input longint unsigned f3);
import "DPI-C" function void uscope_event5(input chandle w, input shortint unsigned event_type_id,
  input longint unsigned f0, input longint unsigned f1, input longint unsigned f2, input longint unsigned f3,
  input longint unsigned f4);
import "DPI-C" function void uscope_event6(input chandle w, input shortint unsigned event_type_id,
  input longint unsigned f0, input longint unsigned f1, input longint unsigned f2, input longint unsigned f3,
  input longint unsigned f4, input longint unsigned f5);
import "DPI-C" function void uscope_event7(input chandle w, input shortint unsigned event_type_id,
  input longint unsigned f0, input longint unsigned f1, input longint unsigned f2, input longint unsigned f3,
  input longint unsigned f4, input longint unsigned f5, input longint unsigned f6);
import "DPI-C" function void uscope_event8(input chandle w, input shortint unsigned event_type_id,
  input longint unsigned f0, input longint unsigned f1, input longint unsigned f2, input longint unsigned f3,
  input longint unsigned f4, input longint unsigned f5, input longint unsigned f6, input longint unsigned f7);

// -- lanes: the same item once for each bit set in `lanes`, lowest first, in one call. The value of lane i is in bits
// i*width +: width of `values`, as in a packed array.
// One field of slot i.
import "DPI-C" function void uscope_slot_set_lanes(input chandle w, input shortint unsigned storage_id,
  input shortint unsigned field, input longint unsigned lanes, input longint unsigned values, input int unsigned width);
import "DPI-C" function void uscope_slot_clear_lanes(input chandle w, input shortint unsigned storage_id,
  input longint unsigned lanes);
// Adds 1 to the first value of storage first_storage_id + i: consecutive counters.
import "DPI-C" function void uscope_count_lanes(input chandle w, input shortint unsigned first_storage_id,
  input longint unsigned lanes);
// Events of one field; of two, the second being `second` + i * `step`.
import "DPI-C" function void uscope_event1_lanes(input chandle w, input shortint unsigned event_type_id,
  input longint unsigned lanes, input longint unsigned values, input int unsigned width);
import "DPI-C" function void uscope_event2_lanes(input chandle w, input shortint unsigned event_type_id,
  input longint unsigned lanes, input longint unsigned values, input int unsigned width, input int unsigned second,
  input int unsigned step);

// A payload packed by the caller, its first byte at the array's left bound. Verilator takes no open arrays of this kind:
// use uscope_event1..8 there. Define USCOPE_NO_EVENT_RAW to leave it out elsewhere.
`ifndef VERILATOR
`ifndef USCOPE_NO_EVENT_RAW
import "DPI-C" function void uscope_event_raw(input chandle w, input shortint unsigned event_type_id,
  input byte unsigned payload[]);
`endif
`endif

// -- checkpoints: the state of whole storages, read from the design when the checkpoint interval is crossed
// 1 when the cycle about to begin at time_ps crosses it; the calls below are then legal until that uscope_begin_cycle.
// The other way, an exported function that is called, is in uscope_checkpoint.svh.
import "DPI-C" function int uscope_checkpoint_due(input chandle w, input longint unsigned time_ps);
// One storage, slot by slot: every slot given is valid; of a dense storage all are to be given. Anything wrong rejects
// the whole snapshot. More than 8 fields: uscope_checkpoint_slot8, then uscope_checkpoint_field.
import "DPI-C" function void uscope_checkpoint_begin(input chandle w, input shortint unsigned storage_id);
import "DPI-C" function void uscope_checkpoint_slot1(input chandle w, input shortint unsigned slot,
  input longint unsigned f0);
import "DPI-C" function void uscope_checkpoint_slot2(input chandle w, input shortint unsigned slot,
  input longint unsigned f0, input longint unsigned f1);
import "DPI-C" function void uscope_checkpoint_slot3(input chandle w, input shortint unsigned slot,
  input longint unsigned f0, input longint unsigned f1, input longint unsigned f2);
import "DPI-C" function void uscope_checkpoint_slot4(input chandle w, input shortint unsigned slot,
  input longint unsigned f0, input longint unsigned f1, input longint unsigned f2, input longint unsigned f3);
import "DPI-C" function void uscope_checkpoint_slot5(input chandle w, input shortint unsigned slot,
  input longint unsigned f0, input longint unsigned f1, input longint unsigned f2, input longint unsigned f3,
  input longint unsigned f4);
import "DPI-C" function void uscope_checkpoint_slot6(input chandle w, input shortint unsigned slot,
  input longint unsigned f0, input longint unsigned f1, input longint unsigned f2, input longint unsigned f3,
  input longint unsigned f4, input longint unsigned f5);
import "DPI-C" function void uscope_checkpoint_slot7(input chandle w, input shortint unsigned slot,
  input longint unsigned f0, input longint unsigned f1, input longint unsigned f2, input longint unsigned f3,
  input longint unsigned f4, input longint unsigned f5, input longint unsigned f6);
import "DPI-C" function void uscope_checkpoint_slot8(input chandle w, input shortint unsigned slot,
  input longint unsigned f0, input longint unsigned f1, input longint unsigned f2, input longint unsigned f3,
  input longint unsigned f4, input longint unsigned f5, input longint unsigned f6, input longint unsigned f7);
import "DPI-C" function void uscope_checkpoint_field(input chandle w, input shortint unsigned slot,
  input shortint unsigned field, input longint unsigned value);
import "DPI-C" function void uscope_checkpoint_end(input chandle w);

// -- control while running (docs/how-to/control.md)
// Stops recording a scope ("core0/lsu") and those below it; "" is the whole trace. Inside or outside a cycle.
import "DPI-C" function void uscope_disable(input chandle w, input string scope);
// Records it again.
import "DPI-C" function void uscope_enable(input chandle w, input string scope);
// Records a trigger with a label, also while the trace is paused.
import "DPI-C" function void uscope_trigger(input chandle w, input string label);
// Items not recorded so far because their scope was disabled.
import "DPI-C" function longint unsigned uscope_skipped(input chandle w);

// -- ids by name ("core0/rob"); -1 when there is none
import "DPI-C" function int uscope_storage_id(input chandle w, input string name);
import "DPI-C" function int uscope_field_id(input chandle w, input int storage_id, input string name);
import "DPI-C" function int uscope_property_id(input chandle w, input int storage_id, input string name);
// Period of a clock in ps, "" is the first one; 0 when it is not known.
import "DPI-C" function int unsigned uscope_clock_period(input chandle w, input string name);
import "DPI-C" function int uscope_event_id(input chandle w, input string name);
import "DPI-C" function int uscope_event_field_id(input chandle w, input int event_type_id, input string name);
import "DPI-C" function int uscope_enum_value(input chandle w, input string enum_name, input string label);

// -- errors and versions
import "DPI-C" function string uscope_last_error_code();
import "DPI-C" function string uscope_last_error_message();
import "DPI-C" function longint unsigned uscope_rejected(input chandle w);
import "DPI-C" function string uscope_path(input chandle w);
import "DPI-C" function string uscope_version();
import "DPI-C" function int uscope_protocol_version();

