// One trace, two processes: each domain records its own cycle, from begin to end in one go, whenever its clock rises. Where
// both clocks rise at once there are two frames of the same time.
module tracer (
    input logic        rst,
    // the fast domain
    input logic        fast_clk,
    input logic        send,
    input logic        full,
    input logic [31:0] next,
    input logic [1:0]  tail,
    // the slow domain
    input logic        slow_clk,
    input logic        receive,
    input logic        empty,
    input logic [31:0] received,
    input logic [1:0]  head
);
  import uscope_pkg::*;
  import two_clocks_trace_pkg::*;

  chandle w;
  initial w = two_clocks_open("two_clocks");
  final uscope_close(w);

  always_ff @(posedge fast_clk) if (!rst) record_producer();
  always_ff @(posedge slow_clk) if (!rst) record_consumer();

  function automatic byte unsigned next_slot(input logic [1:0] slot);
    return {6'd0, slot + 2'd1};
  endfunction

  function automatic void record_producer();
    uscope_begin_cycle(w, $time);
    producer_cycles_add(w, 1);
    if (full) cycles_full_add(w, 1);
    if (send) begin
      ev_send(w, next);
      sent_add(w, 1);
      queue_set_value(w, 16'(tail), next);
      queue_prop_tail(w, next_slot(tail));
    end
    uscope_end_cycle(w);
  endfunction

  function automatic void record_consumer();
    uscope_begin_cycle(w, $time);
    consumer_cycles_add(w, 1);
    if (empty) cycles_empty_add(w, 1);
    if (receive) begin
      ev_receive(w, received);
      received_add(w, 1);
      queue_clear(w, 16'(head));
      queue_prop_head(w, next_slot(head));
    end
    uscope_end_cycle(w);
  endfunction
endmodule
