// SPDX-License-Identifier: Apache-2.0
// A queue of eight bytes, for the tests. Its memory holds X until it is written.
`timescale 1ns / 1ps
module fifo (
    input  logic       clk,
    input  logic       rst,
    input  logic       push,
    input  logic       pop,
    input  logic [7:0] data,
    output logic [7:0] front,
    output logic [3:0] count
);
  logic [7:0] memory [8] /* verilator public_flat_rw */;
  logic [7:0] valid /* verilator public_flat_rw */;
  logic [2:0] head /* verilator public_flat_rw */;
  logic [2:0] tail /* verilator public_flat_rw */;

  assign front = memory[head];

  always_ff @(posedge clk) begin
    if (rst) begin
      head  <= 0;
      tail  <= 0;
      count <= 0;
      valid <= 0;
    end else begin
      if (push) begin
        memory[tail] <= data;
        valid[tail]  <= 1;
        tail <= tail + 1;
      end
      if (pop) begin
        valid[head] <= 0;
        head <= head + 1;
      end
      count <= count + {3'b0, push} - {3'b0, pop};
    end
  end
endmodule
