// Everything a tracer needs, sampled at the end of a cycle. The core knows nothing of tracing beyond this. An interface
// and not one wide struct: a simulator passes on the signals as they are, instead of packing them in every cycle only for
// the tracer to take them apart.
/* verilator lint_off UNUSEDSIGNAL */
interface probe_if
  import rv_pkg::*;
();
  logic          running;       // this cycle counts
  stages_probe_t stage;
  logic [31:0]   fetch_pc;
  logic [31:0]   fetch_inst;
  logic          stalled;
  stall_e        stall_reason;
  logic          flush;         // instructions are killed
  flush_e        flush_reason;
  logic          trap;          // exception or interrupt in writeback
  exc_t          trap_exc;
  logic [31:0]   trap_target;   // 0: no handler, the core stops
  fwd_e          fwd_a;         // forwarding into the instruction in execute
  fwd_e          fwd_b;
  sources_t      decode_src;    // what the instruction in decode reads
  destination_t  execute_dst;   // what those in execute and memory are to write
  destination_t  memory_dst;
  logic          reg_write;
  logic [4:0]    reg_index;
  logic [31:0]   reg_value;
  store_probe_t  stores;
  logic [31:0]   pushed_addr;   // what enters the store buffer
  logic [31:0]   pushed_data;
  logic [3:0]    pushed_strobe;
  counts_t       counts;        // performance counters that grow by one

  modport core(
      output running, stage, fetch_pc, fetch_inst, stalled, stall_reason, flush, flush_reason, trap, trap_exc,
      output trap_target, fwd_a, fwd_b, decode_src, execute_dst, memory_dst, reg_write, reg_index, reg_value, stores,
      output pushed_addr, pushed_data, pushed_strobe, counts
  );
  modport observer(
      input running, stage, fetch_pc, fetch_inst, stalled, stall_reason, flush, flush_reason, trap, trap_exc,
      input trap_target, fwd_a, fwd_b, decode_src, execute_dst, memory_dst, reg_write, reg_index, reg_value, stores,
      input pushed_addr, pushed_data, pushed_strobe, counts
  );
endinterface
/* verilator lint_on UNUSEDSIGNAL */
