// RV32IM_Zicsr core with machine mode that executes out of order, two instructions wide. Instructions pass
//
//   fetch      two words of a line, predicted, into the fetch buffer
//   decode     decoded, renamed and dispatched: into the reorder buffer, an issue queue, the load or store queue
//   issue      in an issue queue, until the operands are ready; the oldest ready ones come first
//   execute    two ALUs (branches in the first), multiplier and divider, address of a load or store
//   memory     loads: store queue and data cache
//   complete   in the reorder buffer, until all older ones have committed
//
// A value is written at the end of execute or memory and read at the beginning of execute, so what depends on an addition
// is issued one cycle after it. Branches are resolved in execute and undo what was renamed after them from a checkpoint.
// Exceptions, interrupts and loads that were too early are handled at commit, where the map of what has committed holds.
// As long as the program has set no handler (mtvec is 0) the core stops at the first exception.
module o3_core
  import rv_pkg::*;
  import o3_pkg::*;
#(
    parameter logic [31:0] ResetVector   = 32'h8000_0000,
    parameter logic [31:0] RamBase       = 32'h8000_0000,
    parameter logic [31:0] RamBytes      = 32'h0001_0000,
    parameter int unsigned BufferEntries = 8,
    parameter int unsigned RobEntries    = 48,
    parameter int unsigned PhysRegs      = 80,
    parameter int unsigned Checkpoints   = 16,
    parameter int unsigned IntEntries    = 16,
    parameter int unsigned MuldivEntries = 4,
    parameter int unsigned MemEntries    = 12,
    parameter int unsigned LoadEntries   = 16,
    parameter int unsigned StoreEntries  = 16,
    parameter int unsigned MulLatency    = 3,
    parameter int unsigned DivBitsPerCycle = 2,
    parameter int unsigned BranchEntries = 1024,
    parameter int unsigned HistoryBits   = 8,
    parameter int unsigned TargetEntries = 64,
    parameter int unsigned ReturnDepth   = 8,
    parameter int unsigned ICacheSets    = 32,
    parameter int unsigned ICacheWays    = 2,
    parameter int unsigned DCacheSets    = 16,
    parameter int unsigned DCacheWays    = 2,
    parameter int unsigned LineBytes     = 32,
    parameter int unsigned Mshrs         = 4,
    parameter int unsigned MissPenalty   = 12
) (
    input  logic        clk_i,
    input  logic        rst_i,
    // instruction memory: two words, the first of them addressed
    output logic [31:0] imem_addr_o,
    input  logic [31:0] imem_data_i [Width],
    input  logic        imem_fault_i,
    output logic        ifill_miss_o,
    input  logic        ifill_done_i,
    // data memory
    output logic [31:0] dmem_addr_o,
    input  logic [31:0] dmem_rdata_i,
    output logic        dmem_drain_valid_o,
    output store_t      dmem_drain_o,
    // devices
    output logic [31:0] device_addr_o,
    output logic        device_load_o,
    output logic        device_store_o,
    output logic        device_write_o,
    output logic [31:0] device_wdata_o,
    input  logic [31:0] device_rdata_i,
    input  logic        device_here_i,
    input  logic        timer_irq_i,
    output logic        halted_o,
    output exc_t        halt_exc_o,
    output logic [31:0] halt_pc_o,
    o3_probe_if.core    probe_o,
    input  logic [4:0]  debug_reg_i,
    output logic [31:0] debug_reg_data_o,
    input  logic [5:0]  debug_counter_i,
    output logic [63:0] debug_counter_data_o
);
  initial if (Width != 2) $fatal(1, "the core is two instructions wide");

  logic      running;
  kill_t     kill;
  uop_t      branch;        // the one that was mispredicted, if kill is not for all
  redirect_t redirect, branch_redirect, commit_redirect;
  training_t training;
  assign running = !halted_o;

  // ---- fetch
  fetched_t   next [Width], fetched [Width];
  count_t     taken, pushed;
  logic       fetch_waits;
  logic [7:0] buffer_count;
  o3_fetch #(
      .ResetVector(ResetVector), .BranchEntries(BranchEntries), .HistoryBits(HistoryBits), .TargetEntries(TargetEntries),
      .ReturnDepth(ReturnDepth), .CacheSets(ICacheSets), .CacheWays(ICacheWays), .LineBytes(LineBytes),
      .BufferEntries(BufferEntries)
  ) u_fetch (
      .clk_i, .rst_i, .halt_i(halted_o), .redirect_i(redirect), .train_i(training),
      .imem_addr_o, .imem_data_i, .imem_fault_i, .fill_miss_o(ifill_miss_o), .fill_done_i(ifill_done_i),
      .waits_o(fetch_waits), .head_o(next), .take_i(taken), .pushed_o(pushed), .fetched_o(fetched),
      .buffer_head_o(probe_o.buffer_head), .buffer_tail_o(probe_o.buffer_tail), .buffer_count_o(buffer_count)
  );

  // ---- decode
  ctrl_t decoded [Width], ctrl [Width];
  logic  illegal [Width], ecall [Width], ebreak [Width], faulty [Width], available [Width];
  exc_t  decode_exc [Width];
  for (genvar i = 0; i < int'(Width); i++) begin : g_decode
    decode #(.Atomics(1'b0)) u_decode (
        .inst_i(next[i].inst), .ctrl_o(decoded[i]), .illegal_o(illegal[i]), .ecall_o(ecall[i]), .ebreak_o(ebreak[i])
    );
    always_comb begin
      decode_exc[i] = next[i].exc;
      if (!next[i].exc.valid) begin
        if (illegal[i]) decode_exc[i] = exception(CAUSE_ILLEGAL, next[i].inst);
        else if (ecall[i]) decode_exc[i] = exception(CAUSE_ECALL, 32'd0);
        else if (ebreak[i]) decode_exc[i] = exception(CAUSE_BREAKPOINT, next[i].pc);
      end
      faulty[i]    = decode_exc[i].valid;
      available[i] = next[i].valid && running;
      ctrl[i]      = decoded[i];
      if (faulty[i]) begin
        ctrl[i].rd_write = 1'b0;
        ctrl[i].load     = 1'b0;
        ctrl[i].store    = 1'b0;
      end
    end
  end

  // ---- rename and dispatch
  logic [1:0] dispatch, commit;
  queue_e     queue [Width];
  logic       needs_checkpoint [Width], blocked;
  o3_stall_e  blocked_reason;
  logic [7:0] rob_free, int_free, muldiv_free, mem_free, loads_free, stores_free, registers_free, checkpoints_free;
  logic [7:0] rob_count;
  o3_dispatch u_dispatch (
      .clk_i, .rst_i, .valid_i(available), .ctrl_i(ctrl), .faulty_i(faulty), .hold_i(kill.valid), .empty_i(rob_count == 8'd0),
      .rob_free_i(rob_free), .int_free_i(int_free), .muldiv_free_i(muldiv_free), .mem_free_i(mem_free),
      .loads_free_i(loads_free), .stores_free_i(stores_free), .registers_free_i(registers_free),
      .checkpoints_free_i(checkpoints_free),
      .dispatch_o(dispatch), .queue_o(queue), .checkpoint_o(needs_checkpoint), .blocked_o(blocked), .reason_o(blocked_reason)
  );
  assign taken = 2'($countones(dispatch));

  preg_t      ps1 [Width], ps2 [Width], pd [Width], old_pd [Width], committed_map [32];
  seq_t       checkpoint [Width], load_tail, store_tail;
  rob_entry_t oldest [Width];
  o3_rename #(.PhysRegs(PhysRegs), .Checkpoints(Checkpoints)) u_rename (
      .clk_i, .rst_i, .ctrl_i(ctrl), .checkpoint_i(needs_checkpoint), .dispatch_i(dispatch),
      .ps1_o(ps1), .ps2_o(ps2), .pd_o(pd), .old_pd_o(old_pd), .checkpoint_o(checkpoint),
      .free_o(registers_free), .free_next_o(probe_o.free_registers_next), .checkpoints_free_o(checkpoints_free),
      .commit_i(commit), .committed_i(oldest), .kill_i(kill), .kill_checkpoint_i(branch.checkpoint),
      .committed_map_o(committed_map)
  );

  uop_t       uop [Width];
  rob_entry_t entry [Width];
  rob_t       rob_tail, rob_head;
  logic       finished [Width];
  logic [1:0] dispatch_load, dispatch_store;
  always_comb begin
    for (int unsigned i = 0; i < Width; i++) begin
      dispatch_load[i]  = dispatch[i] && ctrl[i].load;
      dispatch_store[i] = dispatch[i] && ctrl[i].store;
      finished[i]       = queue[i] == QUEUE_NONE;
      uop[i] = '{
          valid: 1'b1, rob: rob_after(rob_tail, rob_t'(i), RobEntries), pc: next[i].pc, ctrl: ctrl[i],
          ps1: ps1[i], ps2: ps2[i], pd: ctrl[i].rd_write ? pd[i] : '0, predicted: next[i].predicted, return_top: next[i].return_top.new_top,
          history: next[i].history, checkpoint: checkpoint[i],
          load: load_tail + 8'(i == 1 && ctrl[0].load), store: store_tail + 8'(i == 1 && ctrl[0].store)
      };
      entry[i] = '{
          pc: next[i].pc, inst: next[i].inst, rd_write: ctrl[i].rd_write, rd: ctrl[i].rd, pd: pd[i], old_pd: old_pd[i],
          system: faulty[i] ? SYS_NONE : ctrl[i].system, kind: '0, checkpoint: needs_checkpoint[i],
          return_top: next[i].return_top.old_top, history: next[i].history
      };
      if (!faulty[i]) begin
        entry[i].kind.branch = ctrl[i].flow == FLOW_BRANCH;
        entry[i].kind.jump   = ctrl[i].flow == FLOW_JAL || ctrl[i].flow == FLOW_JALR;
        entry[i].kind.load   = ctrl[i].load;
        entry[i].kind.store  = ctrl[i].store;
        entry[i].kind.muldiv = ctrl[i].muldiv;
      end
    end
  end

  completion_t completion [NumCompletions];
  logic        oldest_valid [Width], oldest_done [Width], oldest_device [Width];
  exc_t        oldest_exc [Width];
  logic [7:0]  killed;
  o3_rob #(.Entries(RobEntries)) u_rob (
      .clk_i, .rst_i, .dispatch_i(dispatch), .entry_i(entry), .finished_i(finished), .exc_i(decode_exc),
      .tail_o(rob_tail), .free_o(rob_free), .completion_i(completion),
      .head_o(rob_head), .count_o(rob_count), .oldest_o(oldest), .valid_o(oldest_valid), .done_o(oldest_done),
      .exc_o(oldest_exc), .device_o(oldest_device), .commit_i(commit), .kill_i(kill), .killed_o(killed)
  );

  // ---- issue
  logic [PhysRegs-1:0] ready;
  logic  cancel;
  preg_t cancel_preg;
  uop_t  int_issue [2], muldiv_issue [1], mem_issue [1];
  logic  int_open [2], muldiv_open [1], mem_open [1];
  logic [1:0] int_push, muldiv_push, mem_push;
  assign int_open = '{1'b1, 1'b1};
  assign mem_open = '{1'b1};
  always_comb begin
    for (int unsigned i = 0; i < Width; i++) begin
      int_push[i]    = dispatch[i] && queue[i] == QUEUE_INT;
      muldiv_push[i] = dispatch[i] && queue[i] == QUEUE_MULDIV;
      mem_push[i]    = dispatch[i] && queue[i] == QUEUE_MEM;
    end
  end

  o3_issue_queue #(.Entries(IntEntries), .Ports(2), .PhysRegs(PhysRegs), .RobEntries(RobEntries)) u_int_queue (
      .clk_i, .rst_i, .push_i(int_push), .uop_i(uop), .free_o(int_free), .ready_i(ready),
      .cancel_i(cancel), .cancel_preg_i(cancel_preg), .open_i(int_open), .issue_o(int_issue), .replays_o(probe_o.int_replays),
      .head_i(rob_head), .kill_i(kill), .valid_o(probe_o.int_valid), .entry_o(probe_o.int_entry),
      .leaves_o(probe_o.int_leaves), .slot_o(probe_o.int_slot)
  );
  o3_issue_queue #(.Entries(MuldivEntries), .Ports(1), .PhysRegs(PhysRegs), .RobEntries(RobEntries)) u_muldiv_queue (
      .clk_i, .rst_i, .push_i(muldiv_push), .uop_i(uop), .free_o(muldiv_free), .ready_i(ready),
      .cancel_i(cancel), .cancel_preg_i(cancel_preg), .open_i(muldiv_open), .issue_o(muldiv_issue),
      .replays_o(probe_o.muldiv_replays), .head_i(rob_head), .kill_i(kill), .valid_o(probe_o.muldiv_valid),
      .entry_o(probe_o.muldiv_entry), .leaves_o(probe_o.muldiv_leaves), .slot_o(probe_o.muldiv_slot)
  );
  o3_issue_queue #(.Entries(MemEntries), .Ports(1), .PhysRegs(PhysRegs), .RobEntries(RobEntries)) u_mem_queue (
      .clk_i, .rst_i, .push_i(mem_push), .uop_i(uop), .free_o(mem_free), .ready_i(ready),
      .cancel_i(cancel), .cancel_preg_i(cancel_preg), .open_i(mem_open), .issue_o(mem_issue), .replays_o(probe_o.mem_replays),
      .head_i(rob_head), .kill_i(kill), .valid_o(probe_o.mem_valid), .entry_o(probe_o.mem_entry),
      .leaves_o(probe_o.mem_leaves), .slot_o(probe_o.mem_slot)
  );

  // ---- execute. What is issued is here in the next cycle; multiplications and divisions stay longer.
  uop_t int_x [2], muldiv_x, mem_x;
  logic muldiv_wait, muldiv_done, muldiv_killed;
  always_comb begin
    muldiv_killed = kill.valid
        && (kill.all || age_of(muldiv_x.rob, rob_head, RobEntries) > age_of(kill.rob, rob_head, RobEntries));
    muldiv_done    = muldiv_x.valid && !muldiv_wait;
    muldiv_open[0] = !muldiv_x.valid || muldiv_done;
  end
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      int_x[0].valid <= 1'b0;
      int_x[1].valid <= 1'b0;
      muldiv_x.valid <= 1'b0;
      mem_x.valid    <= 1'b0;
    end else begin
      int_x <= int_issue;
      mem_x <= mem_issue[0];
      if (muldiv_open[0]) muldiv_x <= muldiv_issue[0];
      else if (muldiv_killed) muldiv_x.valid <= 1'b0;
    end
  end

  // ---- physical registers: 0 is x0
  typedef logic [$clog2(PhysRegs)-1:0] index_t;
  logic [31:0] registers [PhysRegs];
  result_t     int_result [2], muldiv_result, load_result, csr_result;
  always_ff @(posedge clk_i) begin
    if (rst_i) for (int unsigned i = 0; i < 32; i++) registers[i] <= 32'd0;
    if (int_result[0].valid) registers[index_t'(int_result[0].preg)] <= int_result[0].value;
    if (int_result[1].valid) registers[index_t'(int_result[1].preg)] <= int_result[1].value;
    if (muldiv_result.valid) registers[index_t'(muldiv_result.preg)] <= muldiv_result.value;
    if (load_result.valid) registers[index_t'(load_result.preg)] <= load_result.value;
    if (csr_result.valid) registers[index_t'(csr_result.preg)] <= csr_result.value;
  end
  assign debug_reg_data_o = registers[index_t'(committed_map[debug_reg_i])];

  // Which of them will be there for what is issued in the next cycle.
  preg_t woken [5];
  logic  load_wakes;
  always_comb begin
    woken = '{default: '0};
    for (int unsigned p = 0; p < 2; p++) if (int_issue[p].valid && int_issue[p].ctrl.rd_write) woken[p] = int_issue[p].pd;
    if (muldiv_done && muldiv_x.ctrl.rd_write) woken[2] = muldiv_x.pd;
    if (load_wakes && mem_x.ctrl.rd_write) woken[3] = mem_x.pd;
    if (load_result.valid) woken[4] = load_result.preg;
  end
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      ready <= '1;
    end else begin
      if (cancel && cancel_preg != '0) ready[index_t'(cancel_preg)] <= 1'b0;
      for (int unsigned i = 0; i < 5; i++) if (woken[i] != '0) ready[index_t'(woken[i])] <= 1'b1;
      if (csr_result.valid) ready[index_t'(csr_result.preg)] <= 1'b1;
      for (int unsigned i = 0; i < Width; i++) if (dispatch[i] && ctrl[i].rd_write) ready[index_t'(pd[i])] <= 1'b0;
    end
  end

  // ---- ALUs
  logic [31:0] rs1 [2], alu_result [2];
  for (genvar p = 0; p < 2; p++) begin : g_alu
    logic [31:0] a, b, rs2;
    assign rs1[p] = registers[index_t'(int_x[p].ps1)];
    assign rs2    = registers[index_t'(int_x[p].ps2)];
    always_comb begin
      unique case (int_x[p].ctrl.src_a)
        SRC_PC:   a = int_x[p].pc;
        SRC_ZERO: a = 32'd0;
        default:  a = rs1[p];
      endcase
      b = int_x[p].ctrl.src_b_imm ? int_x[p].ctrl.imm : rs2;
    end
    alu u_alu (.op_i(int_x[p].ctrl.alu_op), .a_i(a), .b_i(b), .result_o(alu_result[p]));
  end

  logic        branch_taken, target_misaligned, is_jump;
  logic [31:0] target, next_pc, csr_operand;
  branch_unit u_branch (
      .flow_i(int_x[0].ctrl.flow), .funct3_i(int_x[0].ctrl.funct3), .pc_i(int_x[0].pc),
      .rs1_i(rs1[0]), .rs2_i(registers[index_t'(int_x[0].ps2)]), .imm_i(int_x[0].ctrl.imm),
      .taken_o(branch_taken), .target_o(target), .misaligned_o(target_misaligned)
  );
  assign next_pc = branch_taken ? target : int_x[0].pc + 32'd4;
  assign is_jump = int_x[0].ctrl.flow == FLOW_JAL || int_x[0].ctrl.flow == FLOW_JALR;
  always_comb begin
    for (int unsigned p = 0; p < 2; p++) begin
      int_result[p] = '{
          valid: int_x[p].valid && int_x[p].ctrl.rd_write, preg: int_x[p].pd,
          value: p == 0 && is_jump ? int_x[p].pc + 32'd4 : alu_result[p]
      };
      completion[p] = '{
          valid: int_x[p].valid, rob: int_x[p].rob, exc: NoException, taken: p == 0 && branch_taken, forwarded: 1'b0,
          device: 1'b0
      };
    end
    if (target_misaligned) completion[0].exc = exception(CAUSE_FETCH_MISALIGNED, target);
  end
  // The operand of the only CSR instruction in flight waits here until it commits.
  always_ff @(posedge clk_i) if (int_x[0].valid && int_x[0].ctrl.system == SYS_CSR) csr_operand <= rs1[0];

  logic mispredicted, is_return;
  assign branch       = int_x[0];
  assign mispredicted = branch.valid && branch.ctrl.flow != FLOW_NONE && !target_misaligned && next_pc != branch.predicted;
  assign is_return    = (branch.ctrl.src.rs1 == 5'd1 || branch.ctrl.src.rs1 == 5'd5) && branch.ctrl.src.rs1 != branch.ctrl.rd;
  assign branch_redirect = '{
      valid: mispredicted, target: next_pc, return_top: branch.return_top,
      history: branch.ctrl.flow == FLOW_BRANCH ? {branch.history[14:0], branch_taken} : branch.history
  };
  assign training = '{
      branch: branch.valid && branch.ctrl.flow == FLOW_BRANCH, taken: branch_taken, pc: branch.pc, history: branch.history,
      indirect: branch.valid && branch.ctrl.flow == FLOW_JALR && !is_return && !target_misaligned, target: target
  };

  // ---- multiplier and divider
  muldiv #(.MulLatency(MulLatency), .DivBitsPerCycle(DivBitsPerCycle)) u_muldiv (
      .clk_i, .rst_i, .valid_i(muldiv_x.valid), .leave_i(muldiv_done || muldiv_killed), .funct3_i(muldiv_x.ctrl.funct3),
      .a_i(registers[index_t'(muldiv_x.ps1)]), .b_i(registers[index_t'(muldiv_x.ps2)]), .wait_o(muldiv_wait), .result_o(muldiv_result.value)
  );
  assign muldiv_result.valid = muldiv_done && muldiv_x.ctrl.rd_write;
  assign muldiv_result.preg  = muldiv_x.pd;
  assign completion[2] = '{
      valid: muldiv_done, rob: muldiv_x.rob, exc: NoException, taken: 1'b0, forwarded: 1'b0, device: 1'b0
  };

  // ---- loads and stores
  result_t    m_result;
  logic       violated [Width], drained, device_store, violation, load_retry, accessed [2];
  logic [1:0] commit_load, commit_store;
  o3_lsu #(
      .LoadEntries(LoadEntries), .StoreEntries(StoreEntries), .CacheSets(DCacheSets), .CacheWays(DCacheWays),
      .LineBytes(LineBytes), .Mshrs(Mshrs), .MissPenalty(MissPenalty), .RamBase(RamBase), .RamBytes(RamBytes)
  ) u_lsu (
      .clk_i, .rst_i, .load_i(dispatch_load), .store_i(dispatch_store), .uop_i(uop),
      .load_tail_o(load_tail), .store_tail_o(store_tail), .loads_free_o(loads_free), .stores_free_o(stores_free),
      .x_i(mem_x), .x_base_i(registers[index_t'(mem_x.ps1)]), .x_data_i(registers[index_t'(mem_x.ps2)]), .x_completion_o(completion[3]),
      .wake_o(load_wakes), .m_completion_o(completion[4]), .m_result_o(m_result),
      .cancel_o(cancel), .cancel_preg_o(cancel_preg),
      .dmem_addr_o, .dmem_rdata_i, .dmem_drain_valid_o, .dmem_drain_o,
      .device_addr_o, .device_load_o, .device_store_o, .device_wdata_o, .device_rdata_i, .device_here_i,
      .head_i(rob_head), .commit_load_i(commit_load), .commit_store_i(commit_store), .violated_o(violated),
      .drained_o(drained), .device_store_i(device_store), .violation_i(violation), .violation_pc_i(oldest[0].pc),
      .kill_i(kill), .kill_load_i(branch.load), .kill_store_i(branch.store),
      .retry_o(load_retry), .accessed_o(accessed), .m_valid_o(probe_o.load_tried), .m_rob_o(probe_o.load_tried_rob),
      .x_addr_o(probe_o.address), .x_device_o(probe_o.address_device), .x_store_o(probe_o.address_store),
      .load_head_o(probe_o.load_head), .store_head_o(probe_o.store_head), .store_committed_o(probe_o.store_committed),
      .store_leaves_o(probe_o.store_leaves),
      .mshr_taken_o(probe_o.mshr_taken), .mshr_freed_o(probe_o.mshr_freed), .taken_addr_o(probe_o.mshr_addr)
  );
  // A load without a register has no value to keep.
  assign load_result = '{valid: m_result.valid && m_result.preg != '0, preg: m_result.preg, value: m_result.value};

  // ---- commit
  logic        csr_access, mret, sleeps, trap, flush_all, irq_pending, irq_taken;
  exc_t        trap_exc;
  logic [31:0] trap_target, mepc, csr_value;
  squash_e     flush_reason;
  o3_commit u_commit (
      .running_i(running), .oldest_i(oldest), .valid_i(oldest_valid), .done_i(oldest_done), .exc_i(oldest_exc),
      .device_i(oldest_device), .violated_i(violated), .drained_i(drained), .device_here_i, .device_addr_i(device_addr_o),
      .irq_pending_i(irq_pending), .irq_taken_i(irq_taken), .trap_target_i(trap_target), .mepc_i(mepc),
      .commit_o(commit), .csr_o(csr_access), .mret_o(mret), .device_store_o(device_store), .sleeps_o(sleeps),
      .trap_o(trap), .trap_exc_o(trap_exc), .violation_o(violation), .flush_o(flush_all), .reason_o(flush_reason),
      .redirect_o(commit_redirect)
  );
  assign device_write_o = device_store && commit[0];
  assign commit_load    = {commit[1] && oldest[1].kind.load, commit[0] && oldest[0].kind.load};
  assign commit_store   = {commit[1] && oldest[1].kind.store, commit[0] && oldest[0].kind.store};

  csr_file #(.Atomics(1'b0)) u_csr (
      .clk_i, .rst_i, .hart_id_i(32'd0),
      .access_i(csr_access), .funct3_i(oldest[0].inst[14:12]), .number_i(oldest[0].inst[31:20]),
      .rs1_i(oldest[0].inst[19:15]), .operand_i(csr_operand), .value_o(csr_value), .mret_i(mret), .mepc_o(mepc),
      .trap_i(trap), .trap_irq_i(trap_exc.irq), .trap_cause_i(trap_exc.cause), .trap_tval_i(trap_exc.tval),
      .trap_pc_i(oldest[0].pc), .trap_target_o(trap_target),
      .timer_irq_i, .irq_pending_o(irq_pending), .irq_taken_o(irq_taken),
      .running_i(running), .retires_i(2'($countones(commit)))
  );
  assign csr_result = '{valid: csr_access && oldest[0].rd_write, preg: oldest[0].pd, value: csr_value};

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      halted_o   <= 1'b0;
      halt_exc_o <= NoException;
      halt_pc_o  <= 32'd0;
    end else if (trap && trap_target == 32'd0) begin
      halted_o   <= 1'b1;
      halt_exc_o <= trap_exc;
      halt_pc_o  <= oldest[0].pc;
    end
  end

  // ---- squash: what commits comes first, being older
  assign kill     = '{valid: flush_all || mispredicted, all: flush_all, rob: branch.rob};
  assign redirect = flush_all ? commit_redirect : branch_redirect;

  // ---- for counters and observers
  logic [7:0]  issued;
  squash_e     squash_reason;
  logic        stalled;
  o3_stall_e   stall_reason;
  o3_steps_t   steps;
  assign squash_reason = flush_all ? flush_reason : SQUASH_MISPREDICT;
  assign issued = 8'(int_issue[0].valid) + 8'(int_issue[1].valid) + 8'(muldiv_issue[0].valid) + 8'(mem_issue[0].valid);
  o3_counters u_counters (
      .clk_i, .rst_i, .running_i(running), .fetched_i(pushed), .dispatch_i(dispatch), .blocked_i(blocked),
      .blocked_reason_i(blocked_reason), .sleeps_i(sleeps), .fetch_waits_i(fetch_waits),
      .memory_bound_i(oldest_valid[0] && !oldest_done[0] && (oldest[0].kind.load || oldest[0].kind.store)),
      .issued_i(issued), .replays_i(8'($countones({probe_o.int_replays, probe_o.muldiv_replays, probe_o.mem_replays}))), .load_retry_i(load_retry),
      .commit_i(commit), .committed_i(oldest), .flush_i(kill.valid), .flush_reason_i(squash_reason),
      .squashed_i(killed), .squashed_early_i(kill.valid ? buffer_count : 8'd0), .icache_miss_i(ifill_miss_o),
      .dcache_accesses_i({accessed[1], accessed[0]}), .dcache_misses_i(8'($countones(probe_o.mshr_taken))),
      .select_i(debug_counter_i), .value_o(debug_counter_data_o),
      .stalled_o(stalled), .stall_reason_o(stall_reason), .steps_o(steps)
  );

  assign probe_o.running         = running;
  assign probe_o.steps           = steps;
  assign probe_o.stalled         = stalled;
  assign probe_o.stall_reason    = stall_reason;
  assign probe_o.fetched         = pushed;
  assign probe_o.fetched_insn    = fetched;
  assign probe_o.buffer_count    = buffer_count;
  assign probe_o.dispatch        = dispatch;
  assign probe_o.dispatched      = entry;
  assign probe_o.uop             = uop;
  assign probe_o.target_queue          = queue;
  assign probe_o.rob_tail        = rob_tail;
  assign probe_o.free_registers  = registers_free;
  assign probe_o.woken           = woken;
  assign probe_o.cancelled       = cancel ? cancel_preg : '0;
  assign probe_o.completion      = completion;
  assign probe_o.address_valid   = mem_x.valid;
  assign probe_o.address_uop     = mem_x;
  assign probe_o.load_retry      = load_retry;
  assign probe_o.rob_head        = rob_head;
  assign probe_o.rob_count       = rob_count;
  assign probe_o.commit          = commit;
  assign probe_o.committed       = oldest;
  assign probe_o.committed_value[0] = csr_access ? csr_value : registers[index_t'(oldest[0].pd)];
  assign probe_o.committed_value[1] = registers[index_t'(oldest[1].pd)];
  assign probe_o.flush           = kill.valid;
  assign probe_o.flush_reason    = squash_reason;
  assign probe_o.kill            = kill;
  assign probe_o.kill_load       = branch.load;
  assign probe_o.kill_store      = branch.store;
  assign probe_o.trap            = trap;
  assign probe_o.trap_exc        = trap_exc;
  assign probe_o.trap_target     = trap_target;
endmodule
