// Says where the program continues after the two words that are fetched: branches by gshare (two-bit counters, found by
// pc and the outcomes of the last branches), returns by a return stack, other jumps through a register by a branch target
// buffer. Targets of branches and of jumps that carry them come from the instruction word.
//
// History and return stack are used ahead of time, on wrong paths too; every instruction carries both with it, so that a
// flush can put them back.
module o3_predictor
  import rv_pkg::*;
  import o3_pkg::*;
#(
    parameter int unsigned BranchEntries = 1024,
    parameter int unsigned HistoryBits   = 8,
    parameter int unsigned TargetEntries = 64,
    parameter int unsigned ReturnDepth   = 8
) (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic [31:0] pc_i,
    input  logic [31:0] inst_i [Width],
    input  logic        pair_i,               // the second word belongs to this fetch
    input  logic        advance_i,
    output logic [31:0] next_o,               // after both, or after the first if that is taken
    output logic        first_ends_o,         // the second word is not executed
    output logic [31:0] predicted_o [Width],
    output return_top_t return_top_o [Width],
    output history_t    history_o [Width],
    input  redirect_t   redirect_i,
    input  training_t   train_i
);
  localparam int unsigned IndexBits  = $clog2(BranchEntries);
  localparam int unsigned TargetBits = $clog2(TargetEntries);
  localparam int unsigned ReturnBits = $clog2(ReturnDepth);
  initial begin
    if (BranchEntries < 2 || 2 ** IndexBits != BranchEntries) $fatal(1, "BranchEntries must be a power of two, at least 2");
    if (TargetEntries < 2 || 2 ** TargetBits != TargetEntries) $fatal(1, "TargetEntries must be a power of two, at least 2");
    if (HistoryBits < 1 || HistoryBits > IndexBits || HistoryBits > 16) $fatal(1, "HistoryBits must fit the counters' index");
    if (ReturnDepth < 2 || ReturnDepth > 128 || 2 ** ReturnBits != ReturnDepth) begin
      $fatal(1, "ReturnDepth must be a power of two, 2 to 128");
    end
  end
  typedef logic [IndexBits-1:0]  index_t;
  typedef logic [TargetBits-1:0] target_index_t;
  typedef logic [ReturnBits-1:0] top_t;
  typedef struct packed {
    logic        valid;
    logic [31:0] pc;
    logic [31:0] target;
  } target_t;

  logic [1:0]  counter [BranchEntries];  // 2 and 3: taken; left as it is by a reset
  target_t     targets [TargetEntries];
  logic [31:0] returns [ReturnDepth];
  top_t        top;                      // slot for the next return address
  history_t    history;
  initial for (int unsigned i = 0; i < BranchEntries; i++) counter[i] = 2'd1;
  initial for (int unsigned i = 0; i < TargetEntries; i++) targets[i] = '0;

  function automatic index_t index_of(input logic [31:0] pc, input history_t past);
    return pc[2+:IndexBits] ^ (index_t'(past[HistoryBits-1:0]) << (IndexBits - HistoryBits));
  endfunction
  function automatic target_index_t target_index_of(input logic [31:0] pc, input history_t past);
    return pc[2+:TargetBits] ^ target_index_t'(past);
  endfunction

  // x1 and x5 are the link registers: writing one is a call, jumping through one a return.
  function automatic logic is_link(input logic [4:0] index);
    return index == 5'd1 || index == 5'd5;
  endfunction

  typedef struct packed {
    logic        branch;
    logic        push;
    logic        pop;
    logic        taken;
    logic [31:0] target;
  } prediction_t;

  // A target that is not an instruction's address will raise an exception: nothing to fetch there.
  function automatic prediction_t predict(input logic [31:0] pc, input logic [31:0] inst, input history_t past);
    prediction_t p;
    logic [31:0] branch_target, jump_target;
    target_t     known;
    logic        is_jal, is_jalr;
    branch_target = pc + {{20{inst[31]}}, inst[7], inst[30:25], inst[11:8], 1'b0};
    jump_target   = pc + {{12{inst[31]}}, inst[19:12], inst[20], inst[30:21], 1'b0};
    known    = targets[target_index_of(pc, past)];
    is_jal   = inst[6:0] == 7'b1101111;
    is_jalr  = inst[6:0] == 7'b1100111;
    p.branch = inst[6:0] == 7'b1100011;
    p.push   = (is_jal || is_jalr) && is_link(inst[11:7]);
    p.pop    = is_jalr && is_link(inst[19:15]) && inst[19:15] != inst[11:7];
    p.taken  = 1'b0;
    p.target = branch_target;
    if (p.branch) p.taken = counter[index_of(pc, past)][1] && !branch_target[1];
    if (is_jal) begin
      p.taken  = !jump_target[1];
      p.target = jump_target;
    end
    if (is_jalr) begin
      p.taken  = p.pop || (known.valid && known.pc == pc);
      p.target = p.pop ? returns[top - top_t'(1)] : known.target;
    end
    return p;
  endfunction

  prediction_t first, second;
  logic        uses_second;
  always_comb begin
    history_o[0] = history;
    first        = predict(pc_i, inst_i[0], history);
    // It is executed only if the first is not taken.
    history_o[1] = first.branch ? {history[14:0], 1'b0} : history;
    second       = predict(pc_i + 32'd4, inst_i[1], history_o[1]);
    first_ends_o = first.taken || first.push || first.pop;
    uses_second  = pair_i && !first_ends_o;
    predicted_o[0] = first.taken ? first.target : pc_i + 32'd4;
    predicted_o[1] = second.taken ? second.target : pc_i + 32'd8;
    next_o         = uses_second ? predicted_o[1] : predicted_o[0];
  end

  function automatic top_t top_after(input prediction_t p, input top_t from);
    return from - top_t'(p.pop) + top_t'(p.push);
  endfunction

  top_t        after_first, after;
  history_t    next_history;
  prediction_t last;  // the one that may be taken
  logic [31:0] last_pc;
  assign after_first     = top_after(first, top);
  assign after           = uses_second ? top_after(second, after_first) : after_first;
  assign return_top_o[0] = '{old_top: 8'(top), new_top: 8'(after_first)};
  assign return_top_o[1] = '{old_top: 8'(after_first), new_top: 8'(after)};
  assign last            = uses_second ? second : first;
  assign last_pc         = uses_second ? pc_i + 32'd4 : pc_i;
  always_comb begin
    next_history = uses_second ? history_o[1] : history;
    if (last.branch) next_history = {next_history[14:0], last.taken};
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      top     <= '0;
      history <= '0;
    end else if (redirect_i.valid) begin
      top     <= redirect_i.return_top[ReturnBits-1:0];
      history <= redirect_i.history;
    end else if (advance_i) begin
      top     <= after;
      history <= next_history;
      if (last.push) returns[after - top_t'(1)] <= last_pc + 32'd4;
    end
  end

  index_t train_index;
  assign train_index = index_of(train_i.pc, train_i.history);
  always_ff @(posedge clk_i) begin
    if (train_i.branch) begin
      if (train_i.taken && counter[train_index] != 2'd3) counter[train_index] <= counter[train_index] + 2'd1;
      if (!train_i.taken && counter[train_index] != 2'd0) counter[train_index] <= counter[train_index] - 2'd1;
    end
    if (train_i.indirect) begin
      targets[target_index_of(train_i.pc, train_i.history)] <= '{valid: 1'b1, pc: train_i.pc, target: train_i.target};
    end
  end
endmodule
