// SPDX-License-Identifier: Apache-2.0
// Calls every import of uscope_pkg that Verilator takes. Names are those of test/schema_bytes.c.
module top (
    input logic clk
);
  import uscope_pkg::*;

  chandle w;
  // ids as the per-cycle calls take them; a name that is not found gives 16'hFFFF, which they reject
  shortint unsigned entities, rob, pc, retire_ptr, stage_event, annotate;
  int retire;
  longint unsigned cycle;

  initial begin
    w = uscope_open_checked("core0", "", "", "");
    entities = 16'(uscope_storage_id(w, "core0/entities"));
    rob = 16'(uscope_storage_id(w, "core0/rob"));
    pc = 16'(uscope_field_id(w, int'(entities), "pc"));
    retire_ptr = 16'(uscope_property_id(w, int'(rob), "retire_ptr"));
    stage_event = 16'(uscope_event_id(w, "core0/stage_transition"));
    annotate = 16'(uscope_event_id(w, "core0/annotate"));
    retire = uscope_enum_value(w, "stage", "retire");
    $display("client %s protocol %0d file %s", uscope_version(), uscope_protocol_version(), uscope_path(w));
    if (uscope_event_field_id(w, int'(stage_event), "stage") != 1) $display("event field is wrong");
  end

  always @(posedge clk) begin
    uscope_begin_cycle(w, cycle * 1000);
    if (cycle % 2 == 0) begin
      uscope_slot_put2(w, entities, 16'(cycle % 512), cycle % 512, 64'h8000_0000 + cycle * 4);
    end else begin
      uscope_slot_set(w, entities, 16'(cycle % 512), 16'd0, cycle % 512);
      uscope_slot_set(w, entities, 16'(cycle % 512), pc, 64'h8000_0000 + cycle * 4);
    end
    uscope_slot_add(w, 16'd1, 16'd0, 16'd0, 64'd1);
    uscope_prop_set(w, rob, retire_ptr, cycle % 256);
    uscope_event2(w, stage_event, cycle % 512, 64'(retire));
    if (cycle % 100 == 0) begin
      automatic string text = $sformatf("0x%0h: nop", 64'h8000_0000 + cycle * 4);
      uscope_event2(w, annotate, cycle % 512, 64'(uscope_string(w, text)));
      uscope_event0(w, 16'd5);
      uscope_event8(w, 16'd3, 64'd1, 64'd2, 64'd3, 64'd4, -64'd5, -64'd6, -64'd7, -64'd8);
    end
    uscope_slot_clear(w, entities, 16'((cycle + 300) % 512));
    if (cycle % 10 == 0) begin
      // 2 + 1 + 1 + 2 items
      uscope_slot_set_lanes(w, entities, 16'd0, 64'h5, 64'h07_00_05, 32'd8);
      uscope_slot_clear_lanes(w, entities, 64'h2);
      uscope_count_lanes(w, 16'd1, 64'h1);
      uscope_event2_lanes(w, stage_event, 64'h3, 64'h06_05, 32'd8, 32'd0, 32'd1);
      // no event of the schema has one field
      uscope_event1_lanes(w, stage_event, 64'd0, 64'd0, 32'd8);
    end
    if (cycle % 10 == 0) begin
      if (uscope_next_cycle(w, cycle * 1000 + 500) != 0) uscope_begin_cycle(w, cycle * 1000 + 500);
    end
    uscope_end_cycle(w);
    cycle <= cycle + 1;
    if (cycle == 9_999) begin
      if (uscope_flush(w) != 0) $display("flush failed: %s", uscope_last_error_message());
      $display("rejected %0d last error '%s'", uscope_rejected(w), uscope_last_error_code());
      $finish;
    end
  end

  final uscope_close(w);
endmodule
