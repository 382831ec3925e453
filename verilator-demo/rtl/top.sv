// Test bench top: core, memory and, beside them, the tracer. Compile with NO_TRACE defined to leave the tracer out.
module top
  import rv_pkg::*;
(
    input  logic        clk_i,
    input  logic        rst_i,
    output logic        halted_o,
    output logic [3:0]  halt_cause_o,
    output logic [31:0] halt_pc_o,
    output logic [31:0] halt_tval_o,
    output logic        console_valid_o,
    output logic [7:0]  console_byte_o,
    output logic        result_valid_o,
    output logic [31:0] result_o,
    input  logic [4:0]  debug_reg_i,
    output logic [31:0] debug_reg_data_o,
    input  logic [3:0]  debug_counter_i,
    output logic [63:0] debug_counter_data_o
);
  localparam logic [31:0] RamBase  = 32'h8000_0000;
  localparam int unsigned RamWords = 16384;

  logic [31:0] imem_addr, imem_data, dmem_addr, dmem_wdata, dmem_rdata;
  logic imem_fault, dmem_read, dmem_write, dmem_fault;
  logic [3:0] dmem_strobe;
  cause_e halt_cause;
  probe_t probe;

  core #(.ResetVector(RamBase)) u_core (
      .clk_i, .rst_i,
      .imem_addr_o(imem_addr), .imem_data_i(imem_data), .imem_fault_i(imem_fault),
      .dmem_addr_o(dmem_addr), .dmem_read_o(dmem_read), .dmem_write_o(dmem_write), .dmem_strobe_o(dmem_strobe),
      .dmem_wdata_o(dmem_wdata), .dmem_rdata_i(dmem_rdata), .dmem_fault_i(dmem_fault),
      .halted_o, .halt_cause_o(halt_cause), .halt_pc_o, .halt_tval_o,
      .probe_o(probe),
      .debug_reg_i, .debug_reg_data_o, .debug_counter_i(counter_e'(debug_counter_i)), .debug_counter_data_o
  );
  assign halt_cause_o = halt_cause;

  memory #(.Base(RamBase), .Words(RamWords)) u_memory (
      .clk_i, .rst_i,
      .imem_addr_i(imem_addr), .imem_data_o(imem_data), .imem_fault_o(imem_fault),
      .dmem_addr_i(dmem_addr), .dmem_read_i(dmem_read), .dmem_write_i(dmem_write), .dmem_strobe_i(dmem_strobe),
      .dmem_wdata_i(dmem_wdata), .dmem_rdata_o(dmem_rdata), .dmem_fault_o(dmem_fault),
      .console_valid_o, .console_byte_o, .result_valid_o, .result_o
  );

`ifdef NO_TRACE
  logic unused;
  assign unused = ^probe;
`else
  tracer #(.CodeBase(RamBase), .CodeWords(RamWords)) u_tracer (.clk_i, .rst_i, .probe_i(probe));
`endif
endmodule
