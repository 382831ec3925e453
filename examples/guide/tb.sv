module tb;
  logic clk = 1'b0, rst = 1'b1, halted;
  int   cycles = 0;

  core dut (.clk, .rst, .halted);

  always #500ps clk = !clk;

  initial begin
    repeat (2) @(negedge clk);
    rst = 1'b0;
  end

  always @(posedge clk) begin
    if (!rst) cycles <= cycles + 1;
    if (halted) begin
      $display("a1 = %0d after %0d cycles", dut.x[11], cycles);
      $finish;
    end
  end
endmodule
