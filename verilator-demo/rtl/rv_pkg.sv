// Types shared by the stages of the core. What travels between two stages is one packed struct, so that a
// stage can grow without touching its neighbours' port lists.
package rv_pkg;

  // Pipeline stages, oldest instruction last.
  localparam int unsigned NumStages = 5;
  localparam int unsigned StageF = 0;
  localparam int unsigned StageD = 1;
  localparam int unsigned StageE = 2;
  localparam int unsigned StageM = 3;
  localparam int unsigned StageW = 4;

  typedef enum logic [3:0] {
    ALU_ADD, ALU_SUB, ALU_SLL, ALU_SLT, ALU_SLTU, ALU_XOR, ALU_SRL, ALU_SRA, ALU_OR, ALU_AND
  } alu_op_e;

  typedef enum logic [1:0] { SRC_REG, SRC_PC, SRC_ZERO } src_a_e;

  // How an instruction leaves straight-line order.
  typedef enum logic [1:0] { FLOW_NONE, FLOW_BRANCH, FLOW_JAL, FLOW_JALR } flow_e;

  // Instructions that concern the machine rather than data.
  typedef enum logic [2:0] { SYS_NONE, SYS_CSR, SYS_MRET, SYS_WFI, SYS_FENCE } system_e;

  // Where an operand in execute comes from.
  typedef enum logic [1:0] { FWD_REGFILE, FWD_MEMORY, FWD_WRITEBACK } fwd_e;

  // Synchronous exceptions, numbered as in the privileged architecture (mcause).
  typedef enum logic [3:0] {
    CAUSE_FETCH_MISALIGNED = 4'd0,
    CAUSE_FETCH_FAULT      = 4'd1,
    CAUSE_ILLEGAL          = 4'd2,
    CAUSE_BREAKPOINT       = 4'd3,
    CAUSE_LOAD_MISALIGNED  = 4'd4,
    CAUSE_LOAD_FAULT       = 4'd5,
    CAUSE_STORE_MISALIGNED = 4'd6,
    CAUSE_STORE_FAULT      = 4'd7,  // with exc_t.irq set: the machine timer
    CAUSE_ECALL            = 4'd11
  } cause_e;
  localparam cause_e CauseTimer = CAUSE_STORE_FAULT;

  // An exception or interrupt rides along with its instruction and is taken in writeback, in program order.
  typedef struct packed {
    logic        valid;
    logic        irq;
    cause_e      cause;
    logic [31:0] tval;  // the offending address or instruction word
  } exc_t;

  function automatic exc_t exception(input cause_e cause, input logic [31:0] tval);
    return '{valid: 1'b1, irq: 1'b0, cause: cause, tval: tval};
  endfunction

  localparam exc_t NoException = '{valid: 1'b0, irq: 1'b0, cause: CAUSE_FETCH_MISALIGNED, tval: 32'd0};
  localparam exc_t TimerInterrupt = '{valid: 1'b1, irq: 1'b1, cause: CauseTimer, tval: 32'd0};

  // The registers an instruction reads, and the one it writes: all that the hazard unit looks at.
  typedef struct packed {
    logic       uses_rs1;
    logic       uses_rs2;
    logic [4:0] rs1;
    logic [4:0] rs2;
  } sources_t;

  typedef struct packed {
    logic       write;  // a valid instruction writes rd, and rd is not x0
    logic       ready;  // the value can be forwarded; not so for a load that has not seen memory yet
    logic [4:0] rd;
  } destination_t;

  typedef struct packed {
    alu_op_e     alu_op;
    src_a_e      src_a;
    logic        src_b_imm;
    flow_e       flow;
    system_e     system;
    logic        muldiv;
    logic [2:0]  funct3;     // branch condition, size and sign of a load or store, operation of muldiv or CSR
    logic        load;
    logic        store;
    logic        atomic;
    logic [4:0]  funct5;     // operation of an atomic instruction
    logic        rd_write;   // never set for x0
    logic [4:0]  rd;
    sources_t    src;
    logic [31:0] imm;        // of a CSR instruction: the CSR's number in the low bits
  } ctrl_t;

  // The return stack's pointer around an instruction, kept to undo what was done on a wrong path.
  typedef struct packed {
    logic [7:0] old_top;
    logic [7:0] new_top;
  } return_top_t;

  typedef struct packed {
    logic        valid;
    logic [31:0] pc;
    logic [31:0] inst;
    logic [31:0] predicted;  // where fetch went after it
    return_top_t return_top;
    exc_t        exc;
  } if_id_t;

  typedef struct packed {
    logic        valid;
    logic [31:0] pc;
    logic [31:0] predicted;
    return_top_t return_top;
    ctrl_t       ctrl;
    logic [31:0] rs1_data;
    logic [31:0] rs2_data;
    exc_t        exc;
  } id_ex_t;

  // What performance counters want to know about a retired instruction.
  typedef struct packed {
    logic branch;
    logic taken;
    logic jump;
    logic load;
    logic store;
    logic atomic;     // LR, SC or an AMO: neither load nor store
    logic forwarded;  // a load answered by the store buffer
    logic muldiv;
  } kind_t;

  typedef struct packed {
    logic        valid;
    logic [31:0] pc;
    logic [7:0]  return_before;
    logic [2:0]  funct3;
    logic [4:0]  funct5;
    logic        rd_write;
    logic [4:0]  rd;
    logic        fence;
    logic [31:0] result;      // result, link address, or the address of a load or store
    logic [31:0] store_data;
    kind_t       kind;
    exc_t        exc;
  } ex_mem_t;

  typedef struct packed {
    logic        valid;
    logic [31:0] pc;
    logic [7:0]  return_before;
    logic        rd_write;
    logic [4:0]  rd;
    logic [31:0] result;
    kind_t       kind;
    exc_t        exc;
  } mem_wb_t;

  // A store on its way to memory: a word's address and the bytes of it.
  typedef struct packed {
    logic [31:0] addr;
    logic [3:0]  strobe;
    logic [31:0] data;
  } store_t;

  // Operations of the A extension, as funct5 of the instruction.
  typedef enum logic [4:0] {
    ATOMIC_ADD  = 5'b00000,
    ATOMIC_SWAP = 5'b00001,
    ATOMIC_LR   = 5'b00010,
    ATOMIC_SC   = 5'b00011,
    ATOMIC_XOR  = 5'b00100,
    ATOMIC_OR   = 5'b01000,
    ATOMIC_AND  = 5'b01100,
    ATOMIC_MIN  = 5'b10000,
    ATOMIC_MAX  = 5'b10100,
    ATOMIC_MINU = 5'b11000,
    ATOMIC_MAXU = 5'b11100
  } atomic_op_e;

  // What memory is asked to do at once: read a word and, LR excepted, write it.
  typedef struct packed {
    atomic_op_e  op;
    logic [31:0] addr;
    logic [31:0] data;
  } atomic_t;

  // Why a stage waits. One reason counts per cycle: that of the oldest stage that waits.
  localparam int unsigned NumStalls = 9;
  typedef enum logic [3:0] {
    STALL_LOAD_USE     = 4'd0,  // decode: the value comes from a load in execute
    STALL_MUL_DIV      = 4'd1,  // execute: multiplier or divider at work
    STALL_ICACHE_MISS  = 4'd2,
    STALL_DCACHE_MISS  = 4'd3,
    STALL_STORE_FULL   = 4'd4,  // memory: a store finds the store buffer full
    STALL_STORE_DRAIN  = 4'd5,  // memory: a fence or device access waits until the store buffer is empty
    STALL_SERIALIZE    = 4'd6,  // decode: a CSR instruction or mret waits until it is alone
    STALL_WAIT         = 4'd7,  // decode: wfi
    STALL_ATOMIC       = 4'd8   // memory: an atomic operation is not done yet
  } stall_e;

  // Why instructions in flight are squashed.
  typedef enum logic [1:0] {
    FLUSH_MISPREDICT = 2'd0,
    FLUSH_EXCEPTION  = 2'd1,
    FLUSH_INTERRUPT  = 2'd2,
    FLUSH_CLEAR      = 2'd3   // mret
  } flush_e;

  // What an observer sees of the stages in one cycle, one bit each: who is there, and how it leaves at the clock edge.
  // Neither hold nor kill: it moves on (out of writeback: it retires).
  typedef struct packed {
    logic [NumStages-1:0] valid;
    logic [NumStages-1:0] hold;  // stays for another cycle
    logic [NumStages-1:0] kill;  // squashed
  } stages_probe_t;

  // What the store buffer does at the end of the cycle.
  typedef struct packed {
    logic       push;
    logic       pop;
    logic [7:0] head;   // slot of the oldest store
    logic [7:0] tail;   // slot for the next one
  } store_probe_t;

  // Performance counters, by their number at the counter read port. Those of stalls follow in the order of stall_e.
  localparam int unsigned NumCounters = 19 + NumStalls;
  typedef enum logic [4:0] {
    CNT_CYCLES          = 5'd0,
    CNT_FETCHED         = 5'd1,
    CNT_COMMITTED       = 5'd2,
    CNT_SQUASHED        = 5'd3,
    CNT_FLUSHES         = 5'd4,
    CNT_BRANCHES        = 5'd5,
    CNT_BRANCHES_TAKEN  = 5'd6,
    CNT_JUMPS           = 5'd7,
    CNT_MISPREDICTS     = 5'd8,
    CNT_LOADS           = 5'd9,
    CNT_STORES          = 5'd10,
    CNT_LOADS_FORWARDED = 5'd11,
    CNT_MULDIVS         = 5'd12,
    CNT_ICACHE_MISSES   = 5'd13,
    CNT_DCACHE_ACCESSES = 5'd14,
    CNT_DCACHE_MISSES   = 5'd15,
    CNT_EXCEPTIONS      = 5'd16,
    CNT_INTERRUPTS      = 5'd17,
    CNT_ATOMICS         = 5'd18,
    CNT_STALLS          = 5'd19
  } counter_e;
  typedef logic [NumCounters-1:0] counts_t;  // a bit each

endpackage
