// Types of the out-of-order core. Indices are as wide as the largest structure that parameters allow; how many entries
// there are, the parameters of o3_core say.
package o3_pkg;
  import rv_pkg::*;

  localparam int unsigned Width = 2;  // instructions that are fetched, renamed and committed in a cycle

  typedef logic [6:0]  rob_t;      // entry of the reorder buffer
  typedef logic [6:0]  preg_t;     // physical register; 0 is x0
  typedef logic [7:0]  seq_t;      // number of a load, a store or a checkpoint, in program order; wraps around
  typedef logic [1:0]  count_t;    // how many of Width
  typedef logic [15:0] history_t;  // outcomes of the last branches, the youngest in bit 0

  // Which number comes first. They are never further apart than the structures are large.
  function automatic logic is_before(input seq_t a, input seq_t b);
    seq_t distance;
    distance = a - b;
    return distance[7];
  endfunction

  // Number of entries between the oldest one and this one.
  function automatic rob_t age_of(input rob_t index, input rob_t head, input int unsigned entries);
    return index >= head ? index - head : index + rob_t'(entries) - head;
  endfunction

  function automatic rob_t rob_after(input rob_t index, input rob_t distance, input int unsigned entries);
    logic [7:0] sum;
    sum = {1'b0, index} + {1'b0, distance};
    return rob_t'(sum >= 8'(entries) ? sum - 8'(entries) : sum);
  endfunction

  typedef struct packed {
    logic        valid;
    logic [31:0] pc;
    logic [31:0] inst;
    logic [31:0] predicted;   // where fetch went after it
    return_top_t return_top;
    history_t    history;     // before it
    exc_t        exc;
  } fetched_t;

  typedef enum logic [1:0] { QUEUE_NONE, QUEUE_INT, QUEUE_MULDIV, QUEUE_MEM } queue_e;

  // A renamed instruction on its way through an issue queue and a unit.
  typedef struct packed {
    logic        valid;
    rob_t        rob;
    logic [31:0] pc;
    ctrl_t       ctrl;
    preg_t       ps1;
    preg_t       ps2;
    preg_t       pd;
    logic [31:0] predicted;
    logic [7:0]  return_top;  // after it
    history_t    history;
    seq_t        checkpoint;
    seq_t        load;        // its number, or that of the next load
    seq_t        store;       // its number, or that of the next store
  } uop_t;

  typedef struct packed {
    logic [31:0] pc;
    logic [31:0] inst;
    logic        rd_write;
    logic [4:0]  rd;
    preg_t       pd;
    preg_t       old_pd;      // what rd was before; free again once this one commits
    system_e     system;
    kind_t       kind;
    logic        checkpoint;  // it has one
    logic [7:0]  return_top;  // before it
    history_t    history;
  } rob_entry_t;

  // What becomes known of an instruction when it has executed.
  typedef struct packed {
    logic valid;
    rob_t rob;
    exc_t exc;
    logic taken;
    logic forwarded;
    logic device;     // a store to a device, which happens when it commits
  } completion_t;
  localparam int unsigned NumCompletions = 5;

  // A load waits for its address, its turn, its line.
  typedef enum logic [1:0] { LOAD_ADDRESS, LOAD_TRY, LOAD_LINE, LOAD_DONE } load_state_e;

  // Instructions are squashed at the end of the cycle: all, or those younger than a branch.
  typedef struct packed {
    logic valid;
    logic all;
    rob_t rob;
  } kill_t;

  // Where fetch continues.
  typedef struct packed {
    logic        valid;
    logic [31:0] target;
    logic [7:0]  return_top;
    history_t    history;
  } redirect_t;

  // What a branch or jump teaches the predictor.
  typedef struct packed {
    logic        branch;
    logic        indirect;  // a jump through a register, returns excepted
    logic [31:0] pc;
    history_t    history;
    logic        taken;
    logic [31:0] target;
  } training_t;

  typedef struct packed {
    logic        valid;
    preg_t       preg;
    logic [31:0] value;
  } result_t;

  // Why instructions are squashed; the first ones as in rv_pkg::flush_e.
  typedef enum logic [2:0] {
    SQUASH_MISPREDICT, SQUASH_EXCEPTION, SQUASH_INTERRUPT, SQUASH_CLEAR, SQUASH_MEMORY_ORDER
  } squash_e;

  // Why fewer instructions than Width are dispatched.
  localparam int unsigned NumO3Stalls = 13;
  typedef enum logic [3:0] {
    O3_ROB_FULL, O3_INT_QUEUE_FULL, O3_MULDIV_QUEUE_FULL, O3_MEM_QUEUE_FULL, O3_LOAD_QUEUE_FULL, O3_STORE_QUEUE_FULL,
    O3_FREE_LIST_EMPTY, O3_CHECKPOINTS_FULL, O3_SERIALIZE, O3_WAIT, O3_ICACHE_MISS, O3_RECOVERY, O3_FETCH_BUBBLE
  } o3_stall_e;

  // What becomes of the dispatch slots, Width in each cycle.
  localparam int unsigned NumSlotClasses = 6;
  typedef enum logic [2:0] {
    SLOT_RETIRING, SLOT_BAD_SPECULATION, SLOT_FRONTEND, SLOT_MEMORY, SLOT_CORE, SLOT_IDLE
  } slot_class_e;

  // Performance counters, by their number at the read port. Stalls and slots follow in the order of their enumerations.
  localparam int unsigned NumO3Counters = 23 + NumO3Stalls + NumSlotClasses;
  typedef enum logic [5:0] {
    O3_CYCLES           = 6'd0,
    O3_FETCHED          = 6'd1,
    O3_COMMITTED        = 6'd2,
    O3_SQUASHED         = 6'd3,
    O3_FLUSHES          = 6'd4,
    O3_BRANCHES         = 6'd5,
    O3_BRANCHES_TAKEN   = 6'd6,
    O3_JUMPS            = 6'd7,
    O3_MISPREDICTS      = 6'd8,
    O3_LOADS            = 6'd9,
    O3_STORES           = 6'd10,
    O3_LOADS_FORWARDED  = 6'd11,
    O3_MULDIVS          = 6'd12,
    O3_ICACHE_MISSES    = 6'd13,
    O3_DCACHE_ACCESSES  = 6'd14,
    O3_DCACHE_MISSES    = 6'd15,
    O3_EXCEPTIONS       = 6'd16,
    O3_INTERRUPTS       = 6'd17,
    O3_DISPATCHED       = 6'd18,
    O3_ISSUED           = 6'd19,
    O3_REPLAYS          = 6'd20,  // issued in vain: the load before them missed
    O3_LOAD_RETRIES     = 6'd21,  // loads that went to the cache and have to come again
    O3_ORDER_VIOLATIONS = 6'd22,
    O3_STALLS           = 6'd23
  } o3_counter_e;
  localparam int unsigned O3Slots = 23 + NumO3Stalls;
  typedef logic [NumO3Counters-1:0][5:0] o3_steps_t;  // by how much each grows in a cycle

endpackage
