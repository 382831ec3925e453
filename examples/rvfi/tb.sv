// Clock, reset and memory of the core; nothing of tracing.
module tb;
  localparam logic [31:0] Ram = 32'h8000_0000, Console = 32'h1000_0000;
  localparam int          Words = 16384;

  bit   clk;
  logic rst_n = 1'b0, halted;
  initial forever #500ps clk = !clk;
  initial begin
    repeat (3) @(negedge clk);
    rst_n = 1'b1;
  end

  logic [31:0] mem_addr, mem_wdata, mem_rdata;
  logic [3:0]  mem_wstrb;
  logic        mem_error;
  logic [31:0] words [Words];
  initial begin
    for (int i = 0; i < Words; i++) words[i] = 32'd0;
    $readmemh("program.hex", words);
  end

  logic is_ram;
  assign is_ram    = mem_addr - Ram < 32'(4 * Words);
  assign mem_error = !is_ram && mem_addr != Console;
  assign mem_rdata = is_ram ? words[mem_addr[15:2]] : 32'd0;
  always_ff @(posedge clk) begin
    for (int i = 0; i < 4; i++) if (is_ram && mem_wstrb[i]) words[mem_addr[15:2]][8*i +: 8] <= mem_wdata[8*i +: 8];
    if (rst_n && !is_ram && mem_wstrb[0]) $write("%c", mem_wdata[7:0]);
  end

  // the interface is a register behind the core: one cycle more shows the last instruction.
  bit done;
  always_ff @(posedge clk) begin
    done <= halted;
    if (done) $finish;
  end

  // Its RISC-V Formal Interface is for modules that are bound into the core.
  /* verilator lint_off PINCONNECTEMPTY */
  core dut (
      .clk, .rst_n, .mem_addr, .mem_wdata, .mem_wstrb, .mem_rdata, .mem_error, .halted,
      .rvfi_valid(), .rvfi_order(), .rvfi_insn(), .rvfi_trap(), .rvfi_halt(), .rvfi_intr(), .rvfi_mode(), .rvfi_ixl(),
      .rvfi_rs1_addr(), .rvfi_rs2_addr(), .rvfi_rs1_rdata(), .rvfi_rs2_rdata(), .rvfi_rd_addr(), .rvfi_rd_wdata(),
      .rvfi_pc_rdata(), .rvfi_pc_wdata(), .rvfi_mem_addr(), .rvfi_mem_rmask(), .rvfi_mem_wmask(), .rvfi_mem_rdata(),
      .rvfi_mem_wdata()
  );
  /* verilator lint_on PINCONNECTEMPTY */
endmodule
