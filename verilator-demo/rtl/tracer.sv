// Records what the core does. It sees the core through its probe only, and which entity is in which stage the client
// works out, so that the core knows nothing of tracing.
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
  import uscope_cpu_pkg::*;
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
  typedef logic [NumStages-1:0] stages_t;
  initial begin
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
  chandle pipeline;
  // Null with +notrace, and where the user chose to continue untraced (USCOPE_ON_FAILURE=continue).
  function automatic chandle open_trace(input logic [31:0] hart_id);
    /* verilator no_inline_task */
    string trace_name, schema_path;
    if ($test$plusargs("notrace")) return null;
    if (!$value$plusargs("trace=%s", trace_name)) trace_name = $sformatf("core%0d", hart_id);
    if (!$value$plusargs("schema=%s", schema_path)) schema_path = "";
    return core_open(trace_name, hart_id, schema_path);
  endfunction

  final begin
    if (tracing) begin
      uscope_pipeline_free(pipeline);
      uscope_close(trace);
    end
  end

  // ---- one process, whose blocking assignments nobody races with
  /* verilator lint_off BLKSEQ */

  longint unsigned now;     // ps, when the cycle began
  bit              framed;  // the frame of the cycle is open
  counts_t         edge_counts;  // of the edge that began the cycle
  function automatic chandle open_pipeline();
    /* verilator no_inline_task */
    return uscope_pipeline_new(trace, $sformatf("core%0d", hart_id_i), "pipeline_regs", NumStages);
  endfunction

  always @(posedge clk_i) begin
    if (rst_i) begin
      if (enable_i && !opened) begin
        trace   = open_trace(hart_id_i);
        tracing = trace != null;
      end
      opened = enable_i;
      if (framed) uscope_end_cycle(trace);
      if (tracing && (framed || pipeline == null)) begin
        uscope_pipeline_free(pipeline);
        pipeline = open_pipeline();
      end
      framed      = 1'b0;
      edge_counts = '0;
      now         = 64'd0;
    end else begin
      // In steps, because most cycles end at the first.
      if (!framed) begin
        if (tracing && probe_i.running) begin_cycle();
      end
      if (framed) record(trace);
    end
  end

  // ---- what is recorded

  function automatic void begin_cycle();
    if (uscope_checkpoint_due(trace, now) != 0) record_registers();
    uscope_begin_cycle(trace, now);
    framed = 1'b1;
  endfunction

  // At checkpoints the register file is taken from the core as it is, not put together from what was recorded: a
  // reader who replays the trace up to there and finds something else has found what the tracer missed. The edge has not
  // changed it yet, so these are the values at the end of the frame before.
  function automatic void record_registers();
    /* verilator no_inline_task */
    regs_snapshot_begin(trace);
    for (int i = 0; i < 32; i++) regs_snapshot_slot(trace, 16'(i), u_core.u_regfile.registers[i]);
    regs_snapshot_end(trace);
  endfunction

  function automatic void next_cycle(input chandle w);
    if (uscope_next_cycle(w, now) != 0) begin
      record_registers();
      uscope_begin_cycle(w, now);
    end
  endfunction

  function automatic void record(input chandle w);
    record_cycle(w);
    now = now + 64'(PERIOD_PS_CORE_CLK);
    // The cycle after the core has stopped still shows what its last edge did.
    if (probe_i.running) begin
      next_cycle(w);
      record_edge(w);
    end else begin
      uscope_end_cycle(w);
      framed = 1'b0;
    end
  endfunction

  // What the cycle was.
  function automatic void record_cycle(input chandle w);
    int unsigned text;
    stages_t arrived;
    text = USCOPE_NO_STRING;
    if (probe_i.stage.valid[StageF]) text = text_of(probe_i.fetch_pc, probe_i.fetch_inst);
    arrived = stages_t'(uscope_pipeline_step(pipeline, 32'(probe_i.stage.valid), 32'(probe_i.stage.hold),
                                             32'(probe_i.stage.kill), 32'(probe_i.flush_reason),
                                             64'(probe_i.fetch_pc), probe_i.fetch_inst, text));
    if (probe_i.stalled) ev_stall(w, stall_reason_e'(8'(probe_i.stall_reason)));
    if (arrived[StageE]) record_forwarding();
    if (probe_i.reg_write) record_read_through();
    record_counters(w, arrived[StageF]);
  endfunction

  // What the edge does at its end. What becomes of the instructions, the pipeline says with the next cycle.
  function automatic void record_edge(input chandle w);
    if (probe_i.reg_write) regs_set_value(w, 16'(probe_i.reg_index), probe_i.reg_value);
    if (probe_i.flush) record_flush(w);
    if (probe_i.stores.pop) record_drain(w);
    if (probe_i.stores.push) record_store(w);
  endfunction

  function automatic void record_flush(input chandle w);
    if (probe_i.trap) begin
      record_trap(64'({probe_i.trap_exc.irq, 27'd0, probe_i.trap_exc.cause}), 64'(probe_i.trap_exc.tval),
                  64'(probe_i.trap_target));
    end
    squashed_insns_add(w, 64'($countones(probe_i.stage.kill)));
  endfunction

  function automatic void record_trap(input longint unsigned cause, input longint unsigned tval,
                                      input longint unsigned target);
    /* verilator no_inline_task */
    ev_trap(trace, uscope_pipeline_entity(pipeline, StageW), cause, tval, target);
  endfunction

  // A store enters the buffer as it leaves the memory stage, and stays there after its instruction has retired.
  function automatic void record_store(input chandle w);
    store_buffer_put(w, 16'(probe_i.stores.tail), uscope_pipeline_entity(pipeline, StageM), 64'(probe_i.pushed_addr),
                     probe_i.pushed_data, 8'(probe_i.pushed_strobe));
    store_buffer_prop_tail(w, next_store(probe_i.stores.tail));
  endfunction

  function automatic void record_drain(input chandle w);
    store_buffer_clear(w, 16'(probe_i.stores.head));
    store_buffer_prop_head(w, next_store(probe_i.stores.head));
  endfunction

  function automatic logic [7:0] next_store(input logic [7:0] slot);
    return slot == 8'(StoreDepth - 1) ? 8'd0 : slot + 8'd1;
  endfunction

  // ---- counters, all of a cycle in one call

  // The core says which of its counters grow, and they are in the same order. Those that grow by what the edge does
  // (EdgeCounts) are seen in the cycle that follows.
  localparam counts_t CycleCounts = counts_t'(
      COUNT_CYCLES | COUNT_ICACHE_MISSES | COUNT_DCACHE_ACCESSES | COUNT_DCACHE_MISSES | COUNT_STALLS_LOAD_USE
      | COUNT_STALLS_MUL_DIV | COUNT_STALLS_ICACHE_MISS | COUNT_STALLS_DCACHE_MISS | COUNT_STALLS_STORE_BUFFER_FULL
      | COUNT_STALLS_STORE_DRAIN | COUNT_STALLS_SERIALIZE | COUNT_STALLS_WAIT_FOR_INTERRUPT | COUNT_STALLS_ATOMIC);
  localparam counts_t EdgeCounts = ~(CycleCounts | counts_t'(COUNT_FETCHED_INSNS));
  initial if (COUNT_STALLS_ATOMIC != 64'd1 << (CNT_STALLS + 5'(STALL_ATOMIC))) $fatal(1, "counters are out of order");

  // An instruction is counted as fetched where it is born.
  function automatic void record_counters(input chandle w, input logic fetched);
    counts_t counts, seen;
    counts = probe_i.running ? probe_i.counts : '0;
    seen   = edge_counts | (counts & CycleCounts) | counts_t'(fetched) << CNT_FETCHED;
    count(w, 64'(seen));
    edge_counts = counts & EdgeCounts;
  endfunction

  // Labels are in the order of the core's enumerations.
  initial begin
    if (PIPELINE_STAGE_FETCH != 0 || PIPELINE_STAGE_WRITEBACK != pipeline_stage_e'(8'(StageW))) begin
      $fatal(1, "stages are out of order");
    end
    if (FLUSH_REASON_MISPREDICT != flush_reason_e'(8'(FLUSH_MISPREDICT))
        || FLUSH_REASON_EXCEPTION != flush_reason_e'(8'(FLUSH_EXCEPTION))
        || FLUSH_REASON_INTERRUPT != flush_reason_e'(8'(FLUSH_INTERRUPT))
        || FLUSH_REASON_PIPELINE_CLEAR != flush_reason_e'(8'(FLUSH_CLEAR))) begin
      $fatal(1, "flush reasons are out of order");
    end
    if (STALL_REASON_ATOMIC != stall_reason_e'(8'(STALL_ATOMIC))) $fatal(1, "stall reasons are out of order");
  end

  // A value handed on while its producer is in flight: forwarded into execute, or read in decode while it is written.
  function automatic void record_dependency(input int unsigned producer, input int unsigned consumer);
    uscope_pipeline_dependency(pipeline, producer, consumer, 32'(DEP_TYPE_RAW));
  endfunction

  // Decode reads what writeback writes, unless a younger instruction, not done yet, is to provide the value. In steps,
  // because most cycles end at the first.
  function automatic void record_read_through();
    logic [4:0] rd;
    rd = probe_i.reg_index;
    if ((probe_i.decode_src.uses_rs1 && probe_i.decode_src.rs1 == rd)
        || (probe_i.decode_src.uses_rs2 && probe_i.decode_src.rs2 == rd)) begin
      if (probe_i.stage.valid[StageD] && !probe_i.stage.hold[StageD] && !probe_i.stage.kill[StageD]
          && !(probe_i.execute_dst.write && probe_i.execute_dst.rd == rd)
          && !(probe_i.memory_dst.write && probe_i.memory_dst.rd == rd)) begin
        record_dependency(StageW, StageD);
      end
    end
  endfunction

  function automatic int unsigned stage_of(input fwd_e from);
    return from == FWD_MEMORY ? StageM : StageW;
  endfunction

  function automatic void record_forwarding();
    if (probe_i.fwd_a != FWD_REGFILE) record_dependency(stage_of(probe_i.fwd_a), StageE);
    if (probe_i.fwd_b != FWD_REGFILE && probe_i.fwd_b != probe_i.fwd_a) begin
      record_dependency(stage_of(probe_i.fwd_b), StageE);
    end
  endfunction

  // ---- annotations

  // The text of an instruction does not change as long as its word does not: each is formatted once. Only text_of
  // touches this memory, once a cycle, so there is nobody to race with its blocking assignments.
  localparam int unsigned TextBits = $clog2(CodeWords);
  typedef struct packed {
    logic [31:0] inst;
    logic [31:0] number;  // the text's index; USCOPE_NO_STRING: not formatted yet
  } text_t;
  text_t texts [CodeWords];
  initial for (int unsigned i = 0; i < CodeWords; i++) texts[i] = '{inst: 32'd0, number: USCOPE_NO_STRING};

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
    if (text.number == USCOPE_NO_STRING || text.inst != inst) begin
      text = '{inst: inst, number: make_text(pc, inst)};
      /* verilator lint_off BLKSEQ */
      texts[word[TextBits-1:0]] = text;
      /* verilator lint_on BLKSEQ */
    end
    return text.number;
  endfunction
endmodule
