// Performance counters, 64 bits each, read through one port; and what became of the dispatch slots. Each cycle has Width
// of them. An instruction uses one; whether it retires or is squashed shows later, so both are counted when that happens.
// A slot that nothing used is counted under the reason for it. When nothing is in flight the six classes add up to Width
// times the cycles.
module o3_counters
  import rv_pkg::*;
  import o3_pkg::*;
(
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic        running_i,
    input  count_t      fetched_i,
    input  logic [1:0]  dispatch_i,
    input  logic        blocked_i,         // by what the core lacks
    input  o3_stall_e   blocked_reason_i,
    input  logic        sleeps_i,
    input  logic        fetch_waits_i,     // for the instruction cache
    input  logic        memory_bound_i,    // the oldest instruction is a load or store that is not done
    input  logic [7:0]  issued_i,
    input  logic [7:0]  replays_i,
    input  logic        load_retry_i,
    input  logic [1:0]  commit_i,
    input  rob_entry_t  committed_i [Width],
    input  logic        flush_i,
    input  squash_e     flush_reason_i,
    input  logic [7:0]  squashed_i,        // after dispatch
    input  logic [7:0]  squashed_early_i,  // before dispatch
    input  logic        icache_miss_i,
    input  logic [1:0]  dcache_accesses_i,
    input  logic [7:0]  dcache_misses_i,
    input  logic [5:0]  select_i,
    output logic [63:0] value_o,
    output logic        stalled_o,         // nothing is dispatched
    output o3_stall_e   stall_reason_o,
    output o3_steps_t   steps_o
);
  logic [63:0] counter [NumO3Counters];

  logic recovering;  // nothing has been dispatched since a squash
  always_ff @(posedge clk_i) begin
    if (rst_i) recovering <= 1'b0;
    else if (flush_i) recovering <= 1'b1;
    else if (dispatch_i != '0) recovering <= 1'b0;
  end

  // ---- why slots are lost
  count_t      lost;
  slot_class_e lost_class;
  assign lost = 2'(Width) - 2'($countones(dispatch_i));
  always_comb begin
    lost_class = SLOT_FRONTEND;
    if (sleeps_i) begin
      stall_reason_o = O3_WAIT;
      lost_class     = SLOT_IDLE;
    end else if (flush_i || (recovering && !blocked_i && !fetch_waits_i)) begin
      stall_reason_o = O3_RECOVERY;
      lost_class     = SLOT_BAD_SPECULATION;
    end else if (blocked_i) begin
      stall_reason_o = blocked_reason_i;
      lost_class     = memory_bound_i ? SLOT_MEMORY : SLOT_CORE;
    end else if (fetch_waits_i) begin
      stall_reason_o = O3_ICACHE_MISS;
    end else begin
      stall_reason_o = O3_FETCH_BUBBLE;
    end
  end
  assign stalled_o = running_i && dispatch_i == '0;

  // ---- by how much each grows
  function automatic logic [5:0] those(input logic first, input logic second);
    return {5'd0, first && commit_i[0]} + {5'd0, second && commit_i[1]};
  endfunction
  kind_t a, b;
  assign a = committed_i[0].kind;
  assign b = committed_i[1].kind;

  o3_steps_t steps;
  always_comb begin
    steps = '0;
    steps[O3_CYCLES]           = 6'd1;
    steps[O3_FETCHED]          = 6'(fetched_i);
    steps[O3_COMMITTED]        = those(1'b1, 1'b1);
    steps[O3_SQUASHED]         = 6'(squashed_i + squashed_early_i);
    steps[O3_FLUSHES]          = 6'(flush_i);
    steps[O3_BRANCHES]         = those(a.branch, b.branch);
    steps[O3_BRANCHES_TAKEN]   = those(a.branch && a.taken, b.branch && b.taken);
    steps[O3_JUMPS]            = those(a.jump, b.jump);
    steps[O3_MISPREDICTS]      = 6'(flush_i && flush_reason_i == SQUASH_MISPREDICT);
    steps[O3_LOADS]            = those(a.load, b.load);
    steps[O3_STORES]           = those(a.store, b.store);
    steps[O3_LOADS_FORWARDED]  = those(a.forwarded, b.forwarded);
    steps[O3_MULDIVS]          = those(a.muldiv, b.muldiv);
    steps[O3_ICACHE_MISSES]    = 6'(icache_miss_i);
    steps[O3_DCACHE_ACCESSES]  = 6'($countones(dcache_accesses_i));
    steps[O3_DCACHE_MISSES]    = 6'(dcache_misses_i);
    steps[O3_EXCEPTIONS]       = 6'(flush_i && flush_reason_i == SQUASH_EXCEPTION);
    steps[O3_INTERRUPTS]       = 6'(flush_i && flush_reason_i == SQUASH_INTERRUPT);
    steps[O3_DISPATCHED]       = 6'($countones(dispatch_i));
    steps[O3_ISSUED]           = 6'(issued_i);
    steps[O3_REPLAYS]          = 6'(replays_i);
    steps[O3_LOAD_RETRIES]     = 6'(load_retry_i);
    steps[O3_ORDER_VIOLATIONS] = 6'(flush_i && flush_reason_i == SQUASH_MEMORY_ORDER);
    steps[O3_STALLS + 6'(stall_reason_o)] = 6'(stalled_o);
    steps[6'(O3Slots) + 6'(lost_class)]   = 6'(lost);
    steps[6'(O3Slots) + 6'(SLOT_RETIRING)] = those(1'b1, 1'b1);
    steps[6'(O3Slots) + 6'(SLOT_BAD_SPECULATION)] = steps[6'(O3Slots) + 6'(SLOT_BAD_SPECULATION)] + 6'(squashed_i);
    if (!running_i) steps = '0;
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < NumO3Counters; i++) begin
      if (rst_i) counter[i] <= 64'd0;
      else counter[i] <= counter[i] + {58'd0, steps[i]};
    end
  end

  assign value_o = counter[select_i];
  assign steps_o = steps;
endmodule
