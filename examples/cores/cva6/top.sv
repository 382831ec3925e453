// CVA6 as cv32a6_imac_sv0 (no FPU), its memory behind AXI, and the trace of its RVFI, which shows two instructions in a cycle. It has
// neither an order nor the pc that follows: a counter gives the first, the next instruction the second. It shows nothing of traps.
// core.json makes two bits of the configuration words: Verilator 5.006 writes beyond a constant whose highest word is 0 (VL_CONSTHI_W_1X).
module top import ariane_pkg::*; (input logic clk, input logic rst, output logic done, output logic [31:0] result);
  function automatic ariane_cfg_t config_of();
    ariane_cfg_t c;
    c = ArianeDefaultConfig;
    c.NrExecuteRegionRules = 1;
    c.ExecuteRegionAddrBase = '0;
    c.ExecuteRegionLength = 64'h1_0000;
    c.CachedRegionAddrBase = '0;
    c.CachedRegionLength = 64'h1_0000;
    return c;
  endfunction
  localparam ariane_cfg_t Config = config_of();

  ariane_axi::req_t            request;
  ariane_axi::resp_t           response;
  ariane_rvfi_pkg::rvfi_port_t rvfi;
  ariane #(.ArianeCfg(Config)) u_core (
      .clk_i(clk), .rst_ni(!rst), .boot_addr_i(32'h80), .hart_id_i(32'd0), .irq_i(2'b0), .ipi_i(1'b0), .time_irq_i(1'b0), .debug_req_i(1'b0),
      .rvfi_o(rvfi), .axi_req_o(request), .axi_resp_i(response)
  );
  cva6_memory u_memory (.clk, .rst, .request, .response, .done, .result);

  // The instructions of a cycle are shown when the next ones come, which say where the program went on.
  ariane_rvfi_pkg::rvfi_port_t held;
  logic [1:0]  held_valid, valid;
  logic [63:0] order;
  logic [31:0] first_pc;
  assign first_pc = rvfi[0].valid ? rvfi[0].pc_rdata : rvfi[1].pc_rdata;
  assign valid    = rvfi[0].valid || rvfi[1].valid ? held_valid : 2'b00;
  always_ff @(posedge clk) begin
    if (rvfi[0].valid || rvfi[1].valid) begin
      held       <= rvfi;
      held_valid <= {rvfi[1].valid, rvfi[0].valid};
      order      <= order + 64'(held_valid[0]) + 64'(held_valid[1]);
    end
    if (rst) begin
      held_valid <= 2'b00;
      order      <= 64'd0;
    end
  end
  logic [127:0] orders;
  logic [63:0]  insns, nexts, pcs, rds, addresses, reads, writes;
  logic [9:0]   rd_addrs;
  logic [7:0]   rmasks, wmasks;
  always_comb begin
    orders = {order + 64'(held_valid[0]), order};
    nexts  = {first_pc, held_valid[1] ? held[1].pc_rdata : first_pc};
    for (int i = 0; i < 2; i++) begin
      insns[32*i +: 32]     = held[i].insn;
      pcs[32*i +: 32]       = held[i].pc_rdata;
      rd_addrs[5*i +: 5]    = held[i].rd_addr;
      rds[32*i +: 32]       = held[i].rd_addr == 5'd0 ? 32'd0 : held[i].rd_wdata;
      addresses[32*i +: 32] = held[i].mem_addr;
      rmasks[4*i +: 4]      = held[i].mem_rmask;
      wmasks[4*i +: 4]      = held[i].mem_wmask;
      reads[32*i +: 32]     = held[i].mem_rdata;
      writes[32*i +: 32]    = held[i].mem_wdata;
    end
  end
`ifdef USCOPE
  uscope_rvfi #(.NRET(2), .VARIABLES("isa=RV32IMAC,dut_name=cva6")) u_uscope (
      .clk, .rst, .rvfi_valid(valid), .rvfi_order(orders), .rvfi_insn(insns), .rvfi_trap(2'b0), .rvfi_halt(2'b0), .rvfi_intr(2'b0),
      .rvfi_mode(4'b1111), .rvfi_ixl(4'd0), .rvfi_rs1_addr(10'd0), .rvfi_rs2_addr(10'd0), .rvfi_rs1_rdata(64'd0), .rvfi_rs2_rdata(64'd0),
      .rvfi_rd_addr(rd_addrs), .rvfi_rd_wdata(rds), .rvfi_pc_rdata(pcs), .rvfi_pc_wdata(nexts), .rvfi_mem_addr(addresses),
      .rvfi_mem_rmask(rmasks), .rvfi_mem_wmask(wmasks), .rvfi_mem_rdata(reads), .rvfi_mem_wdata(writes)
  );
`endif
  rvfi_log #(.NRET(2)) u_log (
      .clk, .rst, .rvfi_valid(valid), .rvfi_order(orders), .rvfi_insn(insns), .rvfi_trap(2'b0), .rvfi_intr(2'b0), .rvfi_rd_addr(rd_addrs),
      .rvfi_rd_wdata(rds), .rvfi_pc_rdata(pcs), .rvfi_pc_wdata(nexts), .rvfi_mem_addr(addresses), .rvfi_mem_rmask(rmasks),
      .rvfi_mem_wmask(wmasks), .rvfi_mem_rdata(reads), .rvfi_mem_wdata(writes)
  );
endmodule
