// Types shared by the stages of the core. What travels between two stages is one packed struct, so that a
// stage can grow (a multiplier, a predictor, CSRs) without touching its neighbours' port lists.
package rv_pkg;

  // Pipeline stages, oldest instruction last. The numbers are those of enum pipeline_stage in schema.yaml.
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
    CAUSE_STORE_FAULT      = 4'd7,
    CAUSE_ECALL            = 4'd11
  } cause_e;

  // An exception rides along with its instruction and is taken in writeback, in program order.
  typedef struct packed {
    logic        valid;
    cause_e      cause;
    logic [31:0] tval;  // the offending address or instruction word
  } exc_t;

  localparam exc_t NoException = '{valid: 1'b0, cause: CAUSE_FETCH_MISALIGNED, tval: 32'd0};

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
    logic [2:0]  funct3;     // branch condition, or size and sign of a load or store
    logic        load;
    logic        store;
    logic        rd_write;   // never set for x0
    logic [4:0]  rd;
    sources_t    src;
    logic [31:0] imm;
  } ctrl_t;

  typedef struct packed {
    logic        valid;
    logic [31:0] pc;
    logic [31:0] inst;
    exc_t        exc;
  } if_id_t;

  typedef struct packed {
    logic        valid;
    logic [31:0] pc;
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
  } kind_t;

  typedef struct packed {
    logic        valid;
    logic [31:0] pc;
    logic [2:0]  funct3;
    logic        rd_write;
    logic [4:0]  rd;
    logic [31:0] result;      // ALU result, link address, or the address of a load or store
    logic [31:0] store_data;
    kind_t       kind;
    exc_t        exc;
  } ex_mem_t;

  typedef struct packed {
    logic        valid;
    logic [31:0] pc;
    logic        rd_write;
    logic [4:0]  rd;
    logic [31:0] result;
    kind_t       kind;
    exc_t        exc;
  } mem_wb_t;

  // What an observer sees of one stage in one cycle: who is there, and how it leaves at the clock edge.
  // Neither hold nor kill: it moves on (out of writeback: it retires).
  typedef struct packed {
    logic valid;
    logic hold;  // stays for another cycle
    logic kill;  // squashed
  } stage_probe_t;

  // Everything a tracer needs, sampled at the end of a cycle. The core knows nothing of tracing beyond this.
  typedef struct packed {
    logic                         running;      // this cycle counts
    stage_probe_t [NumStages-1:0] stage;
    logic [31:0]                  fetch_pc;
    logic [31:0]                  fetch_inst;
    logic                         load_use;     // decode waits for a load in execute
    logic                         redirect;     // taken branch or jump in execute: fetch and decode are killed
    logic                         trap;         // exception in writeback: everything in flight is killed
    cause_e                       trap_cause;
    logic [31:0]                  trap_tval;
    fwd_e                         fwd_a;        // forwarding into the instruction in execute
    fwd_e                         fwd_b;
    logic                         bypass;       // decode takes the value that writeback writes in this cycle
    logic                         reg_write;
    logic [4:0]                   reg_index;
    logic [31:0]                  reg_value;
    kind_t                        retired_kind; // of the instruction in writeback
  } probe_t;

  // Performance counters, by their number at the counter read port.
  localparam int unsigned NumCounters = 11;
  typedef enum logic [3:0] {
    CNT_CYCLES         = 4'd0,
    CNT_FETCHED        = 4'd1,
    CNT_COMMITTED      = 4'd2,
    CNT_SQUASHED       = 4'd3,
    CNT_FLUSHES        = 4'd4,
    CNT_STALL_LOAD_USE = 4'd5,
    CNT_BRANCHES       = 4'd6,
    CNT_BRANCHES_TAKEN = 4'd7,
    CNT_JUMPS          = 4'd8,
    CNT_LOADS          = 4'd9,
    CNT_STORES         = 4'd10
  } counter_e;

endpackage
