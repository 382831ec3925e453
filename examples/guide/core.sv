// A small RISC-V core: fetch, execute, writeback; ADDI, ADD, MUL, BNE and EBREAK; its program in ROM.
module core (
    input  logic clk,
    input  logic rst,
    output logic halted
);
  localparam logic [31:0] Base = 32'h8000_0000;
  localparam logic [31:0] Rom [8] = '{
      32'h00a00513,  // 80000000  addi a0, zero, 10
      32'h00000593,  // 80000004  addi a1, zero, 0
      32'h02a50633,  // 80000008  mul  a2, a0, a0
      32'h00c585b3,  // 8000000c  add  a1, a1, a2
      32'hfff50513,  // 80000010  addi a0, a0, -1
      32'hfe051ae3,  // 80000014  bne  a0, zero, 80000008
      32'h00100073,  // 80000018  ebreak
      32'h00000013   // 8000001c  nop
  };
  localparam logic [6:0] OpImm = 7'h13, OpReg = 7'h33, OpBranch = 7'h63, OpSystem = 7'h73;

  // fetch
  logic [31:0] pc, inst;
  assign inst = Rom[pc[4:2]];

  // writeback, whose value goes to execute, too
  logic        wb_valid, wb_ebreak;
  logic [4:0]  wb_rd;
  logic [31:0] wb_value;
  logic [31:0] x [32];

  // execute: MUL takes three cycles, a taken branch throws away the instruction in fetch
  logic        ex_valid, stall, redirect, is_mul;
  logic [31:0] ex_pc, ex_inst, a, b, result, target;
  logic [1:0]  mul_cycles;
  assign is_mul   = ex_inst[6:0] == OpReg && ex_inst[14:12] == 3'd0 && ex_inst[25];
  assign a        = wb_valid && wb_rd != 0 && wb_rd == ex_inst[19:15] ? wb_value : x[ex_inst[19:15]];
  assign b        = wb_valid && wb_rd != 0 && wb_rd == ex_inst[24:20] ? wb_value : x[ex_inst[24:20]];
  assign stall    = ex_valid && is_mul && mul_cycles != 2;
  assign redirect = ex_valid && ex_inst[6:0] == OpBranch && a != b;
  assign target   = ex_pc + {{20{ex_inst[31]}}, ex_inst[7], ex_inst[30:25], ex_inst[11:8], 1'b0};
  assign result   = ex_inst[6:0] == OpImm ? a + {{20{ex_inst[31]}}, ex_inst[31:20]} : is_mul ? a * b : a + b;

  always_ff @(posedge clk) begin
    if (rst) begin
      pc         <= Base;
      ex_valid   <= 1'b0;
      wb_valid   <= 1'b0;
      mul_cycles <= 2'd0;
      halted     <= 1'b0;
      for (int i = 0; i < 32; i++) x[i] <= 32'd0;
    end else if (!halted) begin
      mul_cycles <= stall ? mul_cycles + 2'd1 : 2'd0;
      if (!stall) begin
        pc       <= redirect ? target : pc + 32'd4;
        ex_valid <= !redirect;
        ex_pc    <= pc;
        ex_inst  <= inst;
      end
      wb_valid  <= ex_valid && !stall;
      wb_rd     <= ex_inst[6:0] == OpBranch || ex_inst[6:0] == OpSystem ? 5'd0 : ex_inst[11:7];
      wb_value  <= result;
      wb_ebreak <= ex_inst[6:0] == OpSystem;
      if (wb_valid && wb_rd != 0) x[wb_rd] <= wb_value;
      if (wb_valid && wb_ebreak) halted <= 1'b1;
    end
  end
endmodule
