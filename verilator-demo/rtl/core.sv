// RV32I core: five stages in order (fetch, decode, execute, memory, writeback), full forwarding, one cycle of
// load-use stall, branches resolved in execute. An exception is taken in writeback; this core then stops.
module core
  import rv_pkg::*;
#(
    parameter logic [31:0] ResetVector = 32'h8000_0000
) (
    input  logic        clk_i,
    input  logic        rst_i,
    output logic [31:0] imem_addr_o,
    input  logic [31:0] imem_data_i,
    input  logic        imem_fault_i,
    output logic [31:0] dmem_addr_o,
    output logic        dmem_read_o,
    output logic        dmem_write_o,
    output logic [3:0]  dmem_strobe_o,
    output logic [31:0] dmem_wdata_o,
    input  logic [31:0] dmem_rdata_i,
    input  logic        dmem_fault_i,
    output logic        halted_o,
    output cause_e      halt_cause_o,
    output logic [31:0] halt_pc_o,
    output logic [31:0] halt_tval_o,
    output probe_t      probe_o,
    input  logic [4:0]  debug_reg_i,
    output logic [31:0] debug_reg_data_o,
    input  counter_e    debug_counter_i,
    output logic [63:0] debug_counter_data_o
);
  if_id_t  fetched, if_id;
  id_ex_t  decoded, id_ex;
  ex_mem_t executed, ex_mem;
  mem_wb_t accessed, mem_wb;

  stage_probe_t [NumStages-1:0] stage;
  logic load_use, redirect, trap;
  fwd_e fwd_a, fwd_b;
  logic bypass;

  // ---- fetch
  logic [31:0] target;
  fetch #(.ResetVector(ResetVector)) u_fetch (
      .clk_i, .rst_i,
      .hold_i(stage[StageF].hold),
      .redirect_i(redirect),
      .target_i(target),
      .halt_i(halted_o),
      .imem_addr_o, .imem_data_i, .imem_fault_i,
      .out_o(fetched)
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

  always_comb begin
    decoded = '{valid: if_id.valid, pc: if_id.pc, ctrl: ctrl, rs1_data: rs1_data, rs2_data: rs2_data, exc: if_id.exc};
    if (!if_id.exc.valid) begin
      if (illegal) decoded.exc = '{valid: 1'b1, cause: CAUSE_ILLEGAL, tval: if_id.inst};
      else if (ecall) decoded.exc = '{valid: 1'b1, cause: CAUSE_ECALL, tval: 32'd0};
      else if (ebreak) decoded.exc = '{valid: 1'b1, cause: CAUSE_BREAKPOINT, tval: if_id.pc};
    end
  end

  // ---- execute
  logic [31:0] operand_a, operand_b, alu_a, alu_b, alu_result;
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

  logic taken, target_misaligned;
  branch_unit u_branch (
      .flow_i(id_ex.ctrl.flow), .funct3_i(id_ex.ctrl.funct3), .pc_i(id_ex.pc),
      .rs1_i(operand_a), .rs2_i(operand_b), .imm_i(id_ex.ctrl.imm),
      .taken_o(taken), .target_o(target), .misaligned_o(target_misaligned)
  );
  assign redirect = id_ex.valid && !id_ex.exc.valid && taken && !target_misaligned && !trap;

  logic is_jump;
  assign is_jump = id_ex.ctrl.flow == FLOW_JAL || id_ex.ctrl.flow == FLOW_JALR;
  always_comb begin
    executed.valid       = id_ex.valid;
    executed.pc          = id_ex.pc;
    executed.funct3      = id_ex.ctrl.funct3;
    executed.rd          = id_ex.ctrl.rd;
    executed.rd_write    = id_ex.ctrl.rd_write;
    executed.result      = is_jump ? id_ex.pc + 32'd4 : alu_result;
    executed.store_data  = operand_b;
    executed.kind.branch = id_ex.ctrl.flow == FLOW_BRANCH;
    executed.kind.taken  = taken;
    executed.kind.jump   = is_jump;
    executed.kind.load   = id_ex.ctrl.load;
    executed.kind.store  = id_ex.ctrl.store;
    executed.exc         = id_ex.exc;
    if (!id_ex.exc.valid && target_misaligned) begin
      executed.exc = '{valid: 1'b1, cause: CAUSE_FETCH_MISALIGNED, tval: target};
    end
    if (executed.exc.valid) begin
      executed.rd_write   = 1'b0;
      executed.kind.load  = 1'b0;
      executed.kind.store = 1'b0;
    end
  end

  // ---- memory
  logic [31:0] load_data;
  exc_t lsu_exc;
  lsu u_lsu (
      .load_i(ex_mem.valid && ex_mem.kind.load),
      .store_i(ex_mem.valid && ex_mem.kind.store),
      .funct3_i(ex_mem.funct3), .addr_i(ex_mem.result), .store_data_i(ex_mem.store_data), .kill_i(trap),
      .dmem_addr_o, .dmem_read_o, .dmem_write_o, .dmem_strobe_o, .dmem_wdata_o, .dmem_rdata_i, .dmem_fault_i,
      .load_data_o(load_data), .exc_o(lsu_exc)
  );

  always_comb begin
    accessed = '{
        valid: ex_mem.valid,
        pc: ex_mem.pc,
        rd_write: ex_mem.rd_write && !lsu_exc.valid,
        rd: ex_mem.rd,
        result: ex_mem.kind.load ? load_data : ex_mem.result,
        kind: ex_mem.kind,
        exc: ex_mem.exc.valid ? ex_mem.exc : lsu_exc
    };
  end

  // ---- writeback
  assign trap      = mem_wb.valid && mem_wb.exc.valid;
  assign reg_write = mem_wb.valid && mem_wb.rd_write && !trap;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      halted_o     <= 1'b0;
      halt_cause_o <= CAUSE_FETCH_MISALIGNED;
      halt_pc_o    <= 32'd0;
      halt_tval_o  <= 32'd0;
    end else if (trap) begin
      halted_o     <= 1'b1;
      halt_cause_o <= mem_wb.exc.cause;
      halt_pc_o    <= mem_wb.pc;
      halt_tval_o  <= mem_wb.exc.tval;
    end
  end

  // ---- control
  logic [NumStages-1:0] occupied;
  destination_t execute_dst, memory_dst, writeback_dst;
  assign occupied      = {mem_wb.valid, ex_mem.valid, id_ex.valid, if_id.valid, fetched.valid};
  assign execute_dst   = '{write: id_ex.valid && id_ex.ctrl.rd_write, ready: !id_ex.ctrl.load, rd: id_ex.ctrl.rd};
  assign memory_dst    = '{write: ex_mem.valid && ex_mem.rd_write, ready: !ex_mem.kind.load, rd: ex_mem.rd};
  assign writeback_dst = '{write: mem_wb.valid && mem_wb.rd_write, ready: 1'b1, rd: mem_wb.rd};

  hazard u_hazard (
      .occupied_i(occupied), .halted_i(halted_o), .redirect_i(redirect), .trap_i(trap),
      .decode_src_i(ctrl.src), .execute_src_i(id_ex.ctrl.src),
      .execute_dst_i(execute_dst), .memory_dst_i(memory_dst), .writeback_dst_i(writeback_dst),
      .fwd_a_o(fwd_a), .fwd_b_o(fwd_b), .bypass_o(bypass), .load_use_o(load_use), .stage_o(stage)
  );

  // An instruction passes on unless it is held or killed; a stage that receives nobody holds a bubble.
  function automatic logic moves(input stage_probe_t s);
    return s.valid && !s.hold && !s.kill;
  endfunction

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      if_id.valid  <= 1'b0;
      id_ex.valid  <= 1'b0;
      ex_mem.valid <= 1'b0;
      mem_wb.valid <= 1'b0;
    end else begin
      if (!stage[StageD].hold) begin
        if_id       <= fetched;
        if_id.valid <= moves(stage[StageF]);
      end
      id_ex        <= decoded;
      id_ex.valid  <= moves(stage[StageD]);
      ex_mem       <= executed;
      ex_mem.valid <= moves(stage[StageE]);
      mem_wb       <= accessed;
      mem_wb.valid <= moves(stage[StageM]);
    end
  end

  logic running;
  assign running = !rst_i && !halted_o;
  perf_counters u_perf (
      .clk_i, .rst_i, .running_i(running),
      .stage_i(stage), .flush_i(redirect || trap), .load_use_i(load_use), .kind_i(mem_wb.kind),
      .select_i(debug_counter_i), .value_o(debug_counter_data_o)
  );

  always_comb begin
    probe_o.running      = running;
    probe_o.stage        = stage;
    probe_o.fetch_pc     = fetched.pc;
    probe_o.fetch_inst   = fetched.inst;
    probe_o.load_use     = load_use;
    probe_o.redirect     = redirect;
    probe_o.trap         = trap;
    probe_o.trap_cause   = mem_wb.exc.cause;
    probe_o.trap_tval    = mem_wb.exc.tval;
    probe_o.fwd_a        = fwd_a;
    probe_o.fwd_b        = fwd_b;
    probe_o.bypass       = bypass;
    probe_o.reg_write    = reg_write;
    probe_o.reg_index    = mem_wb.rd;
    probe_o.reg_value    = mem_wb.result;
    probe_o.retired_kind = mem_wb.kind;
  end
endmodule
