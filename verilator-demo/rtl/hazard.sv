// Forwarding, the load-use interlock, and who stays, moves or is squashed at the end of the cycle.
module hazard
  import rv_pkg::*;
(
    input  logic [NumStages-1:0] occupied_i,
    input  logic         halted_i,
    input  logic         redirect_i,  // execute goes elsewhere
    input  logic         trap_i,      // writeback takes an exception
    input  sources_t     decode_src_i,
    input  sources_t     execute_src_i,
    input  destination_t execute_dst_i,
    input  destination_t memory_dst_i,
    input  destination_t writeback_dst_i,
    output fwd_e         fwd_a_o,
    output fwd_e         fwd_b_o,
    output logic         bypass_o,
    output logic         load_use_o,
    output stage_probe_t [NumStages-1:0] stage_o
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

  // Decode takes a value from writeback through the register file, unless a younger instruction, not done yet, is
  // to provide it.
  function automatic logic bypassed(input logic used, input logic [4:0] rs);
    return used && provides(writeback_dst_i, rs)
        && !(execute_dst_i.write && execute_dst_i.rd == rs) && !(memory_dst_i.write && memory_dst_i.rd == rs);
  endfunction

  always_comb begin
    bypass_o = occupied_i[StageD] && (bypassed(decode_src_i.uses_rs1, decode_src_i.rs1)
                                      || bypassed(decode_src_i.uses_rs2, decode_src_i.rs2));
  end

  logic waits;
  assign waits = (decode_src_i.uses_rs1 && decode_src_i.rs1 == execute_dst_i.rd)
              || (decode_src_i.uses_rs2 && decode_src_i.rs2 == execute_dst_i.rd);
  assign load_use_o = occupied_i[StageD] && execute_dst_i.write && !execute_dst_i.ready && waits && !trap_i;

  // A redirect squashes what was fetched behind it, a trap everything, the trapping instruction included.
  always_comb begin
    for (int unsigned s = 0; s < NumStages; s++) begin
      stage_o[s].valid = occupied_i[s];
      stage_o[s].hold  = 1'b0;
      stage_o[s].kill  = occupied_i[s] && (trap_i || (redirect_i && s < StageE));
    end
    stage_o[StageF].hold = load_use_o || halted_i;
    stage_o[StageD].hold = load_use_o;
  end
endmodule
