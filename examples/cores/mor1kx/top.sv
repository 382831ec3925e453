// mor1kx (OpenRISC, pipeline "cappuccino"), its memory, and the trace of its trace port, which is not RVFI: what RVFI has besides is 0,
// and a counter gives the order.
module top (input logic clk, input logic rst, output logic done, output logic [31:0] result);
  logic        icyc, istb, iack, dcyc, dstb, dack, dwe, irq;
  logic [31:0] iadr, dadr, ddat, insn, rdata;
  logic [3:0]  dsel;
  logic        valid, wben;
  logic [31:0] pc, executed, wbdata;
  logic [4:0]  wbreg;

  mor1kx #(.OPTION_CPU0("CAPPUCCINO"), .FEATURE_TRACEPORT_EXEC("ENABLED"), .OPTION_RF_CLEAR_ON_INIT(1), .IBUS_WB_TYPE("CLASSIC")) u_core (
      .clk, .rst,
      .iwbm_adr_o(iadr), .iwbm_stb_o(istb), .iwbm_cyc_o(icyc), .iwbm_err_i(1'b0), .iwbm_ack_i(iack), .iwbm_dat_i(insn),
      .iwbm_rty_i(1'b0),
      .dwbm_adr_o(dadr), .dwbm_stb_o(dstb), .dwbm_cyc_o(dcyc), .dwbm_sel_o(dsel), .dwbm_we_o(dwe), .dwbm_dat_o(ddat),
      .dwbm_err_i(1'b0), .dwbm_ack_i(dack), .dwbm_dat_i(rdata), .dwbm_rty_i(1'b0), .irq_i(32'd0),
      .du_addr_i(16'd0), .du_stb_i(1'b0), .du_dat_i(32'd0), .du_we_i(1'b0), .du_stall_i(1'b0),
      .traceport_exec_valid_o(valid), .traceport_exec_pc_o(pc), .traceport_exec_insn_o(executed),
      .traceport_exec_wbdata_o(wbdata), .traceport_exec_wbreg_o(wbreg), .traceport_exec_wben_o(wben),
      .multicore_coreid_i(32'd0), .multicore_numcores_i(32'd1), .snoop_adr_i(32'd0), .snoop_en_i(1'b0)
  );
  always_ff @(posedge clk) begin
    iack <= icyc && istb && !iack && !rst;
    dack <= dcyc && dstb && !dack && !rst;
  end
  memory u_memory (
      .clk, .rst, .insn_addr(iadr), .insn_rdata(insn), .addr(dadr), .rdata, .write(dcyc && dstb && dwe && !dack),
      .strobe(dsel), .wdata(ddat), .irq, .done, .result
  );

  // The port does not say where an instruction goes: that is seen when the next one comes.
  logic        known, shown;
  logic [63:0] order;
  logic [31:0] last_pc, last_insn, value;
  logic [4:0]  rd;
  assign shown = valid && known;
  always_ff @(posedge clk) begin
    if (valid) begin
      known     <= 1'b1;
      order     <= order + 64'(known);
      last_pc   <= pc;
      last_insn <= executed;
      rd        <= wben ? wbreg : 5'd0;
      value     <= wben && wbreg != 5'd0 ? wbdata : 32'd0;
    end
    if (rst) begin
      known <= 1'b0;
      order <= 64'd0;
    end
  end
`ifdef USCOPE
  uscope_rvfi #(.VARIABLES("isa=OR1K,dut_name=mor1kx")) u_uscope (
      .clk, .rst, .rvfi_valid(shown), .rvfi_order(order), .rvfi_insn(last_insn), .rvfi_trap(1'b0), .rvfi_halt(1'b0), .rvfi_intr(1'b0),
      .rvfi_mode(2'b11), .rvfi_ixl(2'd0), .rvfi_rs1_addr(5'd0), .rvfi_rs2_addr(5'd0), .rvfi_rs1_rdata(32'd0), .rvfi_rs2_rdata(32'd0),
      .rvfi_rd_addr(rd), .rvfi_rd_wdata(value), .rvfi_pc_rdata(last_pc), .rvfi_pc_wdata(pc),
      .rvfi_mem_addr(32'd0), .rvfi_mem_rmask(4'd0), .rvfi_mem_wmask(4'd0), .rvfi_mem_rdata(32'd0), .rvfi_mem_wdata(32'd0)
  );
`endif
  rvfi_log u_log (
      .clk, .rst, .rvfi_valid(shown), .rvfi_order(order), .rvfi_insn(last_insn), .rvfi_trap(1'b0), .rvfi_intr(1'b0),
      .rvfi_rd_addr(rd), .rvfi_rd_wdata(value), .rvfi_pc_rdata(last_pc), .rvfi_pc_wdata(pc), .rvfi_mem_addr(32'd0),
      .rvfi_mem_rmask(4'd0), .rvfi_mem_wmask(4'd0), .rvfi_mem_rdata(32'd0), .rvfi_mem_wdata(32'd0)
  );
endmodule
