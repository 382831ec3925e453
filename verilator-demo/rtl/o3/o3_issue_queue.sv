// An issue queue: instructions wait here for their operands and leave oldest first, up to Ports in a cycle. An operand is
// ready as soon as its value will be there when the instruction executes. After a load that counts on a hit and misses,
// instructions that were issued in the same cycle stay in the queue and are issued again.
module o3_issue_queue
  import rv_pkg::*;
  import o3_pkg::*;
#(
    parameter int unsigned Entries    = 16,
    parameter int unsigned Ports      = 1,
    parameter int unsigned PhysRegs   = 80,
    parameter int unsigned RobEntries = 48
) (
    input  logic       clk_i,
    input  logic       rst_i,
    input  logic [1:0] push_i,           // of the two instructions dispatched
    input  uop_t       uop_i [Width],
    output logic [7:0] free_o,
    input  logic [PhysRegs-1:0] ready_i,
    input  logic       cancel_i,         // this register is not ready after all
    input  preg_t      cancel_preg_i,
    input  logic       open_i [Ports],   // the unit at the port can take an instruction
    output uop_t       issue_o [Ports],
    output logic [Entries-1:0] replays_o,  // issued in vain
    input  rob_t       head_i,
    input  kill_t      kill_i,
    // for observers: what is in which slot
    output logic       valid_o [Entries],
    output uop_t       entry_o [Entries],
    output logic [Entries-1:0] leaves_o, // issued, not killed
    output logic [7:0] slot_o [Width]    // where the instructions pushed go
);
  initial if (Entries < 2 || Entries > 64) $fatal(1, "an issue queue must have 2 to 64 entries");

  typedef logic [$clog2(Entries)-1:0]  slot_t;
  typedef logic [$clog2(PhysRegs)-1:0] index_t;

  uop_t               entries [Entries];
  logic [Entries-1:0] valid;

  // Only the first port has what branches, jumps and CSR instructions need.
  function automatic logic fits(input uop_t uop, input int unsigned port);
    return port == 0 || (uop.ctrl.flow == FLOW_NONE && uop.ctrl.system == SYS_NONE);
  endfunction

  logic [Entries-1:0] ready, killed, cancelled;
  rob_t               age [Entries];
  always_comb begin
    for (int unsigned e = 0; e < Entries; e++) begin
      ready[e] = valid[e]
          && (!entries[e].ctrl.src.uses_rs1 || ready_i[index_t'(entries[e].ps1)])
          && (!entries[e].ctrl.src.uses_rs2 || ready_i[index_t'(entries[e].ps2)]);
      cancelled[e] = cancel_i
          && ((entries[e].ctrl.src.uses_rs1 && entries[e].ps1 == cancel_preg_i)
              || (entries[e].ctrl.src.uses_rs2 && entries[e].ps2 == cancel_preg_i));
      age[e]    = age_of(entries[e].rob, head_i, RobEntries);
      killed[e] = kill_i.valid && (kill_i.all || age[e] > age_of(kill_i.rob, head_i, RobEntries));
    end
  end

  // ---- select
  logic [Entries-1:0] selected;
  always_comb begin
    logic       found;
    slot_t      best;
    selected = '0;
    for (int unsigned p = 0; p < Ports; p++) begin
      found = 1'b0;
      best  = '0;
      for (int unsigned e = 0; e < Entries; e++) begin
        if (ready[e] && !selected[e] && fits(entries[e], p) && open_i[p] && (!found || age[e] < age[best])) begin
          found = 1'b1;
          best  = slot_t'(e);
        end
      end
      issue_o[p]       = entries[best];
      issue_o[p].valid = found && !cancelled[best] && !killed[best];
      if (found) selected[best] = 1'b1;
    end
  end

  // ---- where new ones go: the lowest free slots
  logic [7:0] first, second;
  always_comb begin
    first  = 8'd0;
    second = 8'd0;
    free_o = 8'd0;
    for (int unsigned e = 0; e < Entries; e++) begin
      if (!valid[e]) begin
        if (free_o == 8'd0) first = 8'(e);
        if (free_o == 8'd1) second = 8'(e);
        free_o = free_o + 8'd1;
      end
    end
  end
  assign slot_o[0] = first;
  assign slot_o[1] = push_i[0] ? second : first;

  assign leaves_o  = selected & ~cancelled & ~killed;
  assign replays_o = selected & cancelled & ~killed;
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      valid <= '0;
    end else begin
      valid <= valid & ~leaves_o & ~killed;
      for (int unsigned i = 0; i < Width; i++) begin
        if (push_i[i]) begin
          entries[slot_t'(slot_o[i])] <= uop_i[i];
          valid[slot_t'(slot_o[i])]   <= 1'b1;
        end
      end
    end
  end

  always_comb begin
    for (int unsigned e = 0; e < Entries; e++) begin
      valid_o[e] = valid[e];
      entry_o[e] = entries[e];
    end
  end
endmodule
