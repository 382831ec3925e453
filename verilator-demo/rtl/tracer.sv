// Records what the core does. It sees the core through its probe only and keeps its own account of which entity is
// in which stage, so that the core knows nothing of tracing.
//
// A frame describes one clock cycle, sampled at the edge that ends it. What an edge does (retire, squash, write a
// register) is visible in the cycle that follows and stands in that cycle's frame: an instruction is in writeback
// for one full cycle and gone in the next.
//
// One process owns begin, operations and end of each cycle. Names come from core_trace_pkg, generated from schema.yaml.
// Without +notrace the trace is opened at time 0; +trace=NAME names it (core0), +schema=FILE names the schema's file.
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
    input logic   clk_i,
    input logic   rst_i,
    input probe_t probe_i
);
  typedef logic [7:0] entity_t;  // slot of `entities`, equal to entity_id; given out in turn
  initial begin
    if (SLOTS_ENTITIES != 2 ** $bits(entity_t)) $fatal(1, "entity_t does not fit the storage entities");
    if (SLOTS_STORE_BUFFER != StoreDepth) begin
      $fatal(1, "schema.yaml gives the store buffer %0d slots, the core has %0d", SLOTS_STORE_BUFFER, StoreDepth);
    end
  end

  // ---- open and close

  chandle trace;
  bit     tracing;
  string  trace_name, schema_path;
  initial begin
    tracing = 1'b0;
    if (!$test$plusargs("notrace")) begin
      if (!$value$plusargs("trace=%s", trace_name)) trace_name = "core0";
      if (!$value$plusargs("schema=%s", schema_path)) schema_path = "";
      trace = core_open(trace_name, schema_path);
      // Null only where the user chose to go on untraced (USCOPE_ON_FAILURE=continue).
      tracing = trace != null;
    end
  end

  final if (tracing) uscope_close(trace);

  // ---- who is where

  /* verilator lint_off UNUSEDSIGNAL */
  probe_t          last;      // the cycle before, all of it; not every part is of interest afterwards
  /* verilator lint_on UNUSEDSIGNAL */
  entity_t         last_id [NumStages];
  entity_t         next_id;   // for the next instruction fetched
  longint unsigned cycle;

  entity_t              id      [NumStages];  // of the instruction in each stage
  logic [NumStages-1:0] arrives;              // it came with the last edge

  function automatic logic stays(input stage_probe_t s);
    return s.valid && s.hold && !s.kill;
  endfunction

  always_comb begin
    for (int s = 0; s < NumStages; s++) begin
      arrives[s] = probe_i.stage[s].valid && !stays(last.stage[s]);
      if (stays(last.stage[s])) id[s] = last_id[s];
      else if (s == StageF) id[s] = next_id;
      else id[s] = last_id[s-1];
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      last    <= '0;
      next_id <= '0;
      cycle   <= 64'd0;
      for (int s = 0; s < NumStages; s++) last_id[s] <= '0;
    end else begin
      last    <= probe_i;
      last_id <= id;
      cycle   <= cycle + 64'd1;
      if (arrives[StageF]) next_id <= next_id + 8'd1;
      // The cycle after the core has stopped still shows what its last edge did.
      if (tracing && (probe_i.running || last.running)) record_cycle();
    end
  end

  // ---- what is recorded

  function automatic void record_cycle();
    uscope_begin_cycle(trace, cycle * 64'(PERIOD_PS_CORE_CLK));
    record_departures();
    if (arrives[StageF]) record_birth();
    record_stages();
    if (probe_i.stalled) record_stall();
    record_dependencies();
    if (probe_i.icache_miss) icache_misses_add(trace, 64'd1);
    if (probe_i.dcache_access) dcache_accesses_add(trace, 64'd1);
    if (probe_i.dcache_miss) dcache_misses_add(trace, 64'd1);
    if (probe_i.running) cycles_add(trace, 64'd1);
    uscope_end_cycle(trace);
  endfunction

  // What the last edge did, oldest instruction first.
  function automatic void record_departures();
    if (last.reg_write) regs_set_value(trace, 16'(last.reg_index), last.reg_value);
    if (last.trap) record_trap();
    if (last.stage[StageW].valid && !last.stage[StageW].kill) record_retirement();
    if (last.flush) record_flush();
    if (last.stores.pop) record_drain();
    if (last.stores.push) record_store();
  endfunction

  function automatic void record_trap();
    ev_trap(trace, 32'(last_id[StageW]), 64'({last.trap_exc.irq, 27'd0, last.trap_exc.cause}),
            64'(last.trap_exc.tval), 64'(last.trap_target));
    if (last.trap_exc.irq) interrupts_add(trace, 64'd1);
    else exceptions_add(trace, 64'd1);
  endfunction

  function automatic void record_retirement();
    entities_clear(trace, 16'(last_id[StageW]));
    committed_insns_add(trace, 64'd1);
    if (last.retired_kind.branch) begin
      branches_add(trace, 64'd1);
      if (last.retired_kind.taken) branches_taken_add(trace, 64'd1);
    end
    if (last.retired_kind.jump) jumps_add(trace, 64'd1);
    if (last.retired_kind.load) loads_add(trace, 64'd1);
    if (last.retired_kind.forwarded) loads_forwarded_add(trace, 64'd1);
    if (last.retired_kind.store) stores_add(trace, 64'd1);
    if (last.retired_kind.muldiv) muldivs_add(trace, 64'd1);
  endfunction

  function automatic void record_flush();
    flush_reason_e reason;
    unique case (last.flush_reason)
      FLUSH_MISPREDICT: reason = FLUSH_REASON_MISPREDICT;
      FLUSH_EXCEPTION:  reason = FLUSH_REASON_EXCEPTION;
      FLUSH_INTERRUPT:  reason = FLUSH_REASON_INTERRUPT;
      default:          reason = FLUSH_REASON_PIPELINE_CLEAR;
    endcase
    for (int s = NumStages - 1; s >= 0; s--) begin
      if (last.stage[s].kill) record_squash(last_id[s], reason);
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
    store_buffer_put(trace, 16'(last.stores.tail), 32'(last_id[StageM]), 64'(last.stores.pushed.addr),
                     last.stores.pushed.data, 8'(last.stores.pushed.strobe));
    store_buffer_prop_tail(trace, next_store(last.stores.tail));
  endfunction

  function automatic void record_drain();
    store_buffer_clear(trace, 16'(last.stores.head));
    store_buffer_prop_head(trace, next_store(last.stores.head));
  endfunction

  function automatic logic [7:0] next_store(input logic [7:0] slot);
    return slot == 8'(StoreDepth - 1) ? 8'd0 : slot + 8'd1;
  endfunction

  function automatic void record_birth();
    entities_put(trace, 16'(id[StageF]), 32'(id[StageF]), 64'(probe_i.fetch_pc), probe_i.fetch_inst);
    ev_annotate(trace, 32'(id[StageF]), text_of(probe_i.fetch_pc, probe_i.fetch_inst));
    fetched_insns_add(trace, 64'd1);
  endfunction

  localparam pipeline_stage_e StageNames [NumStages] = '{
      PIPELINE_STAGE_FETCH, PIPELINE_STAGE_DECODE, PIPELINE_STAGE_EXECUTE, PIPELINE_STAGE_MEMORY, PIPELINE_STAGE_WRITEBACK
  };

  // Stages entered, and with them the pipeline registers in front of decode to writeback.
  function automatic void record_stages();
    for (int s = NumStages - 1; s >= 0; s--) begin
      if (arrives[s]) begin
        ev_stage_transition(trace, 32'(id[s]), StageNames[s]);
        if (s != StageF) pipeline_regs_set_entity_id(trace, 16'(s - 1), 32'(id[s]));
      end else if (s != StageF && last.stage[s].valid && !probe_i.stage[s].valid) begin
        pipeline_regs_clear(trace, 16'(s - 1));
      end
    end
  endfunction

  function automatic void record_stall();
    unique case (probe_i.stall_reason)
      STALL_LOAD_USE: begin
        ev_stall(trace, STALL_REASON_LOAD_USE);
        stalls_load_use_add(trace, 64'd1);
      end
      STALL_MUL_DIV: begin
        ev_stall(trace, STALL_REASON_MUL_DIV);
        stalls_mul_div_add(trace, 64'd1);
      end
      STALL_ICACHE_MISS: begin
        ev_stall(trace, STALL_REASON_ICACHE_MISS);
        stalls_icache_miss_add(trace, 64'd1);
      end
      STALL_DCACHE_MISS: begin
        ev_stall(trace, STALL_REASON_DCACHE_MISS);
        stalls_dcache_miss_add(trace, 64'd1);
      end
      STALL_STORE_FULL: begin
        ev_stall(trace, STALL_REASON_STORE_BUFFER_FULL);
        stalls_store_buffer_full_add(trace, 64'd1);
      end
      STALL_STORE_DRAIN: begin
        ev_stall(trace, STALL_REASON_STORE_DRAIN);
        stalls_store_drain_add(trace, 64'd1);
      end
      STALL_SERIALIZE: begin
        ev_stall(trace, STALL_REASON_SERIALIZE);
        stalls_serialize_add(trace, 64'd1);
      end
      default: begin
        ev_stall(trace, STALL_REASON_WAIT_FOR_INTERRUPT);
        stalls_wait_for_interrupt_add(trace, 64'd1);
      end
    endcase
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
    if (probe_i.bypass && !probe_i.stage[StageD].hold && !probe_i.stage[StageD].kill) begin
      record_dependency(id[StageW], id[StageD]);
    end
  endfunction

  // ---- annotations

  // The text of an instruction does not change as long as its word does not: each is formatted once. Only text_of
  // touches this memory, once a cycle, so there is nobody to race with its blocking assignments.
  localparam int unsigned TextBits = $clog2(CodeWords);
  int unsigned text_index [CodeWords];
  logic [31:0] text_inst  [CodeWords];
  bit          text_made  [CodeWords];

  // Formatting is rare; inlined, its string temporaries would be built and dropped in every cycle.
  function automatic int unsigned make_text(input logic [31:0] pc, input logic [31:0] inst);
    /* verilator no_inline_task */
    return uscope_string(trace, $sformatf("%08x: %s", pc, disassemble(pc, inst)));
  endfunction

  function automatic int unsigned text_of(input logic [31:0] pc, input logic [31:0] inst);
    logic [31:0] word;
    logic [TextBits-1:0] at;
    word = (pc - CodeBase) >> 2;
    if (word >= CodeWords) return make_text(pc, inst);
    at = word[TextBits-1:0];
    if (!text_made[at] || text_inst[at] != inst) begin
      /* verilator lint_off BLKSEQ */
      text_made[at]  = 1'b1;
      text_inst[at]  = inst;
      text_index[at] = make_text(pc, inst);
      /* verilator lint_on BLKSEQ */
    end
    return text_index[at];
  endfunction
endmodule
