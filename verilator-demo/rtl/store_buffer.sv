// Stores that have passed the memory stage and wait for the data cache, oldest first. Loads look here before they look
// into memory. An entry holds the bytes that one store writes into one word.
module store_buffer
  import rv_pkg::*;
#(
    parameter int unsigned Depth = 4
) (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic         push_i,    // only when it is not full
    input  store_t       store_i,
    output logic         full_o,
    output logic         empty_o,
    // bytes of a word that waiting stores write, the youngest winning
    input  logic [31:0]  load_addr_i,
    output logic [3:0]   load_strobe_o,
    output logic [31:0]  load_data_o,
    // the oldest store, and whether it has been written
    output store_t       oldest_o,
    input  logic         pop_i,
    output store_probe_t probe_o
);
  localparam int unsigned PointerBits = $clog2(Depth);
  initial if (Depth < 2 || Depth > 128 || 2 ** PointerBits != Depth) $fatal(1, "Depth must be a power of two, 2 to 128");
  typedef logic [PointerBits-1:0] pointer_t;

  store_t   entries [Depth];
  pointer_t head, tail;
  logic [7:0] count;
  assign full_o   = 32'(count) == Depth;
  assign empty_o  = count == 8'd0;
  assign oldest_o = entries[head];

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      head  <= '0;
      tail  <= '0;
      count <= 8'd0;
    end else begin
      if (push_i) begin
        entries[tail] <= store_i;
        tail          <= tail + pointer_t'(1);
      end
      if (pop_i) head <= head + pointer_t'(1);
      count <= count + {7'd0, push_i} - {7'd0, pop_i};
    end
  end

  always_comb begin
    pointer_t at;
    load_strobe_o = 4'd0;
    load_data_o   = 32'd0;
    for (int unsigned age = 0; age < Depth; age++) begin
      at = head + pointer_t'(age);
      if (age < 32'(count) && entries[at].addr == load_addr_i) begin
        for (int unsigned lane = 0; lane < 4; lane++) begin
          if (entries[at].strobe[lane]) begin
            load_strobe_o[lane]      = 1'b1;
            load_data_o[8*lane+:8] = entries[at].data[8*lane+:8];
          end
        end
      end
    end
  end

  assign probe_o = '{push: push_i, pop: pop_i, head: 8'(head), tail: 8'(tail)};
endmodule
