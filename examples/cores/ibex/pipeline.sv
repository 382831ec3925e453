// Records Ibex's pipeline, bound to ibex_core from outside: who is in which stage, why execute waits, the fetch FIFO, the instruction in
// writeback, branches, and what retires. Schema: pipeline.yaml. A frame describes a clock cycle and is written at the edge that ends it.
module ibex_pipeline
  import uscope_pkg::*;
  import uscope_cpu_pkg::*;
  import uscope_rvfi_pkg::*;
  import retirement_pkg::*;
  import mirror_pkg::*;
(
    input logic        clk, rst,
    // Instruction fetch: what the FIFO shows, and whether execute takes it.
    input logic        if_valid, if_taken, if_compressed,
    input logic [31:0] if_pc, if_insn,
    input logic [2:0]  fifo_valid,
    input logic [31:0] fifo_words [3],
    input logic [1:0]  requests, discarded,
    // Decode and execute: `done` in the cycle in which it goes to writeback or raises an exception, `clear` when the stage becomes free.
    input logic        ex_valid, ex_done, ex_clear,
    input logic [4:0]  ex_rd,
    input logic [1:0]  ex_access,
    input logic        ex_branch, ex_jump,
    input logic        uses_wb,            // a source is what writeback writes
    input logic [31:0] ex_target,
    input logic        pc_set,
    input logic [2:0]  pc_mux,
    input logic [1:0]  exc_mux,
    // Why it waits.
    input logic        load_hazard, memory, mul, div, branch, jump, writeback, sleeping,
    // Writeback, as the core's RVFI follows it: what raised an exception goes through, too.
    input logic        wb_valid, wb_done, wb_trap,
    input logic        rvfi_valid, rvfi_trap, rvfi_intr,
    input logic [63:0] rvfi_order,
    input logic [31:0] rvfi_insn, rvfi_pc_rdata, rvfi_pc_wdata, rvfi_rs1_rdata, rvfi_rd_wdata,
    input logic [31:0] rvfi_mem_addr, rvfi_mem_rdata, rvfi_mem_wdata,
    input logic [3:0]  rvfi_mem_rmask, rvfi_mem_wmask,
    input logic [4:0]  rvfi_rd_addr
);
  localparam int unsigned Fetch = 0, Execute = 1, Writeback = 2, Retire = 3;
  localparam int unsigned Mispredict = 0, Exception = 1, Interrupt = 2, PipelineClear = 3, Jump = 4;
  // Bits of counters, in the order of the schema; those of stalls follow in the order of stall_reason.
  localparam int unsigned Cycles = 0, Committed = 1, Squashed = 2, Branches = 3, Taken = 4, Jumps = 5, Loads = 6, Stores = 7, Stalls = 8;

  chandle          w, pipeline;
  longint unsigned now = 0, period;
  effects_t        effects;
  int              st_fifo, st_requests, st_scoreboard, n_first, ev_stall, ev_branch, ev_interrupt;

  initial begin
    w             = uscope_open_checked("core0", "", "", "core=0");
    pipeline      = uscope_pipeline_new(w, "core0", "", 4);
    period        = 64'(uscope_clock_period(w, ""));
    effects       = effects_of(w, "core0");
    st_fifo       = uscope_storage_id(w, "core0/fetch_fifo");
    st_requests   = uscope_storage_id(w, "core0/fetch_requests");
    st_scoreboard = uscope_storage_id(w, "core0/scoreboard");
    n_first       = uscope_storage_id(w, "core0/cycles");
    ev_stall      = uscope_event_id(w, "core0/stall");
    ev_branch     = uscope_event_id(w, "core0/branch");
    ev_interrupt  = uscope_event_id(w, "core0/interrupt");
  end
  final begin
    uscope_pipeline_free(pipeline);
    uscope_close(w);
  end

  /* verilator lint_off BLKSEQ */
  // The core may keep an instruction in execute for a cycle after it is done (mret, exceptions): it has left.
  bit          left, redirected, trapped_before, retired_before;
  bit [1:0]    killed_before;
  mirrored_t   known_fifo [3], known_requests [2];
  bit          known_wb;
  bit [1:0]    wb_access;
  bit [4:0]    wb_rd;
  bit [63:0]   counts;

  always @(posedge clk) begin
    if (pipeline != null) begin
      uscope_begin_cycle(w, now);
      counts = 64'd1 << Cycles;
      if (!rst) record_cycle();
      uscope_count_lanes(w, 16'(n_first), counts);
      uscope_end_cycle(w);
    end
    now = now + period;
  end

  function automatic void record_cycle();
    bit          in_execute = ex_valid && !left;
    bit [3:0]    valid = {rvfi_valid, wb_valid, in_execute, if_valid};
    bit [3:0]    hold  = {1'b0, !wb_done, !ex_done && !ex_clear, !if_taken && !pc_set};
    bit [3:0]    kill  = {rvfi_trap, 1'b0, ex_clear && !ex_done, pc_set} & valid;
    int unsigned entered;
    entered = uscope_pipeline_step(pipeline, 32'(valid), 32'(hold), 32'(kill), flush_reason(), 64'(if_pc),
                                   if_compressed ? 32'(if_insn[15:0]) : if_insn, 32'hffff_ffff);
    counts[Squashed]  = killed_before != 0;
    // Two at most: the one in fetch, and one in execute or one that trapped.
    if (killed_before == 2) uscope_slot_add(w, 16'(n_first + int'(Squashed)), 16'd0, 16'd0, 64'd1);
    killed_before = 2'($countones(kill));
    counts[Committed] = retired_before;
    record_buffers();
    record_scoreboard(entered[Writeback] && !wb_trap);
    if (entered[Execute] && uses_wb && wb_valid) uscope_pipeline_dependency(pipeline, Writeback, Execute, 32'd0);
    if (in_execute) record_branch();
    record_stall(in_execute);
    left = (left || ex_done) && !ex_clear && !if_taken;
    retired_before = rvfi_valid && !rvfi_trap;
    if (rvfi_valid) record_retired();
  endfunction

  function automatic int unsigned flush_reason();
    if (rvfi_valid && rvfi_trap) return Exception;
    if (pc_mux == 3'd1) return ex_jump ? Jump : Mispredict;
    if (pc_mux == 3'd2) return exc_mux == 2'd1 ? Interrupt : Exception;
    return PipelineClear;
  endfunction

  function automatic void record_buffers();
    for (int unsigned i = 0; i < 3; i++)
      known_fifo[i] = mirror(w, st_fifo, i, fifo_valid[i], 64'(fifo_words[i]), known_fifo[i]);
    for (int unsigned i = 0; i < 2; i++)
      known_requests[i] = mirror(w, st_requests, i, requests[i], 64'(discarded[i]), known_requests[i]);
  endfunction

  // What went to writeback, and what it will write there.
  function automatic void record_scoreboard(input bit entered);
    bit waits = wb_valid && !wb_trap;
    if (known_wb && (entered || !waits)) uscope_slot_clear(w, 16'(st_scoreboard), 16'd0);
    if (entered)
      uscope_slot_put3(w, 16'(st_scoreboard), 16'd0, 64'(uscope_pipeline_entity(pipeline, Writeback)), 64'(wb_access), 64'(wb_rd));
    known_wb  = waits;
    wb_access = ex_access;
    wb_rd     = ex_rd;
  endfunction

  // A branch is decided when it leaves; a taken one has set the pc in that cycle or before.
  function automatic void record_branch();
    redirected |= pc_set && pc_mux == 3'd1;
    if (ex_done && ex_branch)
      uscope_event3(w, 16'(ev_branch), 64'(uscope_pipeline_entity(pipeline, Execute)), 64'(redirected), redirected ? 64'(ex_target) : 64'd0);
    if (ex_done) begin
      counts[Branches] = ex_branch;
      counts[Taken]    = ex_branch && redirected;
      counts[Jumps]    = ex_jump;
      redirected       = 1'b0;
    end
  endfunction

  // One reason for each cycle in which execute passes nothing on.
  function automatic void record_stall(input bit in_execute);
    int unsigned reason;
    if (ex_done) return;
    if (!in_execute) reason = sleeping ? 8 : left ? 9 : 7;
    else if (load_hazard) reason = 0;
    else if (memory) reason = 1;
    else if (mul) reason = 2;
    else if (div) reason = 3;
    else if (branch) reason = 4;
    else if (jump) reason = 5;
    else if (writeback) reason = 6;
    else reason = 9;
    uscope_event1(w, 16'(ev_stall), 64'(reason));
    counts |= 64'd1 << (Stalls + reason);
  endfunction

  function automatic void record_retired();
    int unsigned id = uscope_pipeline_entity(pipeline, Retire);
    if (rvfi_intr && !trapped_before) uscope_event1(w, 16'(ev_interrupt), 64'(id));
    record_effects(w, effects, id, retired_of(rvfi_insn, rvfi_pc_rdata, rvfi_pc_wdata, rvfi_trap, rvfi_rs1_rdata, rvfi_rd_addr, rvfi_rd_wdata,
                                              rvfi_mem_addr, rvfi_mem_rmask, rvfi_mem_wmask, rvfi_mem_rdata, rvfi_mem_wdata));
    trapped_before = rvfi_trap;
    counts[Loads]     = !rvfi_trap && rvfi_mem_rmask != 0 && !never_reads(rvfi_insn);
    counts[Stores]    = !rvfi_trap && rvfi_mem_wmask != 0;
  endfunction
endmodule

bind ibex_core ibex_pipeline u_pipeline (
    .clk(clk_i), .rst(!rst_ni),
    .if_valid(if_stage_i.if_instr_valid), .if_taken(if_stage_i.instr_new_id_d), .if_compressed(if_stage_i.instr_is_compressed),
    .if_pc(pc_if), .if_insn(if_stage_i.if_instr_rdata),
    .fifo_valid(if_stage_i.gen_prefetch_buffer.prefetch_buffer_i.fifo_i.valid_q),
    .fifo_words('{if_stage_i.gen_prefetch_buffer.prefetch_buffer_i.fifo_i.rdata_q[0],
                  if_stage_i.gen_prefetch_buffer.prefetch_buffer_i.fifo_i.rdata_q[1],
                  if_stage_i.gen_prefetch_buffer.prefetch_buffer_i.fifo_i.rdata_q[2]}),
    .requests(if_stage_i.gen_prefetch_buffer.prefetch_buffer_i.rdata_outstanding_q),
    .discarded(if_stage_i.gen_prefetch_buffer.prefetch_buffer_i.branch_discard_q),
    .ex_valid(instr_valid_id), .ex_done(rvfi_id_done), .ex_clear(instr_valid_clear),
    .ex_rd(rf_waddr_id), .ex_access(instr_type_wb), .ex_branch(id_stage_i.branch_in_dec), .ex_jump(id_stage_i.jump_in_dec),
    .uses_wb(id_stage_i.gen_stall_mem.rf_rd_a_hz || id_stage_i.gen_stall_mem.rf_rd_b_hz), .ex_target(branch_target_ex), .pc_set,
    .pc_mux(pc_mux_id), .exc_mux(exc_pc_mux_id),
    .load_hazard(id_stage_i.stall_ld_hz), .memory(id_stage_i.stall_mem), .mul(id_stage_i.stall_multdiv && id_stage_i.mult_en_dec),
    .div(id_stage_i.stall_multdiv && id_stage_i.div_en_dec), .branch(id_stage_i.stall_branch), .jump(id_stage_i.stall_jump),
    .writeback(id_stage_i.stall_wb), .sleeping(!ctrl_busy),
    .wb_valid(rvfi_stage_valid[0]), .wb_done(rvfi_wb_done), .wb_trap(rvfi_stage_trap[0]),
    .rvfi_valid, .rvfi_trap, .rvfi_intr, .rvfi_order, .rvfi_insn, .rvfi_pc_rdata, .rvfi_pc_wdata, .rvfi_rs1_rdata, .rvfi_rd_wdata,
    .rvfi_mem_addr, .rvfi_mem_rdata, .rvfi_mem_wdata, .rvfi_mem_rmask, .rvfi_mem_wmask, .rvfi_rd_addr);
