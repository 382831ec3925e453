// One hart of several: a core, its timer and other devices, its port to the interconnect and, next to them, its tracer.
// Not inlined, so that the simulator has a piece of code for each, compiled side by side and run by one thread or another.
module tile
  import rv_pkg::*;
  import bus_pkg::*;
#(
    parameter logic [31:0] RamBase  = 32'h8000_0000,
    parameter int unsigned RamWords = 16384
) (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic        enable_i,      // without it the hart stays in reset and leaves no trace
    input  logic [31:0] hart_id_i,
    input  logic [31:0] harts_i,
    input  logic        has_console_i,
    // memory, as far as it is in the caches
    output logic [31:0] imem_addr_o,
    input  logic [31:0] imem_data_i,
    input  logic        imem_fault_i,
    output logic [31:0] dmem_addr_o,
    input  logic [31:0] dmem_rdata_i,
    input  logic        dmem_here_i,
    // interconnect
    output logic         bus_valid_o,
    output bus_request_t bus_request_o,
    input  logic         bus_ready_i,
    input  logic [NumKinds-1:0] bus_done_i,
    input  logic [31:0]  bus_result_i,
    input  logic         drop_i,
    input  logic [31:0]  drop_addr_i,
    output logic         dropped_o,
    // outside world
    output logic        halted_o,
    output logic [31:0] halt_cause_o,
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
  /*verilator no_inline_module*/
  localparam int unsigned StoreDepth = 4;

  logic [31:0] dmem_wdata, device_rdata, ifill_addr, dfill_addr;
  logic dmem_load, dmem_store, device_write, device_here, timer_irq, drain_valid, atomic_valid;
  logic ifill_miss, ifill_valid, dfill_miss, dfill_valid, rst;
  store_t drain;
  atomic_t atomic;
  exc_t halt_exc;
  probe_if probe ();
  assign rst = rst_i || !enable_i;

  core #(.ResetVector(RamBase), .StoreDepth(StoreDepth), .WriteAllocate(1'b0)) u_core (
      .clk_i, .rst_i(rst), .hart_id_i,
      .imem_addr_o, .imem_data_i, .imem_fault_i,
      .dmem_addr_o, .dmem_load_o(dmem_load), .dmem_store_o(dmem_store),
      .dmem_device_write_o(device_write), .dmem_wdata_o(dmem_wdata),
      .dmem_drain_valid_o(drain_valid), .dmem_drain_o(drain), .dmem_drain_done_i(bus_done_i[BUS_WRITE]),
      .dmem_atomic_valid_o(atomic_valid), .dmem_atomic_o(atomic),
      .dmem_atomic_done_i(bus_done_i[BUS_ATOMIC]), .dmem_atomic_result_i(bus_result_i),
      .dmem_rdata_i(dmem_here_i ? dmem_rdata_i : device_rdata), .dmem_fault_i(!dmem_here_i && !device_here),
      .dmem_device_i(!dmem_here_i),
      .ifill_miss_o(ifill_miss), .ifill_valid_o(ifill_valid), .ifill_addr_o(ifill_addr),
      .ifill_done_i(bus_done_i[BUS_IFILL]),
      .dfill_miss_o(dfill_miss), .dfill_valid_o(dfill_valid), .dfill_addr_o(dfill_addr),
      .dfill_done_i(bus_done_i[BUS_DFILL]),
      .drop_i, .drop_addr_i, .dropped_o,
      .timer_irq_i(timer_irq),
      .halted_o, .halt_exc_o(halt_exc), .halt_pc_o,
      .probe_o(probe),
      .debug_reg_i, .debug_reg_data_o, .debug_counter_i(counter_e'(debug_counter_i)), .debug_counter_data_o
  );
  assign halt_cause_o = {halt_exc.irq, 27'd0, halt_exc.cause};
  assign halt_tval_o  = halt_exc.tval;

  bus_master u_master (
      .clk_i, .rst_i(rst),
      .ifill_valid_i(ifill_valid), .ifill_addr_i(ifill_addr), .dfill_valid_i(dfill_valid), .dfill_addr_i(dfill_addr),
      .store_valid_i(drain_valid), .store_i(drain), .atomic_valid_i(atomic_valid), .atomic_i(atomic),
      .done_i(bus_done_i), .valid_o(bus_valid_o), .request_o(bus_request_o), .ready_i(bus_ready_i)
  );

  devices u_devices (
      .clk_i, .rst_i(rst),
      .addr_i(dmem_addr_o), .load_i(dmem_load), .store_i(dmem_store), .write_i(device_write), .wdata_i(dmem_wdata),
      .harts_i, .has_console_i, .rdata_o(device_rdata), .here_o(device_here), .timer_irq_o(timer_irq),
      .console_valid_o, .console_byte_o, .result_valid_o, .result_o
  );

  logic unused;
  assign unused = &{1'b0, halt_exc.valid, ifill_miss, dfill_miss};
`ifndef NO_TRACE
  tracer #(.CodeBase(RamBase), .CodeWords(RamWords), .StoreDepth(StoreDepth)) u_tracer (
      .clk_i, .rst_i(rst), .enable_i, .hart_id_i, .probe_i(probe)
  );
`else
  logic unused_ram;
  assign unused_ram = &{1'b0, RamWords[0]};
`endif
endmodule
