// CV32E40X in the wrapper that has its RVFI, its memory, and the trace. Verilator 5.006 cannot pass an interface instance by a hierarchical
// name, as the wrapper does ("expected 'if_c_obi' interface on pin connection but 'm_c_obi_instr_if__Viftop' is not an interface"): core.json
// says which line of the wrapper is replaced for the build.
module top (input logic clk, input logic rst, output logic done, output logic [31:0] result);
  logic        instr_req, instr_rvalid, data_req, data_rvalid, data_we, irq, flush;
  logic [31:0] instr_addr, instr_rdata, data_addr, data_wdata, data_rdata, insn, rdata;
  logic [3:0]  data_be;
  if_xif xif ();

  cv32e40x_wrapper u_core (
      .clk_i(clk), .rst_ni(!rst), .scan_cg_en_i(1'b0), .boot_addr_i(32'h80), .mtvec_addr_i(32'd0), .dm_halt_addr_i(32'd0),
      .mhartid_i(32'd0), .mimpid_patch_i(4'd0), .dm_exception_addr_i(32'd0),
      .instr_req_o(instr_req), .instr_gnt_i(instr_req), .instr_rvalid_i(instr_rvalid), .instr_addr_o(instr_addr),
      .instr_rdata_i(instr_rdata), .instr_err_i(1'b0),
      .data_req_o(data_req), .data_gnt_i(data_req), .data_rvalid_i(data_rvalid), .data_we_o(data_we), .data_be_o(data_be),
      .data_addr_o(data_addr), .data_wdata_o(data_wdata), .data_rdata_i(data_rdata), .data_err_i(1'b0), .data_exokay_i(1'b0),
      .xif_compressed_if(xif), .xif_issue_if(xif), .xif_commit_if(xif), .xif_mem_if(xif), .xif_mem_result_if(xif), .xif_result_if(xif),
      .irq_i({24'd0, irq, 7'd0}), .wu_wfe_i(1'b0), .clic_irq_i(1'b0), .clic_irq_id_i(5'd0), .clic_irq_level_i(8'd0),
      .clic_irq_priv_i(2'd0), .clic_irq_shv_i(1'b0), .fencei_flush_req_o(flush), .fencei_flush_ack_i(flush),
      .debug_req_i(1'b0), .fetch_enable_i(1'b1)
  );
  // Answers come a cycle after the request.
  always_ff @(posedge clk) begin
    instr_rvalid <= instr_req && !rst;
    data_rvalid  <= data_req && !rst;
    instr_rdata  <= insn;
    data_rdata   <= rdata;
  end
  memory u_memory (
      .clk, .rst, .insn_addr(instr_addr), .insn_rdata(insn), .addr(data_addr), .rdata, .write(data_req && data_we),
      .strobe(data_be), .wdata(data_wdata), .irq, .done, .result
  );
endmodule
`ifdef USCOPE
bind cv32e40x_rvfi uscope_rvfi #(.VARIABLES("isa=RV32IMC,dut_name=cv32e40x")) u_uscope (
    .clk(clk_i), .rst(!rst_ni), .rvfi_trap(rvfi_trap.trap), .rvfi_intr(rvfi_intr.intr), .rvfi_mem_addr(rvfi_mem_addr[31:0]),
    .rvfi_mem_rmask(rvfi_mem_rmask[3:0]), .rvfi_mem_wmask(rvfi_mem_wmask[3:0]), .rvfi_mem_rdata(rvfi_mem_rdata[31:0]),
    .rvfi_mem_wdata(rvfi_mem_wdata[31:0]), .*);
`endif
bind cv32e40x_rvfi rvfi_log u_log (
    .clk(clk_i), .rst(!rst_ni), .rvfi_trap(rvfi_trap.trap), .rvfi_intr(rvfi_intr.intr), .rvfi_mem_addr(rvfi_mem_addr[31:0]),
    .rvfi_mem_rmask(rvfi_mem_rmask[3:0]), .rvfi_mem_wmask(rvfi_mem_wmask[3:0]), .rvfi_mem_rdata(rvfi_mem_rdata[31:0]),
    .rvfi_mem_wdata(rvfi_mem_wdata[31:0]), .*);
