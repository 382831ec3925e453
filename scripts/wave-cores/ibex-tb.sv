// Ibex with a memory, and two FIFOs of the same vendor; writes wave.vcd.
`timescale 1ns/1ps
module tb;
  import ibex_pkg::*;
  logic clk = 0, rst_n = 0; always #5 clk = ~clk;
  logic [7:0] n = 0; always_ff @(posedge clk) begin if (n < 6) n <= n + 1; if (n == 5) rst_n <= 1; end
  logic ireq, igv, dreq, dgv, dwe; logic [31:0] iaddr, daddr, dwdata, irdata, drdata; logic [3:0] dbe;
  logic [31:0] mem [4096];
  initial $readmemh("prog.hex", mem);
  always_ff @(posedge clk) begin
    igv <= ireq; irdata <= mem[iaddr[13:2]];
    dgv <= dreq; drdata <= mem[daddr[13:2]];
    if (dreq && dwe) for (int i = 0; i < 4; i++) if (dbe[i]) mem[daddr[13:2]][8*i +: 8] <= dwdata[8*i +: 8];
  end
  // What the core writes, in a FIFO of the same vendor, and what leaves that in another one of another depth.
  logic wready, rvalid, full, err; logic [31:0] rdata; logic r2, v2; logic [31:0] d2; logic [2:0] tick = 0;
  always_ff @(posedge clk) tick <= tick + 1;
  prim_fifo_sync #(.Width(32), .Depth(4), .Pass(1'b0)) u_write_log (.clk_i(clk), .rst_ni(rst_n), .clr_i(1'b0), .wvalid_i(dreq && dwe), .wready_o(wready), .wdata_i(dwdata),
    .rvalid_o(rvalid), .rready_i(r2), .rdata_o(rdata), .full_o(full), .depth_o(), .err_o(err));
  prim_fifo_sync #(.Width(32), .Depth(8), .Pass(1'b0)) u_slow_log (.clk_i(clk), .rst_ni(rst_n), .clr_i(1'b0), .wvalid_i(rvalid), .wready_o(r2), .wdata_i(rdata),
    .rvalid_o(v2), .rready_i(tick == 0), .rdata_o(d2), .full_o(), .depth_o(), .err_o());
  ibex_top #(.RegFile(RegFileFF)) u_top (.clk_i(clk), .rst_ni(rst_n), .test_en_i(1'b0), .ram_cfg_i('0), .hart_id_i(0), .boot_addr_i(32'h0),
    .instr_req_o(ireq), .instr_gnt_i(ireq), .instr_rvalid_i(igv), .instr_addr_o(iaddr), .instr_rdata_i(irdata), .instr_rdata_intg_i('0), .instr_err_i(1'b0),
    .data_req_o(dreq), .data_gnt_i(dreq), .data_rvalid_i(dgv), .data_we_o(dwe), .data_be_o(dbe), .data_addr_o(daddr), .data_wdata_o(dwdata), .data_wdata_intg_o(),
    .data_rdata_i(drdata), .data_rdata_intg_i('0), .data_err_i(1'b0), .irq_software_i(1'b0), .irq_timer_i(1'b0), .irq_external_i(1'b0), .irq_fast_i('0), .irq_nm_i(1'b0),
    .scramble_key_valid_i(1'b0), .scramble_key_i('0), .scramble_nonce_i('0), .scramble_req_o(), .debug_req_i(1'b0), .crash_dump_o(), .double_fault_seen_o(),
    .fetch_enable_i(IbexMuBiOn), .alert_minor_o(), .alert_major_internal_o(), .alert_major_bus_o(), .core_sleep_o(), .scan_rst_ni(rst_n));
  initial begin $dumpfile("wave.vcd"); $dumpvars(0, tb); #200000 $finish; end
endmodule
