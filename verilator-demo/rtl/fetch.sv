// The program counter, which goes where the predictor says unless a later stage knows better, and the instruction
// cache, whose misses hold an instruction here.
module fetch
  import rv_pkg::*;
#(
    parameter logic [31:0] ResetVector   = 32'h8000_0000,
    parameter int unsigned BranchEntries = 256,
    parameter int unsigned ReturnDepth   = 8,
    parameter int unsigned CacheSets     = 32,
    parameter int unsigned CacheWays     = 2,
    parameter int unsigned LineBytes     = 32
) (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic        hold_i,
    input  logic        redirect_i,    // the instructions in flight after another one are squashed
    input  logic [31:0] target_i,
    input  logic [7:0]  return_top_i,  // of the return stack, to continue with at the target
    input  logic        halt_i,
    input  logic        train_i,
    input  logic [31:0] train_pc_i,
    input  logic        train_taken_i,
    // instruction memory, answered within the cycle
    output logic [31:0] imem_addr_o,
    input  logic [31:0] imem_data_i,
    input  logic        imem_fault_i,
    output logic        fill_miss_o,   // a line is to be brought, from the next cycle on as long as fill_valid_o
    output logic        fill_valid_o,
    output logic [31:0] fill_addr_o,
    input  logic        fill_done_i,
    output logic        wait_o,        // for the cache
    output if_id_t      out_o
);
  logic [31:0] pc, next;
  return_top_t return_top;

  always_ff @(posedge clk_i) begin
    if (rst_i) pc <= ResetVector;
    else if (redirect_i) pc <= target_i;
    else if (!hold_i) pc <= next;
  end
  assign imem_addr_o = pc;

  predictor #(.BranchEntries(BranchEntries), .ReturnDepth(ReturnDepth)) u_predictor (
      .clk_i, .rst_i,
      .pc_i(pc), .inst_i(imem_data_i), .advance_i(!hold_i),
      .next_o(next), .return_top_o(return_top),
      .restore_i(redirect_i), .restore_top_i(return_top_i),
      .train_i, .train_pc_i, .train_taken_i
  );

  logic lookup, hit, dropped;
  assign lookup = !halt_i && !imem_fault_i;
  assign wait_o = lookup && !hit;
  cache_tags #(.Sets(CacheSets), .Ways(CacheWays), .LineBytes(LineBytes)) u_icache (
      .clk_i, .rst_i, .req_i(lookup), .addr_i(pc), .hit_o(hit), .miss_o(fill_miss_o),
      .filling_o(fill_valid_o), .fill_addr_o, .filled_i(fill_done_i), .drop_i(1'b0), .drop_addr_i(32'd0),
      .dropped_o(dropped)
  );
  logic unused;
  assign unused = &{1'b0, dropped};

  always_comb begin
    out_o.valid      = !halt_i;
    out_o.pc         = pc;
    out_o.inst       = imem_data_i;
    out_o.predicted  = next;
    out_o.return_top = return_top;
    out_o.exc        = imem_fault_i ? exception(CAUSE_FETCH_FAULT, pc) : NoException;
  end
endmodule
