// Performance counters, 64 bits each, read through one port.
module perf_counters
  import rv_pkg::*;
(
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic         running_i,
    input  stage_probe_t [NumStages-1:0] stage_i,
    input  logic         flush_i,
    input  logic         load_use_i,
    input  kind_t        kind_i,  // of the instruction in writeback
    input  counter_e     select_i,
    output logic [63:0]  value_o
);
  logic [63:0] counter [NumCounters];

  logic retires;
  assign retires = stage_i[StageW].valid && !stage_i[StageW].kill;

  // An instruction counts as fetched in the cycle in which it leaves fetch, moving on or squashed.
  logic leaves_fetch;
  assign leaves_fetch = stage_i[StageF].valid && (stage_i[StageF].kill || !stage_i[StageF].hold);

  logic [2:0] killed;
  always_comb begin
    killed = 3'd0;
    for (int unsigned s = 0; s < NumStages; s++) killed += {2'b00, stage_i[s].kill};
  end

  function automatic logic [63:0] bit64(input logic b);
    return {63'd0, b};
  endfunction

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      for (int unsigned i = 0; i < NumCounters; i++) counter[i] <= 64'd0;
    end else if (running_i) begin
      counter[CNT_CYCLES]         <= counter[CNT_CYCLES] + 64'd1;
      counter[CNT_FETCHED]        <= counter[CNT_FETCHED] + bit64(leaves_fetch);
      counter[CNT_COMMITTED]      <= counter[CNT_COMMITTED] + bit64(retires);
      counter[CNT_SQUASHED]       <= counter[CNT_SQUASHED] + {61'd0, killed};
      counter[CNT_FLUSHES]        <= counter[CNT_FLUSHES] + bit64(flush_i);
      counter[CNT_STALL_LOAD_USE] <= counter[CNT_STALL_LOAD_USE] + bit64(load_use_i);
      counter[CNT_BRANCHES]       <= counter[CNT_BRANCHES] + bit64(retires && kind_i.branch);
      counter[CNT_BRANCHES_TAKEN] <= counter[CNT_BRANCHES_TAKEN] + bit64(retires && kind_i.branch && kind_i.taken);
      counter[CNT_JUMPS]          <= counter[CNT_JUMPS] + bit64(retires && kind_i.jump);
      counter[CNT_LOADS]          <= counter[CNT_LOADS] + bit64(retires && kind_i.load);
      counter[CNT_STORES]         <= counter[CNT_STORES] + bit64(retires && kind_i.store);
    end
  end

  assign value_o = counter[select_i];
endmodule
