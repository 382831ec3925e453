// SPDX-License-Identifier: Apache-2.0
`timescale 1ns / 1ps
// Packed two-dimensional array and packed structure: cocotb 2 gives one handle for each, without elements.
module packed_lanes (input wire clk, input wire rst);
  typedef struct packed { logic valid; logic [6:0] tag; } entry_t;
  logic [3:0][7:0] lanes;
  entry_t          head;
  logic [7:0]      cnt;
  always @(posedge clk)
    if (rst) cnt <= 8'd0; else cnt <= cnt + 8'd1;
  assign lanes = {cnt + 8'd3, cnt + 8'd2, cnt + 8'd1, cnt};
  assign head  = {cnt[0], cnt[6:0]};
endmodule
