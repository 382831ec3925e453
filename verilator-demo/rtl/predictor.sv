// Says in fetch where the program continues. Jumps and branches are recognised from the instruction word: a jump is
// always followed, a branch when its two-bit counter says so (bimodal), a return by the return stack. Other jumps
// through a register are not predicted.
//
// The return stack is used ahead of time, on wrong paths too. Every instruction carries the stack's pointer with it, so
// that a flush can put it back; what wrong paths have overwritten stays overwritten and costs a mispredict.
module predictor
  import rv_pkg::*;
#(
    parameter int unsigned BranchEntries = 256,
    parameter int unsigned ReturnDepth   = 8
) (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic [31:0] pc_i,
    input  logic [31:0] inst_i,
    input  logic        advance_i,     // the instruction leaves fetch towards decode
    output logic [31:0] next_o,
    output return_top_t return_top_o,
    // a flush puts the return stack's pointer back
    input  logic        restore_i,
    input  logic [7:0]  restore_top_i,
    // a branch was decided
    input  logic        train_i,
    input  logic [31:0] train_pc_i,
    input  logic        train_taken_i
);
  localparam int unsigned IndexBits  = $clog2(BranchEntries);
  localparam int unsigned ReturnBits = $clog2(ReturnDepth);
  initial begin
    if (BranchEntries < 2 || 2 ** IndexBits != BranchEntries) $fatal(1, "BranchEntries must be a power of two, at least 2");
    if (ReturnDepth < 2 || ReturnDepth > 128 || 2 ** ReturnBits != ReturnDepth) begin
      $fatal(1, "ReturnDepth must be a power of two, 2 to 128");
    end
  end
  typedef logic [IndexBits-1:0] index_t;
  typedef logic [ReturnBits-1:0] top_t;

  logic [1:0]  counter [BranchEntries];  // 2 and 3: taken; left as it is by a reset
  logic [31:0] returns [ReturnDepth];
  top_t        top;                      // slot for the next return address
  initial for (int unsigned i = 0; i < BranchEntries; i++) counter[i] = 2'd1;

  logic is_branch, is_jal, is_jalr;
  assign is_branch = inst_i[6:0] == 7'b1100011;
  assign is_jal    = inst_i[6:0] == 7'b1101111;
  assign is_jalr   = inst_i[6:0] == 7'b1100111;

  // x1 and x5 are the link registers: writing one is a call, jumping through one a return.
  function automatic logic is_link(input logic [4:0] index);
    return index == 5'd1 || index == 5'd5;
  endfunction
  logic push, pop;
  assign push = (is_jal || is_jalr) && is_link(inst_i[11:7]);
  assign pop  = is_jalr && is_link(inst_i[19:15]) && inst_i[19:15] != inst_i[11:7];

  logic [31:0] branch_target, jump_target;
  assign branch_target = pc_i + {{20{inst_i[31]}}, inst_i[7], inst_i[30:25], inst_i[11:8], 1'b0};
  assign jump_target   = pc_i + {{12{inst_i[31]}}, inst_i[19:12], inst_i[20], inst_i[30:21], 1'b0};

  // A target that is not an instruction's address will raise an exception: nothing to fetch there.
  always_comb begin
    next_o = pc_i + 32'd4;
    if (is_jal && !jump_target[1]) next_o = jump_target;
    if (is_branch && !branch_target[1] && counter[pc_i[2+:IndexBits]][1]) next_o = branch_target;
    if (pop) next_o = returns[top - top_t'(1)];
  end

  top_t after_pop, after;
  assign after_pop    = pop ? top - top_t'(1) : top;
  assign after        = push ? after_pop + top_t'(1) : after_pop;
  assign return_top_o = '{old_top: 8'(top), new_top: 8'(after)};

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      top <= '0;
    end else if (restore_i) begin
      top <= restore_top_i[ReturnBits-1:0];
    end else if (advance_i) begin
      top <= after;
      if (push) returns[after_pop] <= pc_i + 32'd4;
    end
  end

  index_t train_index;
  assign train_index = train_pc_i[2+:IndexBits];
  always_ff @(posedge clk_i) begin
    if (train_i) begin
      if (train_taken_i && counter[train_index] != 2'd3) counter[train_index] <= counter[train_index] + 2'd1;
      if (!train_taken_i && counter[train_index] != 2'd0) counter[train_index] <= counter[train_index] - 2'd1;
    end
  end

  logic unused;
  assign unused = &{1'b0, restore_top_i, train_pc_i};
endmodule
