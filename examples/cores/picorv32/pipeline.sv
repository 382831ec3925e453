// Records what PicoRV32's state machine does, bound to it from outside: the state that the instruction is in and the next one that is
// fetched meanwhile, what it waits for, the half word kept from the last fetch, branches, and what retires. Schema: pipeline.yaml. A frame
// describes a clock cycle and is written at the edge that ends it.
module picorv32_pipeline
  import uscope_pkg::*;
  import uscope_cpu_pkg::*;
  import uscope_rvfi_pkg::*;
  import retirement_pkg::*;
  import mirror_pkg::*;
(
    input logic        clk, rst, trap,
    input logic [7:0]  cpu_state,
    input logic        fetching, decoder_trigger, launch, opcode_known, mem_done,
    input logic [31:0] next_pc, opcode,
    input logic        in_branch, taken, muldiv_wait,
    input logic [31:0] target,
    input logic        half_valid,
    input logic [15:0] half,
    input logic        mem_valid, mem_instr, mem_do_prefetch,
    input logic [31:0] mem_addr,
    input logic [3:0]  mem_wstrb,
    input logic        rvfi_valid, rvfi_trap,
    input logic [31:0] rvfi_insn, rvfi_pc_rdata, rvfi_pc_wdata, rvfi_rs1_rdata, rvfi_rd_wdata,
    input logic [31:0] rvfi_mem_addr, rvfi_mem_rdata, rvfi_mem_wdata,
    input logic [3:0]  rvfi_mem_rmask, rvfi_mem_wmask,
    input logic [4:0]  rvfi_rd_addr
);
  localparam int unsigned Fetch = 0, Decode = 1, LdRs1 = 2, Writeback = 8, Retire = 9;
  localparam int unsigned Mispredict = 0, Exception = 1;
  // Bits of counters, in the order of the schema; those of stalls follow in the order of stall_reason.
  localparam int unsigned Cycles = 0, Committed = 1, Squashed = 2, Branches = 3, Taken = 4, Jumps = 5, Loads = 6, Stores = 7, Stalls = 8;
  // One bit for each state.
  localparam int unsigned StateFetch = 6, StateLdRs1 = 5, StateExec = 3, StateStmem = 1, StateLdmem = 0;

  chandle          w, cpu;
  longint unsigned now = 0, period;
  effects_t        effects;
  int              f_bits, st_half, st_request, n_first, ev_stall, ev_branch;

  initial begin
    w          = uscope_open_checked("core0", "", "", "core=0");
    cpu        = uscope_cpu_new(w, "core0");
    period     = 64'(uscope_clock_period(w, ""));
    effects    = effects_of(w, "core0");
    f_bits     = uscope_cpu_field(cpu, "inst_bits");
    st_half    = uscope_storage_id(w, "core0/half_word");
    st_request = uscope_storage_id(w, "core0/memory_request");
    n_first    = uscope_storage_id(w, "core0/cycles");
    ev_stall   = uscope_event_id(w, "core0/stall");
    ev_branch  = uscope_event_id(w, "core0/branch");
  end
  final begin
    uscope_cpu_free(cpu);
    uscope_close(w);
  end

  /* verilator lint_off BLKSEQ */
  // Who is fetched next, in the state machine, about to be shown on the RVFI, and was shown in the cycle before.
  int unsigned next = USCOPE_CPU_NONE, current = USCOPE_CPU_NONE, leaving = USCOPE_CPU_NONE, ended = USCOPE_CPU_NONE;
  int unsigned stage;
  bit          ended_trap, decoded;
  mirrored_t   known_half;
  bit [36:0]   known_request;
  bit [31:0]   pc;
  bit [63:0]   counts;

  always @(posedge clk) begin
    if (cpu != null) begin
      uscope_begin_cycle(w, now);
      counts = 64'd1 << Cycles;
      if (!rst) record_cycle();
      uscope_count_lanes(w, 16'(n_first), counts);
      uscope_end_cycle(w);
    end
    now = now + period;
  end

  function automatic void record_cycle();
    if (ended != USCOPE_CPU_NONE) record_end();
    if (rvfi_valid && leaving != USCOPE_CPU_NONE) record_retired();
    if (next != USCOPE_CPU_NONE && next_pc != pc) begin
      uscope_cpu_flush(cpu, next, Mispredict);
      counts[Squashed] = 1'b1;
      next = USCOPE_CPU_NONE;
    end
    if (next == USCOPE_CPU_NONE && fetching) begin
      pc   = next_pc;
      next = uscope_cpu_fetch(cpu, 64'(pc), 0);
      uscope_cpu_stage(cpu, next, Fetch);
    end
    if (decoder_trigger && !decoded) uscope_cpu_stage(cpu, next, Decode);
    decoded |= decoder_trigger;
    if (current != USCOPE_CPU_NONE) record_state();
    record_buffers();
    record_stall();
    if (launch || trap) begin
      leaving = current;
      current = launch ? next : USCOPE_CPU_NONE;
      if (launch) next = USCOPE_CPU_NONE;
      stage   = Decode;
      decoded = 1'b0;
    end
  endfunction

  function automatic void record_end();
    if (ended_trap) uscope_cpu_flush(cpu, ended, Exception);
    else uscope_cpu_retire(cpu, ended);
    counts[Committed] = !ended_trap;
    counts[Squashed]  = ended_trap;
    ended = USCOPE_CPU_NONE;
  endfunction

  // In the order of the stages, from ld_rs1 on.
  function automatic void record_state();
    int unsigned entered;
    entered = Writeback;
    for (int unsigned i = 0; i < 6; i++) if (cpu_state[StateLdRs1 - i]) entered = LdRs1 + i;
    // stmem is the bit above ldmem.
    if (cpu_state[StateStmem]) entered = 7;
    if (cpu_state[StateLdmem]) entered = 6;
    if (entered != stage) uscope_cpu_stage(cpu, current, entered);
    stage = entered;
    if (opcode_known) uscope_cpu_set(cpu, current, f_bits, 64'(opcode));
    if (cpu_state[StateExec] && in_branch && mem_done) begin
      uscope_event3(w, 16'(ev_branch), 64'(current), 64'(taken), taken ? 64'(target) : 64'd0);
      counts[Branches] = 1'b1;
      counts[Taken]    = taken;
    end
  endfunction

  function automatic void record_buffers();
    bit [36:0] request = {mem_addr, mem_instr, mem_wstrb};
    known_half = mirror(w, st_half, 0, half_valid, 64'(half), known_half);
    if (mem_valid && request != known_request)
      uscope_slot_put3(w, 16'(st_request), 16'd0, 64'(mem_addr), 64'(mem_instr), 64'(mem_wstrb));
    if (!mem_valid && known_request != '1) uscope_slot_clear(w, 16'(st_request), 16'd0);
    known_request = mem_valid ? request : '1;
  endfunction

  function automatic void record_stall();
    int unsigned reason;
    if (cpu_state[StateFetch] && !decoder_trigger) reason = 0;
    else if (cpu_state[StateLdmem] && (mem_do_prefetch || !mem_done)) reason = 1;
    else if (cpu_state[StateStmem] && (mem_do_prefetch || !mem_done)) reason = 2;
    else if (muldiv_wait) reason = 3;
    else return;
    uscope_event1(w, 16'(ev_stall), 64'(reason));
    counts |= 64'd1 << (Stalls + reason);
  endfunction

  function automatic void record_retired();
    uscope_cpu_stage(cpu, leaving, Retire);
    record_effects(w, effects, leaving, retired_of(rvfi_insn, rvfi_pc_rdata, rvfi_pc_wdata, rvfi_trap, rvfi_rs1_rdata, rvfi_rd_addr, rvfi_rd_wdata,
                                              rvfi_mem_addr, rvfi_mem_rmask, rvfi_mem_wmask, rvfi_mem_rdata, rvfi_mem_wdata));
    counts[Jumps]  = is_jump(rvfi_insn, 1'b1);
    counts[Loads]  = rvfi_mem_rmask != 0;
    counts[Stores] = rvfi_mem_wmask != 0;
    ended      = leaving;
    ended_trap = rvfi_trap;
    leaving    = USCOPE_CPU_NONE;
  endfunction
endmodule

bind picorv32 picorv32_pipeline u_pipeline (
    .clk, .rst(!resetn), .trap, .cpu_state, .fetching(mem_do_prefetch || mem_do_rinst), .decoder_trigger, .launch(launch_next_insn),
    .opcode_known(dbg_next), .mem_done, .next_pc, .opcode(dbg_insn_opcode), .in_branch(is_beq_bne_blt_bge_bltu_bgeu),
    .taken(alu_out_0), .muldiv_wait((cpu_state[5] || cpu_state[4]) && pcpi_valid && !pcpi_int_ready), .target(reg_pc + decoded_imm),
    .half_valid(prefetched_high_word), .half(mem_16bit_buffer), .mem_valid, .mem_instr, .mem_do_prefetch, .mem_addr, .mem_wstrb,
    .rvfi_valid, .rvfi_trap, .rvfi_insn, .rvfi_pc_rdata, .rvfi_pc_wdata, .rvfi_rs1_rdata, .rvfi_rd_wdata, .rvfi_mem_addr,
    .rvfi_mem_rdata, .rvfi_mem_wdata, .rvfi_mem_rmask, .rvfi_mem_wmask, .rvfi_rd_addr);
