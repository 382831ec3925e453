// Two channels of 64 bits, driven from a file that the test writes: a line per cycle, rst, then channel 1, channel 0.
// Next to it a tracer of the test bench's own writes into the same trace.
module top (
    input logic clk_i
);
  localparam int NRET = 2, XLEN = 64, Bits = 647, Lines = 4096;

  typedef struct packed {
    logic        valid;
    logic [63:0] order;
    logic [31:0] insn;
    logic        trap, halt, intr;
    logic [1:0]  mode, ixl;
    logic [4:0]  rs1_addr, rs2_addr, rd_addr;
    logic [63:0] rs1_rdata, rs2_rdata, rd_wdata, pc_rdata, pc_wdata, mem_addr;
    logic [7:0]  mem_rmask, mem_wmask;
    logic [63:0] mem_rdata, mem_wdata;
  } channel_t;

  logic [2*Bits:0] lines [Lines];
  initial begin
    string path;
    for (int i = 0; i < Lines; i++) lines[i] = '0;
    if ($value$plusargs("stimulus=%s", path) != 0) $readmemh(path, lines);
  end

  logic     rst;
  channel_t a, b;
  int       cycle;
  always_ff @(posedge clk_i) cycle <= cycle + 1;
  assign {rst, b, a} = lines[cycle[11:0]];

  uscope_rvfi #(
      .NRET(NRET), .XLEN(XLEN), .CORE(3), .TRACE("wide"), .REORDER(8), .REPORTS(4), .VARIABLES("isa=RV64IMAC,period=2500 ps")
  ) u_rvfi (
      .clk(clk_i), .rst,
      .rvfi_valid({b.valid, a.valid}), .rvfi_order({b.order, a.order}), .rvfi_insn({b.insn, a.insn}),
      .rvfi_trap({b.trap, a.trap}), .rvfi_halt({b.halt, a.halt}), .rvfi_intr({b.intr, a.intr}),
      .rvfi_mode({b.mode, a.mode}), .rvfi_ixl({b.ixl, a.ixl}),
      .rvfi_rs1_addr({b.rs1_addr, a.rs1_addr}), .rvfi_rs2_addr({b.rs2_addr, a.rs2_addr}),
      .rvfi_rs1_rdata({b.rs1_rdata, a.rs1_rdata}), .rvfi_rs2_rdata({b.rs2_rdata, a.rs2_rdata}),
      .rvfi_rd_addr({b.rd_addr, a.rd_addr}), .rvfi_rd_wdata({b.rd_wdata, a.rd_wdata}),
      .rvfi_pc_rdata({b.pc_rdata, a.pc_rdata}), .rvfi_pc_wdata({b.pc_wdata, a.pc_wdata}),
      .rvfi_mem_addr({b.mem_addr, a.mem_addr}), .rvfi_mem_rmask({b.mem_rmask, a.mem_rmask}),
      .rvfi_mem_wmask({b.mem_wmask, a.mem_wmask}), .rvfi_mem_rdata({b.mem_rdata, a.mem_rdata}),
      .rvfi_mem_wdata({b.mem_wdata, a.mem_wdata})
  );

  occupancy u_occupancy (.clk(clk_i), .valid({b.valid, a.valid}));
endmodule

// What the guide shows: another storage in the same trace, in separate frames at the same times.
module occupancy (
    input logic       clk,
    input logic [1:0] valid
);
  import uscope_pkg::*;
  int storage;
  initial storage = -1;
  always @(posedge clk) begin
    if (storage < 0) storage <= uscope_storage_id(top.u_rvfi.w, "bench/occupancy");
    else begin
      uscope_begin_cycle(top.u_rvfi.w, top.u_rvfi.now_ps);
      uscope_slot_set(top.u_rvfi.w, storage[15:0], 16'd0, 16'd0, 64'($countones(valid)));
      uscope_end_cycle(top.u_rvfi.w);
    end
  end
endmodule
