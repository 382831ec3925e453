// Records what the core does. It sees the core through its probe only and keeps its own account of which entity is
// in which stage, so that the core knows nothing of tracing.
//
// A frame describes one clock cycle. The edge that begins the cycle opens it, with what this edge does (retire, squash,
// write a register): that is visible in the cycle that follows. The edge that ends the cycle adds what the cycle has
// been, and closes it. So an instruction is in writeback for one full cycle and gone in the next, and nothing of the
// probe needs to be kept from one edge to the next.
//
// One process owns begin, operations and end of each cycle. Names come from core_trace_pkg, generated from schema.yaml.
// Without +notrace the trace is opened while the core is in reset. It is called core and the number of the hart, or as
// +trace=NAME says; +schema=FILE names the schema's file.
module tracer
  import rv_pkg::*;
  import rv_disasm_pkg::*;
  import uscope_pkg::*;
  import core_trace_pkg::*;
#(
    parameter logic [31:0] CodeBase   = 32'h8000_0000,
    parameter int unsigned CodeWords  = 16384,
    parameter int unsigned StoreDepth = 4
) (
    input logic       clk_i,
    input logic       rst_i,
    input logic       enable_i,  // the core is to run
    input logic [31:0] hart_id_i,
    probe_if.observer probe_i
);
  typedef logic [7:0] entity_t;  // slot of `entities`, equal to entity_id; given out in turn
  initial begin
    if (SLOTS_ENTITIES != 2 ** $bits(entity_t)) $fatal(1, "entity_t does not fit the storage entities");
    if (SLOTS_STORE_BUFFER != StoreDepth) begin
      $fatal(1, "schema.yaml gives the store buffer %0d slots, the core has %0d", SLOTS_STORE_BUFFER, StoreDepth);
    end
  end

  // ---- open and close

  // What happens seldom is kept out of line: inlined, its strings would be built and dropped in every cycle, and its code
  // would lie between that of every cycle.
  chandle trace;
  bit     tracing;
  bit     opened;
  // Null with +notrace, and where the user chose to go on untraced (USCOPE_ON_FAILURE=continue).
  function automatic chandle open_trace(input logic [31:0] hart_id);
    /* verilator no_inline_task */
    string trace_name, schema_path;
    if ($test$plusargs("notrace")) return null;
    if (!$value$plusargs("trace=%s", trace_name)) trace_name = $sformatf("core%0d", hart_id);
    if (!$value$plusargs("schema=%s", schema_path)) schema_path = "";
    return core_open(trace_name, hart_id, schema_path);
  endfunction

  final if (tracing) uscope_close(trace);

  // ---- who is where

  typedef logic [NumStages-1:0] stages_t;
  entity_t [NumStages-1:0] last_id;  // the cycle before
  stages_t                 stayed;   // whoever was there has not moved
  logic [NumStages-1:StageD] was_valid;  // the cycle before, of the stages behind a pipeline register
  entity_t                 next_id;  // for the next instruction fetched
  longint unsigned         now;      // ps, when the cycle began
  bit                      framed;   // the frame of the cycle is open

  stages_t                 arrives;  // it came with the last edge
  entity_t [NumStages-1:0] id;       // of the instruction in each stage

  // All stages at once: those that stayed keep theirs, the others take their neighbour's.
  typedef entity_t [NumStages-1:0] entities_t;
  entities_t keep [2 ** NumStages];  // bits of a stages_t, each widened to an entity_t
  initial begin
    for (int i = 0; i < 2 ** NumStages; i++) begin
      for (int s = 0; s < NumStages; s++) keep[i][s] = {$bits(entity_t){i[s]}};
    end
  end
  always_comb begin
    id = (last_id & keep[stayed]) | ({last_id[NumStages-2:0], next_id} & ~keep[stayed]);
    arrives = probe_i.stage.valid & ~stayed;
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      /* verilator lint_off BLKSEQ */
      if (enable_i && !opened) begin
        trace   = open_trace(hart_id_i);
        tracing = trace != null;
      end
      opened = enable_i;
      /* verilator lint_on BLKSEQ */
      if (framed) uscope_end_cycle(trace);
      stayed    <= '0;
      was_valid <= '0;
      retired   <= '0;
      next_id   <= '0;
      last_id   <= '0;
      now       <= 64'd0;
      framed    <= 1'b0;
    end else begin
      stayed    <= probe_i.stage.valid & probe_i.stage.hold & ~probe_i.stage.kill;
      was_valid <= probe_i.stage.valid[NumStages-1:StageD];
      last_id   <= id;
      retired   <= only_if(probe_i.running & probe_i.stage.valid[StageW] & ~probe_i.stage.kill[StageW],
                           retirements[probe_i.retired_kind]);
      now       <= now + 64'(PERIOD_PS_CORE_CLK);
      if (arrives[StageF]) next_id <= next_id + 8'd1;
      if (tracing) begin
        if (probe_i.running && !framed) begin_cycle(now);
        if (probe_i.running || framed) record_cycle();
        // The cycle after the core has stopped still shows what its last edge did.
        if (probe_i.running) begin
          next_cycle(now + 64'(PERIOD_PS_CORE_CLK));
          record_edge();
        end else if (framed) uscope_end_cycle(trace);
        framed <= probe_i.running;
      end
    end
  end

  // ---- what is recorded

  function automatic void begin_cycle(input longint unsigned time_ps);
    if (uscope_checkpoint_due(trace, time_ps) != 0) record_registers();
    uscope_begin_cycle(trace, time_ps);
  endfunction

  // At checkpoints the register file is taken from the core as it stands, not put together from what was recorded: a
  // reader who replays the trace up to there and finds something else has found what the tracer missed. The edge has not
  // changed it yet, so these are the values at the end of the frame before.
  function automatic void record_registers();
    /* verilator no_inline_task */
    regs_snapshot_begin(trace);
    for (int i = 0; i < 32; i++) regs_snapshot_slot(trace, 16'(i), u_core.u_regfile.registers[i]);
    regs_snapshot_end(trace);
  endfunction

  function automatic void next_cycle(input longint unsigned time_ps);
    if (uscope_next_cycle(trace, time_ps) != 0) begin
      record_registers();
      uscope_begin_cycle(trace, time_ps);
    end
  endfunction

  // What the cycle was.
  function automatic void record_cycle();
    if (arrives[StageF]) record_birth();
    record_stages();
    if (probe_i.stalled) ev_stall(trace, stall_reason_e'(8'(probe_i.stall_reason)));
    record_dependencies();
    record_counters();
  endfunction

  // What the edge does at its end, oldest instruction first.
  function automatic void record_edge();
    if (probe_i.reg_write) regs_set_value(trace, 16'(probe_i.reg_index), probe_i.reg_value);
    if (probe_i.trap) begin
      record_trap(id[StageW], probe_i.trap_exc.irq, 64'({probe_i.trap_exc.irq, 27'd0, probe_i.trap_exc.cause}),
                  64'(probe_i.trap_exc.tval), 64'(probe_i.trap_target));
    end
    if (probe_i.stage.valid[StageW] && !probe_i.stage.kill[StageW]) entities_clear(trace, 16'(id[StageW]));
    if (probe_i.flush) record_flush(probe_i.flush_reason, probe_i.stage.kill, id);
    if (probe_i.stores.pop) record_drain();
    if (probe_i.stores.push) record_store();
  endfunction

  function automatic void record_trap(input entity_t entity, input logic irq, input longint unsigned cause,
                                        input longint unsigned tval, input longint unsigned target);
    /* verilator no_inline_task */
    ev_trap(trace, 32'(entity), cause, tval, target);
    if (irq) interrupts_add(trace, 64'd1);
    else exceptions_add(trace, 64'd1);
  endfunction

  function automatic void record_flush(input flush_e why, input stages_t killed, input entities_t entities);
    /* verilator no_inline_task */
    flush_reason_e reason;
    unique case (why)
      FLUSH_MISPREDICT: reason = FLUSH_REASON_MISPREDICT;
      FLUSH_EXCEPTION:  reason = FLUSH_REASON_EXCEPTION;
      FLUSH_INTERRUPT:  reason = FLUSH_REASON_INTERRUPT;
      default:          reason = FLUSH_REASON_PIPELINE_CLEAR;
    endcase
    for (int s = NumStages - 1; s >= 0; s--) begin
      if (killed[s]) record_squash(entities[s], reason);
    end
    flushes_add(trace, 64'd1);
    if (reason == FLUSH_REASON_MISPREDICT) mispredicts_add(trace, 64'd1);
  endfunction

  function automatic void record_squash(input entity_t entity, input flush_reason_e reason);
    ev_flush(trace, 32'(entity), reason);
    entities_clear(trace, 16'(entity));
    squashed_insns_add(trace, 64'd1);
  endfunction

  // A store enters the buffer as it leaves the memory stage, and stays there after its instruction has retired.
  function automatic void record_store();
    store_buffer_put(trace, 16'(probe_i.stores.tail), 32'(id[StageM]), 64'(probe_i.pushed.addr),
                     probe_i.pushed.data, 8'(probe_i.pushed.strobe));
    store_buffer_prop_tail(trace, next_store(probe_i.stores.tail));
  endfunction

  function automatic void record_drain();
    store_buffer_clear(trace, 16'(probe_i.stores.head));
    store_buffer_prop_head(trace, next_store(probe_i.stores.head));
  endfunction

  function automatic logic [7:0] next_store(input logic [7:0] slot);
    return slot == 8'(StoreDepth - 1) ? 8'd0 : slot + 8'd1;
  endfunction

  function automatic void record_birth();
    entities_put(trace, 16'(id[StageF]), 32'(id[StageF]), 64'(probe_i.fetch_pc), probe_i.fetch_inst);
    ev_annotate(trace, 32'(id[StageF]), text_of(probe_i.fetch_pc, probe_i.fetch_inst));
  endfunction

  // Stages entered, and with them the pipeline registers in front of decode to writeback: all stages in one call each,
  // stage i being lane i and, in the schema, label i.
  function automatic void record_stages();
    logic [NumStages-1:StageD] emptied;
    emptied = was_valid & ~probe_i.stage.valid[NumStages-1:StageD];
    ev_stage_transition_lanes(trace, 64'(arrives), 64'(id), $bits(entity_t), PIPELINE_STAGE_FETCH, 32'd1);
    pipeline_regs_set_entity_id_lanes(trace, 64'(arrives[NumStages-1:StageD]), 64'(id[NumStages-1:StageD]),
                                      $bits(entity_t));
    if (emptied != '0) pipeline_regs_clear_lanes(trace, 64'(emptied));
  endfunction

  // ---- counters, all of a cycle in one call

  typedef longint unsigned counters_t;
  counters_t retired;  // of the edge that began the cycle

  // Without a branch, which the processor would guess wrong every few cycles.
  function automatic counters_t only_if(input logic condition, input counters_t counters);
    return counters & {64{condition}};
  endfunction

  function automatic counters_t counters_of(input kind_t kind);
    return COUNT_COMMITTED_INSNS
           | only_if(kind.branch, COUNT_BRANCHES)
           | only_if(kind.branch & kind.taken, COUNT_BRANCHES_TAKEN)
           | only_if(kind.jump, COUNT_JUMPS)
           | only_if(kind.load, COUNT_LOADS)
           | only_if(kind.forwarded, COUNT_LOADS_FORWARDED)
           | only_if(kind.store, COUNT_STORES)
           | only_if(kind.muldiv, COUNT_MULDIVS)
           | only_if(kind.atomic, COUNT_ATOMICS);
  endfunction

  counters_t retirements [2 ** $bits(kind_t)];  // counters_of all kinds
  initial for (int i = 0; i < 2 ** $bits(kind_t); i++) retirements[i] = counters_of(kind_t'(i[$bits(kind_t)-1:0]));

  // Counters and labels of stalls stand in the order of stall_e, labels of stages in that of the stages.
  initial begin
    if (PIPELINE_STAGE_FETCH != 0 || PIPELINE_STAGE_WRITEBACK != pipeline_stage_e'(8'(StageW))) begin
      $fatal(1, "stages are out of order");
    end
    if (COUNT_STALLS_ATOMIC != COUNT_STALLS_LOAD_USE << STALL_ATOMIC) $fatal(1, "stall counters are out of order");
    if (STALL_REASON_ATOMIC != stall_reason_e'(8'(STALL_ATOMIC))) $fatal(1, "stall reasons are out of order");
  end

  function automatic void record_counters();
    count(trace, retired
                 | only_if(probe_i.running, COUNT_CYCLES)
                 | only_if(arrives[StageF], COUNT_FETCHED_INSNS)
                 | only_if(probe_i.icache_miss, COUNT_ICACHE_MISSES)
                 | only_if(probe_i.dcache_access, COUNT_DCACHE_ACCESSES)
                 | only_if(probe_i.dcache_miss, COUNT_DCACHE_MISSES)
                 | (only_if(probe_i.stalled, COUNT_STALLS_LOAD_USE) << probe_i.stall_reason));
  endfunction

  function automatic entity_t producer(input fwd_e from);
    return from == FWD_MEMORY ? id[StageM] : id[StageW];
  endfunction

  function automatic void record_dependency(input entity_t src, input entity_t dst);
    ev_dependency(trace, 32'(src), 32'(dst), DEP_TYPE_RAW);
  endfunction

  // A value handed on while its producer is in flight: forwarded into execute, or read in decode while it is written.
  function automatic void record_dependencies();
    if (arrives[StageE]) begin
      if (probe_i.fwd_a != FWD_REGFILE) record_dependency(producer(probe_i.fwd_a), id[StageE]);
      if (probe_i.fwd_b != FWD_REGFILE && probe_i.fwd_b != probe_i.fwd_a) begin
        record_dependency(producer(probe_i.fwd_b), id[StageE]);
      end
    end
    if (probe_i.bypass && !probe_i.stage.hold[StageD] && !probe_i.stage.kill[StageD]) begin
      record_dependency(id[StageW], id[StageD]);
    end
  endfunction

  // ---- annotations

  // The text of an instruction does not change as long as its word does not: each is formatted once. Only text_of
  // touches this memory, once a cycle, so there is nobody to race with its blocking assignments.
  localparam int unsigned TextBits = $clog2(CodeWords);
  typedef struct packed {
    logic [31:0] inst;
    logic [31:0] number;  // the text's index plus 1; 0: not formatted yet
  } text_t;
  text_t texts [CodeWords];
  initial for (int unsigned i = 0; i < CodeWords; i++) texts[i] = '0;

  // Formatting is rare; inlined, its string temporaries would be built and dropped in every cycle.
  function automatic int unsigned make_text(input logic [31:0] pc, input logic [31:0] inst);
    /* verilator no_inline_task */
    return uscope_string(trace, $sformatf("%08x: %s", pc, disassemble(pc, inst)));
  endfunction

  function automatic int unsigned text_of(input logic [31:0] pc, input logic [31:0] inst);
    logic [31:0] word;
    text_t text;
    word = (pc - CodeBase) >> 2;
    if (word >= CodeWords) return make_text(pc, inst);
    text = texts[word[TextBits-1:0]];
    if (text.number == 32'd0 || text.inst != inst) begin
      text = '{inst: inst, number: make_text(pc, inst) + 32'd1};
      /* verilator lint_off BLKSEQ */
      texts[word[TextBits-1:0]] = text;
      /* verilator lint_on BLKSEQ */
    end
    return text.number - 32'd1;
  endfunction
endmodule
