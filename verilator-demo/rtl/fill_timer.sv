// Memory as a cache sees it where nobody else uses it: every line comes after the same time.
module fill_timer #(
    parameter int unsigned MissPenalty = 12  // cycles that an access waits for its line
) (
    input  logic clk_i,
    input  logic rst_i,
    input  logic miss_i,
    output logic done_o
);
  initial if (MissPenalty < 2) $fatal(1, "MissPenalty must be at least 2");

  logic [15:0] remaining;  // cycles until the line is there; 0: none is to come
  assign done_o = remaining == 16'd1;

  always_ff @(posedge clk_i) begin
    if (rst_i) remaining <= 16'd0;
    else if (miss_i) remaining <= 16'(MissPenalty - 1);  // the first of them is this one
    else if (remaining != 16'd0) remaining <= remaining - 16'd1;
  end
endmodule
