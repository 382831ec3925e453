// Performance counters, 64 bits each, read through one port.
module perf_counters
  import rv_pkg::*;
(
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic         running_i,
    input  stage_probe_t [NumStages-1:0] stage_i,
    input  logic         flush_i,
    input  flush_e       flush_reason_i,
    input  logic         stalled_i,
    input  stall_e       stall_reason_i,
    input  logic         icache_miss_i,
    input  logic         dcache_access_i,
    input  logic         dcache_miss_i,
    input  kind_t        kind_i,  // of the instruction in writeback
    input  counter_e     select_i,
    output logic [63:0]  value_o
);
  logic [63:0] counter [NumCounters];

  logic retires;
  assign retires = stage_i[StageW].valid && !stage_i[StageW].kill;

  // What each counter grows by in this cycle. An instruction counts as fetched in the cycle in which it leaves fetch,
  // moving on or squashed.
  logic [NumCounters-1:0][2:0] step;
  always_comb begin
    step = '0;
    step[CNT_CYCLES][0]          = 1'b1;
    step[CNT_FETCHED][0]         = stage_i[StageF].valid && (stage_i[StageF].kill || !stage_i[StageF].hold);
    step[CNT_COMMITTED][0]       = retires;
    for (int unsigned s = 0; s < NumStages; s++) step[CNT_SQUASHED] += {2'b00, stage_i[s].kill};
    step[CNT_FLUSHES][0]         = flush_i;
    step[CNT_BRANCHES][0]        = retires && kind_i.branch;
    step[CNT_BRANCHES_TAKEN][0]  = retires && kind_i.branch && kind_i.taken;
    step[CNT_JUMPS][0]           = retires && kind_i.jump;
    step[CNT_MISPREDICTS][0]     = flush_i && flush_reason_i == FLUSH_MISPREDICT;
    step[CNT_LOADS][0]           = retires && kind_i.load;
    step[CNT_STORES][0]          = retires && kind_i.store;
    step[CNT_LOADS_FORWARDED][0] = retires && kind_i.forwarded;
    step[CNT_MULDIVS][0]         = retires && kind_i.muldiv;
    step[CNT_ICACHE_MISSES][0]   = icache_miss_i;
    step[CNT_DCACHE_ACCESSES][0] = dcache_access_i;
    step[CNT_DCACHE_MISSES][0]   = dcache_miss_i;
    step[CNT_EXCEPTIONS][0]      = flush_i && flush_reason_i == FLUSH_EXCEPTION;
    step[CNT_INTERRUPTS][0]      = flush_i && flush_reason_i == FLUSH_INTERRUPT;
    step[CNT_STALLS + 5'(stall_reason_i)][0] = stalled_i;
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < NumCounters; i++) begin
      if (rst_i) counter[i] <= 64'd0;
      else if (running_i) counter[i] <= counter[i] + {61'd0, step[i]};
    end
  end

  assign value_o = counter[select_i];
endmodule
