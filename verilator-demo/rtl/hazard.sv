// Forwarding, interlocks, and who stays, moves or is squashed at the end of the cycle.
module hazard
  import rv_pkg::*;
(
    input  logic [NumStages-1:0] occupied_i,
    input  logic         fetch_wait_i,      // instruction cache
    input  logic         execute_wait_i,    // multiplier or divider
    input  logic         memory_wait_i,
    input  stall_e       memory_reason_i,
    input  logic         serialize_i,       // the instruction in decode must be alone
    input  logic         exclusive_i,       // the one in execute must be: decode waits for its effect
    input  logic         sleep_i,           // wfi in decode
    input  logic         redirect_i,        // execute goes elsewhere than fetch did
    input  logic         trap_i,            // writeback takes an exception or interrupt
    input  sources_t     decode_src_i,
    input  sources_t     execute_src_i,
    input  destination_t execute_dst_i,
    input  destination_t memory_dst_i,
    input  destination_t writeback_dst_i,
    output fwd_e         fwd_a_o,
    output fwd_e         fwd_b_o,
    output logic         redirect_o,        // now: the instruction in execute moves on
    output logic         stalled_o,
    output stall_e       stall_reason_o,
    output stages_probe_t stage_o
);
  function automatic logic provides(input destination_t d, input logic [4:0] rs);
    return d.write && d.ready && d.rd == rs;
  endfunction

  // The youngest older producer wins: memory before writeback. A load in memory is not ready, but then its consumer
  // is not in execute: the interlock kept it one stage further away.
  function automatic fwd_e forward_from(input logic used, input logic [4:0] rs);
    if (used && provides(memory_dst_i, rs)) return FWD_MEMORY;
    if (used && provides(writeback_dst_i, rs)) return FWD_WRITEBACK;
    return FWD_REGFILE;
  endfunction

  always_comb begin
    fwd_a_o = forward_from(occupied_i[StageE] && execute_src_i.uses_rs1, execute_src_i.rs1);
    fwd_b_o = forward_from(occupied_i[StageE] && execute_src_i.uses_rs2, execute_src_i.rs2);
  end

  function automatic logic decode_reads(input logic [4:0] rd);
    return (decode_src_i.uses_rs1 && decode_src_i.rs1 == rd) || (decode_src_i.uses_rs2 && decode_src_i.rs2 == rd);
  endfunction

  function automatic logic needs(input destination_t d);
    return d.write && !d.ready && decode_reads(d.rd);
  endfunction

  // ---- stages that wait for their own reasons, oldest first; a stage whose successor stays has to stay, too
  logic memory_holds, execute_holds, decode_waits, decode_holds, fetch_waits;
  logic alone;
  stall_e decode_reason;
  assign memory_holds  = occupied_i[StageM] && memory_wait_i && !trap_i;
  assign execute_holds = occupied_i[StageE] && (execute_wait_i || memory_holds) && !trap_i;
  assign redirect_o    = redirect_i && !execute_holds && !trap_i;
  assign alone         = !occupied_i[StageE] && !occupied_i[StageM] && !occupied_i[StageW];

  always_comb begin
    decode_waits  = 1'b1;
    decode_reason = STALL_LOAD_USE;
    if (needs(execute_dst_i) || (memory_holds && needs(memory_dst_i))) decode_reason = STALL_LOAD_USE;
    else if (exclusive_i || (serialize_i && !alone)) decode_reason = STALL_SERIALIZE;
    else if (sleep_i) decode_reason = STALL_WAIT;
    else decode_waits = 1'b0;
    if (!occupied_i[StageD] || redirect_o || trap_i) decode_waits = 1'b0;
  end
  assign decode_holds = occupied_i[StageD] && (decode_waits || execute_holds) && !redirect_o && !trap_i;
  assign fetch_waits  = occupied_i[StageF] && fetch_wait_i && !redirect_o && !trap_i;

  always_comb begin
    stalled_o      = 1'b1;
    stall_reason_o = STALL_ICACHE_MISS;
    if (memory_holds) stall_reason_o = memory_reason_i;
    else if (execute_holds) stall_reason_o = STALL_MUL_DIV;
    else if (decode_waits) stall_reason_o = decode_reason;
    else stalled_o = fetch_waits;
  end

  // A redirect squashes what was fetched after it, a trap everything, the trapping instruction included.
  // In the order of the stages, writeback first.
  logic squashes;
  assign squashes = redirect_o || trap_i;
  assign stage_o = '{
      valid: occupied_i,
      hold:  {1'b0, memory_holds, execute_holds, decode_holds, fetch_waits || decode_holds},
      kill:  occupied_i & {trap_i, trap_i, trap_i, squashes, squashes}
  };
endmodule
