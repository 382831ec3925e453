module tb;
  bit   clk;
  logic rst = 1'b1, halted;
  int   cycles;

  core dut (.clk, .rst, .halted);

  initial forever #500ps clk = !clk;

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
