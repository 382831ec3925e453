// Records what the out-of-order core does. It sees the core through its probe only, except at checkpoints, where it takes
// what the structures hold from the core itself, so that `uscope verify` compares that with what was recorded.
//
// A frame describes one clock cycle, as rtl/tracer.sv explains: the edge that begins a cycle records what it does (retire,
// squash, enter a queue) in the frame of that cycle, the edge that ends it adds what the cycle has been.
//
// One process owns begin, operations and end of each cycle. Names come from o3_trace_pkg, generated from o3.yaml.
module o3_tracer
  import rv_pkg::*;
  import o3_pkg::*;
  import rv_disasm_pkg::*;
  import uscope_pkg::*;
  import o3_trace_pkg::*;
#(
    parameter logic [31:0] CodeBase      = 32'h8000_0000,
    parameter int unsigned CodeWords     = 16384,
    parameter int unsigned BufferEntries = 8,
    parameter int unsigned RobEntries    = 48,
    parameter int unsigned PhysRegs      = 80,
    parameter int unsigned IntEntries    = 16,
    parameter int unsigned MuldivEntries = 4,
    parameter int unsigned MemEntries    = 12,
    parameter int unsigned LoadEntries   = 16,
    parameter int unsigned StoreEntries  = 16,
    parameter int unsigned Mshrs         = 4,
    parameter int unsigned LineBytes     = 32
) (
    input logic         clk_i,
    input logic         rst_i,
    o3_probe_if.observer probe_i
);
  initial begin
    if (SLOTS_FETCH_BUFFER != BufferEntries || SLOTS_ROB != RobEntries || SLOTS_INT_QUEUE != IntEntries
        || SLOTS_MULDIV_QUEUE != MuldivEntries || SLOTS_MEM_QUEUE != MemEntries || SLOTS_LOAD_QUEUE != LoadEntries
        || SLOTS_STORE_QUEUE != StoreEntries || SLOTS_MSHRS != Mshrs) begin
      $fatal(1, "the slots of buffers in o3.yaml are not those of the core");
    end
    // Labels are in the order of the core's enumerations.
    if (FLUSH_REASON_MEMORY_ORDER != flush_reason_e'(8'(SQUASH_MEMORY_ORDER))
        || STALL_REASON_FETCH_BUBBLE != stall_reason_e'(8'(O3_FETCH_BUBBLE))
        || COUNT_SLOTS_IDLE != 64'd1 << (O3Slots + 32'(SLOT_IDLE))) begin
      $fatal(1, "the labels and counters in o3.yaml are not in the core's order");
    end
  end
  typedef int unsigned entity_t;
  typedef logic [$clog2(BufferEntries)-1:0] buffer_slot_t;
  typedef logic [$clog2(RobEntries)-1:0]    rob_slot_t;
  typedef logic [$clog2(PhysRegs)-1:0]      preg_slot_t;
  typedef logic [$clog2(LoadEntries)-1:0]   load_slot_t;
  typedef logic [$clog2(StoreEntries)-1:0]  store_slot_t;

  preg_t names [32];  // the map as it was recorded last

  // Counters that grow in the cycle itself. Those that grow by what the edge does are seen in the cycle that follows.
  localparam longint unsigned CycleCounts = COUNT_CYCLES | COUNT_FETCHED_INSNS | COUNT_ICACHE_MISSES | COUNT_DCACHE_ACCESSES
      | COUNT_DCACHE_MISSES | COUNT_REPLAYS | COUNT_LOAD_RETRIES | ((64'd1 << O3Slots) - COUNT_STALLS_ROB_FULL)
      | COUNT_SLOTS_FRONTEND | COUNT_SLOTS_BACKEND_MEMORY | COUNT_SLOTS_BACKEND_CORE | COUNT_SLOTS_IDLE;

  // ---- open and close
  chandle trace;
  bit     tracing;
  function automatic chandle open_trace();
    /* verilator no_inline_task */
    string trace_name, schema_path;
    if ($test$plusargs("notrace")) return null;
    if (!$value$plusargs("trace=%s", trace_name)) trace_name = "core0";
    if (!$value$plusargs("schema=%s", schema_path)) schema_path = "";
    return o3_open(trace_name, 0, schema_path);
  endfunction
  initial begin
    trace   = open_trace();
    tracing = trace != null;
  end
  final if (tracing) uscope_close(trace);

  // ---- one process, whose blocking assignments nobody races with
  /* verilator lint_off BLKSEQ */
  longint unsigned now;     // ps, when the cycle began
  bit              framed;  // the frame of the cycle is open

  always @(posedge clk_i) begin
    if (rst_i) begin
      framed = 1'b0;
      now    = 64'd0;
    end else if (tracing) begin
      if (!framed && probe_i.running) begin_first();
      if (framed) record(trace);
    end
  end

  function automatic void begin_first();
    uscope_begin_cycle(trace, now);
    framed = 1'b1;
    for (int i = 0; i < 32; i++) if (i != 0) map_set_preg(trace, 16'(i), 8'(i));
    free_registers_set(trace, 8'(PhysRegs - 32));
    for (int i = 0; i < 32; i++) names[i] = preg_t'(i);
  endfunction

  function automatic void record(input chandle w);
    record_cycle(w);
    now = now + 64'(PERIOD_PS_CORE_CLK);
    // The cycle after the core has stopped still shows what its last edge did.
    if (probe_i.running) begin
      if (uscope_next_cycle(w, now) != 0) begin
        record_structures(w);
        uscope_begin_cycle(w, now);
      end
      record_edge(w);
    end else begin
      uscope_end_cycle(w);
      framed = 1'b0;
    end
  endfunction

  // ---- who is where
  entity_t next_entity;
  entity_t in_buffer [BufferEntries];
  entity_t in_rob [RobEntries];
  entity_t in_store [StoreEntries];  // of instructions that may have retired
  function automatic entity_t entity_of(input rob_t index);
    return in_rob[rob_slot_t'(index)];
  endfunction

  // ---- what the cycle was
  function automatic void record_cycle(input chandle w);
    for (int unsigned i = 0; i < Width; i++) if (32'(probe_i.fetched) > i) record_birth(w, i);
    if (probe_i.stalled) ev_stall(w, stall_reason_e'(8'(probe_i.stall_reason)));
    for (int unsigned i = 0; i < 5; i++) if (probe_i.woken[i] != '0) record_wakeup(w, probe_i.woken[i]);
    if (probe_i.cancelled != '0) record_cancel(w);
    if (probe_i.load_retry) ev_load_retry(w, entity_of(probe_i.load_tried_rob));
    count_steps(w, CycleCounts);
  endfunction

  function automatic void record_birth(input chandle w, input int unsigned i);
    fetched_t f;
    entity_t  id;
    f           = probe_i.fetched_insn[i];
    id          = next_entity;
    next_entity = next_entity == SLOTS_ENTITIES - 1 ? 0 : next_entity + 1;
    in_buffer[buffer_slot_t'(probe_i.buffer_tail + 8'(i))] = id;
    entities_put(w, 16'(id), id, 64'(f.pc), f.inst);
    ev_annotate(w, id, text_of(f.pc, f.inst));
    ev_stage_transition(w, id, PIPELINE_STAGE_FETCH);
  endfunction

  // ---- wakeups: from the instruction that makes a value to those that wait for it in an issue queue
  entity_t producer [PhysRegs];
  logic [IntEntries-1:0][1:0]    int_told;  // that an operand comes
  logic [MuldivEntries-1:0][1:0] muldiv_told;
  logic [MemEntries-1:0][1:0]    mem_told;

  function automatic void record_wakeup(input chandle w, input preg_t preg);
    entity_t from;
    from = producer[preg_slot_t'(preg)];
    for (int unsigned e = 0; e < IntEntries; e++)
      if (probe_i.int_valid[e]) int_told[e] = int_told[e] | wakes(w, preg, from, probe_i.int_entry[e], int_told[e]);
    for (int unsigned e = 0; e < MuldivEntries; e++)
      if (probe_i.muldiv_valid[e]) muldiv_told[e] = muldiv_told[e] | wakes(w, preg, from, probe_i.muldiv_entry[e], muldiv_told[e]);
    for (int unsigned e = 0; e < MemEntries; e++)
      if (probe_i.mem_valid[e]) mem_told[e] = mem_told[e] | wakes(w, preg, from, probe_i.mem_entry[e], mem_told[e]);
  endfunction

  // Which operands it is. One dependency for each, also if a load comes a second time.
  function automatic logic [1:0] wakes(input chandle w, input preg_t preg, input entity_t from, input uop_t uop,
                                       input logic [1:0] told);
    logic [1:0] which;
    which = {uop.ctrl.src.uses_rs2 && uop.ps2 == preg, uop.ctrl.src.uses_rs1 && uop.ps1 == preg};
    if ((which & ~told) != '0) ev_dependency(w, from, entity_of(uop.rob), DEP_TYPE_RAW);
    return which;
  endfunction

  function automatic void record_cancel(input chandle w);
    for (int unsigned e = 0; e < IntEntries; e++)
      if (probe_i.int_replays[e]) ev_replay(w, entity_of(probe_i.int_entry[e].rob));
    for (int unsigned e = 0; e < MuldivEntries; e++)
      if (probe_i.muldiv_replays[e]) ev_replay(w, entity_of(probe_i.muldiv_entry[e].rob));
    for (int unsigned e = 0; e < MemEntries; e++)
      if (probe_i.mem_replays[e]) ev_replay(w, entity_of(probe_i.mem_entry[e].rob));
  endfunction

  // ---- what the edge does at the end of the cycle
  function automatic void record_edge(input chandle w);
    for (int unsigned i = 0; i < NumCompletions; i++) begin
      if (probe_i.completion[i].valid && survives(probe_i.completion[i].rob)) record_completion(w, probe_i.completion[i].rob);
    end
    if (probe_i.address_valid) record_address(w);
    record_issue(w);
    for (int unsigned i = 0; i < Width; i++) if (probe_i.commit[i]) record_commit(w, i);
    if (probe_i.store_leaves) record_store_leaves(w);
    if (probe_i.flush) record_flush(w);
    for (int unsigned i = 0; i < Width; i++) if (probe_i.dispatch[i]) record_dispatch(w, i);
    if (!probe_i.flush) for (int unsigned i = 0; i < Width; i++) if (32'(probe_i.fetched) > i) record_decode(w, i);
    record_pointers(w);
    record_misses(w);
    count_steps(w, ~CycleCounts);
  endfunction

  // Is not squashed at this edge.
  function automatic bit survives(input rob_t index);
    return !probe_i.kill.valid || (!probe_i.kill.all && age(index) <= age(probe_i.kill.rob));
  endfunction
  function automatic rob_t age(input rob_t index);
    return age_of(index, probe_i.rob_head, RobEntries);
  endfunction

  function automatic void record_completion(input chandle w, input rob_t index);
    rob_set_completed(w, 16'(index), 1'b1);
    ev_stage_transition(w, entity_of(index), PIPELINE_STAGE_COMPLETE);
    if (probe_i.completion[4].valid && probe_i.completion[4].rob == index)
      load_queue_set_done(w, load_slot(index), 1'b1);
  endfunction

  // The place in the load queue of the instruction at this place of the reorder buffer.
  logic [RobEntries-1:0][7:0] load_slots;
  function automatic shortint unsigned load_slot(input rob_t index);
    return 16'(load_slots[rob_slot_t'(index)]);
  endfunction

  function automatic void record_address(input chandle w);
    uop_t uop;
    uop = probe_i.address_uop;
    if (!survives(uop.rob) || (probe_i.completion[3].valid && probe_i.completion[3].exc.valid)) return;
    if (uop.ctrl.load) begin
      load_queue_set_addr(w, 16'(load_slot_t'(uop.load)), 64'(probe_i.address));
      ev_stage_transition(w, entity_of(uop.rob), PIPELINE_STAGE_MEMORY);
    end else begin
      store_queue_set_addr(w, 16'(store_slot_t'(uop.store)), 64'(probe_i.address_store.addr));
      store_queue_set_data(w, 16'(store_slot_t'(uop.store)), probe_i.address_store.data);
      store_queue_set_strobe(w, 16'(store_slot_t'(uop.store)), 8'(probe_i.address_store.strobe));
    end
  endfunction

  function automatic void record_issue(input chandle w);
    for (int unsigned e = 0; e < IntEntries; e++) begin
      if (probe_i.int_leaves[e]) ev_stage_transition(w, entity_of(probe_i.int_entry[e].rob), PIPELINE_STAGE_EXECUTE);
      if (probe_i.int_valid[e] && (probe_i.int_leaves[e] || !survives(probe_i.int_entry[e].rob))) int_queue_clear(w, 16'(e));
    end
    for (int unsigned e = 0; e < MuldivEntries; e++) begin
      if (probe_i.muldiv_leaves[e]) ev_stage_transition(w, entity_of(probe_i.muldiv_entry[e].rob), PIPELINE_STAGE_EXECUTE);
      if (probe_i.muldiv_valid[e] && (probe_i.muldiv_leaves[e] || !survives(probe_i.muldiv_entry[e].rob)))
        muldiv_queue_clear(w, 16'(e));
    end
    for (int unsigned e = 0; e < MemEntries; e++) begin
      if (probe_i.mem_leaves[e]) ev_stage_transition(w, entity_of(probe_i.mem_entry[e].rob), PIPELINE_STAGE_EXECUTE);
      if (probe_i.mem_valid[e] && (probe_i.mem_leaves[e] || !survives(probe_i.mem_entry[e].rob))) mem_queue_clear(w, 16'(e));
    end
  endfunction

  // ---- commit and squash
  function automatic void record_commit(input chandle w, input int unsigned i);
    rob_t       index;
    rob_entry_t c;
    index = rob_after(probe_i.rob_head, rob_t'(i), RobEntries);
    c     = probe_i.committed[i];
    if (c.rd_write) regs_set_value(w, 16'(c.rd), probe_i.committed_value[i]);
    if (c.kind.load) load_queue_clear(w, load_slot(index));
    if (c.kind.store) begin
      store_queue_set_committed(w, 16'(store_slot_t'(probe_i.store_committed + seq_t'(i == 1 && probe_i.committed[0].kind.store))), 1'b1);
    end
    rob_clear(w, 16'(index));
    entities_clear(w, 16'(entity_of(index)));
  endfunction

  function automatic void record_store_leaves(input chandle w);
    store_queue_clear(w, 16'(store_slot_t'(probe_i.store_head)));
  endfunction

  function automatic void record_flush(input chandle w);
    int unsigned committed, kept, buffered;
    rob_t        index;
    if (probe_i.trap) begin
      ev_trap(w, entity_of(probe_i.rob_head), 64'({probe_i.trap_exc.irq, 27'd0, probe_i.trap_exc.cause}),
              64'(probe_i.trap_exc.tval), 64'(probe_i.trap_target));
    end
    buffered = 32'(probe_i.buffer_count);
    for (int unsigned i = buffered; i > 0; i--) begin
      squash(w, in_buffer[buffer_slot_t'(probe_i.buffer_head + 8'(i - 1))]);
      fetch_buffer_clear(w, 16'(buffer_slot_t'(probe_i.buffer_head + 8'(i - 1))));
    end
    committed = 32'($countones(probe_i.commit));
    kept      = probe_i.kill.all ? committed : 32'(age(probe_i.kill.rob)) + 1;
    for (int unsigned i = 32'(probe_i.rob_count); i > kept; i--) begin
      index = rob_after(probe_i.rob_head, rob_t'(i - 1), RobEntries);
      squash(w, entity_of(index));
      rob_clear(w, 16'(index));
    end
    squash_queues(w);
    restore_map(w);
  endfunction

  function automatic void squash(input chandle w, input entity_t id);
    ev_flush(w, id, flush_reason_e'(8'(probe_i.flush_reason)));
    entities_clear(w, 16'(id));
  endfunction

  // The load and the store queue have their own tails: those of the probe are the core's next numbers.
  seq_t load_tail, store_tail;
  function automatic void squash_queues(input chandle w);
    seq_t loads_kept, stores_kept;
    loads_kept  = probe_i.kill.all ? load_head_after() : probe_i.kill_load;
    stores_kept = probe_i.kill.all ? store_committed_after() : probe_i.kill_store;
    while (load_tail != loads_kept) begin
      load_tail = load_tail - 8'd1;
      load_queue_clear(w, 16'(load_slot_t'(load_tail)));
    end
    while (store_tail != stores_kept) begin
      store_tail = store_tail - 8'd1;
      store_queue_clear(w, 16'(store_slot_t'(store_tail)));
    end
  endfunction
  function automatic seq_t load_head_after();
    return probe_i.load_head + seq_t'(probe_i.commit[0] && probe_i.committed[0].kind.load)
        + seq_t'(probe_i.commit[1] && probe_i.committed[1].kind.load);
  endfunction
  function automatic seq_t store_committed_after();
    return probe_i.store_committed + seq_t'(probe_i.commit[0] && probe_i.committed[0].kind.store)
        + seq_t'(probe_i.commit[1] && probe_i.committed[1].kind.store);
  endfunction

  // ---- dispatch
  function automatic void record_dispatch(input chandle w, input int unsigned i);
    uop_t       uop;
    rob_entry_t entry;
    entity_t    id;
    uop   = probe_i.uop[i];
    entry = probe_i.dispatched[i];
    id    = in_buffer[buffer_slot_t'(probe_i.buffer_head + 8'(i))];
    fetch_buffer_clear(w, 16'(buffer_slot_t'(probe_i.buffer_head + 8'(i))));
    in_rob[rob_slot_t'(uop.rob)] = id;
    rob_put(w, 16'(uop.rob), id, probe_i.target_queue[i] == QUEUE_NONE);
    ev_stage_transition(w, id, probe_i.target_queue[i] == QUEUE_NONE ? PIPELINE_STAGE_COMPLETE : PIPELINE_STAGE_ISSUE);
    if (entry.rd_write) begin
      producer[preg_slot_t'(uop.pd)] = id;
      names[entry.rd] = uop.pd;
      map_set_preg(w, 16'(entry.rd), 8'(uop.pd));
    end
    enqueue(w, i, uop, id);
    if (probe_i.target_queue[i] == QUEUE_MEM) enter_memory_queue(w, uop, id);
  endfunction

  function automatic void enqueue(input chandle w, input int unsigned i, input uop_t uop, input entity_t id);
    byte unsigned ps1, ps2, pd;
    {ps1, ps2, pd} = registers_of(uop);
    case (probe_i.target_queue[i])
      QUEUE_INT: begin
        int_queue_put(w, 16'(probe_i.int_slot[i]), id, ps1, ps2, pd);
        int_told[probe_i.int_slot[i]] = '0;
      end
      QUEUE_MULDIV: begin
        muldiv_queue_put(w, 16'(probe_i.muldiv_slot[i]), id, ps1, ps2, pd);
        muldiv_told[probe_i.muldiv_slot[i]] = '0;
      end
      QUEUE_MEM: begin
        mem_queue_put(w, 16'(probe_i.mem_slot[i]), id, ps1, ps2, pd);
        mem_told[probe_i.mem_slot[i]] = '0;
      end
      default: ;
    endcase
  endfunction

  function automatic logic [23:0] registers_of(input uop_t uop);
    return {uop.ctrl.src.uses_rs1 ? 8'(uop.ps1) : 8'd0, uop.ctrl.src.uses_rs2 ? 8'(uop.ps2) : 8'd0,
            uop.ctrl.rd_write ? 8'(uop.pd) : 8'd0};
  endfunction

  function automatic void enter_memory_queue(input chandle w, input uop_t uop, input entity_t id);
    if (uop.ctrl.load) begin
      load_queue_put(w, 16'(load_slot_t'(uop.load)), id, 64'd0, 1'b0);
      load_slots[rob_slot_t'(uop.rob)] = 8'(load_slot_t'(uop.load));
      load_tail = uop.load + 8'd1;
    end else begin
      store_queue_put(w, 16'(store_slot_t'(uop.store)), id, 64'd0, 32'd0, 8'd0, 1'b0);
      in_store[store_slot_t'(uop.store)] = id;
      store_tail = uop.store + 8'd1;
    end
  endfunction

  function automatic void record_decode(input chandle w, input int unsigned i);
    buffer_slot_t slot;
    slot = buffer_slot_t'(probe_i.buffer_tail + 8'(i));
    fetch_buffer_put(w, 16'(slot), in_buffer[slot]);
    ev_stage_transition(w, in_buffer[slot], PIPELINE_STAGE_DECODE);
  endfunction

  // ---- the map: what a squash restores is what differs from before
  function automatic void restore_map(input chandle w);
    preg_t after;
    for (int unsigned r = 1; r < 32; r++) begin
      after = u_core.u_rename.restored.names[r];
      if (probe_i.kill.all) after = u_core.u_rename.map_committed[r];
      if (after != names[r]) begin
        names[r] = after;
        map_set_preg(w, 16'(r), 8'(after));
      end
    end
  endfunction

  // ---- pointers of queues and the length of the free list, where they change
  byte unsigned pointers [8];
  byte unsigned free_registers;
  function automatic bit moves(input int unsigned which, input byte unsigned value);
    bit moved;
    moved = pointers[which] != value;
    pointers[which] = value;
    return moved;
  endfunction

  function automatic void record_pointers(input chandle w);
    byte unsigned buffer_head, buffer_tail, rob_head, rob_tail, load_head, load_next, store_head, store_next;
    buffer_head = probe_i.flush ? 8'd0 : 8'(buffer_slot_t'(probe_i.buffer_head + 8'($countones(probe_i.dispatch))));
    buffer_tail = probe_i.flush ? 8'd0 : 8'(buffer_slot_t'(probe_i.buffer_tail + 8'(probe_i.fetched)));
    rob_head    = 8'(rob_after(probe_i.rob_head, rob_t'($countones(probe_i.commit)), RobEntries));
    rob_tail    = 8'(rob_after(probe_i.rob_tail, rob_t'($countones(probe_i.dispatch)), RobEntries));
    if (probe_i.flush) rob_tail = probe_i.kill.all ? rob_head : 8'(rob_after(probe_i.kill.rob, rob_t'(1), RobEntries));
    load_head   = 8'(load_slot_t'(load_head_after()));
    load_next   = 8'(load_slot_t'(load_tail));
    store_head  = 8'(store_slot_t'(probe_i.store_head + 8'(probe_i.store_leaves)));
    store_next  = 8'(store_slot_t'(store_tail));
    if (moves(0, buffer_head)) fetch_buffer_prop_head(w, buffer_head);
    if (moves(1, buffer_tail)) fetch_buffer_prop_tail(w, buffer_tail);
    if (moves(2, rob_head)) rob_prop_head(w, rob_head);
    if (moves(3, rob_tail)) rob_prop_tail(w, rob_tail);
    if (moves(4, load_head)) load_queue_prop_head(w, load_head);
    if (moves(5, load_next)) load_queue_prop_tail(w, load_next);
    if (moves(6, store_head)) store_queue_prop_head(w, store_head);
    if (moves(7, store_next)) store_queue_prop_tail(w, store_next);
    if (8'(probe_i.free_registers_next) != free_registers) begin
      free_registers = 8'(probe_i.free_registers_next);
      free_registers_set(w, free_registers);
    end
  endfunction

  function automatic void record_misses(input chandle w);
    for (int unsigned m = 0; m < Mshrs; m++) begin
      if (probe_i.mshr_freed[m]) mshrs_clear(w, 16'(m));
      if (probe_i.mshr_taken[m]) mshrs_put(w, 16'(m), 64'(probe_i.mshr_addr[m]));
    end
  endfunction

  // ---- counters: the core says by how much its own grow, and they are in the same order
  function automatic void count_steps(input chandle w, input longint unsigned which);
    longint unsigned ones, twos;
    ones = '0;
    twos = '0;
    for (int unsigned i = 0; i < NumO3Counters; i++) begin
      if (which[i] && probe_i.steps[i] == 6'd1) ones[i] = 1'b1;
      else if (which[i] && probe_i.steps[i] == 6'd2) twos[i] = 1'b1;
      else if (which[i] && probe_i.steps[i] != '0) uscope_slot_add(w, ST_CYCLES + 16'(i), 16'd0, 16'd0, 64'(probe_i.steps[i]));
    end
    if ((ones | twos) != '0) count(w, ones | twos);
    if (twos != '0) count(w, twos);
  endfunction

  // ---- checkpoints: what the core's structures hold at the end of the frame before
  function automatic void record_structures(input chandle w);
    regs_snapshot_begin(w);
    for (int i = 0; i < 32; i++)
      regs_snapshot_slot(w, 16'(i), u_core.registers[preg_slot_t'(u_core.u_rename.committed_map[i])]);
    regs_snapshot_end(w);
    map_snapshot_begin(w);
    for (int i = 0; i < 32; i++) map_snapshot_slot(w, 16'(i), 8'(u_core.u_rename.names[i]));
    map_snapshot_end(w);
    free_registers_snapshot(w, 8'(probe_i.free_registers));
    snapshot_rob(w);
    snapshot_issue_queues(w);
    snapshot_memory(w);
  endfunction

  function automatic void snapshot_rob(input chandle w);
    rob_t at;
    rob_snapshot_begin(w);
    for (int unsigned i = 0; i < 32'(u_core.u_rob.count); i++) begin
      at = rob_after(u_core.u_rob.head, rob_t'(i), RobEntries);
      rob_snapshot_slot(w, 16'(at), entity_of(at), u_core.u_rob.done[rob_slot_t'(at)]);
    end
    rob_snapshot_end(w);
  endfunction

  function automatic void snapshot_issue_queues(input chandle w);
    byte unsigned ps1, ps2, pd;
    int_queue_snapshot_begin(w);
    for (int unsigned e = 0; e < IntEntries; e++) begin
      {ps1, ps2, pd} = registers_of(probe_i.int_entry[e]);
      if (probe_i.int_valid[e]) int_queue_snapshot_slot(w, 16'(e), entity_of(probe_i.int_entry[e].rob), ps1, ps2, pd);
    end
    int_queue_snapshot_end(w);
    muldiv_queue_snapshot_begin(w);
    for (int unsigned e = 0; e < MuldivEntries; e++) begin
      {ps1, ps2, pd} = registers_of(probe_i.muldiv_entry[e]);
      if (probe_i.muldiv_valid[e]) muldiv_queue_snapshot_slot(w, 16'(e), entity_of(probe_i.muldiv_entry[e].rob), ps1, ps2, pd);
    end
    muldiv_queue_snapshot_end(w);
    mem_queue_snapshot_begin(w);
    for (int unsigned e = 0; e < MemEntries; e++) begin
      {ps1, ps2, pd} = registers_of(probe_i.mem_entry[e]);
      if (probe_i.mem_valid[e]) mem_queue_snapshot_slot(w, 16'(e), entity_of(probe_i.mem_entry[e].rob), ps1, ps2, pd);
    end
    mem_queue_snapshot_end(w);
  endfunction

  function automatic void snapshot_memory(input chandle w);
    load_slot_t  l;
    store_slot_t s;
    seq_t        n;
    bit          ready;
    load_queue_snapshot_begin(w);
    for (int unsigned i = 0; i < 32'(seq_t'(u_core.u_lsu.load_tail - u_core.u_lsu.load_head)); i++) begin
      l = load_slot_t'(u_core.u_lsu.load_head + seq_t'(i));
      load_queue_snapshot_slot(w, 16'(l), entity_of(u_core.u_lsu.loads[l].rob), 64'(u_core.u_lsu.loads[l].addr),
                               u_core.u_lsu.state[l] == LOAD_DONE);
    end
    load_queue_snapshot_end(w);
    store_queue_snapshot_begin(w);
    for (int unsigned i = 0; i < 32'(seq_t'(u_core.u_lsu.store_tail - u_core.u_lsu.store_head)); i++) begin
      n     = u_core.u_lsu.store_head + seq_t'(i);
      s     = store_slot_t'(n);
      ready = u_core.u_lsu.store_ready[s];
      store_queue_snapshot_slot(w, 16'(s), in_store[s], ready ? 64'(u_core.u_lsu.stores[s].addr) : 64'd0,
                                ready ? u_core.u_lsu.stores[s].data : 32'd0, ready ? 8'(u_core.u_lsu.stores[s].strobe) : 8'd0,
                                is_before(n, u_core.u_lsu.store_committed));
    end
    store_queue_snapshot_end(w);
    mshrs_snapshot_begin(w);
    for (int unsigned m = 0; m < Mshrs; m++) begin
      if (u_core.u_lsu.u_dcache.busy[m]) mshrs_snapshot_slot(w, 16'(m), 64'(u_core.u_lsu.u_dcache.wanted[m]) * 64'(LineBytes));
    end
    mshrs_snapshot_end(w);
  endfunction

  // ---- annotations: each text is formatted once, as in rtl/tracer.sv
  localparam int unsigned TextBits = $clog2(CodeWords);
  typedef struct packed {
    logic [31:0] inst;
    logic [31:0] number;  // the text's index; USCOPE_NO_STRING: not formatted yet
  } text_t;
  text_t texts [CodeWords];
  initial for (int unsigned i = 0; i < CodeWords; i++) texts[i] = '{inst: 32'd0, number: USCOPE_NO_STRING};

  function automatic int unsigned make_text(input logic [31:0] pc, input logic [31:0] inst);
    /* verilator no_inline_task */
    return uscope_string(trace, $sformatf("%08x: %s", pc, disassemble(pc, inst)));
  endfunction

  function automatic int unsigned text_of(input logic [31:0] pc, input logic [31:0] inst);
    logic [31:0] word;
    text_t       text;
    word = (pc - CodeBase) >> 2;
    if (word >= CodeWords) return make_text(pc, inst);
    text = texts[word[TextBits-1:0]];
    if (text.number == USCOPE_NO_STRING || text.inst != inst) begin
      text = '{inst: inst, number: make_text(pc, inst)};
      texts[word[TextBits-1:0]] = text;
    end
    return text.number;
  endfunction
  /* verilator lint_on BLKSEQ */
endmodule
