// Test bench top: core, memory, devices and, next to them, the tracer. Compile with NO_TRACE defined to leave the tracer
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

  logic [31:0] imem_addr, imem_data, imem_next, dmem_addr, dmem_wdata, ram_rdata, device_rdata;
  logic imem_fault, dmem_load, dmem_store, device_write, drain_valid, ram_here, device_here, timer_irq;
  logic ifill_miss, ifill_valid, ifill_done, dfill_miss, dfill_valid, dfill_done;
  logic atomic_valid, atomic_done, atomic_write, dropped;
  logic [31:0] ifill_addr, dfill_addr;  // nobody is asked for a line: it comes when its time has passed
  logic [31:0] atomic_result, atomic_data;
  store_t drain;
  atomic_t atomic;
  exc_t halt_exc;
  probe_if probe ();

  core #(
      .ResetVector(RamBase), .MulLatency(MulLatency), .DivBitsPerCycle(DivBitsPerCycle),
      .BranchEntries(BranchEntries), .ReturnDepth(ReturnDepth), .StoreDepth(StoreDepth),
      .ICacheSets(ICacheSets), .ICacheWays(ICacheWays), .DCacheSets(DCacheSets), .DCacheWays(DCacheWays),
      .LineBytes(LineBytes)
  ) u_core (
      .clk_i, .rst_i, .hart_id_i(32'd0),
      .imem_addr_o(imem_addr), .imem_data_i(imem_data), .imem_fault_i(imem_fault),
      .dmem_addr_o(dmem_addr), .dmem_load_o(dmem_load), .dmem_store_o(dmem_store),
      .dmem_device_write_o(device_write), .dmem_wdata_o(dmem_wdata),
      .dmem_drain_valid_o(drain_valid), .dmem_drain_o(drain), .dmem_drain_done_i(drain_valid),
      .dmem_atomic_valid_o(atomic_valid), .dmem_atomic_o(atomic),
      .dmem_atomic_done_i(atomic_done), .dmem_atomic_result_i(atomic_result),
      .ifill_miss_o(ifill_miss), .ifill_valid_o(ifill_valid), .ifill_addr_o(ifill_addr), .ifill_done_i(ifill_done),
      .dfill_miss_o(dfill_miss), .dfill_valid_o(dfill_valid), .dfill_addr_o(dfill_addr), .dfill_done_i(dfill_done),
      .drop_i(1'b0), .drop_addr_i(32'd0), .dropped_o(dropped),
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
      .imem_addr_i(imem_addr), .imem_data_o(imem_data), .imem_next_o(imem_next), .imem_fault_o(imem_fault),
      .dmem_addr_i(dmem_addr), .dmem_rdata_o(ram_rdata), .dmem_here_o(ram_here),
      .write_i(drain_valid || atomic_write),
      .store_i(atomic_write ? '{addr: atomic.addr, strobe: 4'b1111, data: atomic_data} : drain)
  );

  fill_timer #(.MissPenalty(MissPenalty)) u_ifill (.clk_i, .rst_i, .miss_i(ifill_miss), .done_o(ifill_done));
  fill_timer #(.MissPenalty(MissPenalty)) u_dfill (.clk_i, .rst_i, .miss_i(dfill_miss), .done_o(dfill_done));

  // An atomic operation takes a cycle to read and one to write. The store buffer is empty meanwhile.
  always_ff @(posedge clk_i) atomic_done <= atomic_valid && !atomic_done && !rst_i;
  atomic_unit u_atomic (
      .clk_i, .rst_i,
      .valid_i(atomic_done), .hart_i(1'b0), .atomic_i(atomic), .old_i(ram_rdata),
      .result_o(atomic_result), .write_o(atomic_write), .data_o(atomic_data),
      .store_i(drain_valid), .store_addr_i(drain.addr)
  );

  devices u_devices (
      .clk_i, .rst_i,
      .addr_i(dmem_addr), .load_i(dmem_load), .store_i(dmem_store), .write_i(device_write), .wdata_i(dmem_wdata),
      .harts_i(32'd1), .has_console_i(1'b1),
      .rdata_o(device_rdata), .here_o(device_here), .timer_irq_o(timer_irq),
      .console_valid_o, .console_byte_o, .result_valid_o, .result_o
  );

  logic unused;
  assign unused = &{1'b0, halt_exc.valid, ifill_valid, ifill_addr, dfill_valid, dfill_addr, dropped, imem_next};
`ifndef NO_TRACE
  tracer #(.CodeBase(RamBase), .CodeWords(RamWords), .StoreDepth(StoreDepth)) u_tracer (
      .clk_i, .rst_i, .enable_i(1'b1), .hart_id_i(32'd0), .probe_i(probe)
  );
`endif
endmodule
