// The log that the trace is compared with: the pins of the RISC-V Formal Interface as text, a line for each instruction, of several in a
// cycle the lowest channel first. It shares no code with the tracer. +log=FILE; without it nothing is written. With NO_LOG it reads nothing, so
// that the simulator leaves out what only the pins need: the core as it is without its formal interface.
module rvfi_log #(
    parameter int unsigned NRET = 1
) (
    input logic                  clk,
    input logic                  rst,
    input logic [NRET-1:0]       rvfi_valid,
    input logic [NRET*64-1:0]    rvfi_order,
    input logic [NRET*32-1:0]    rvfi_insn,
    input logic [NRET-1:0]       rvfi_trap,
    input logic [NRET-1:0]       rvfi_intr,
    input logic [NRET*5-1:0]     rvfi_rd_addr,
    input logic [NRET*32-1:0]    rvfi_rd_wdata,
    input logic [NRET*32-1:0]    rvfi_pc_rdata,
    input logic [NRET*32-1:0]    rvfi_pc_wdata,
    input logic [NRET*32-1:0]    rvfi_mem_addr,
    input logic [NRET*4-1:0]     rvfi_mem_rmask,
    input logic [NRET*4-1:0]     rvfi_mem_wmask,
    input logic [NRET*32-1:0]    rvfi_mem_rdata,
    input logic [NRET*32-1:0]    rvfi_mem_wdata
);
`ifndef NO_LOG
  int    file;
  string name;
  initial if ($value$plusargs("log=%s", name)) file = $fopen(name, "w");
  always @(posedge clk)
    for (int i = 0; i < NRET; i++)
      if (file != 0 && rvfi_valid[i] && !rst)
        $fwrite(file, "%0d %h %h %b %b %0d %h %h %h %h %h %h %h\n", rvfi_order[64*i +: 64], rvfi_pc_rdata[32*i +: 32],
                rvfi_insn[32*i +: 32], rvfi_trap[i], rvfi_intr[i], rvfi_rd_addr[5*i +: 5], rvfi_rd_wdata[32*i +: 32],
                rvfi_pc_wdata[32*i +: 32], rvfi_mem_addr[32*i +: 32], rvfi_mem_rmask[4*i +: 4], rvfi_mem_wmask[4*i +: 4],
                rvfi_mem_rdata[32*i +: 32], rvfi_mem_wdata[32*i +: 32]);
`endif
endmodule
