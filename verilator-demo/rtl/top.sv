// Test bench top: core, memory, devices and, beside them, the tracer. Compile with NO_TRACE defined to leave the tracer
// out. The parameters are those of the core; Verilator takes them as -GNAME=VALUE.
module top
  import rv_pkg::*;
#(
    parameter int unsigned MulLatency      = 3,
    parameter int unsigned DivBitsPerCycle = 2,
    parameter int unsigned BranchEntries   = 256,
    parameter int unsigned ReturnDepth     = 8,
    parameter int unsigned StoreDepth      = 4,
    parameter int unsigned ICacheSets      = 32,
    parameter int unsigned ICacheWays      = 2,
    parameter int unsigned DCacheSets      = 16,
    parameter int unsigned DCacheWays      = 2,
    parameter int unsigned LineBytes       = 32,
    parameter int unsigned MissPenalty     = 12
) (
    input  logic        clk_i,
    input  logic        rst_i,
    output logic        halted_o,
    output logic [31:0] halt_cause_o,  // as mcause
    output logic [31:0] halt_pc_o,
    output logic [31:0] halt_tval_o,
    output logic        console_valid_o,
    output logic [7:0]  console_byte_o,
    output logic        result_valid_o,
    output logic [31:0] result_o,
    input  logic [4:0]  debug_reg_i,
    output logic [31:0] debug_reg_data_o,
    input  logic [4:0]  debug_counter_i,
    output logic [63:0] debug_counter_data_o
);
  localparam logic [31:0] RamBase  = 32'h8000_0000;
  localparam int unsigned RamWords = 16384;

  logic [31:0] imem_addr, imem_data, dmem_addr, dmem_wdata, ram_rdata, device_rdata;
  logic imem_fault, dmem_load, dmem_store, device_write, drain_valid, ram_here, device_here, timer_irq;
  store_t drain;
  exc_t halt_exc;
  probe_if probe ();

  core #(
      .ResetVector(RamBase), .MulLatency(MulLatency), .DivBitsPerCycle(DivBitsPerCycle),
      .BranchEntries(BranchEntries), .ReturnDepth(ReturnDepth), .StoreDepth(StoreDepth),
      .ICacheSets(ICacheSets), .ICacheWays(ICacheWays), .DCacheSets(DCacheSets), .DCacheWays(DCacheWays),
      .LineBytes(LineBytes), .MissPenalty(MissPenalty)
  ) u_core (
      .clk_i, .rst_i,
      .imem_addr_o(imem_addr), .imem_data_i(imem_data), .imem_fault_i(imem_fault),
      .dmem_addr_o(dmem_addr), .dmem_load_o(dmem_load), .dmem_store_o(dmem_store),
      .dmem_device_write_o(device_write), .dmem_wdata_o(dmem_wdata),
      .dmem_drain_valid_o(drain_valid), .dmem_drain_o(drain),
      .dmem_rdata_i(ram_here ? ram_rdata : device_rdata), .dmem_fault_i(!ram_here && !device_here),
      .dmem_device_i(!ram_here), .timer_irq_i(timer_irq),
      .halted_o, .halt_exc_o(halt_exc), .halt_pc_o,
      .probe_o(probe),
      .debug_reg_i, .debug_reg_data_o, .debug_counter_i(counter_e'(debug_counter_i)), .debug_counter_data_o
  );
  assign halt_cause_o = {halt_exc.irq, 27'd0, halt_exc.cause};
  assign halt_tval_o  = halt_exc.tval;

  memory #(.Base(RamBase), .Words(RamWords)) u_memory (
      .clk_i,
      .imem_addr_i(imem_addr), .imem_data_o(imem_data), .imem_fault_o(imem_fault),
      .dmem_addr_i(dmem_addr), .dmem_rdata_o(ram_rdata), .dmem_here_o(ram_here),
      .write_i(drain_valid), .store_i(drain)
  );

  devices u_devices (
      .clk_i, .rst_i,
      .addr_i(dmem_addr), .load_i(dmem_load), .store_i(dmem_store), .write_i(device_write), .wdata_i(dmem_wdata),
      .rdata_o(device_rdata), .here_o(device_here), .timer_irq_o(timer_irq),
      .console_valid_o, .console_byte_o, .result_valid_o, .result_o
  );

  logic unused;
  assign unused = &{1'b0, halt_exc.valid};
`ifndef NO_TRACE
  tracer #(.CodeBase(RamBase), .CodeWords(RamWords), .StoreDepth(StoreDepth)) u_tracer (.clk_i, .rst_i, .probe_i(probe));
`endif
endmodule
