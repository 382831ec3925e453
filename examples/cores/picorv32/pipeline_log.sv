// What the trace of the states is compared with, as text: for each cycle the core's own name of its state. +cycles=FILE.
module picorv32_pipeline_log import log_pkg::*; (
    input logic         clk, rst, dbg_valid_insn, trigger, half_valid, mem_valid,
    input logic [127:0] state,
    input logic [31:0]  insn_addr, next_pc, mem_addr,
    input logic [15:0]  half,
    input logic [63:0]  retired
);
  int          file;
  int unsigned cycle = 0;
  string       name;
  initial if ($value$plusargs("cycles=%s", name)) begin
    file = $fopen(name, "w");
    $fwrite(file, "cycle decode ld_rs1 ld_rs2 exec shift ldmem stmem writeback half_word[0].half memory_request[0].addr\n");
  end
  function automatic string in(input string of);
    return shown(dbg_valid_insn && string'(state) == of, insn_addr);
  endfunction
  always @(posedge clk) begin
    if (file != 0 && !rst)
      $fwrite(file, "%0d %s %s %s %s %s %s %s %s %s %s\n", cycle, trigger ? shown(1'b1, next_pc) : "?", in("ld_rs1"), in("ld_rs2"), in("exec"),
              in("shift"), in("ldmem"), in("stmem"), in("fetch"), shown(half_valid, 32'(half)), shown(mem_valid, mem_addr));
    cycle <= cycle + 1;
  end
endmodule

bind picorv32 picorv32_pipeline_log u_pipeline_log (
    .clk, .rst(!resetn), .dbg_valid_insn, .trigger(decoder_trigger), .state(dbg_ascii_state), .insn_addr(dbg_insn_addr), .next_pc,
    .half_valid(prefetched_high_word), .half(mem_16bit_buffer), .mem_valid, .mem_addr, .retired(count_instr));
