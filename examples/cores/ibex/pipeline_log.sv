// What the trace of the pipeline is compared with: the core's own registers at the end of each cycle, as text. +cycles=FILE.
// What raised an exception goes through the RVFI only: `?`.
module ibex_pipeline_log import log_pkg::*; (
    input logic        clk, rst,
    input logic        if_valid, ex_valid, wb_valid, flushing, trapped,
    input logic [31:0] if_pc, ex_pc, wb_pc,
    input logic [2:0]  fifo_valid,
    input logic [31:0] fifo_words [3],
    input logic [4:0]  rd,
    input logic [31:0] mul_wait, div_wait
);
  int          file;
  int unsigned cycle = 0;
  string       name;
  initial if ($value$plusargs("cycles=%s", name)) begin
    file = $fopen(name, "w");
    $fwrite(file, "cycle fetch execute writeback fetch_fifo[0].word fetch_fifo[1].word fetch_fifo[2].word scoreboard[0].rd\n");
  end
  always @(posedge clk) begin
    if (file != 0 && !rst)
      $fwrite(file, "%0d %s %s %s %s %s %s %s\n", cycle, shown(if_valid, if_pc), shown(ex_valid && !flushing, ex_pc),
              trapped ? "?" : shown(wb_valid, wb_pc), shown(fifo_valid[0], fifo_words[0]), shown(fifo_valid[1], fifo_words[1]),
              shown(fifo_valid[2], fifo_words[2]), shown(wb_valid, 32'(rd)));
    cycle <= cycle + 1;
  end
  final if (file != 0) $fwrite(file, "counters stalls_mul=%0d stalls_div=%0d\n", mul_wait, div_wait);
endmodule

bind ibex_core ibex_pipeline_log u_pipeline_log (
    .clk(clk_i), .rst(!rst_ni), .if_valid(if_stage_i.fetch_valid), .if_pc(if_stage_i.fetch_addr), .ex_valid(instr_valid_id),
    .ex_pc(pc_id), .flushing(id_stage_i.controller_i.flush_id_o),
    .wb_valid(wb_stage_i.g_writeback_stage.wb_valid_q), .trapped(rvfi_stage_valid[0] && rvfi_stage_trap[0]),
    .wb_pc(wb_stage_i.g_writeback_stage.wb_pc_q), .fifo_valid(if_stage_i.gen_prefetch_buffer.prefetch_buffer_i.fifo_i.valid_q),
    .fifo_words('{if_stage_i.gen_prefetch_buffer.prefetch_buffer_i.fifo_i.rdata_q[0],
                  if_stage_i.gen_prefetch_buffer.prefetch_buffer_i.fifo_i.rdata_q[1],
                  if_stage_i.gen_prefetch_buffer.prefetch_buffer_i.fifo_i.rdata_q[2]}),
    .rd(wb_stage_i.g_writeback_stage.rf_waddr_wb_q),
    .mul_wait(cs_registers_i.mhpmcounter[11][31:0]), .div_wait(cs_registers_i.mhpmcounter[12][31:0]));
