// PicoRV32 with multiplier, divider and compressed instructions, its memory, and the trace of its RVFI.
module top (input logic clk, input logic rst, output logic done, output logic [31:0] result);
  logic        trap, mem_valid, mem_instr, irq;
  logic [31:0] mem_addr, mem_wdata, mem_rdata, insn_rdata;
  logic [3:0]  mem_wstrb;

`ifdef OWN_TRACER
  localparam bit HasTracePort = 1;
`else
  localparam bit HasTracePort = 0;
`endif
  picorv32 #(
      .ENABLE_TRACE(HasTracePort),
      .COMPRESSED_ISA(1), .BARREL_SHIFTER(1), .ENABLE_MUL(1), .ENABLE_DIV(1), .PROGADDR_RESET(32'h80), .STACKADDR(32'hffff_ffff)
  ) u_core (
      .clk, .resetn(!rst), .trap, .mem_valid, .mem_instr, .mem_ready(mem_valid), .mem_addr, .mem_wdata, .mem_wstrb, .mem_rdata,
      .pcpi_wr(1'b0), .pcpi_rd(32'd0), .pcpi_wait(1'b0), .pcpi_ready(1'b0), .irq(32'd0)
  );
  memory u_memory (
      .clk, .rst, .insn_addr(32'd0), .insn_rdata, .addr(mem_addr), .rdata(mem_rdata), .write(mem_valid && mem_wstrb != 0),
      .strobe(mem_wstrb), .wdata(mem_wdata), .irq, .done, .result
  );
endmodule
`ifdef USCOPE
bind picorv32 uscope_rvfi #(.VARIABLES("isa=RV32IMC,dut_name=picorv32")) u_uscope (.rst(!resetn), .*);
`endif
`ifndef __ICARUS__  // which has no bind; there the trace comes from Python
bind picorv32 rvfi_log u_log (.rst(!resetn), .*);
`endif
