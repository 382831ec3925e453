// Multiplier and divider. An operation waits in execute until its result is there: MulLatency cycles for a
// multiplication, 2 + 32 / DivBitsPerCycle for a division.
module muldiv #(
    parameter int unsigned MulLatency      = 3,
    parameter int unsigned DivBitsPerCycle = 2
) (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic        valid_i,   // an operation is in execute
    input  logic        leave_i,   // it moves on or is squashed at the end of the cycle
    input  logic [2:0]  funct3_i,
    input  logic [31:0] a_i,
    input  logic [31:0] b_i,
    output logic        wait_o,
    output logic [31:0] result_o
);
  localparam int unsigned DivSteps = 32 / DivBitsPerCycle;
  initial begin
    if (MulLatency < 2) $fatal(1, "MulLatency must be at least 2");
    if (DivBitsPerCycle < 1 || 32 % DivBitsPerCycle != 0) $fatal(1, "DivBitsPerCycle must divide 32");
  end

  typedef enum logic [1:0] { IDLE, BUSY, DONE } state_e;
  state_e     state;
  logic [7:0] remaining;
  logic       divides;
  assign divides = funct3_i[2];
  assign wait_o  = valid_i && state != DONE;

  // ---- multiplication: operands made 33 bits wide, signed or not
  logic signed [32:0] factor_a, factor_b;
  logic signed [63:0] product;
  assign factor_a = {a_i[31] && funct3_i[1:0] != 2'b11, a_i};
  assign factor_b = {b_i[31] && !funct3_i[1], b_i};

  // ---- division: of absolute values, the most significant bits first
  logic        is_signed, minus_a, minus_b;
  logic [31:0] size_a, size_b;
  assign is_signed = !funct3_i[0];
  assign minus_a   = is_signed && a_i[31];
  assign minus_b   = is_signed && b_i[31];
  assign size_a    = minus_a ? -a_i : a_i;
  assign size_b    = minus_b ? -b_i : b_i;

  logic [31:0] quotient, remainder, divisor;  // quotient: the dividend's bits not used yet, then the quotient's
  logic [31:0] next_quotient, next_remainder;
  always_comb begin
    logic [32:0] rest;
    next_quotient  = quotient;
    next_remainder = remainder;
    for (int unsigned i = 0; i < DivBitsPerCycle; i++) begin
      rest = {next_remainder, next_quotient[31]};
      next_quotient  = {next_quotient[30:0], rest >= {1'b0, divisor}};
      if (rest >= {1'b0, divisor}) rest = rest - {1'b0, divisor};
      next_remainder = rest[31:0];
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      state     <= IDLE;
      remaining <= 8'd0;
      product   <= 64'd0;
      quotient  <= 32'd0;
      remainder <= 32'd0;
      divisor   <= 32'd0;
    end else if (leave_i) begin
      state <= IDLE;
    end else if (valid_i && state == IDLE) begin
      state     <= (!divides && MulLatency == 2) ? DONE : BUSY;
      remaining <= divides ? 8'(DivSteps) : 8'(MulLatency - 2);
      product   <= 64'(factor_a * factor_b);
      quotient  <= size_a;
      remainder <= 32'd0;
      divisor   <= size_b;
    end else if (state == BUSY) begin
      quotient  <= next_quotient;
      remainder <= next_remainder;
      remaining <= remaining - 8'd1;
      if (remaining == 8'd1) state <= DONE;
    end
  end

  // Division by zero leaves all ones and the dividend, whatever the signs.
  logic [31:0] signed_quotient, signed_remainder;
  assign signed_quotient  = (minus_a != minus_b && b_i != 32'd0) ? -quotient : quotient;
  assign signed_remainder = minus_a ? -remainder : remainder;
  always_comb begin
    unique case (funct3_i)
      3'b000:                 result_o = product[31:0];
      3'b001, 3'b010, 3'b011: result_o = product[63:32];
      3'b100, 3'b101:         result_o = signed_quotient;
      default:                result_o = signed_remainder;
    endcase
  end
endmodule
