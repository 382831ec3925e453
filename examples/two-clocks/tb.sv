// Two clock domains, 1000 ps and 2500 ps, and a queue between them. Their edges coincide every 5000 ps.
module tb;
  localparam int Values = 100;

  // Both rise at multiples of their periods.
  logic rst = 1'b1, fast_clk = 1'b1, slow_clk = 1'b1;
  initial forever #500 fast_clk = !fast_clk;
  initial forever #1250 slow_clk = !slow_clk;
  initial #6000 rst = 1'b0;

  logic full, empty;
  logic [1:0] tail, head;
  logic [31:0] received;

  // The producer sends 0, 1, 2, ... as fast as the queue takes them.
  logic send;
  logic [31:0] next;
  assign send = !rst && !full && next < Values;
  always_ff @(posedge fast_clk) begin
    if (rst) next <= 0;
    else if (send) next <= next + 1;
  end

  // The consumer takes one in each of its cycles.
  logic receive;
  int   count;
  assign receive = !rst && !empty;
  always_ff @(posedge slow_clk) begin
    if (rst) count <= 0;
    else if (receive) begin
      if (received != count) $fatal(1, "received %0d instead of %0d", received, count);
      count <= count + 1;
      if (count == Values - 1) begin
        $display("%0d values received at %0t ps", Values, $time);
        $finish;
      end
    end
  end

  queue u_queue (
      .rst_i(rst),
      .write_clk_i(fast_clk), .write_i(send), .value_i(next), .full_o(full), .tail_o(tail),
      .read_clk_i(slow_clk), .read_i(receive), .value_o(received), .empty_o(empty), .head_o(head)
  );

  tracer u_tracer (.rst, .fast_clk, .slow_clk, .send, .full, .next, .tail, .receive, .empty, .received, .head);
endmodule
