// Instead of uscope_rvfi: every pin that it reads is read, and nothing is done with it. What that takes is the core's formal interface.
module uscope_rvfi #(
    parameter int unsigned NRET = 1,
    parameter int unsigned XLEN = 32,
    parameter int unsigned ILEN = 32,
    parameter string       VARIABLES = ""
) (
    input logic                   clk,
    input logic                   rst,
    input logic [NRET-1:0]        rvfi_valid,
    input logic [NRET*64-1:0]     rvfi_order,
    input logic [NRET*ILEN-1:0]   rvfi_insn,
    input logic [NRET-1:0]        rvfi_trap,
    input logic [NRET-1:0]        rvfi_halt,
    input logic [NRET-1:0]        rvfi_intr,
    input logic [NRET*2-1:0]      rvfi_mode,
    input logic [NRET*2-1:0]      rvfi_ixl,
    input logic [NRET*5-1:0]      rvfi_rs1_addr,
    input logic [NRET*5-1:0]      rvfi_rs2_addr,
    input logic [NRET*XLEN-1:0]   rvfi_rs1_rdata,
    input logic [NRET*XLEN-1:0]   rvfi_rs2_rdata,
    input logic [NRET*5-1:0]      rvfi_rd_addr,
    input logic [NRET*XLEN-1:0]   rvfi_rd_wdata,
    input logic [NRET*XLEN-1:0]   rvfi_pc_rdata,
    input logic [NRET*XLEN-1:0]   rvfi_pc_wdata,
    input logic [NRET*XLEN-1:0]   rvfi_mem_addr,
    input logic [NRET*XLEN/8-1:0] rvfi_mem_rmask,
    input logic [NRET*XLEN/8-1:0] rvfi_mem_wmask,
    input logic [NRET*XLEN-1:0]   rvfi_mem_rdata,
    input logic [NRET*XLEN-1:0]   rvfi_mem_wdata
);
  // Decided when the simulation starts, so that the compiler keeps what is read.
  int file;
  string name;
  initial if ($value$plusargs("pins=%s", name)) file = $fopen(name, "w");
  always @(posedge clk)
    if (file != 0 && rvfi_valid != '0 && !rst)
      $fwrite(file, "%s %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h\n", VARIABLES, rvfi_valid, rvfi_order, rvfi_insn,
              rvfi_trap, rvfi_halt, rvfi_intr, rvfi_mode, rvfi_ixl, rvfi_rs1_addr, rvfi_rs2_addr, rvfi_rs1_rdata, rvfi_rs2_rdata, rvfi_rd_addr,
              rvfi_rd_wdata, rvfi_pc_rdata, rvfi_pc_wdata, rvfi_mem_addr, rvfi_mem_rmask, rvfi_mem_wmask, rvfi_mem_rdata, rvfi_mem_wdata);
endmodule
