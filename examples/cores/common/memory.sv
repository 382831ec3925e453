// 64 kB of memory with two ports, read within the cycle, and what the program needs besides: at 0x1000_0000 its result, which ends the
// run; at 0x1000_0004 a timer that raises the interrupt that number of cycles later, until 0 is written.
module memory (
    input  logic        clk,
    input  logic        rst,
    input  logic [31:0] insn_addr,
    output logic [31:0] insn_rdata,
    input  logic [31:0] addr,
    output logic [31:0] rdata,
    input  logic        write,
    input  logic [3:0]  strobe,
    input  logic [31:0] wdata,
    output logic        irq,
    output logic        done,
    output logic [31:0] result
);
  logic [31:0] ram [16384];
  string image;
  initial begin
    if (!$value$plusargs("program=%s", image)) $fatal(1, "no program: give +program=FILE (words in hex)");
    $readmemh(image, ram);
  end
  assign insn_rdata = ram[insn_addr[15:2]];
  assign rdata      = ram[addr[15:2]];

  logic [31:0] timer;
  assign irq = timer == 32'd1;
  always_ff @(posedge clk) begin
    if (timer > 32'd1) timer <= timer - 32'd1;
    if (write && !addr[28]) for (int i = 0; i < 4; i++) if (strobe[i]) ram[addr[15:2]][8*i +: 8] <= wdata[8*i +: 8];
    if (write && addr[28] && addr[2]) timer <= wdata;
    if (write && addr[28] && !addr[2]) begin
      done   <= 1'b1;
      result <= wdata;
    end
    if (rst) begin
      timer <= 32'd0;
      done  <= 1'b0;
    end
  end
endmodule
