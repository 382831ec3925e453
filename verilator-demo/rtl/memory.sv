// One RAM for code and data, both read within the cycle, and two write-only device registers:
//   0x1000_0000  console: the low byte is printed
//   0x1000_0004  result of the program
// Anything else faults.
module memory #(
    parameter logic [31:0] Base  = 32'h8000_0000,
    parameter int unsigned Words = 16384
) (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic [31:0] imem_addr_i,
    output logic [31:0] imem_data_o,
    output logic        imem_fault_o,
    input  logic [31:0] dmem_addr_i,
    input  logic        dmem_read_i,
    input  logic        dmem_write_i,
    input  logic [3:0]  dmem_strobe_i,
    input  logic [31:0] dmem_wdata_i,
    output logic [31:0] dmem_rdata_o,
    output logic        dmem_fault_o,
    output logic        console_valid_o,  // one cycle per byte
    output logic [7:0]  console_byte_o,
    output logic        result_valid_o,   // stays set
    output logic [31:0] result_o
);
  localparam logic [31:0] ConsoleAddr = 32'h1000_0000;
  localparam logic [31:0] ResultAddr  = 32'h1000_0004;
  localparam int unsigned IndexBits   = $clog2(Words);
  localparam logic [31:0] Bytes       = 32'(Words * 4);

  logic [31:0] ram [Words];

  string image;
  initial begin
    if (!$value$plusargs("firmware=%s", image)) $fatal(1, "no program: give +firmware=FILE (hex words, see firmware/)");
    $readmemh(image, ram);
  end

  // Word index of an address within the RAM. The subtraction makes an address below Base a huge offset.
  logic [31:0] imem_offset, dmem_offset;
  assign imem_offset  = imem_addr_i - Base;
  assign dmem_offset  = dmem_addr_i - Base;
  assign imem_fault_o = imem_offset >= Bytes;
  assign imem_data_o  = imem_fault_o ? 32'd0 : ram[imem_offset[2+:IndexBits]];

  logic in_ram, to_console, to_result;
  assign in_ram       = dmem_offset < Bytes;
  assign to_console   = dmem_write_i && dmem_addr_i == ConsoleAddr;
  assign to_result    = dmem_write_i && dmem_addr_i == ResultAddr;
  assign dmem_fault_o = (dmem_read_i || dmem_write_i) && !(in_ram || to_console || to_result);
  assign dmem_rdata_o = (dmem_read_i && in_ram) ? ram[dmem_offset[2+:IndexBits]] : 32'd0;

  always_ff @(posedge clk_i) begin
    if (dmem_write_i && in_ram) begin
      for (int unsigned lane = 0; lane < 4; lane++) begin
        if (dmem_strobe_i[lane]) ram[dmem_offset[2+:IndexBits]][8*lane+:8] <= dmem_wdata_i[8*lane+:8];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      console_valid_o <= 1'b0;
      console_byte_o  <= 8'd0;
      result_valid_o  <= 1'b0;
      result_o        <= 32'd0;
    end else begin
      console_valid_o <= to_console;
      if (to_console) console_byte_o <= dmem_wdata_i[7:0];
      if (to_result) begin
        result_valid_o <= 1'b1;
        result_o       <= dmem_wdata_i;
      end
    end
  end

  // Two low address bits are the lsu's business: it sends aligned addresses and a strobe.
  logic unused;
  assign unused = &{1'b0, imem_offset[1:0], dmem_offset[1:0]};
endmodule
