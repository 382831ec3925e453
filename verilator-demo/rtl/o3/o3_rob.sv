// The reorder buffer: all instructions between dispatch and commit, in program order.
module o3_rob
  import rv_pkg::*;
  import o3_pkg::*;
#(
    parameter int unsigned Entries = 48
) (
    input  logic        clk_i,
    input  logic        rst_i,
    // dispatch
    input  logic [1:0]  dispatch_i,
    input  rob_entry_t  entry_i [Width],
    input  logic        finished_i [Width],  // nothing to execute
    input  exc_t        exc_i [Width],
    output rob_t        tail_o,
    output logic [7:0]  free_o,
    // execution
    input  completion_t completion_i [NumCompletions],
    // commit: the oldest two
    output rob_t        head_o,
    output logic [7:0]  count_o,
    output rob_entry_t  oldest_o [Width],
    output logic        valid_o [Width],
    output logic        done_o [Width],
    output exc_t        exc_o [Width],
    output logic        device_o [Width],
    input  logic [1:0]  commit_i,
    input  kill_t       kill_i,
    output logic [7:0]  killed_o             // entries that a kill empties
);
  initial if (Entries < 4 || Entries > 127) $fatal(1, "the reorder buffer must have 4 to 127 entries");

  typedef logic [$clog2(Entries)-1:0] slot_t;
  rob_entry_t         entries [Entries];
  exc_t               exceptions [Entries];
  logic [Entries-1:0] done, device;
  rob_t               head, tail;
  logic [7:0]         count;
  assign head_o  = head;
  assign tail_o  = tail;
  assign count_o = count;
  assign free_o  = 8'(Entries) - count;

  always_comb begin
    slot_t at;
    for (int unsigned i = 0; i < Width; i++) begin
      at          = slot_t'(rob_after(head, rob_t'(i), Entries));
      oldest_o[i] = entries[at];
      valid_o[i]  = 32'(count) > i;
      done_o[i]   = valid_o[i] && done[at];
      exc_o[i]    = exceptions[at];
      device_o[i] = device[at];
    end
  end

  logic [7:0] kept;  // of a kill; younger ones go
  assign kept     = kill_i.all ? 8'd0 : 8'(age_of(kill_i.rob, head, Entries)) + 8'd1;
  assign killed_o = kill_i.valid ? count - kept - 8'(kill_i.all ? $countones(commit_i) : 0) : 8'd0;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      head  <= '0;
      tail  <= '0;
      count <= 8'd0;
      done  <= '0;
    end else begin
      for (int unsigned i = 0; i < NumCompletions; i++) begin
        if (completion_i[i].valid) begin
          done[slot_t'(completion_i[i].rob)]       <= 1'b1;
          device[slot_t'(completion_i[i].rob)]     <= completion_i[i].device;
          exceptions[slot_t'(completion_i[i].rob)] <= completion_i[i].exc;
          entries[slot_t'(completion_i[i].rob)].kind.taken     <= completion_i[i].taken;
          entries[slot_t'(completion_i[i].rob)].kind.forwarded <= completion_i[i].forwarded;
        end
      end
      for (int unsigned i = 0; i < Width; i++) begin
        if (dispatch_i[i]) begin
          entries[slot_t'(rob_after(tail, rob_t'(i), Entries))]    <= entry_i[i];
          exceptions[slot_t'(rob_after(tail, rob_t'(i), Entries))] <= exc_i[i];
          done[slot_t'(rob_after(tail, rob_t'(i), Entries))]       <= finished_i[i];
          device[slot_t'(rob_after(tail, rob_t'(i), Entries))]     <= 1'b0;
        end
      end
      head <= rob_after(head, rob_t'($countones(commit_i)), Entries);
      if (kill_i.valid && kill_i.all) begin
        tail  <= rob_after(head, rob_t'($countones(commit_i)), Entries);
        count <= 8'd0;
      end else if (kill_i.valid) begin
        tail  <= rob_after(kill_i.rob, rob_t'(1), Entries);
        count <= kept - 8'($countones(commit_i));
      end else begin
        tail  <= rob_after(tail, rob_t'($countones(dispatch_i)), Entries);
        count <= count + 8'($countones(dispatch_i)) - 8'($countones(commit_i));
      end
    end
  end
endmodule
