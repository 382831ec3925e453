// SPDX-License-Identifier: Apache-2.0
// A processor of two cycles per instruction and eight registers, with a program that sums Fibonacci's numbers. Nothing in it knows of tracing.
//   0 rd ra imm6    rd = ra + imm          1 rd ra rb    rd = ra + rb
//   2 off6 ra rb    if ra != rb jump       3             halt
`timescale 1ns / 1ps
module tiny_cpu (
    input  wire        clk,
    input  wire        rst,
    output reg         halted,
    output reg         retire,
    output reg  [ 7:0] retire_pc,
    output reg  [15:0] retire_bits
);
  reg [15:0] regs [0:7];
  reg [15:0] program_memory [0:15];
  reg [ 7:0] pc;
  reg        executing;
  reg [15:0] bits;

  wire [3:0] op = bits[15:12];
  wire [2:0] rd = bits[11:9];
  wire [2:0] ra = bits[8:6];
  wire [2:0] rb = bits[5:3];
  wire [15:0] immediate = {{10{bits[5]}}, bits[5:0]};
  wire [7:0] offset = {{5{bits[11]}}, bits[11:9]};

  initial begin
    program_memory[0] = {4'd0, 3'd1, 3'd0, 6'd0};           // addi r1, r0, 0
    program_memory[1] = {4'd0, 3'd2, 3'd0, 6'd1};           // addi r2, r0, 1
    program_memory[2] = {4'd0, 3'd4, 3'd0, 6'd20};          // addi r4, r0, 20
    program_memory[3] = {4'd1, 3'd3, 3'd1, 3'd2, 3'd0};     // add  r3, r1, r2
    program_memory[4] = {4'd0, 3'd1, 3'd2, 6'd0};           // addi r1, r2, 0
    program_memory[5] = {4'd0, 3'd2, 3'd3, 6'd0};           // addi r2, r3, 0
    program_memory[6] = {4'd0, 3'd4, 3'd4, -6'd1};          // addi r4, r4, -1
    program_memory[7] = {4'd2, -3'd4, 3'd4, 3'd0, 3'd0};    // bne  r4, r0, -4
    program_memory[8] = {4'd3, 12'd0};                      // halt
  end

  always @(posedge clk) begin
    retire <= 1'b0;
    if (rst) begin
      pc <= 8'd0;
      regs[0] <= 16'd0;
      executing <= 1'b0;
      halted <= 1'b0;
    end else if (!executing) begin
      bits <= program_memory[pc[3:0]];
      executing <= !halted;
    end else begin
      executing <= 1'b0;
      pc <= pc + 8'd1;
      case (op)
        4'd0: regs[rd] <= regs[ra] + immediate;
        4'd1: regs[rd] <= regs[ra] + regs[rb];
        4'd2: if (regs[ra] != regs[rb]) pc <= pc + offset;
        default: halted <= 1'b1;
      endcase
      retire <= 1'b1;
      retire_pc <= pc;
      retire_bits <= bits;
    end
  end
endmodule
