// RAM for several harts: each reads code and data as its caches hold them, within the cycle; all that brings lines, writes
// or is atomic goes through the interconnect's port. A line is in no cache that does not hold what the RAM holds (writers
// have it dropped), so that what a cache holds can be read here.
module shared_memory
  import rv_pkg::*;
#(
    parameter int unsigned Harts = 4,
    parameter logic [31:0] Base  = 32'h8000_0000,
    parameter int unsigned Words = 16384
) (
    input  logic               clk_i,
    input  logic [31:0]        imem_addr_i [Harts],
    output logic [31:0]        imem_data_o [Harts],
    output logic [Harts-1:0]   imem_fault_o,
    input  logic [31:0]        dmem_addr_i [Harts],
    output logic [31:0]        dmem_rdata_o [Harts],
    output logic [Harts-1:0]   dmem_here_o,  // the address is one of the RAM
    input  logic [31:0]        addr_i,
    output logic [31:0]        rdata_o,
    input  logic               write_i,
    input  store_t             store_i
);
  localparam int unsigned IndexBits = $clog2(Words);
  localparam logic [31:0] Bytes     = 32'(Words * 4);
  typedef logic [IndexBits-1:0] index_t;

  logic [31:0] ram [Words];

  string image;
  initial begin
    if (!$value$plusargs("firmware=%s", image)) $fatal(1, "no program: give +firmware=FILE (hex words, see firmware/)");
    $readmemh(image, ram);
  end

  // Words of an address; one below Base is far above the RAM.
  function automatic index_t index_of(input logic [31:0] addr);
    return index_t'((addr - Base) >> 2);
  endfunction
  function automatic logic is_here(input logic [31:0] addr);
    return addr - Base < Bytes;
  endfunction

  for (genvar h = 0; h < Harts; h++) begin : g_hart
    assign imem_fault_o[h] = !is_here(imem_addr_i[h]);
    assign imem_data_o[h]  = imem_fault_o[h] ? 32'd0 : ram[index_of(imem_addr_i[h])];
    assign dmem_here_o[h]  = is_here(dmem_addr_i[h]);
    assign dmem_rdata_o[h] = ram[index_of(dmem_addr_i[h])];
  end
  assign rdata_o = ram[index_of(addr_i)];

  always_ff @(posedge clk_i) begin
    if (write_i) begin
      for (int unsigned lane = 0; lane < 4; lane++) begin
        if (store_i.strobe[lane]) ram[index_of(store_i.addr)][8*lane+:8] <= store_i.data[8*lane+:8];
      end
    end
  end
endmodule
