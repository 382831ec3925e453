// SERV, bit-serial, its memory, and the trace of its RVFI.
module top (input logic clk, input logic rst, output logic done, output logic [31:0] result);
  logic        ibus_cyc, ibus_ack, dbus_cyc, dbus_we, dbus_ack, irq;
  logic [31:0] ibus_adr, dbus_adr, dbus_dat, rdata, insn;
  logic [3:0]  dbus_sel;

  serv_rf_top #(.RESET_PC(32'h80), .WITH_CSR(1)) u_core (
      .clk, .i_rst(rst), .i_timer_irq(irq),
      .o_ibus_adr(ibus_adr), .o_ibus_cyc(ibus_cyc), .i_ibus_rdt(insn), .i_ibus_ack(ibus_ack),
      .o_dbus_adr(dbus_adr), .o_dbus_dat(dbus_dat), .o_dbus_sel(dbus_sel), .o_dbus_we(dbus_we), .o_dbus_cyc(dbus_cyc),
      .i_dbus_rdt(rdata), .i_dbus_ack(dbus_ack), .i_ext_rd(32'd0), .i_ext_ready(1'b0)
  );
  always_ff @(posedge clk) begin
    ibus_ack <= ibus_cyc && !ibus_ack && !rst;
    dbus_ack <= dbus_cyc && !dbus_ack && !rst;
  end
  memory u_memory (
      .clk, .rst, .insn_addr(ibus_adr), .insn_rdata(insn), .addr(dbus_adr), .rdata, .write(dbus_cyc && dbus_we && !dbus_ack),
      .strobe(dbus_sel), .wdata(dbus_dat), .irq, .done, .result
  );
endmodule
`ifdef USCOPE
bind serv_rf_top uscope_rvfi #(.VARIABLES("isa=RV32I,dut_name=serv")) u_uscope (.rst(i_rst), .*);
`endif
`ifndef __ICARUS__  // which has no bind; there the trace comes from Python
bind serv_rf_top rvfi_log u_log (.rst(i_rst), .*);
`endif
