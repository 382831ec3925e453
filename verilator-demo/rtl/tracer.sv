// Records what the core does. It sees the core through its probe only and keeps its own account of which entity is
// in which stage, so that the core knows nothing of tracing.
//
// A frame describes one clock cycle, sampled at the edge that ends it. What an edge does (retire, squash, write a
// register) is visible in the cycle that follows and stands in that cycle's frame: an instruction is in writeback
// for one full cycle and gone in the next.
//
// One process owns begin, operations and end of each cycle. Ids are looked up by name once. Without +notrace the
// trace is opened at time 0; +trace=NAME names it (core0), +schema=FILE brings a schema of its own.
module tracer
  import rv_pkg::*;
  import rv_disasm_pkg::*;
  import uscope_pkg::*;
#(
    parameter longint unsigned ClockPeriodPs = 1000,
    parameter logic [31:0] CodeBase   = 32'h8000_0000,
    parameter int unsigned CodeWords  = 16384,
    parameter int unsigned StoreDepth = 4
) (
    input logic   clk_i,
    input logic   rst_i,
    input probe_t probe_i
);
  typedef shortint unsigned id_t;    // of a storage, slot, field or event type
  typedef logic [7:0] entity_t;      // slot of `entities`, equal to entity_id; 256 of them, given out in turn

  // ---- open, ids, close

  chandle trace;
  bit     tracing;

  id_t st_entities, f_entity_id, f_pc, f_inst_bits;
  id_t st_pipeline, f_pipeline_entity;
  id_t st_regs, f_reg_value;
  id_t st_stores, f_store_entity, f_store_addr, f_store_data, f_store_strobe, p_store_head, p_store_tail;
  id_t st_counter [NumCounters];
  id_t ev_stage, ev_annotate, ev_dependency, ev_flush, ev_stall, ev_trap;
  longint unsigned stage_label [NumStages];
  longint unsigned stall_label [NumStalls];
  longint unsigned flush_label [4];
  longint unsigned dep_raw;

  function automatic id_t known(input int id, input string what);
    if (id < 0) $fatal(1, "the schema of this trace has no %s", what);
    return id_t'(id);
  endfunction

  function automatic id_t storage(input string name);
    return known(uscope_storage_id(trace, {"core0/", name}), {"storage core0/", name});
  endfunction

  function automatic id_t field(input id_t st, input string name);
    return known(uscope_field_id(trace, int'(st), name), {"field ", name});
  endfunction

  function automatic id_t event_type(input string name);
    return known(uscope_event_id(trace, {"core0/", name}), {"event core0/", name});
  endfunction

  function automatic longint unsigned label(input string enumeration, input string name);
    return 64'(known(uscope_enum_value(trace, enumeration, name), {enumeration, " ", name}));
  endfunction

  function automatic counter_e stall_counter(input stall_e reason);
    return counter_e'(CNT_STALLS + 5'(reason));
  endfunction

  function automatic void look_up_stall(input stall_e reason, input string name);
    stall_label[reason] = label("stall_reason", name);
    st_counter[stall_counter(reason)] = storage({"stalls_", name});
  endfunction

  function automatic void look_up();
    st_entities = storage("entities");
    f_entity_id = field(st_entities, "entity_id");
    f_pc        = field(st_entities, "pc");
    f_inst_bits = field(st_entities, "inst_bits");

    st_pipeline       = storage("pipeline_regs");
    f_pipeline_entity = field(st_pipeline, "entity_id");

    st_regs     = storage("regs");
    f_reg_value = field(st_regs, "value");

    st_stores      = storage("store_buffer");
    f_store_entity = field(st_stores, "entity_id");
    f_store_addr   = field(st_stores, "addr");
    f_store_data   = field(st_stores, "data");
    f_store_strobe = field(st_stores, "strobe");
    p_store_head   = known(uscope_property_id(trace, int'(st_stores), "head"), "property head");
    p_store_tail   = known(uscope_property_id(trace, int'(st_stores), "tail"), "property tail");

    st_counter[CNT_CYCLES]          = storage("cycles");
    st_counter[CNT_FETCHED]         = storage("fetched_insns");
    st_counter[CNT_COMMITTED]       = storage("committed_insns");
    st_counter[CNT_SQUASHED]        = storage("squashed_insns");
    st_counter[CNT_FLUSHES]         = storage("flushes");
    st_counter[CNT_BRANCHES]        = storage("branches");
    st_counter[CNT_BRANCHES_TAKEN]  = storage("branches_taken");
    st_counter[CNT_JUMPS]           = storage("jumps");
    st_counter[CNT_MISPREDICTS]     = storage("mispredicts");
    st_counter[CNT_LOADS]           = storage("loads");
    st_counter[CNT_STORES]          = storage("stores");
    st_counter[CNT_LOADS_FORWARDED] = storage("loads_forwarded");
    st_counter[CNT_MULDIVS]         = storage("muldivs");
    st_counter[CNT_ICACHE_MISSES]   = storage("icache_misses");
    st_counter[CNT_DCACHE_ACCESSES] = storage("dcache_accesses");
    st_counter[CNT_DCACHE_MISSES]   = storage("dcache_misses");
    st_counter[CNT_EXCEPTIONS]      = storage("exceptions");
    st_counter[CNT_INTERRUPTS]      = storage("interrupts");
    look_up_stall(STALL_LOAD_USE, "load_use");
    look_up_stall(STALL_MUL_DIV, "mul_div");
    look_up_stall(STALL_ICACHE_MISS, "icache_miss");
    look_up_stall(STALL_DCACHE_MISS, "dcache_miss");
    look_up_stall(STALL_STORE_FULL, "store_buffer_full");
    look_up_stall(STALL_STORE_DRAIN, "store_drain");
    look_up_stall(STALL_SERIALIZE, "serialize");
    look_up_stall(STALL_WAIT, "wait_for_interrupt");

    ev_stage      = event_type("stage_transition");
    ev_annotate   = event_type("annotate");
    ev_dependency = event_type("dependency");
    ev_flush      = event_type("flush");
    ev_stall      = event_type("stall");
    ev_trap       = event_type("trap");

    stage_label[StageF] = label("pipeline_stage", "fetch");
    stage_label[StageD] = label("pipeline_stage", "decode");
    stage_label[StageE] = label("pipeline_stage", "execute");
    stage_label[StageM] = label("pipeline_stage", "memory");
    stage_label[StageW] = label("pipeline_stage", "writeback");
    dep_raw = label("dep_type", "raw");
    flush_label[FLUSH_MISPREDICT] = label("flush_reason", "mispredict");
    flush_label[FLUSH_EXCEPTION]  = label("flush_reason", "exception");
    flush_label[FLUSH_INTERRUPT]  = label("flush_reason", "interrupt");
    flush_label[FLUSH_CLEAR]      = label("flush_reason", "pipeline_clear");
  endfunction

  string trace_name, schema_path;
  initial begin
    tracing = 1'b0;
    if (!$test$plusargs("notrace")) begin
      if (!$value$plusargs("trace=%s", trace_name)) trace_name = "core0";
      if ($value$plusargs("schema=%s", schema_path)) trace = uscope_open_schema(trace_name, schema_path);
      else trace = uscope_open(trace_name);
      // Null only where the user chose to go on untraced (USCOPE_ON_FAILURE=continue).
      tracing = trace != null;
      if (tracing) look_up();
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
    uscope_begin_cycle(trace, cycle * ClockPeriodPs);
    record_departures();
    if (arrives[StageF]) record_birth();
    record_stages();
    if (probe_i.stalled) begin
      uscope_event1(trace, ev_stall, stall_label[probe_i.stall_reason]);
      count(stall_counter(probe_i.stall_reason));
    end
    record_dependencies();
    if (probe_i.icache_miss) count(CNT_ICACHE_MISSES);
    if (probe_i.dcache_access) count(CNT_DCACHE_ACCESSES);
    if (probe_i.dcache_miss) count(CNT_DCACHE_MISSES);
    if (probe_i.running) count(CNT_CYCLES);
    uscope_end_cycle(trace);
  endfunction

  function automatic void add(input counter_e counter, input longint unsigned amount);
    uscope_slot_add(trace, st_counter[counter], 16'd0, 16'd0, amount);  // a counter has one slot and one field
  endfunction

  function automatic void count(input counter_e counter);
    add(counter, 64'd1);
  endfunction

  // What the last edge did, oldest instruction first.
  function automatic void record_departures();
    if (last.reg_write) uscope_slot_set(trace, st_regs, 16'(last.reg_index), f_reg_value, 64'(last.reg_value));
    if (last.trap) record_trap();
    if (last.stage[StageW].valid && !last.stage[StageW].kill) record_retirement();
    if (last.flush) record_flush();
    if (last.stores.pop) record_drain();
    if (last.stores.push) record_store();
  endfunction

  function automatic void record_trap();
    uscope_event4(trace, ev_trap, 64'(last_id[StageW]), 64'({last.trap_exc.irq, 27'd0, last.trap_exc.cause}),
                  64'(last.trap_exc.tval), 64'(last.trap_target));
    count(last.trap_exc.irq ? CNT_INTERRUPTS : CNT_EXCEPTIONS);
  endfunction

  function automatic void record_flush();
    for (int s = NumStages - 1; s >= 0; s--) begin
      if (last.stage[s].kill) record_squash(last_id[s], flush_label[last.flush_reason]);
    end
    count(CNT_FLUSHES);
    if (last.flush_reason == FLUSH_MISPREDICT) count(CNT_MISPREDICTS);
  endfunction

  // A store enters the buffer as it leaves the memory stage, and stays there after its instruction has retired.
  function automatic void record_store();
    id_t slot;
    slot = 16'(last.stores.tail);
    uscope_slot_set(trace, st_stores, slot, f_store_entity, 64'(last_id[StageM]));
    uscope_slot_set(trace, st_stores, slot, f_store_addr, 64'(last.stores.pushed.addr));
    uscope_slot_set(trace, st_stores, slot, f_store_data, 64'(last.stores.pushed.data));
    uscope_slot_set(trace, st_stores, slot, f_store_strobe, 64'(last.stores.pushed.strobe));
    uscope_prop_set(trace, st_stores, p_store_tail, 64'(next_store(last.stores.tail)));
  endfunction

  function automatic void record_drain();
    uscope_slot_clear(trace, st_stores, 16'(last.stores.head));
    uscope_prop_set(trace, st_stores, p_store_head, 64'(next_store(last.stores.head)));
  endfunction

  function automatic logic [7:0] next_store(input logic [7:0] slot);
    return slot == 8'(StoreDepth - 1) ? 8'd0 : slot + 8'd1;
  endfunction

  function automatic void record_retirement();
    uscope_slot_clear(trace, st_entities, 16'(last_id[StageW]));
    count(CNT_COMMITTED);
    if (last.retired_kind.branch) count(CNT_BRANCHES);
    if (last.retired_kind.branch && last.retired_kind.taken) count(CNT_BRANCHES_TAKEN);
    if (last.retired_kind.jump) count(CNT_JUMPS);
    if (last.retired_kind.load) count(CNT_LOADS);
    if (last.retired_kind.store) count(CNT_STORES);
    if (last.retired_kind.forwarded) count(CNT_LOADS_FORWARDED);
    if (last.retired_kind.muldiv) count(CNT_MULDIVS);
  endfunction

  function automatic void record_squash(input entity_t entity, input longint unsigned reason);
    uscope_event2(trace, ev_flush, 64'(entity), reason);
    uscope_slot_clear(trace, st_entities, 16'(entity));
    count(CNT_SQUASHED);
  endfunction

  function automatic void record_birth();
    uscope_slot_set(trace, st_entities, 16'(id[StageF]), f_entity_id, 64'(id[StageF]));
    uscope_slot_set(trace, st_entities, 16'(id[StageF]), f_pc, 64'(probe_i.fetch_pc));
    uscope_slot_set(trace, st_entities, 16'(id[StageF]), f_inst_bits, 64'(probe_i.fetch_inst));
    uscope_event2(trace, ev_annotate, 64'(id[StageF]), 64'(text_of(probe_i.fetch_pc, probe_i.fetch_inst)));
    count(CNT_FETCHED);
  endfunction

  // Stages entered, and with them the pipeline registers in front of decode to writeback.
  function automatic void record_stages();
    for (int s = NumStages - 1; s >= 0; s--) begin
      if (arrives[s]) begin
        uscope_event2(trace, ev_stage, 64'(id[s]), stage_label[s]);
        if (s != StageF) uscope_slot_set(trace, st_pipeline, 16'(s - 1), f_pipeline_entity, 64'(id[s]));
      end else if (s != StageF && last.stage[s].valid && !probe_i.stage[s].valid) begin
        uscope_slot_clear(trace, st_pipeline, 16'(s - 1));
      end
    end
  endfunction

  function automatic entity_t producer(input fwd_e from);
    return from == FWD_MEMORY ? id[StageM] : id[StageW];
  endfunction

  function automatic void record_dependency(input entity_t src, input entity_t dst);
    uscope_event3(trace, ev_dependency, 64'(src), 64'(dst), dep_raw);
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
