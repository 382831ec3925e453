// Ibex (ibex_core and its register file of flip-flops), its memory, and the trace of its RVFI.
module top import ibex_pkg::*; (input logic clk, input logic rst, output logic done, output logic [31:0] result);
  logic        instr_req, instr_rvalid, data_req, data_rvalid, data_we, irq;
  logic [31:0] instr_addr, instr_rdata, data_addr, data_wdata, data_rdata, insn, rdata;
  logic [3:0]  data_be;
  logic        rf_we, dummy_id, dummy_wb;
  logic [4:0]  raddr_a, raddr_b, waddr;
  logic [31:0] rdata_a, rdata_b, wdata_rf;

  ibex_core #(.RV32M(RV32MFast), .WritebackStage(1'b1), .MHPMCounterNum(10)) u_core (
      .clk_i(clk), .rst_ni(!rst), .hart_id_i(32'd0), .boot_addr_i(32'd0),
      .instr_req_o(instr_req), .instr_gnt_i(instr_req), .instr_rvalid_i(instr_rvalid), .instr_addr_o(instr_addr),
      .instr_rdata_i(instr_rdata), .instr_err_i(1'b0),
      .data_req_o(data_req), .data_gnt_i(data_req), .data_rvalid_i(data_rvalid), .data_we_o(data_we), .data_be_o(data_be),
      .data_addr_o(data_addr), .data_wdata_o(data_wdata), .data_rdata_i(data_rdata), .data_err_i(1'b0),
      .dummy_instr_id_o(dummy_id), .dummy_instr_wb_o(dummy_wb), .rf_raddr_a_o(raddr_a), .rf_raddr_b_o(raddr_b),
      .rf_waddr_wb_o(waddr), .rf_we_wb_o(rf_we), .rf_wdata_wb_ecc_o(wdata_rf), .rf_rdata_a_ecc_i(rdata_a), .rf_rdata_b_ecc_i(rdata_b),
      .ic_tag_rdata_i('{default: '0}), .ic_data_rdata_i('{default: '0}), .ic_scr_key_valid_i(1'b0),
      .irq_software_i(1'b0), .irq_timer_i(irq), .irq_external_i(1'b0), .irq_fast_i(15'd0), .irq_nm_i(1'b0),
      .debug_req_i(1'b0), .fetch_enable_i(IbexMuBiOn)
  );
  ibex_register_file_ff u_rf (
      .clk_i(clk), .rst_ni(!rst), .test_en_i(1'b0), .dummy_instr_id_i(dummy_id), .dummy_instr_wb_i(dummy_wb),
      .raddr_a_i(raddr_a), .rdata_a_o(rdata_a), .raddr_b_i(raddr_b), .rdata_b_o(rdata_b),
      .waddr_a_i(waddr), .wdata_a_i(wdata_rf), .we_a_i(rf_we)
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
bind ibex_core uscope_rvfi #(.VARIABLES("isa=RV32IMC,dut_name=ibex")) u_uscope (.clk(clk_i), .rst(!rst_ni), .*);
`endif
bind ibex_core rvfi_log u_log (.clk(clk_i), .rst(!rst_ni), .*);
