// Test bench top of the out-of-order core: core, memory, devices and, next to them, the tracer. Compile with NO_TRACE
// defined to leave the tracer out. The parameters are those of the core; Verilator takes them as -GNAME=VALUE.
module o3_top
  import rv_pkg::*;
  import o3_pkg::*;
#(
    parameter int unsigned RobEntries    = 48,
    parameter int unsigned PhysRegs      = 80,
    parameter int unsigned Checkpoints   = 16,
    parameter int unsigned IntEntries    = 16,
    parameter int unsigned MuldivEntries = 4,
    parameter int unsigned MemEntries    = 12,
    parameter int unsigned LoadEntries   = 16,
    parameter int unsigned StoreEntries  = 16,
    parameter int unsigned MulLatency    = 3,
    parameter int unsigned DivBitsPerCycle = 2,
    parameter int unsigned BranchEntries = 1024,
    parameter int unsigned HistoryBits   = 8,
    parameter int unsigned TargetEntries = 64,
    parameter int unsigned ReturnDepth   = 8,
    parameter int unsigned ICacheSets    = 32,
    parameter int unsigned ICacheWays    = 2,
    parameter int unsigned DCacheSets    = 16,
    parameter int unsigned DCacheWays    = 2,
    parameter int unsigned LineBytes     = 32,
    parameter int unsigned Mshrs         = 4,
    parameter int unsigned MissPenalty   = 12
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
    input  logic [5:0]  debug_counter_i,
    output logic [63:0] debug_counter_data_o
);
  localparam logic [31:0] RamBase  = 32'h8000_0000;
  localparam int unsigned RamWords = 16384;

  logic [31:0] imem_addr, imem_data [Width], dmem_addr, dmem_rdata, device_addr, device_wdata, device_rdata;
  logic imem_fault, ifill_miss, ifill_done, drain_valid, device_load, device_store, device_write, device_here;
  logic dmem_here, timer_irq;
  store_t drain;
  exc_t halt_exc;
  o3_probe_if #(
      .IntEntries(IntEntries), .MuldivEntries(MuldivEntries), .MemEntries(MemEntries), .LoadEntries(LoadEntries),
      .StoreEntries(StoreEntries), .Mshrs(Mshrs)
  ) probe ();

  o3_core #(
      .ResetVector(RamBase), .RamBase(RamBase), .RamBytes(32'(RamWords * 4)),
      .RobEntries(RobEntries), .PhysRegs(PhysRegs), .Checkpoints(Checkpoints), .IntEntries(IntEntries),
      .MuldivEntries(MuldivEntries), .MemEntries(MemEntries), .LoadEntries(LoadEntries), .StoreEntries(StoreEntries),
      .MulLatency(MulLatency), .DivBitsPerCycle(DivBitsPerCycle), .BranchEntries(BranchEntries),
      .HistoryBits(HistoryBits), .TargetEntries(TargetEntries), .ReturnDepth(ReturnDepth), .ICacheSets(ICacheSets),
      .ICacheWays(ICacheWays), .DCacheSets(DCacheSets), .DCacheWays(DCacheWays), .LineBytes(LineBytes), .Mshrs(Mshrs),
      .MissPenalty(MissPenalty)
  ) u_core (
      .clk_i, .rst_i,
      .imem_addr_o(imem_addr), .imem_data_i(imem_data), .imem_fault_i(imem_fault),
      .ifill_miss_o(ifill_miss), .ifill_done_i(ifill_done),
      .dmem_addr_o(dmem_addr), .dmem_rdata_i(dmem_rdata), .dmem_drain_valid_o(drain_valid), .dmem_drain_o(drain),
      .device_addr_o(device_addr), .device_load_o(device_load), .device_store_o(device_store),
      .device_write_o(device_write), .device_wdata_o(device_wdata), .device_rdata_i(device_rdata),
      .device_here_i(device_here), .timer_irq_i(timer_irq),
      .halted_o, .halt_exc_o(halt_exc), .halt_pc_o, .probe_o(probe),
      .debug_reg_i, .debug_reg_data_o, .debug_counter_i, .debug_counter_data_o
  );
  assign halt_cause_o = {halt_exc.irq, 27'd0, halt_exc.cause};
  assign halt_tval_o  = halt_exc.tval;

  memory #(.Base(RamBase), .Words(RamWords)) u_memory (
      .clk_i,
      .imem_addr_i(imem_addr), .imem_data_o(imem_data[0]), .imem_next_o(imem_data[1]), .imem_fault_o(imem_fault),
      .dmem_addr_i(dmem_addr), .dmem_rdata_o(dmem_rdata), .dmem_here_o(dmem_here),
      .write_i(drain_valid), .store_i(drain)
  );

  fill_timer #(.MissPenalty(MissPenalty)) u_ifill (.clk_i, .rst_i, .miss_i(ifill_miss), .done_o(ifill_done));

  devices u_devices (
      .clk_i, .rst_i,
      .addr_i(device_addr), .load_i(device_load), .store_i(device_store), .write_i(device_write), .wdata_i(device_wdata),
      .harts_i(32'd1), .has_console_i(1'b1),
      .rdata_o(device_rdata), .here_o(device_here), .timer_irq_o(timer_irq),
      .console_valid_o, .console_byte_o, .result_valid_o, .result_o
  );
`ifndef NO_TRACE
  o3_tracer #(
      .CodeBase(RamBase), .CodeWords(RamWords), .RobEntries(RobEntries), .PhysRegs(PhysRegs), .IntEntries(IntEntries),
      .MuldivEntries(MuldivEntries), .MemEntries(MemEntries), .LoadEntries(LoadEntries), .StoreEntries(StoreEntries),
      .Mshrs(Mshrs), .LineBytes(LineBytes)
  ) u_tracer (
      .clk_i, .rst_i, .probe_i(probe)
  );
`endif
endmodule
