// Performance counters, 64 bits each, read through one port.
module perf_counters
  import rv_pkg::*;
(
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic         running_i,
    input  stages_probe_t stage_i,
    input  logic         flush_i,
    input  flush_e       flush_reason_i,
    input  logic         stalled_i,
    input  stall_e       stall_reason_i,
    input  logic         icache_miss_i,
    input  logic         dcache_access_i,
    input  logic         dcache_miss_i,
    input  kind_t        kind_i,  // of the instruction in writeback
    input  counter_e     select_i,
    output logic [63:0]  value_o,
    output counts_t      step_o  // which counters grow by one in this cycle, as long as the core runs
);
  logic [63:0] counter [NumCounters];

  logic retires;
  assign retires = stage_i.valid[StageW] && !stage_i.kill[StageW];

  // Which counters grow in this cycle. An instruction counts as fetched in the cycle in which it leaves fetch, moving on
  // or squashed.
  counts_t                step;
  logic [2:0]             squashed;
  always_comb begin
    step = '0;
    step[CNT_CYCLES]          = 1'b1;
    step[CNT_FETCHED]         = stage_i.valid[StageF] && (stage_i.kill[StageF] || !stage_i.hold[StageF]);
    step[CNT_COMMITTED]       = retires;
    step[CNT_FLUSHES]         = flush_i;
    step[CNT_BRANCHES]        = retires && kind_i.branch;
    step[CNT_BRANCHES_TAKEN]  = retires && kind_i.branch && kind_i.taken;
    step[CNT_JUMPS]           = retires && kind_i.jump;
    step[CNT_MISPREDICTS]     = flush_i && flush_reason_i == FLUSH_MISPREDICT;
    step[CNT_LOADS]           = retires && kind_i.load;
    step[CNT_STORES]          = retires && kind_i.store;
    step[CNT_LOADS_FORWARDED] = retires && kind_i.forwarded;
    step[CNT_ATOMICS]         = retires && kind_i.atomic;
    step[CNT_MULDIVS]         = retires && kind_i.muldiv;
    step[CNT_ICACHE_MISSES]   = icache_miss_i;
    step[CNT_DCACHE_ACCESSES] = dcache_access_i;
    step[CNT_DCACHE_MISSES]   = dcache_miss_i;
    step[CNT_EXCEPTIONS]      = flush_i && flush_reason_i == FLUSH_EXCEPTION;
    step[CNT_INTERRUPTS]      = flush_i && flush_reason_i == FLUSH_INTERRUPT;
    step[CNT_STALLS + 5'(stall_reason_i)] = stalled_i;
    squashed = 3'd0;
    for (int unsigned s = 0; s < NumStages; s++) squashed += {2'b00, stage_i.kill[s]};
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < NumCounters; i++) begin
      if (rst_i) counter[i] <= 64'd0;
      else if (running_i && i == 32'(CNT_SQUASHED)) counter[i] <= counter[i] + {61'd0, squashed};
      else if (running_i && step[i]) counter[i] <= counter[i] + 64'd1;
    end
  end

  assign value_o = counter[select_i];
  assign step_o  = step;
endmodule
