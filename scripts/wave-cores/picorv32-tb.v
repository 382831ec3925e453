// PicoRV32 with a memory; ends when the core traps.
`timescale 1ns/1ps
module tb;
  reg clk = 0; reg resetn = 0; wire trap;
  always #5 clk = ~clk;
  reg [7:0] count = 0;
  always @(posedge clk) begin if (count < 5) count <= count + 1; resetn <= count >= 4; end
  wire mem_valid, mem_instr; reg mem_ready = 0; wire [31:0] mem_addr, mem_wdata; wire [3:0] mem_wstrb; reg [31:0] mem_rdata;
  reg [31:0] memory [0:4095];
  initial $readmemh("prog.hex", memory);
  always @(posedge clk) begin
    mem_ready <= mem_valid && !mem_ready;
    mem_rdata <= memory[mem_addr[13:2]];
    if (mem_valid && !mem_ready) begin
      if (mem_wstrb[0]) memory[mem_addr[13:2]][7:0] <= mem_wdata[7:0];
      if (mem_wstrb[1]) memory[mem_addr[13:2]][15:8] <= mem_wdata[15:8];
      if (mem_wstrb[2]) memory[mem_addr[13:2]][23:16] <= mem_wdata[23:16];
      if (mem_wstrb[3]) memory[mem_addr[13:2]][31:24] <= mem_wdata[31:24];
    end
  end
  picorv32 #(.ENABLE_MUL(0)) uut (.clk(clk), .resetn(resetn), .trap(trap), .mem_valid(mem_valid), .mem_instr(mem_instr), .mem_ready(mem_ready),
    .mem_addr(mem_addr), .mem_wdata(mem_wdata), .mem_wstrb(mem_wstrb), .mem_rdata(mem_rdata),
    .pcpi_wr(1'b0), .pcpi_rd(32'd0), .pcpi_wait(1'b0), .pcpi_ready(1'b0), .irq(32'd0));
  reg [3:0] done = 0;
  always @(posedge clk) begin if (trap && resetn) done <= done + 1; if (done == 8) $finish; end
endmodule
