// The log that the trace is compared with: the pins of the RISC-V Formal Interface as text, a line for each instruction. It shares
// no code with the tracer. +log=FILE; without it nothing is written.
module rvfi_log (
    input logic        clk,
    input logic        rst,
    input logic        rvfi_valid,
    input logic [63:0] rvfi_order,
    input logic [31:0] rvfi_insn,
    input logic        rvfi_trap,
    input logic        rvfi_intr,
    input logic [4:0]  rvfi_rd_addr,
    input logic [31:0] rvfi_rd_wdata,
    input logic [31:0] rvfi_pc_rdata,
    input logic [31:0] rvfi_pc_wdata,
    input logic [31:0] rvfi_mem_addr,
    input logic [3:0]  rvfi_mem_rmask,
    input logic [3:0]  rvfi_mem_wmask,
    input logic [31:0] rvfi_mem_rdata,
    input logic [31:0] rvfi_mem_wdata
);
  int    file;
  string name;
  initial if ($value$plusargs("log=%s", name)) file = $fopen(name, "w");
  always @(posedge clk)
    if (file != 0 && rvfi_valid && !rst)
      $fwrite(file, "%0d %h %h %b %b %0d %h %h %h %h %h %h %h\n", rvfi_order, rvfi_pc_rdata, rvfi_insn, rvfi_trap, rvfi_intr,
              rvfi_rd_addr, rvfi_rd_wdata, rvfi_pc_wdata, rvfi_mem_addr, rvfi_mem_rmask, rvfi_mem_wmask, rvfi_mem_rdata,
              rvfi_mem_wdata);
endmodule
