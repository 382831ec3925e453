// Queue of four places between two clocks. Each side knows the other's pointer two cycles late, as a Gray code through
// two flip-flops, so what it sees of the other side is old but never wrong.
module queue (
    input  logic        rst_i,
    input  logic        write_clk_i,
    input  logic        write_i,       // only when it is not full
    input  logic [31:0] value_i,
    output logic        full_o,
    output logic [1:0]  tail_o,        // slot that a write goes to
    input  logic        read_clk_i,
    input  logic        read_i,        // only when it is not empty
    output logic [31:0] value_o,
    output logic        empty_o,
    output logic [1:0]  head_o         // slot that a read comes from
);
  // Pointers have a bit more than slots need, which distinguishes full from empty.
  typedef logic [2:0] pointer_t;
  function automatic pointer_t to_gray(input pointer_t binary);
    return binary ^ (binary >> 1);
  endfunction

  logic [31:0] slots [4];
  pointer_t tail, tail_gray, tail_seen, tail_late;
  pointer_t head, head_gray, head_seen, head_late;

  // Full when the pointers differ by four, which as Gray codes is: in the two highest bits.
  assign full_o  = tail_gray == (head_late ^ 3'b110);
  assign empty_o = head_gray == tail_late;
  assign tail_o  = tail[1:0];
  assign head_o  = head[1:0];
  assign value_o = slots[head_o];

  always_ff @(posedge write_clk_i) begin
    if (rst_i) begin
      tail      <= '0;
      tail_gray <= '0;
      head_seen <= '0;
      head_late <= '0;
    end else begin
      if (write_i) begin
        slots[tail_o] <= value_i;
        tail          <= tail + 3'd1;
        tail_gray     <= to_gray(tail + 3'd1);
      end
      head_seen <= head_gray;
      head_late <= head_seen;
    end
  end

  always_ff @(posedge read_clk_i) begin
    if (rst_i) begin
      head      <= '0;
      head_gray <= '0;
      tail_seen <= '0;
      tail_late <= '0;
    end else begin
      if (read_i) begin
        head      <= head + 3'd1;
        head_gray <= to_gray(head + 3'd1);
      end
      tail_seen <= tail_gray;
      tail_late <= tail_seen;
    end
  end
endmodule
