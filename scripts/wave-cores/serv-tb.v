// SERV in its own small system; writes wave.vcd.
`timescale 1ns/1ps
module tb; reg wb_clk = 0, wb_rst = 1; wire q; always #31 wb_clk <= !wb_clk; initial #200 wb_rst <= 0;
 servant_sim #(.memfile("blinky.hex"), .memsize(8192), .with_csr(1)) dut(.wb_clk(wb_clk), .wb_rst(wb_rst), .q(q));
 initial begin $dumpfile("wave.vcd"); $dumpvars(0, tb); #400000 $finish; end
endmodule
