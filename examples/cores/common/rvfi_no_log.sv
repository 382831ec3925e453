// Instead of rvfi_log: reads nothing, so the simulator leaves out what only the pins need. The core as it is without its formal interface.
/* verilator lint_off UNUSEDSIGNAL */
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
endmodule
