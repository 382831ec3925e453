// Register renaming: the map from registers of the program to physical ones, the list of free physical registers, and
// checkpoints of both, one for each branch in flight. The free list is a ring: registers are taken at its head, and those
// that a committed instruction has replaced return at its tail. What wrong paths took comes back by moving the head.
module o3_rename
  import rv_pkg::*;
  import o3_pkg::*;
#(
    parameter int unsigned PhysRegs    = 80,
    parameter int unsigned Checkpoints = 16
) (
    input  logic       clk_i,
    input  logic       rst_i,
    // the two instructions to be renamed, and which of them are dispatched
    input  ctrl_t      ctrl_i [Width],
    input  logic       checkpoint_i [Width],  // it needs one
    input  logic [1:0] dispatch_i,
    output preg_t      ps1_o [Width],
    output preg_t      ps2_o [Width],
    output preg_t      pd_o [Width],          // valid if it writes a register
    output preg_t      old_pd_o [Width],
    output seq_t       checkpoint_o [Width],
    output logic [7:0] free_o,
    output logic [7:0] free_next_o,           // in the next cycle
    output logic [7:0] checkpoints_free_o,
    // commit
    input  logic [1:0] commit_i,
    input  rob_entry_t committed_i [Width],
    // squash
    input  kill_t      kill_i,
    input  seq_t       kill_checkpoint_i,
    // for observers
    output preg_t      committed_map_o [32]
);
  localparam int unsigned Free           = PhysRegs - 32;
  localparam int unsigned CheckpointBits = $clog2(Checkpoints);
  initial begin
    if (PhysRegs < 36 || PhysRegs > 128) $fatal(1, "PhysRegs must be 36 to 128");
    if (Checkpoints < 2 || Checkpoints > 64 || 2 ** CheckpointBits != Checkpoints) begin
      $fatal(1, "Checkpoints must be a power of two, 2 to 64");
    end
  end
  typedef preg_t [31:0] map_t;
  typedef logic [CheckpointBits-1:0] slot_t;
  typedef logic [$clog2(Free)-1:0]   index_t;
  typedef struct packed {
    map_t names;
    preg_t head;
    seq_t taken;
  } state_t;

  map_t   names, committed_map;
  preg_t  free_list [Free];
  preg_t  head, tail;       // tail is also where the head would be if nothing were in flight
  seq_t   taken, returned;  // registers taken from the list and returned to it, counted
  state_t checkpoints [Checkpoints];
  seq_t   oldest, next;

  function automatic preg_t after(input preg_t index, input logic [1:0] distance);
    logic [7:0] sum;
    sum = {1'b0, index} + {6'd0, distance};
    return preg_t'(sum >= 8'(Free) ? sum - 8'(Free) : sum);
  endfunction

  assign free_o             = 8'(Free) - (taken - returned);
  assign checkpoints_free_o = 8'(Checkpoints) - (next - oldest);

  // ---- the state after none, one and both of the instructions
  state_t after_none, after_first, after_both;
  function automatic state_t renamed(input state_t from, input logic writes, input logic [4:0] rd);
    state_t to;
    to = from;
    if (writes) begin
      to.names[rd] = free_list[index_t'(from.head)];
      to.head    = after(from.head, 2'd1);
      to.taken   = from.taken + 8'd1;
    end
    return to;
  endfunction
  assign after_none  = '{names: names, head: head, taken: taken};
  assign after_first = renamed(after_none, ctrl_i[0].rd_write, ctrl_i[0].rd);
  assign after_both  = renamed(after_first, ctrl_i[1].rd_write, ctrl_i[1].rd);

  assign ps1_o[0]        = after_none.names[ctrl_i[0].src.rs1];
  assign ps2_o[0]        = after_none.names[ctrl_i[0].src.rs2];
  assign old_pd_o[0]     = after_none.names[ctrl_i[0].rd];
  assign pd_o[0]         = free_list[index_t'(after_none.head)];
  assign ps1_o[1]        = after_first.names[ctrl_i[1].src.rs1];
  assign ps2_o[1]        = after_first.names[ctrl_i[1].src.rs2];
  assign old_pd_o[1]     = after_first.names[ctrl_i[1].rd];
  assign pd_o[1]         = free_list[index_t'(after_first.head)];
  assign checkpoint_o[0] = next;
  assign checkpoint_o[1] = checkpoint_i[0] ? next + 8'd1 : next;

  // ---- commit
  map_t  map_committed;
  preg_t tail_committed;
  seq_t  returned_committed, oldest_committed;
  always_comb begin
    map_committed      = committed_map;
    tail_committed     = tail;
    returned_committed = returned;
    oldest_committed   = oldest;
    for (int unsigned i = 0; i < Width; i++) begin
      if (commit_i[i] && committed_i[i].rd_write) begin
        map_committed[committed_i[i].rd] = committed_i[i].pd;
        tail_committed     = after(tail_committed, 2'd1);
        returned_committed = returned_committed + 8'd1;
      end
      if (commit_i[i] && committed_i[i].checkpoint) oldest_committed = oldest_committed + 8'd1;
    end
  end

  state_t restored;
  assign restored = checkpoints[slot_t'(kill_checkpoint_i)];

  seq_t taken_next;
  always_comb begin
    taken_next = taken;
    if (kill_i.valid) taken_next = kill_i.all ? returned_committed : restored.taken;
    else if (dispatch_i[0]) taken_next = dispatch_i[1] ? after_both.taken : after_first.taken;
  end
  assign free_next_o = 8'(Free) - (taken_next - returned_committed);

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      for (int unsigned i = 0; i < 32; i++) begin
        names[i]           <= preg_t'(i);
        committed_map[i] <= preg_t'(i);
      end
      for (int unsigned i = 0; i < Free; i++) free_list[i] <= preg_t'(32 + i);
      head     <= '0;
      tail     <= '0;
      taken    <= '0;
      returned <= '0;
      oldest   <= '0;
      next     <= '0;
    end else begin
      committed_map <= map_committed;
      tail          <= tail_committed;
      returned      <= returned_committed;
      oldest        <= oldest_committed;
      if (commit_i[0] && committed_i[0].rd_write) free_list[index_t'(tail)] <= committed_i[0].old_pd;
      if (commit_i[1] && committed_i[1].rd_write) begin
        free_list[index_t'(committed_i[0].rd_write ? after(tail, 2'd1) : tail)] <= committed_i[1].old_pd;
      end
      if (kill_i.valid && kill_i.all) begin
        names <= map_committed;
        head  <= tail_committed;
        taken <= returned_committed;
        next  <= oldest_committed;
      end else if (kill_i.valid) begin
        names <= restored.names;
        head  <= restored.head;
        taken <= restored.taken;
        next  <= kill_checkpoint_i + 8'd1;
      end else if (dispatch_i[0]) begin
        {names, head, taken} <= dispatch_i[1] ? after_both : after_first;
        if (checkpoint_i[0]) checkpoints[slot_t'(next)] <= after_first;
        if (dispatch_i[1] && checkpoint_i[1]) checkpoints[slot_t'(checkpoint_o[1])] <= after_both;
        next <= next + 8'(checkpoint_i[0]) + 8'(dispatch_i[1] && checkpoint_i[1]);
      end
    end
  end

  always_comb for (int unsigned i = 0; i < 32; i++) committed_map_o[i] = committed_map[i];
endmodule
