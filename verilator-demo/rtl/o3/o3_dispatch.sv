// Decides which of the two oldest decoded instructions enter the reorder buffer and the queues in this cycle, and why not
// both. Nothing follows an instruction that concerns the machine (CSR, mret, wfi, fence) until it has committed.
module o3_dispatch
  import rv_pkg::*;
  import o3_pkg::*;
(
    input  logic       clk_i,
    input  logic       rst_i,
    input  logic       valid_i [Width],
    input  ctrl_t      ctrl_i [Width],
    input  logic       faulty_i [Width],  // raises an exception without being executed
    input  logic       hold_i,            // a squash is under way
    input  logic       empty_i,           // the reorder buffer
    input  logic [7:0] rob_free_i,
    input  logic [7:0] int_free_i,
    input  logic [7:0] muldiv_free_i,
    input  logic [7:0] mem_free_i,
    input  logic [7:0] loads_free_i,
    input  logic [7:0] stores_free_i,
    input  logic [7:0] registers_free_i,
    input  logic [7:0] checkpoints_free_i,
    output logic [1:0] dispatch_o,
    output queue_e     queue_o [Width],
    output logic       checkpoint_o [Width],
    output logic       blocked_o,         // an instruction is there and cannot be dispatched
    output o3_stall_e  reason_o
);
  function automatic queue_e queue_of(input ctrl_t ctrl, input logic faulty);
    if (faulty) return QUEUE_NONE;
    if (ctrl.load || ctrl.store) return QUEUE_MEM;
    if (ctrl.muldiv) return QUEUE_MULDIV;
    if (ctrl.system != SYS_NONE && ctrl.system != SYS_CSR) return QUEUE_NONE;
    return QUEUE_INT;
  endfunction

  logic is_system [Width];
  always_comb begin
    for (int unsigned i = 0; i < Width; i++) begin
      queue_o[i]      = queue_of(ctrl_i[i], faulty_i[i]);
      is_system[i]    = ctrl_i[i].system != SYS_NONE && !faulty_i[i];
      checkpoint_o[i] = !faulty_i[i] && (ctrl_i[i].flow == FLOW_BRANCH || ctrl_i[i].flow == FLOW_JALR);
    end
  end

  logic draining;
  logic [Width-1:0] fits;
  o3_stall_e why [Width];
  always_comb begin
    logic [7:0] rob, integer_queue, muldiv, mem, loads, stores, registers, checkpoints;
    // What the instructions up to this one need.
    rob = 8'd0;
    integer_queue = 8'd0;
    muldiv = 8'd0;
    mem = 8'd0;
    loads = 8'd0;
    stores = 8'd0;
    registers = 8'd0;
    checkpoints = 8'd0;
    for (int unsigned i = 0; i < Width; i++) begin
      rob           = rob + 8'd1;
      integer_queue = integer_queue + 8'(queue_o[i] == QUEUE_INT);
      muldiv        = muldiv + 8'(queue_o[i] == QUEUE_MULDIV);
      mem           = mem + 8'(queue_o[i] == QUEUE_MEM);
      loads         = loads + 8'(queue_o[i] == QUEUE_MEM && ctrl_i[i].load);
      stores        = stores + 8'(queue_o[i] == QUEUE_MEM && ctrl_i[i].store);
      registers     = registers + 8'(ctrl_i[i].rd_write && !faulty_i[i]);
      checkpoints   = checkpoints + 8'(checkpoint_o[i]);
      fits[i] = 1'b1;
      why[i]  = O3_SERIALIZE;
      if (draining || (i > 0 && is_system[0])) fits[i] = 1'b0;
      else if (rob > rob_free_i) {fits[i], why[i]} = {1'b0, O3_ROB_FULL};
      else if (integer_queue > int_free_i) {fits[i], why[i]} = {1'b0, O3_INT_QUEUE_FULL};
      else if (muldiv > muldiv_free_i) {fits[i], why[i]} = {1'b0, O3_MULDIV_QUEUE_FULL};
      else if (mem > mem_free_i) {fits[i], why[i]} = {1'b0, O3_MEM_QUEUE_FULL};
      else if (loads > loads_free_i) {fits[i], why[i]} = {1'b0, O3_LOAD_QUEUE_FULL};
      else if (stores > stores_free_i) {fits[i], why[i]} = {1'b0, O3_STORE_QUEUE_FULL};
      else if (registers > registers_free_i) {fits[i], why[i]} = {1'b0, O3_FREE_LIST_EMPTY};
      else if (checkpoints > checkpoints_free_i) {fits[i], why[i]} = {1'b0, O3_CHECKPOINTS_FULL};
    end
  end

  logic first;
  assign first         = valid_i[0] && fits[0] && !hold_i;
  assign dispatch_o[0] = first;
  assign dispatch_o[1] = first && valid_i[1] && fits[1];
  assign blocked_o     = (valid_i[0] && !fits[0]) || (valid_i[0] && valid_i[1] && !fits[1]);
  assign reason_o      = !fits[0] ? why[0] : why[1];

  always_ff @(posedge clk_i) begin
    if (rst_i || hold_i) draining <= 1'b0;
    else if ((dispatch_o[0] && is_system[0]) || (dispatch_o[1] && is_system[1])) draining <= 1'b1;
    else if (empty_i) draining <= 1'b0;
  end
endmodule
