// Test bench top with several harts: tiles, interconnect, memory and the tracer of the interconnect. As many harts run as
// harts_i says, the others stay in reset. Hart 0 has the console and says the result.
module soc
  import rv_pkg::*;
  import bus_pkg::*;
#(
    parameter int unsigned Harts       = 4,
    parameter int unsigned QueueDepth  = 2,
    localparam int unsigned HartBits   = Harts > 1 ? $clog2(Harts) : 1
) (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic [31:0] harts_i,           // 1 to Harts
    output logic [31:0] max_harts_o,
    output logic        halted_o,          // all of them, and nothing is on its way
    output logic        console_valid_o,
    output logic [7:0]  console_byte_o,
    output logic        result_valid_o,
    output logic [31:0] result_o,
    // of one hart
    input  logic [HartBits-1:0] debug_hart_i,
    output logic        halt_o,
    output logic [31:0] halt_cause_o,
    output logic [31:0] halt_pc_o,
    output logic [31:0] halt_tval_o,
    input  logic [4:0]  debug_reg_i,
    output logic [31:0] debug_reg_data_o,
    input  logic [4:0]  debug_counter_i,
    output logic [63:0] debug_counter_data_o,
    input  logic [3:0]  debug_port_counter_i,
    output logic [63:0] debug_port_counter_data_o
);
  localparam logic [31:0] RamBase  = 32'h8000_0000;
  localparam int unsigned RamWords = 16384;

  logic [31:0] imem_addr [Harts], imem_data [Harts], dmem_addr [Harts], dmem_rdata [Harts];
  logic [31:0] halt_cause [Harts], halt_pc [Harts], halt_tval [Harts], debug_reg_data [Harts], result [Harts];
  logic [63:0] debug_counter_data [Harts];
  logic [7:0]  console_byte [Harts];
  logic [Harts-1:0] enable, imem_fault, dmem_here, bus_valid, bus_ready, drop, dropped, halted, console_valid, result_valid;
  logic [NumKinds-1:0] bus_done [Harts];
  bus_request_t bus_request [Harts];
  logic [31:0] bus_result, drop_addr, bus_addr, bus_rdata;
  logic bus_write, idle;
  store_t bus_store;

  for (genvar h = 0; h < Harts; h++) begin : g_hart
    assign enable[h] = h < harts_i;
    tile #(.RamBase(RamBase), .RamWords(RamWords)) u_tile (
        .clk_i, .rst_i, .enable_i(enable[h]), .hart_id_i(h), .harts_i, .has_console_i(h == 0),
        .imem_addr_o(imem_addr[h]), .imem_data_i(imem_data[h]), .imem_fault_i(imem_fault[h]),
        .dmem_addr_o(dmem_addr[h]), .dmem_rdata_i(dmem_rdata[h]), .dmem_here_i(dmem_here[h]),
        .bus_valid_o(bus_valid[h]), .bus_request_o(bus_request[h]), .bus_ready_i(bus_ready[h]),
        .bus_done_i(bus_done[h]), .bus_result_i(bus_result),
        .drop_i(drop[h]), .drop_addr_i(drop_addr), .dropped_o(dropped[h]),
        .halted_o(halted[h]), .halt_cause_o(halt_cause[h]), .halt_pc_o(halt_pc[h]), .halt_tval_o(halt_tval[h]),
        .console_valid_o(console_valid[h]), .console_byte_o(console_byte[h]),
        .result_valid_o(result_valid[h]), .result_o(result[h]),
        .debug_reg_i, .debug_reg_data_o(debug_reg_data[h]),
        .debug_counter_i, .debug_counter_data_o(debug_counter_data[h])
    );
  end

  shared_memory #(.Harts(Harts), .Base(RamBase), .Words(RamWords)) u_memory (
      .clk_i,
      .imem_addr_i(imem_addr), .imem_data_o(imem_data), .imem_fault_o(imem_fault),
      .dmem_addr_i(dmem_addr), .dmem_rdata_o(dmem_rdata), .dmem_here_o(dmem_here),
      .addr_i(bus_addr), .rdata_o(bus_rdata), .write_i(bus_write), .store_i(bus_store)
  );

  noc_probe_if #(.Ports(Harts)) probe ();
  memory_bus #(.Ports(Harts), .QueueDepth(QueueDepth)) u_bus (
      .clk_i, .rst_i, .running_i(!halted_o), .idle_o(idle),
      .valid_i(bus_valid), .ready_o(bus_ready), .request_i(bus_request), .done_o(bus_done), .result_o(bus_result),
      .drop_o(drop), .drop_addr_o(drop_addr), .dropped_i(dropped),
      .addr_o(bus_addr), .rdata_i(bus_rdata), .write_o(bus_write), .store_o(bus_store),
      .select_port_i(debug_hart_i), .select_counter_i(debug_port_counter_i), .counter_o(debug_port_counter_data_o),
      .probe_o(probe)
  );

  assign max_harts_o          = Harts;
  assign halted_o             = (halted | ~enable) == '1 && idle;
  assign console_valid_o      = console_valid[0];
  assign console_byte_o       = console_byte[0];
  assign result_valid_o       = result_valid[0];
  assign result_o             = result[0];
  assign halt_o               = halted[debug_hart_i];
  assign halt_cause_o         = halt_cause[debug_hart_i];
  assign halt_pc_o            = halt_pc[debug_hart_i];
  assign halt_tval_o          = halt_tval[debug_hart_i];
  assign debug_reg_data_o     = debug_reg_data[debug_hart_i];
  assign debug_counter_data_o = debug_counter_data[debug_hart_i];

  logic unused;
  always_comb begin
    unused = &{1'b0, console_valid, result_valid};
    for (int unsigned h = 0; h < Harts; h++) unused = unused & (&{1'b0, console_byte[h], result[h]});
  end
`ifndef NO_TRACE
  noc_tracer #(.Ports(Harts), .QueueDepth(QueueDepth)) u_tracer (.clk_i, .rst_i, .probe_i(probe));
`endif
endmodule
