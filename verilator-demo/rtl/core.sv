// RV32IMA core with machine mode: five stages in order (fetch, decode, execute, memory, writeback), full forwarding,
// branches predicted in fetch and resolved in execute. Exceptions and interrupts are taken in writeback; as long as
// the program has set no handler (mtvec is 0) the core stops at the first one.
module core
  import rv_pkg::*;
#(
    parameter logic [31:0] ResetVector       = 32'h8000_0000,
    parameter int unsigned MulLatency        = 3,
    parameter int unsigned DivBitsPerCycle   = 2,
    parameter int unsigned BranchEntries     = 256,
    parameter int unsigned ReturnDepth       = 8,
    parameter int unsigned StoreDepth        = 4,
    parameter int unsigned ICacheSets        = 32,
    parameter int unsigned ICacheWays        = 2,
    parameter int unsigned DCacheSets        = 16,
    parameter int unsigned DCacheWays        = 2,
    parameter int unsigned LineBytes         = 32,
    parameter bit          WriteAllocate     = 1'b1  // see lsu.sv
) (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic [31:0] hart_id_i,
    output logic [31:0] imem_addr_o,
    input  logic [31:0] imem_data_i,
    input  logic        imem_fault_i,
    output logic [31:0] dmem_addr_o,
    output logic        dmem_load_o,
    output logic        dmem_store_o,
    output logic        dmem_device_write_o,
    output logic [31:0] dmem_wdata_o,
    output logic        dmem_drain_valid_o,
    output store_t      dmem_drain_o,
    input  logic        dmem_drain_done_i,
    output logic        dmem_atomic_valid_o,
    output atomic_t     dmem_atomic_o,
    input  logic        dmem_atomic_done_i,
    input  logic [31:0] dmem_atomic_result_i,
    input  logic [31:0] dmem_rdata_i,
    input  logic        dmem_fault_i,
    input  logic        dmem_device_i,
    // lines for the caches: wanted as long as valid, from the cycle after the miss until they come
    output logic        ifill_miss_o,
    output logic        ifill_valid_o,
    output logic [31:0] ifill_addr_o,
    input  logic        ifill_done_i,
    output logic        dfill_miss_o,
    output logic        dfill_valid_o,
    output logic [31:0] dfill_addr_o,
    input  logic        dfill_done_i,
    // somebody else writes into a line
    input  logic        drop_i,
    input  logic [31:0] drop_addr_i,
    output logic        dropped_o,     // the data cache had it
    input  logic        timer_irq_i,
    output logic        halted_o,
    output exc_t        halt_exc_o,
    output logic [31:0] halt_pc_o,
    probe_if.core       probe_o,
    input  logic [4:0]  debug_reg_i,
    output logic [31:0] debug_reg_data_o,
    input  counter_e    debug_counter_i,
    output logic [63:0] debug_counter_data_o
);
  if_id_t  fetched, if_id;
  id_ex_t  decoded, id_ex;
  ex_mem_t executed, ex_mem;
  mem_wb_t accessed, mem_wb;

  stages_probe_t stage;
  logic fetch_wait, execute_wait, memory_wait;
  logic wants_redirect, redirect, trap, stalled;
  stall_e memory_reason, stall_reason;
  fwd_e fwd_a, fwd_b;

  // ---- fetch
  logic [31:0] redirect_target, trap_target;
  logic trains, taken;
  fetch #(
      .ResetVector(ResetVector), .BranchEntries(BranchEntries), .ReturnDepth(ReturnDepth),
      .CacheSets(ICacheSets), .CacheWays(ICacheWays), .LineBytes(LineBytes)
  ) u_fetch (
      .clk_i, .rst_i,
      .hold_i(stage.hold[StageF]),
      .redirect_i(redirect || trap),
      .target_i(trap ? trap_target : redirect_target),
      .return_top_i(trap ? mem_wb.return_before : id_ex.return_top.new_top),
      .halt_i(halted_o),
      .train_i(trains), .train_pc_i(id_ex.pc), .train_taken_i(taken),
      .imem_addr_o, .imem_data_i, .imem_fault_i,
      .fill_miss_o(ifill_miss_o), .fill_valid_o(ifill_valid_o), .fill_addr_o(ifill_addr_o), .fill_done_i(ifill_done_i),
      .wait_o(fetch_wait), .out_o(fetched)
  );

  // ---- decode
  ctrl_t ctrl;
  logic illegal, ecall, ebreak;
  logic [31:0] rs1_data, rs2_data;
  decode u_decode (
      .inst_i(if_id.inst), .ctrl_o(ctrl), .illegal_o(illegal), .ecall_o(ecall), .ebreak_o(ebreak)
  );

  logic reg_write;
  regfile u_regfile (
      .clk_i, .rst_i,
      .write_i(reg_write), .rd_i(mem_wb.rd), .rd_data_i(mem_wb.result),
      .rs1_i(ctrl.src.rs1), .rs2_i(ctrl.src.rs2), .rs1_data_o(rs1_data), .rs2_data_o(rs2_data),
      .debug_i(debug_reg_i), .debug_data_o(debug_reg_data_o)
  );

  // An interrupt takes the place of the instruction in decode, which has had no effect yet and comes back afterwards.
  // A wfi ends first, or it would sleep again.
  logic irq_pending, irq_taken;
  always_comb begin
    decoded = '{
        valid: if_id.valid, pc: if_id.pc, predicted: if_id.predicted, return_top: if_id.return_top, ctrl: ctrl,
        rs1_data: rs1_data, rs2_data: rs2_data, exc: if_id.exc
    };
    if (irq_taken && ctrl.system != SYS_WFI) decoded.exc = TimerInterrupt;
    else if (!if_id.exc.valid) begin
      if (illegal) decoded.exc = exception(CAUSE_ILLEGAL, if_id.inst);
      else if (ecall) decoded.exc = exception(CAUSE_ECALL, 32'd0);
      else if (ebreak) decoded.exc = exception(CAUSE_BREAKPOINT, if_id.pc);
    end
  end

  // ---- execute
  logic [31:0] operand_a, operand_b, alu_a, alu_b, alu_result, muldiv_result, csr_value, mepc;
  function automatic logic [31:0] pick(input fwd_e from, input logic [31:0] reg_data, input logic [31:0] m, input logic [31:0] w);
    unique case (from)
      FWD_MEMORY:    return m;
      FWD_WRITEBACK: return w;
      default:       return reg_data;
    endcase
  endfunction
  assign operand_a = pick(fwd_a, id_ex.rs1_data, ex_mem.result, mem_wb.result);
  assign operand_b = pick(fwd_b, id_ex.rs2_data, ex_mem.result, mem_wb.result);

  always_comb begin
    unique case (id_ex.ctrl.src_a)
      SRC_PC:   alu_a = id_ex.pc;
      SRC_ZERO: alu_a = 32'd0;
      default:  alu_a = operand_a;
    endcase
    alu_b = id_ex.ctrl.src_b_imm ? id_ex.ctrl.imm : operand_b;
  end

  alu u_alu (.op_i(id_ex.ctrl.alu_op), .a_i(alu_a), .b_i(alu_b), .result_o(alu_result));

  logic sound, leaves_execute;  // has an effect; is not there in the next cycle
  assign sound          = id_ex.valid && !id_ex.exc.valid;
  assign leaves_execute = !stage.hold[StageE];

  muldiv #(.MulLatency(MulLatency), .DivBitsPerCycle(DivBitsPerCycle)) u_muldiv (
      .clk_i, .rst_i,
      .valid_i(sound && id_ex.ctrl.muldiv), .leave_i(leaves_execute),
      .funct3_i(id_ex.ctrl.funct3), .a_i(operand_a), .b_i(operand_b),
      .wait_o(execute_wait), .result_o(muldiv_result)
  );

  logic is_mret, running;
  assign running = !halted_o;
  assign is_mret = sound && id_ex.ctrl.system == SYS_MRET;
  csr_file u_csr (
      .clk_i, .rst_i, .hart_id_i,
      .access_i(sound && id_ex.ctrl.system == SYS_CSR && leaves_execute), .funct3_i(id_ex.ctrl.funct3),
      .number_i(id_ex.ctrl.imm[11:0]), .rs1_i(id_ex.ctrl.src.rs1), .operand_i(operand_a), .value_o(csr_value),
      .mret_i(is_mret && leaves_execute), .mepc_o(mepc),
      .trap_i(trap), .trap_irq_i(mem_wb.exc.irq), .trap_cause_i(mem_wb.exc.cause), .trap_tval_i(mem_wb.exc.tval),
      .trap_pc_i(mem_wb.pc), .trap_target_o(trap_target),
      .timer_irq_i, .irq_pending_o(irq_pending), .irq_taken_o(irq_taken),
      .running_i(running), .retires_i({1'b0, mem_wb.valid && !trap})
  );

  logic target_misaligned;
  logic [31:0] target, next_pc;
  branch_unit u_branch (
      .flow_i(id_ex.ctrl.flow), .funct3_i(id_ex.ctrl.funct3), .pc_i(id_ex.pc),
      .rs1_i(operand_a), .rs2_i(operand_b), .imm_i(id_ex.ctrl.imm),
      .taken_o(taken), .target_o(target), .misaligned_o(target_misaligned)
  );
  assign next_pc         = taken ? target : id_ex.pc + 32'd4;
  assign redirect_target = is_mret ? mepc : next_pc;
  assign wants_redirect  = is_mret || (sound && !target_misaligned && next_pc != id_ex.predicted);
  assign trains          = sound && id_ex.ctrl.flow == FLOW_BRANCH && leaves_execute && !trap;

  logic is_jump;
  assign is_jump = id_ex.ctrl.flow == FLOW_JAL || id_ex.ctrl.flow == FLOW_JALR;
  always_comb begin
    executed.valid          = id_ex.valid;
    executed.pc             = id_ex.pc;
    executed.return_before  = id_ex.return_top.old_top;
    executed.funct3         = id_ex.ctrl.funct3;
    executed.funct5         = id_ex.ctrl.funct5;
    executed.rd             = id_ex.ctrl.rd;
    executed.rd_write       = id_ex.ctrl.rd_write;
    executed.fence          = id_ex.ctrl.system == SYS_FENCE;
    executed.store_data     = operand_b;
    executed.kind.branch    = id_ex.ctrl.flow == FLOW_BRANCH;
    executed.kind.taken     = taken;
    executed.kind.jump      = is_jump;
    executed.kind.load      = id_ex.ctrl.load;
    executed.kind.store     = id_ex.ctrl.store;
    executed.kind.atomic    = id_ex.ctrl.atomic;
    executed.kind.forwarded = 1'b0;
    executed.kind.muldiv    = id_ex.ctrl.muldiv;
    executed.exc            = id_ex.exc;
    if (is_jump) executed.result = id_ex.pc + 32'd4;
    else if (id_ex.ctrl.muldiv) executed.result = muldiv_result;
    else if (id_ex.ctrl.system == SYS_CSR) executed.result = csr_value;
    else executed.result = alu_result;
    if (!id_ex.exc.valid && target_misaligned) executed.exc = exception(CAUSE_FETCH_MISALIGNED, target);
    if (executed.exc.valid) begin
      executed.rd_write    = 1'b0;
      executed.fence       = 1'b0;
      executed.kind.load   = 1'b0;
      executed.kind.store  = 1'b0;
      executed.kind.atomic = 1'b0;
    end
  end

  // ---- memory
  logic [31:0] load_data;
  logic load_forwarded, dcache_access;
  exc_t lsu_exc;
  lsu #(
      .StoreDepth(StoreDepth), .CacheSets(DCacheSets), .CacheWays(DCacheWays), .LineBytes(LineBytes),
      .WriteAllocate(WriteAllocate)
  ) u_lsu (
      .clk_i, .rst_i,
      .load_i(ex_mem.valid && ex_mem.kind.load),
      .store_i(ex_mem.valid && ex_mem.kind.store),
      .atomic_i(ex_mem.valid && ex_mem.kind.atomic),
      .fence_i(ex_mem.valid && ex_mem.fence),
      .funct3_i(ex_mem.funct3), .funct5_i(ex_mem.funct5), .addr_i(ex_mem.result), .store_data_i(ex_mem.store_data), .kill_i(trap),
      .dmem_addr_o, .dmem_load_o, .dmem_store_o, .dmem_device_write_o, .dmem_drain_o, .dmem_drain_valid_o,
      .dmem_drain_done_i, .dmem_atomic_valid_o, .dmem_atomic_o, .dmem_atomic_done_i, .dmem_atomic_result_i,
      .dmem_wdata_o, .dmem_rdata_i, .dmem_fault_i, .dmem_device_i,
      .fill_miss_o(dfill_miss_o), .fill_valid_o(dfill_valid_o), .fill_addr_o(dfill_addr_o), .fill_done_i(dfill_done_i),
      .drop_i, .drop_addr_i, .dropped_o,
      .wait_o(memory_wait), .wait_reason_o(memory_reason),
      .load_data_o(load_data), .forwarded_o(load_forwarded), .exc_o(lsu_exc),
      .store_probe_o(probe_o.stores), .store_strobe_o(probe_o.pushed_strobe), .cache_access_o(dcache_access)
  );

  always_comb begin
    accessed = '{
        valid: ex_mem.valid,
        pc: ex_mem.pc,
        return_before: ex_mem.return_before,
        rd_write: ex_mem.rd_write && !lsu_exc.valid,
        rd: ex_mem.rd,
        result: ex_mem.kind.load || ex_mem.kind.atomic ? load_data : ex_mem.result,
        kind: ex_mem.kind,
        exc: ex_mem.exc.valid ? ex_mem.exc : lsu_exc
    };
    accessed.kind.forwarded = load_forwarded;
  end

  // ---- writeback
  assign trap      = mem_wb.valid && mem_wb.exc.valid;
  assign reg_write = mem_wb.valid && mem_wb.rd_write && !trap;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      halted_o   <= 1'b0;
      halt_exc_o <= NoException;
      halt_pc_o  <= 32'd0;
    end else if (trap && trap_target == 32'd0) begin
      halted_o   <= 1'b1;
      halt_exc_o <= mem_wb.exc;
      halt_pc_o  <= mem_wb.pc;
    end
  end

  // ---- control
  logic [NumStages-1:0] occupied;
  destination_t execute_dst, memory_dst, writeback_dst;
  assign occupied      = {mem_wb.valid, ex_mem.valid, id_ex.valid, if_id.valid, fetched.valid};
  assign execute_dst   = '{write: id_ex.valid && id_ex.ctrl.rd_write, ready: !id_ex.ctrl.load && !id_ex.ctrl.atomic, rd: id_ex.ctrl.rd};
  assign memory_dst    = '{write: ex_mem.valid && ex_mem.rd_write, ready: !ex_mem.kind.load && !ex_mem.kind.atomic, rd: ex_mem.rd};
  assign writeback_dst = '{write: mem_wb.valid && mem_wb.rd_write, ready: 1'b1, rd: mem_wb.rd};

  hazard u_hazard (
      .occupied_i(occupied),
      .fetch_wait_i(fetch_wait), .execute_wait_i(execute_wait),
      .memory_wait_i(memory_wait), .memory_reason_i(memory_reason),
      .serialize_i((ctrl.system == SYS_CSR || ctrl.system == SYS_MRET) && !decoded.exc.valid),
      .exclusive_i(sound && id_ex.ctrl.system == SYS_CSR),
      .sleep_i(ctrl.system == SYS_WFI && !decoded.exc.valid && !irq_pending),
      .redirect_i(wants_redirect), .trap_i(trap),
      .decode_src_i(ctrl.src), .execute_src_i(id_ex.ctrl.src),
      .execute_dst_i(execute_dst), .memory_dst_i(memory_dst), .writeback_dst_i(writeback_dst),
      .fwd_a_o(fwd_a), .fwd_b_o(fwd_b), .redirect_o(redirect),
      .stalled_o(stalled), .stall_reason_o(stall_reason), .stage_o(stage)
  );

  // An instruction passes on unless it is held or killed; a stage that receives nobody holds a bubble.
  logic [NumStages-1:0] moves;
  assign moves = stage.valid & ~stage.hold & ~stage.kill;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      if_id.valid  <= 1'b0;
      id_ex.valid  <= 1'b0;
      ex_mem.valid <= 1'b0;
      mem_wb.valid <= 1'b0;
    end else begin
      if (!stage.hold[StageD]) begin
        if_id       <= fetched;
        if_id.valid <= moves[StageF];
      end
      if (stage.hold[StageE]) begin
        // What was forwarded may be gone in the next cycle.
        id_ex.rs1_data <= operand_a;
        id_ex.rs2_data <= operand_b;
      end else begin
        id_ex       <= decoded;
        id_ex.valid <= moves[StageD];
      end
      if (!stage.hold[StageM]) begin
        ex_mem       <= executed;
        ex_mem.valid <= moves[StageE];
      end
      mem_wb       <= accessed;
      mem_wb.valid <= moves[StageM];
    end
  end

  // ---- for counters and observers
  logic flush;
  flush_e flush_reason;
  assign flush = redirect || trap;
  always_comb begin
    if (trap) flush_reason = mem_wb.exc.irq ? FLUSH_INTERRUPT : FLUSH_EXCEPTION;
    else flush_reason = is_mret ? FLUSH_CLEAR : FLUSH_MISPREDICT;
  end

  perf_counters u_perf (
      .clk_i, .rst_i, .running_i(running),
      .stage_i(stage), .flush_i(flush), .flush_reason_i(flush_reason),
      .stalled_i(stalled), .stall_reason_i(stall_reason),
      .icache_miss_i(ifill_miss_o), .dcache_access_i(dcache_access), .dcache_miss_i(dfill_miss_o),
      .kind_i(mem_wb.kind), .select_i(debug_counter_i), .value_o(debug_counter_data_o),
      .step_o(probe_o.counts)
  );

  assign probe_o.running       = running;
  assign probe_o.stage         = stage;
  assign probe_o.fetch_pc      = imem_addr_o;
  assign probe_o.fetch_inst    = imem_data_i;
  assign probe_o.stalled       = stalled;
  assign probe_o.stall_reason  = stall_reason;
  assign probe_o.flush         = flush;
  assign probe_o.flush_reason  = flush_reason;
  assign probe_o.trap          = trap;
  assign probe_o.trap_exc      = mem_wb.exc;
  assign probe_o.trap_target   = trap_target;
  assign probe_o.fwd_a         = fwd_a;
  assign probe_o.fwd_b         = fwd_b;
  assign probe_o.decode_src    = ctrl.src;
  assign probe_o.execute_dst   = execute_dst;
  assign probe_o.memory_dst    = memory_dst;
  assign probe_o.reg_write     = reg_write;
  assign probe_o.reg_index     = mem_wb.rd;
  assign probe_o.reg_value     = mem_wb.result;
  assign probe_o.pushed_addr   = dmem_addr_o;
  assign probe_o.pushed_data   = dmem_wdata_o;
endmodule
