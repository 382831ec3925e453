// RAM for code and data. Both are read within the cycle; the caches of the core are a matter of timing only.
module memory
  import rv_pkg::*;
#(
    parameter logic [31:0] Base  = 32'h8000_0000,
    parameter int unsigned Words = 16384
) (
    input  logic        clk_i,
    input  logic [31:0] imem_addr_i,
    output logic [31:0] imem_data_o,
    output logic [31:0] imem_next_o,  // the word after it
    output logic        imem_fault_o,
    input  logic [31:0] dmem_addr_i,
    output logic [31:0] dmem_rdata_o,
    output logic        dmem_here_o,  // the address is one of the RAM
    input  logic        write_i,
    input  store_t      store_i
);
  localparam int unsigned IndexBits = $clog2(Words);
  localparam logic [31:0] Bytes     = 32'(Words * 4);

  logic [31:0] ram [Words];

  string image;
  initial begin
    if (!$value$plusargs("firmware=%s", image)) $fatal(1, "no program: give +firmware=FILE (hex words, see firmware/)");
    $readmemh(image, ram);
  end

  // Offset within the RAM. The subtraction makes an address below Base a huge one.
  logic [31:0] imem_offset, dmem_offset, store_offset;
  assign imem_offset  = imem_addr_i - Base;
  assign dmem_offset  = dmem_addr_i - Base;
  assign store_offset = store_i.addr - Base;
  assign imem_fault_o = imem_offset >= Bytes;
  assign imem_data_o  = imem_fault_o ? 32'd0 : ram[imem_offset[2+:IndexBits]];
  assign imem_next_o  = imem_offset + 32'd4 >= Bytes ? 32'd0 : ram[imem_offset[2+:IndexBits] + IndexBits'(1)];
  assign dmem_here_o  = dmem_offset < Bytes;
  assign dmem_rdata_o = ram[dmem_offset[2+:IndexBits]];

  always_ff @(posedge clk_i) begin
    if (write_i) begin
      for (int unsigned lane = 0; lane < 4; lane++) begin
        if (store_i.strobe[lane]) ram[store_offset[2+:IndexBits]][8*lane+:8] <= store_i.data[8*lane+:8];
      end
    end
  end

  // Word addresses come from the lsu, and addresses outside are never written.
  logic unused;
  assign unused = &{1'b0, imem_offset, dmem_offset, store_offset};
endmodule
