// Everything a tracer needs of the out-of-order core, sampled at the end of a cycle. The core knows nothing of tracing
// beyond this.
interface o3_probe_if
  import rv_pkg::*;
  import o3_pkg::*;
#(
    parameter int unsigned IntEntries    = 16,
    parameter int unsigned MuldivEntries = 4,
    parameter int unsigned MemEntries    = 12,
    parameter int unsigned LoadEntries   = 16,
    parameter int unsigned StoreEntries  = 16,
    parameter int unsigned Mshrs         = 4
);
  logic       running;       // this cycle counts
  o3_steps_t  steps;         // by how much the performance counters grow
  logic       stalled;
  o3_stall_e  stall_reason;

  // fetch and the fetch buffer
  count_t     fetched;
  fetched_t   fetched_insn [Width];
  logic [7:0] buffer_head;
  logic [7:0] buffer_tail;
  logic [7:0] buffer_count;

  // dispatch
  logic [1:0] dispatch;
  rob_entry_t dispatched [Width];
  uop_t       uop [Width];
  queue_e     target_queue [Width];
  rob_t       rob_tail;
  logic [7:0] free_registers;
  logic [7:0] free_registers_next;  // in the next cycle

  // issue queues: what leaves, and where what is dispatched goes
  logic [IntEntries-1:0]    int_leaves;
  logic [MuldivEntries-1:0] muldiv_leaves;
  logic [MemEntries-1:0]    mem_leaves;
  logic [IntEntries-1:0]    int_replays;     // issued in vain
  logic [MuldivEntries-1:0] muldiv_replays;
  logic [MemEntries-1:0]    mem_replays;
  logic       int_valid [IntEntries];
  logic       muldiv_valid [MuldivEntries];
  logic       mem_valid [MemEntries];
  uop_t       int_entry [IntEntries];
  uop_t       muldiv_entry [MuldivEntries];
  uop_t       mem_entry [MemEntries];
  logic [7:0] int_slot [Width];
  logic [7:0] muldiv_slot [Width];
  logic [7:0] mem_slot [Width];
  preg_t      woken [5];     // registers whose value will be there for who issues next; 0: none
  preg_t      cancelled;     // one of them whose value will not be there after all; 0: none

  // units
  completion_t completion [NumCompletions];  // ALU 0, ALU 1, multiplier and divider, store or fault, load
  logic       address_valid; // a load or store knows its address
  uop_t       address_uop;
  logic [31:0] address;
  logic       address_device;
  store_t     address_store;
  logic       load_tried;    // a load looks into the cache
  rob_t       load_tried_rob;
  logic       load_retry;    // and has to come again
  seq_t       load_head;
  seq_t       store_head;
  seq_t       store_committed;
  logic       store_leaves;  // the store queue's head
  logic [Mshrs-1:0] mshr_taken;
  logic [Mshrs-1:0] mshr_freed;
  logic [31:0] mshr_addr [Mshrs];

  // commit and squash
  rob_t       rob_head;
  logic [7:0] rob_count;
  logic [1:0] commit;
  rob_entry_t committed [Width];
  logic [31:0] committed_value [Width];
  logic       flush;
  squash_e    flush_reason;
  kill_t      kill;
  seq_t       kill_load;
  seq_t       kill_store;
  logic       trap;
  exc_t       trap_exc;
  logic [31:0] trap_target;  // 0: no handler, the core stops

  modport core(
      output running, steps, stalled, stall_reason, fetched, fetched_insn, buffer_head, buffer_tail, buffer_count,
      output dispatch, dispatched, uop, target_queue, rob_tail, free_registers, free_registers_next,
      output int_leaves, muldiv_leaves, mem_leaves, int_replays, muldiv_replays, mem_replays, int_valid, muldiv_valid, mem_valid,
      output int_entry, muldiv_entry, mem_entry, int_slot, muldiv_slot, mem_slot,
      output woken, cancelled,
      output completion, address_valid, address_uop, address, address_device, address_store,
      output load_tried, load_tried_rob, load_retry, load_head, store_head, store_committed, store_leaves,
      output mshr_taken, mshr_freed, mshr_addr,
      output rob_head, rob_count, commit, committed, committed_value, flush, flush_reason, kill, kill_load, kill_store,
      output trap, trap_exc, trap_target
  );
  modport observer(
      input running, steps, stalled, stall_reason, fetched, fetched_insn, buffer_head, buffer_tail, buffer_count,
      input dispatch, dispatched, uop, target_queue, rob_tail, free_registers, free_registers_next,
      input int_leaves, muldiv_leaves, mem_leaves, int_replays, muldiv_replays, mem_replays, int_valid, muldiv_valid, mem_valid,
      input int_entry, muldiv_entry, mem_entry, int_slot, muldiv_slot, mem_slot,
      input woken, cancelled,
      input completion, address_valid, address_uop, address, address_device, address_store,
      input load_tried, load_tried_rob, load_retry, load_head, store_head, store_committed, store_leaves,
      input mshr_taken, mshr_freed, mshr_addr,
      input rob_head, rob_count, commit, committed, committed_value, flush, flush_reason, kill, kill_load, kill_store,
      input trap, trap_exc, trap_target
  );
endinterface
