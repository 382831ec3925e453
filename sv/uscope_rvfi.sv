// SPDX-License-Identifier: Apache-2.0
// Records what a core says through the RISC-V Formal Interface, under the `cpu`
// protocol: bind it to the core, or instantiate it next to it. Schema: uscope_rvfi.yaml. It only reads the core's
// ports.
//
//   bind my_core uscope_rvfi u_uscope_rvfi (.rst(!rst_n), .*);
//
// Compile after uscope_pkg.sv, uscope_cpu_pkg.sv and uscope_rvfi_pkg.sv. docs/tutorials/trace-a-core-you-did-not-write.md says what is
// recorded of what, and what to connect where a core lacks a signal.
// The functions called from one process keep its state, hence the assignments; each uses what it needs of a structure.
/* verilator lint_off BLKSEQ */
/* verilator lint_off UNUSEDSIGNAL */
/* verilator lint_off TIMESCALEMOD */
module uscope_rvfi #(
/* verilator lint_on TIMESCALEMOD */
    parameter int unsigned     NRET      = 1,     // channels, 1 to 16: instructions that may retire in a cycle
    parameter int unsigned     XLEN      = 32,    // 32 or 64
    parameter int unsigned     ILEN      = 32,    // 32; shorter instructions are in the low bits
    parameter int unsigned     CORE      = 0,     // variable `core` of the schema: the scope is core0, core1, ...
    parameter string           TRACE     = "",    // name of the trace; "": that of the scope
    parameter string           SCHEMA    = "",    // schema file; "": USCOPE_SCHEMA, or what `uscope run --schema` says
    parameter string           VARIABLES = "",    // more variables of the schema, "isa=RV32IMC,dut_name=mine"
    parameter string           CLOCK     = "",    // clock of the schema that clk is; "": its first one. Time is cycles * its period
    parameter int unsigned     REORDER   = 64,    // how far rvfi_order may run ahead of an index that is still due, 1 to 1024
    parameter int unsigned     REPORTS   = 16     // events of each violation; counted are all
) (
    input logic                   clk,
    input logic                   rst,  // active high, sampled at clk. What is valid meanwhile is not recorded
    input logic [NRET-1:0]        rvfi_valid,
    input logic [NRET*64-1:0]     rvfi_order,
    input logic [NRET*ILEN-1:0]   rvfi_insn,
    input logic [NRET-1:0]        rvfi_trap,
    input logic [NRET-1:0]        rvfi_halt,
    input logic [NRET-1:0]        rvfi_intr,
    input logic [NRET*2-1:0]      rvfi_mode,
    input logic [NRET*2-1:0]      rvfi_ixl,
    input logic [NRET*5-1:0]      rvfi_rs1_addr,
    input logic [NRET*5-1:0]      rvfi_rs2_addr,
    input logic [NRET*XLEN-1:0]   rvfi_rs1_rdata,
    input logic [NRET*XLEN-1:0]   rvfi_rs2_rdata,
    input logic [NRET*5-1:0]      rvfi_rd_addr,
    input logic [NRET*XLEN-1:0]   rvfi_rd_wdata,
    input logic [NRET*XLEN-1:0]   rvfi_pc_rdata,
    input logic [NRET*XLEN-1:0]   rvfi_pc_wdata,
    input logic [NRET*XLEN-1:0]   rvfi_mem_addr,
    input logic [NRET*XLEN/8-1:0] rvfi_mem_rmask,
    input logic [NRET*XLEN/8-1:0] rvfi_mem_wmask,
    input logic [NRET*XLEN-1:0]   rvfi_mem_rdata,
    input logic [NRET*XLEN-1:0]   rvfi_mem_wdata
);
  import uscope_pkg::*;
  import uscope_cpu_pkg::*;
  import uscope_rvfi_pkg::*;

  localparam bit        IsRv32 = XLEN == 32;
  typedef bit [REORDER-1:0] window_t;
  localparam bit [63:0] Width  = IsRv32 ? 64'h0000_0000_ffff_ffff : '1;

  // For your own tracers next to this one: the trace, and the time of the next rising edge of clk.
  chandle          w;
  longint unsigned now_ps;
  longint unsigned period_ps = 0;

  // Rising edges by the simulator's clock, until two periods are the same.
  bit              period_checked = 0;
  real             edge_us = -1.0, distance_us = -1.0;

  chandle          cpu;
  int unsigned     stage_retire, flush_exception;
  int              st_entities, f_id, f_pc, f_inst_bits, f_order, f_priv_level, f_is_compressed, f_ixl;
  // The first five fields of an entity are those above in this order: one call sets them.
  bit              has_usual_fields;
  int              st_regs;
  int              n_missing;
  int              ev_stage_transition, ev_flush, ev_trap, ev_interrupt, ev_halt, ev_reg_write, ev_mem_read, ev_mem_write, ev_violation;
  int              ev_clock_period;

  // Counters in the order of the schema. Where they follow each other there, one call counts all of a cycle.
  localparam int unsigned Cycles = 0, Committed = 1, Traps = 2, Interrupts = 3, Loads = 4, Stores = 5, Branches = 6, BranchesTaken = 7,
                          Jumps = 8, Violations = 9, Counters = 10;
  // A bit for each of them.
  typedef bit [Counters-1:0] counts_t;
  int              counters [Counters];
  // Bits of counters that one call counts at the end of the cycle, and of those that a call each counts.
  counts_t         lanes = '0, direct;

  // Retired in the cycle before: they end in this one.
  // Slots of `entities` are used in turn, as many as two cycles can fill: what ends in a cycle has others than what retires in it. Few ids come
  // again soon, so that a trace takes half the bytes that it would take with more.
  localparam bit [4:0] LastId = 5'(2 * NRET - 1);
  bit [4:0]        next_id = '0;
  bit [4:0]        held_ids [NRET];
  bit [NRET-1:0]   held_traps;
  int unsigned     held = 0;

  // Order of indices: `due` is the lowest one not yet seen, bit n of `seen` represents due + n.
  bit              any_seen = 0;
  longint unsigned due;
  window_t         seen;
  // The instruction that is recorded. It is not an argument of the functions below: simulators copy a structure at each call.
  retired_t        current;
  bit [4:0]        id;
  // What is needed of the one before, in order of arrival.
  bit              any_previous = 0, halted = 0, previous_trap;
  bit [31:0]       previous_insn;
  bit [63:0]       previous_order, previous_pc, previous_next;
  longint unsigned halt_order;
  // What registers hold, as far as they were written since reset.
  bit [63:0]       regs [32];
  bit [31:0]       known;
  int unsigned     reports [VIOLATIONS];
  // Broken rules that are not yet reported: that is done in one place, since strings are slow.
  localparam int unsigned Pending = 16 * NRET;
  broken_t         broken [Pending];
  int unsigned     pending = 0;
  bit [VIOLATIONS-1:0] warned = '0;
  string           path;

  initial open_trace();
  always @(posedge clk) begin
    now_ps <= now_ps + period_ps;
    record_cycle();
  end
  final close_trace();

  // -- life of the trace
  function automatic void open_trace();
    string scope = $sformatf("core%0d", CORE);
    string variables = $sformatf("core=%0d", CORE);
    if (NRET < 1 || NRET > 16 || (XLEN != 32 && XLEN != 64) || ILEN != 32 || REORDER < 1 || REORDER > 1024)
      $fatal(1, "uscope_rvfi: NRET is 1 to 16, XLEN 32 or 64, ILEN 32, REORDER 1 to 1024");
    path = $sformatf("%m");
    if (VARIABLES != "") variables = {variables, ",", VARIABLES};
    w   = uscope_open_checked(TRACE == "" ? scope : TRACE, SCHEMA, "", variables);
    cpu = uscope_cpu_new(w, scope);
    period_ps = 64'(uscope_clock_period(w, CLOCK));
    if (cpu != null && period_ps == 0) begin
      $warning("%m: the schema says no period of the clock \"%s\": times are counted as if it were 1000 ps", CLOCK);
      period_ps = 1000;
    end
    if (cpu != null) look_up({scope, "/"});
  endfunction

  // Times of the trace are counted, so that they hold where a testbench does not count time in its units. Where it does, they should be the
  // simulator's.
  function automatic void check_period();
    real now_us, before_us = distance_us, found_ps;
    if (1us <= 0) period_checked = 1; // the time unit is too long to say
    now_us = $realtime / 1us;
    distance_us = edge_us < 0.0 ? -1.0 : now_us - edge_us;
    edge_us = now_us;
    if (before_us < 0.0 || distance_us - before_us > 1.0e-9 || before_us - distance_us > 1.0e-9) return;
    period_checked = 1;
    found_ps = distance_us * 1.0e6;
    // Below 10 ps the testbench counts steps.
    if (found_ps < 10.0) return;
    if (found_ps - real'(period_ps) > 0.5 || real'(period_ps) - found_ps > 0.5) begin
      if (ev_clock_period >= 0) uscope_event2(w, ev_clock_period[15:0], period_ps, unsigned'(longint'(found_ps)));
      $warning("%m: RVFI_PERIOD: the clock rises every %0.0f ps, its period in the schema is %0d ps: cycles are right, times in ps are not those of the simulator. Give the schema's clock that period, for example with VARIABLES(\"period=%0.0f ps\")",
               found_ps, period_ps, found_ps);
    end
  endfunction

  function automatic void look_up(input string scope);
    stage_retire     = unsigned'(uscope_cpu_stage_id(cpu, "retire"));
    flush_exception  = unsigned'(uscope_cpu_flush_id(cpu, "exception"));
    f_id             = uscope_cpu_field(cpu, "entity_id");
    f_pc             = uscope_cpu_field(cpu, "pc");
    f_inst_bits      = uscope_cpu_field(cpu, "inst_bits");
    f_order          = uscope_cpu_field(cpu, "order");
    f_priv_level     = uscope_cpu_field(cpu, "priv_level");
    f_is_compressed  = uscope_cpu_field(cpu, "is_compressed");
    f_ixl            = uscope_cpu_field(cpu, "ixl");
    has_usual_fields = f_id == 0 && f_pc == 1 && f_inst_bits == 2 && f_order == 3 && f_priv_level == 4;
    counters[Cycles]        = uscope_cpu_counter(cpu, "cycles");
    counters[Committed]     = uscope_cpu_counter(cpu, "committed_insns");
    counters[Traps]         = uscope_cpu_counter(cpu, "traps");
    counters[Interrupts]    = uscope_cpu_counter(cpu, "interrupts");
    counters[Loads]         = uscope_cpu_counter(cpu, "loads");
    counters[Stores]        = uscope_cpu_counter(cpu, "stores");
    counters[Branches]      = uscope_cpu_counter(cpu, "branches");
    counters[BranchesTaken] = uscope_cpu_counter(cpu, "branches_taken");
    counters[Jumps]         = uscope_cpu_counter(cpu, "jumps");
    counters[Violations]    = uscope_cpu_counter(cpu, "violations");
    n_missing               = uscope_cpu_counter(cpu, "missing_insns");
    direct = '0;
    for (int unsigned i = 0; i < Counters; i++) if (counters[i] < 0 || counters[i] != counters[0] + int'(i)) direct = '1;
    st_entities      = uscope_storage_id(w, {scope, "entities"});
    ev_stage_transition = uscope_event_id(w, {scope, "stage_transition"});
    ev_flush         = uscope_event_id(w, {scope, "flush"});
    ev_trap          = uscope_event_id(w, {scope, "trap"});
    st_regs          = uscope_storage_id(w, {scope, "regs"});
    ev_interrupt     = uscope_event_id(w, {scope, "interrupt"});
    ev_halt          = uscope_event_id(w, {scope, "halt"});
    ev_reg_write     = uscope_event_id(w, {scope, "reg_write"});
    ev_mem_read      = uscope_event_id(w, {scope, "mem_read"});
    ev_mem_write     = uscope_event_id(w, {scope, "mem_write"});
    ev_violation     = uscope_event_id(w, {scope, "violation"});
    ev_clock_period  = uscope_event_id(w, {scope, "clock_period"});
  endfunction

  function automatic void close_trace();
    if (cpu != null) begin
      uscope_begin_cycle(w, now_ps);
      end_held();
      grow(counts_t'(1) << Cycles);
      report_left_out();
      report_broken();
      count_lanes();
      uscope_end_cycle(w);
      uscope_cpu_free(cpu);
    end
    uscope_close(w);
  endfunction

  // -- a cycle
  function automatic void record_cycle();
    if (cpu == null) return;
    uscope_begin_cycle(w, now_ps);
    end_held();
    grow(counts_t'(1) << Cycles);
    if (rst !== 1'b0) reset();
    else if (rvfi_valid !== '0) record_channels();
    if (pending != 0) report_broken();
    if (!period_checked) check_period();
    count_lanes();
    uscope_end_cycle(w);
  endfunction

  // Indices begin anew.
  function automatic void reset();
    report_left_out();
    any_seen     = 0;
    any_previous = 0;
    halted       = 0;
    known        = '0;
  endfunction

  function automatic void end_held();
    for (int unsigned i = 0; i < held; i++) begin
      if (held_traps[i] && ev_flush >= 0) uscope_event2(w, ev_flush[15:0], 64'(held_ids[i]), 64'(flush_exception));
      uscope_slot_clear(w, st_entities[15:0], 16'(held_ids[i]));
    end
    held = 0;
  endfunction

  // Ordered by rvfi_order, whichever channels they are in.
  function automatic void record_channels();
    bit [NRET-1:0] left = '0;
    for (int unsigned i = 0; i < NRET; i++) begin
      left[i] = rvfi_valid[i] === 1'b1;
      if ($isunknown(rvfi_valid[i])) violation(UNKNOWN_VALUE, i, due, 0, 0);
    end
    while (left != '0) begin
      int unsigned first = NRET;
      for (int unsigned i = 0; i < NRET; i++)
        if (left[i] && (first == NRET || order_of(i) < order_of(first))) first = i;
      left[first] = 1'b0;
      for (int unsigned i = 0; i < NRET; i++)
        if (left[i] && order_of(i) == order_of(first)) violation(ORDER_TIE, i, order_of(i), 64'(i), 64'(first));
      sample(first);
      record_one(first);
    end
  endfunction

  function automatic bit [63:0] order_of(input int unsigned channel);
    bit [63:0] order = '0;
    for (int unsigned i = 0; i < NRET; i++) if (i == channel) order = rvfi_order[i*64 +: 64];
    return order;
  endfunction

  // Each channel's bits are at a fixed place for the simulator, which a computed place costs more than all else here.
  function automatic void sample(input int unsigned channel);
    for (int unsigned i = 0; i < NRET; i++)
      if (i == channel) begin
        current.order     = rvfi_order[i*64 +: 64];
        current.insn      = rvfi_insn[i*ILEN +: ILEN];
        current.trap      = rvfi_trap[i] === 1'b1;
        current.halt      = rvfi_halt[i] === 1'b1;
        current.intr      = rvfi_intr[i] === 1'b1;
        current.mode      = rvfi_mode[i*2 +: 2];
        current.ixl       = rvfi_ixl[i*2 +: 2];
        current.pc        = 64'(rvfi_pc_rdata[i*XLEN +: XLEN]);
        current.next      = 64'(rvfi_pc_wdata[i*XLEN +: XLEN]);
        current.rs1_addr  = rvfi_rs1_addr[i*5 +: 5];
        current.rs2_addr  = rvfi_rs2_addr[i*5 +: 5];
        current.rd_addr   = rvfi_rd_addr[i*5 +: 5];
        current.rs1       = 64'(rvfi_rs1_rdata[i*XLEN +: XLEN]);
        current.rs2       = 64'(rvfi_rs2_rdata[i*XLEN +: XLEN]);
        current.rd        = 64'(rvfi_rd_wdata[i*XLEN +: XLEN]);
        current.mem_addr  = 64'(rvfi_mem_addr[i*XLEN +: XLEN]);
        current.mem_rmask = 8'(rvfi_mem_rmask[i*XLEN/8 +: XLEN/8]);
        current.mem_wmask = 8'(rvfi_mem_wmask[i*XLEN/8 +: XLEN/8]);
        current.mem_rdata = 64'(rvfi_mem_rdata[i*XLEN +: XLEN]);
        current.mem_wdata = 64'(rvfi_mem_wdata[i*XLEN +: XLEN]);
      end
  endfunction

  function automatic bit has_unknown(input int unsigned channel);
    return $isunknown(rvfi_order[channel*64 +: 64]) || $isunknown(rvfi_insn[channel*ILEN +: ILEN]) ||
           $isunknown(rvfi_pc_rdata[channel*XLEN +: XLEN]) || $isunknown(rvfi_trap[channel]);
  endfunction

  // -- an instruction: `current`, whose entity is `id`

  // What is rare follows what is usual, each in one place: between two cycles a large core takes the processor's instruction cache, so that every
  // line of code costs.
  function automatic void record_one(input int unsigned channel);
    bit      is_interrupt = current.intr && !(any_previous && previous_trap);
    counts_t which;
    id      = next_id;
    next_id = next_id == LastId ? 5'd0 : next_id + 5'd1;
    record_entity();
    if (ev_stage_transition >= 0) uscope_event2(w, ev_stage_transition[15:0], 64'(id), 64'(stage_retire));
    check(channel);
    if (is_interrupt) record_interrupt();
    if (current.trap) begin
      record_trap();
      which = counts_t'(1) << Traps;
    end else which = record_effects();
    which[Interrupts] = is_interrupt;
    grow(which);
    if (current.halt && ev_halt >= 0) uscope_event1(w, ev_halt[15:0], 64'(id));
    held_ids[held]   = id;
    held_traps[held] = current.trap;
    held++;
    any_previous   = 1;
    previous_order = current.order;
    previous_insn  = current.insn;
    previous_trap  = current.trap;
    previous_pc    = current.pc;
    previous_next  = current.next;
  endfunction

  function automatic void record_entity();
    if (has_usual_fields)
      uscope_slot_put5(w, st_entities[15:0], 16'(id), 64'(id), current.pc, 64'(current.insn), current.order, 64'(current.mode));
    else begin
      set_field(f_id, 64'(id));
      set_field(f_pc, current.pc);
      set_field(f_inst_bits, 64'(current.insn));
      set_field(f_order, current.order);
      set_field(f_priv_level, 64'(current.mode));
    end
    if (is_compressed(current.insn)) set_field(f_is_compressed, 1);
    if (!IsRv32) set_field(f_ixl, 64'(current.ixl));
  endfunction

  function automatic void set_field(input int field, input bit [63:0] value);
    if (field >= 0) uscope_slot_set(w, st_entities[15:0], 16'(id), field[15:0], value);
  endfunction

  // One more of each counter whose bit is set. A lane counts to one.
  function automatic void grow(input counts_t which);
    counts_t again = which & (lanes | direct);
    lanes = lanes | (which & ~direct);
    if (again != '0)
      for (int unsigned i = 0; i < Counters; i++) if (again[i]) uscope_cpu_count(cpu, counters[i], 1);
  endfunction

  function automatic void count_lanes();
    if (lanes != '0) uscope_count_lanes(w, counters[0][15:0], 64'(lanes));
    lanes = '0;
  endfunction

  // intr marks the first instruction of any handler; after one that trapped it is that trap's.
  function automatic void record_interrupt();
    if (ev_interrupt >= 0) uscope_event3(w, ev_interrupt[15:0], 64'(id), any_previous ? previous_next : 64'd0, current.pc);
  endfunction

  function automatic void record_trap();
    bit [63:0] cause = trap_cause(current, IsRv32);
    if (ev_trap >= 0)
      uscope_event4(w, ev_trap[15:0], 64'(id), cause, trap_value(current, cause, IsRv32), current.next);
  endfunction

  // Returns what it counts as.
  function automatic counts_t record_effects();
    counts_t which = counts_t'(1) << Committed;
    bit reads = current.mem_rmask != 0 && !never_reads(current.insn);
    bit branches = is_branch(current.insn);
    bit goes_on = current.next == ((current.pc + (is_compressed(current.insn) ? 64'd2 : 64'd4)) & Width);
    which[Branches]      = branches;
    which[BranchesTaken] = branches && !goes_on;
    which[Jumps]         = is_jump(current.insn, IsRv32);
    which[Loads]         = reads;
    which[Stores]        = current.mem_wmask != 0;
    if (reads && ev_mem_read >= 0)
      uscope_event4(w, ev_mem_read[15:0], 64'(id), current.mem_addr, 64'(current.mem_rmask), masked(current.mem_rdata, current.mem_rmask));
    if (current.mem_wmask != 0 && ev_mem_write >= 0)
      uscope_event4(w, ev_mem_write[15:0], 64'(id), current.mem_addr, 64'(current.mem_wmask), masked(current.mem_wdata, current.mem_wmask));
    if (current.rd_addr != 0) record_register();
    return which;
  endfunction

  function automatic void record_register();
    if (ev_reg_write >= 0) uscope_event3(w, ev_reg_write[15:0], 64'(id), 64'(current.rd_addr), current.rd);
    if (st_regs >= 0) uscope_slot_set(w, st_regs[15:0], 16'(current.rd_addr), 16'd0, current.rd);
    regs[current.rd_addr]  = current.rd;
    known[current.rd_addr] = 1'b1;
  endfunction

  // -- rules of the interface
  function automatic void check(input int unsigned channel);
    bit      follows = any_previous && current.order == previous_order + 1;
    rules_t  rules;
    // Out of order: the last one to write in time may not be the last in the program.
    if (!follows) known = '0;
    rules.unknown  = has_unknown(channel);
    rules.halted   = halted;
    rules.pc       = follows && !current.intr && !previous_trap && current.pc != previous_next;
    rules.rs1_x0   = current.rs1_addr == 0 && current.rs1 != 0;
    rules.rs1      = current.rs1_addr != 0 && known[current.rs1_addr] && current.rs1 != regs[current.rs1_addr];
    rules.rs2_x0   = current.rs2_addr == 0 && current.rs2 != 0;
    rules.rs2      = current.rs2_addr != 0 && known[current.rs2_addr] && current.rs2 != regs[current.rs2_addr];
    rules.rd_x0    = current.rd_addr == 0 && current.rd != 0;
    if (rules != '0) report_rules(channel, rules);
    if (current.halt) begin
      halted     = 1;
      halt_order = current.order;
    end
    if (any_seen && current.order == due && seen == '0) due++;
    else place(channel, current.order);
  endfunction

  function automatic void report_rules(input int unsigned channel, input rules_t rules);
    if (rules.unknown) violation(UNKNOWN_VALUE, channel, current.order, 0, 0);
    if (rules.halted) violation(AFTER_HALT, channel, current.order, halt_order, current.order);
    if (rules.pc && !previous_falls_through()) violation(PC_MISMATCH, channel, current.order, previous_next, current.pc);
    if (rules.rs1_x0) violation(X0_NOT_ZERO, channel, current.order, 0, current.rs1);
    if (rules.rs1) violation(REGISTER_MISMATCH, channel, current.order, regs[current.rs1_addr], current.rs1);
    if (rules.rs2_x0) violation(X0_NOT_ZERO, channel, current.order, 0, current.rs2);
    if (rules.rs2) violation(REGISTER_MISMATCH, channel, current.order, regs[current.rs2_addr], current.rs2);
    if (rules.rd_x0) violation(X0_NOT_ZERO, channel, current.order, 0, current.rd);
  endfunction

  // Some cores (Ibex) show after a return from a trap the next instruction in memory instead of where it leads.
  function automatic bit previous_falls_through();
    return is_return_from_trap(previous_insn) && previous_next == ((previous_pc + 64'd4) & Width);
  endfunction

  // The first index after reset may be any. Gaps are such once REORDER later ones have come, or at the end.
  function automatic void place(input int unsigned channel, input bit [63:0] order);
    if (!any_seen) begin
      any_seen = 1;
      due      = order;
      seen     = '0;
    end
    if (order < due || ((seen >> (order - due)) & window_t'(1)) != '0) begin
      violation(ORDER_REPEATED, channel, order, due, order);
      return;
    end
    if (order - due >= 64'(REORDER)) give_up(channel, order, order - due - 64'(REORDER) + 1);
    seen = seen | (window_t'(1) << (order - due));
    while (seen[0]) begin
      seen = seen >> 1;
      due++;
    end
  endfunction

  // The module no longer waits for the lowest `count` indices, and for others missing up to the next one seen.
  function automatic void give_up(input int unsigned channel, input bit [63:0] order, input bit [63:0] count);
    window_t   leaving = count >= 64'(REORDER) ? seen : seen & ~({REORDER{1'b1}} << count);
    bit [63:0] first = due;
    bit [63:0] missing = count - 64'(unsigned'($countones(leaving)));
    seen = count >= 64'(REORDER) ? '0 : seen >> count;
    due  = due + count;
    while (due < order && !seen[0]) begin
      seen = seen >> 1;
      missing++;
      due++;
      if (seen == '0) begin
        missing += order - due;
        due = order;
      end
    end
    violation(ORDER_GAP, channel, order, first, order);
    uscope_cpu_count(cpu, n_missing, missing);
  endfunction

  function automatic void report_left_out();
    int unsigned last = 0;
    for (int unsigned i = 0; i < REORDER; i++) if (any_seen && seen[i]) last = i;
    if (last != 0) give_up(0, due + 64'(last), 64'(last) + 1);
  endfunction

  function automatic void violation(input violation_t code, input int unsigned channel, input bit [63:0] order,
                                    input bit [63:0] expected, input bit [63:0] found);
    grow(counts_t'(1) << Violations);
    if ((reports[code] < REPORTS || reports[code] == 0) && pending < Pending) begin
      broken[pending].code     = code;
      broken[pending].channel  = channel;
      broken[pending].order    = order;
      broken[pending].expected = expected;
      broken[pending].found    = found;
      pending++;
    end
    reports[code]++;
  endfunction

  function automatic void report_broken();
    for (int unsigned i = 0; i < pending; i++) begin
      broken_t b = broken[i];
      if (!warned[b.code]) warn_of(path, b);
      warned[b.code] = 1'b1;
      if (REPORTS != 0 && ev_violation >= 0)
        uscope_event5(w, ev_violation[15:0], 64'(b.code), 64'(b.channel), b.order, b.expected, b.found);
    end
    pending = 0;
  endfunction
endmodule
/* verilator lint_on UNUSEDSIGNAL */
/* verilator lint_on BLKSEQ */
