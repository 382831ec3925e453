// Bound into the core, which stays as it is: the ports take the core's signals of the same names.
module tracer (
    input logic        clk, rst, halted,
    input logic [31:0] pc, inst,
    input logic        stall, redirect,
    input logic        wb_valid,
    input logic [4:0]  wb_rd,
    input logic [31:0] wb_value
);
  import uscope_pkg::*;
  import core_trace_pkg::*;

  chandle w;
  initial w = core_open("core0");
  final uscope_close(w);

  // Which entity is in which stage: moved on as the core's pipeline registers are. Slots are given out in turn.
  typedef logic [3:0] entity_t;
  entity_t         fetch_id, ex_id, wb_id;
  logic            fetch_new, ex_new;       // came with the last edge
  longint unsigned cycle;

  // What the last edge did is visible in the cycle after it, and recorded there.
  logic            retired, squashed, written;
  entity_t         retired_id, squashed_id;
  logic [4:0]      rd;
  logic [31:0]     value;

  always_ff @(posedge clk) begin
    if (rst) begin
      cycle     <= 0;
      fetch_id  <= 0;
      fetch_new <= 1'b1;
      ex_new    <= 1'b0;
      {retired, squashed, written} <= '0;
    end else if (!halted || retired) begin
      record_cycle();
      cycle       <= cycle + 1;
      fetch_new   <= !stall;
      ex_new      <= !stall && !redirect;
      if (!stall) {fetch_id, ex_id} <= {fetch_id + 4'd1, fetch_id};
      wb_id       <= ex_id;
      retired     <= wb_valid && !halted;
      retired_id  <= wb_id;
      written     <= wb_valid && wb_rd != 0;
      rd          <= wb_rd;
      value       <= wb_value;
      squashed    <= redirect;
      squashed_id <= fetch_id;
    end
  end

  // One frame: the cycle that the clock edge ends.
  function automatic void record_cycle();
    uscope_begin_cycle(w, cycle * PERIOD_PS_CLK);
    if (written) regs_set_value(w, 16'(rd), value);
    if (retired) begin
      entities_clear(w, 16'(retired_id));
      committed_insns_add(w, 1);
    end
    if (squashed) begin
      ev_flush(w, 32'(squashed_id), FLUSH_REASON_MISPREDICT);
      entities_clear(w, 16'(squashed_id));
    end
    if (!halted) begin
      if (fetch_new) begin
        entities_put(w, 16'(fetch_id), 32'(fetch_id), 64'(pc), inst);
        ev_stage_transition(w, 32'(fetch_id), PIPELINE_STAGE_FETCH);
      end
      if (ex_new) ev_stage_transition(w, 32'(ex_id), PIPELINE_STAGE_EXECUTE);
      if (wb_valid) ev_stage_transition(w, 32'(wb_id), PIPELINE_STAGE_WRITEBACK);
      if (stall) ev_stall(w, STALL_REASON_MULTIPLY);
      cycles_add(w, 1);
    end
    uscope_end_cycle(w);
  endfunction
endmodule

bind core tracer u_tracer (.*);
