// The vendor's build writes these wrappers; here they are the generic ones.
module prim_buf #(parameter int Width = 1) (input [Width-1:0] in_i, output logic [Width-1:0] out_o); assign out_o = in_i; endmodule
module prim_and2 #(parameter int Width = 1) (input [Width-1:0] in0_i, input [Width-1:0] in1_i, output logic [Width-1:0] out_o); assign out_o = in0_i & in1_i; endmodule
module prim_flop #(parameter int Width = 1, parameter logic [Width-1:0] ResetValue = 0) (input clk_i, input rst_ni, input [Width-1:0] d_i, output logic [Width-1:0] q_o);
  always_ff @(posedge clk_i or negedge rst_ni) if (!rst_ni) q_o <= ResetValue; else q_o <= d_i;
endmodule
module prim_clock_gating #(parameter bit NoFpgaGate = 0, parameter bit FpgaBufGlobal = 1) (input clk_i, input en_i, input test_en_i, output logic clk_o);
  logic en; always_latch if (!clk_i) en = en_i | test_en_i; assign clk_o = en & clk_i;
endmodule
module prim_clock_mux2 #(parameter bit NoFpgaBufG = 0) (input clk0_i, input clk1_i, input sel_i, output logic clk_o); assign clk_o = sel_i ? clk1_i : clk0_i; endmodule
