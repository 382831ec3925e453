// SPDX-License-Identifier: Apache-2.0
// What calls cost from Verilator: 32 slots of three fields per cycle, written in one of several ways (bench.cpp).
module top (
    input logic clk,
    input int unsigned way,
    input logic flush
);
  import uscope_pkg::*;

  chandle w;
  shortint unsigned entities;
  longint unsigned cycle;

  initial begin
    w = uscope_open("core0");
    entities = 16'(uscope_storage_id(w, "core0/entities"));
  end

  always @(posedge clk) begin
    if (flush) begin
      if (uscope_flush(w) != 0) $display("flush failed");
    end else begin
      uscope_begin_cycle(w, cycle * 1000);
      for (int unsigned i = 0; i < 32; i++) begin
        if (way == 1) begin
          uscope_slot_set(w, entities, 16'(i), 16'd0, 64'(i));
          uscope_slot_set(w, entities, 16'(i), 16'd1, cycle);
          uscope_slot_set(w, entities, 16'(i), 16'd2, 64'h13);
        end else if (way == 2) begin
          uscope_slot_put3(w, entities, 16'(i), 64'(i), cycle, 64'h13);
        end
      end
      uscope_end_cycle(w);
      cycle <= cycle + 1;
    end
  end

  final uscope_close(w);
endmodule
