// Everything a tracer needs, sampled at the end of a cycle. The core knows nothing of tracing beyond this. An interface
// and not one wide struct: a simulator passes on the signals as they are, instead of packing them in every cycle only for
// the tracer to take them apart.
/* verilator lint_off UNUSEDSIGNAL */
interface probe_if
  import rv_pkg::*;
;
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
  logic          bypass;        // decode takes the value that writeback writes in this cycle
  logic          reg_write;
  logic [4:0]    reg_index;
  logic [31:0]   reg_value;
  kind_t         retired_kind;  // of the instruction in writeback
  store_probe_t  stores;
  store_t        pushed;        // what enters the store buffer
  logic          icache_miss;   // a fill begins
  logic          dcache_access;
  logic          dcache_miss;

  modport core(
      output running, stage, fetch_pc, fetch_inst, stalled, stall_reason, flush, flush_reason, trap, trap_exc,
      output trap_target, fwd_a, fwd_b, bypass, reg_write, reg_index, reg_value, retired_kind, stores, pushed,
      output icache_miss, dcache_access, dcache_miss
  );
  modport observer(
      input running, stage, fetch_pc, fetch_inst, stalled, stall_reason, flush, flush_reason, trap, trap_exc,
      input trap_target, fwd_a, fwd_b, bypass, reg_write, reg_index, reg_value, retired_kind, stores, pushed,
      input icache_miss, dcache_access, dcache_miss
  );
endinterface
/* verilator lint_on UNUSEDSIGNAL */
