// Requests of one hart on their way to memory, in order.
module bus_queue
  import bus_pkg::*;
#(
    parameter int unsigned Depth = 2
) (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic         valid_i,
    output logic         ready_o,
    input  bus_request_t request_i,
    output logic         valid_o,
    output bus_request_t request_o,
    input  logic         pop_i
);
  localparam int unsigned PointerBits = $clog2(Depth);
  initial if (Depth < 2 || 2 ** PointerBits != Depth) $fatal(1, "Depth must be a power of two, at least 2");
  typedef logic [PointerBits-1:0] pointer_t;

  bus_request_t         entries [Depth];
  pointer_t             head;
  logic [PointerBits:0] count;
  assign ready_o   = 32'(count) != Depth;
  assign valid_o   = count != '0;
  assign request_o = entries[head];

  logic push;
  assign push = valid_i && ready_o;
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      head  <= '0;
      count <= '0;
    end else begin
      if (push) entries[head + pointer_t'(count)] <= request_i;
      if (pop_i) head <= head + pointer_t'(1);
      count <= count + {{PointerBits{1'b0}}, push} - {{PointerBits{1'b0}}, pop_i};
    end
  end
endmodule
