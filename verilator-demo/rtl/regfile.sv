// 32 registers, x0 reads as zero. Two read ports for decode and one for a debugger. A read of the register being
// written in the same cycle returns the new value.
module regfile (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic        write_i,
    input  logic [4:0]  rd_i,
    input  logic [31:0] rd_data_i,
    input  logic [4:0]  rs1_i,
    input  logic [4:0]  rs2_i,
    output logic [31:0] rs1_data_o,
    output logic [31:0] rs2_data_o,
    input  logic [4:0]  debug_i,
    output logic [31:0] debug_data_o
);
  logic [31:0] registers [32];

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      for (int unsigned i = 0; i < 32; i++) registers[i] <= 32'd0;
    end else if (write_i && rd_i != 5'd0) begin
      registers[rd_i] <= rd_data_i;
    end
  end

  function automatic logic [31:0] read(input logic [4:0] index);
    return (write_i && rd_i != 5'd0 && rd_i == index) ? rd_data_i : registers[index];
  endfunction

  always_comb begin
    rs1_data_o = read(rs1_i);
    rs2_data_o = read(rs2_i);
  end
  assign debug_data_o = registers[debug_i];
endmodule
