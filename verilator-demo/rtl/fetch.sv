// The program counter. Predicts "not taken": the next address is pc + 4 unless execute redirects.
module fetch
  import rv_pkg::*;
#(
    parameter logic [31:0] ResetVector = 32'h8000_0000
) (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic        hold_i,
    input  logic        redirect_i,
    input  logic [31:0] target_i,
    input  logic        halt_i,
    // instruction memory, answered within the cycle
    output logic [31:0] imem_addr_o,
    input  logic [31:0] imem_data_i,
    input  logic        imem_fault_i,
    output if_id_t      out_o
);
  logic [31:0] pc;

  always_ff @(posedge clk_i) begin
    if (rst_i) pc <= ResetVector;
    else if (redirect_i) pc <= target_i;
    else if (!hold_i) pc <= pc + 32'd4;
  end

  assign imem_addr_o = pc;

  always_comb begin
    out_o.valid = !halt_i && !rst_i;
    out_o.pc    = pc;
    out_o.inst  = imem_data_i;
    out_o.exc   = NoException;
    if (imem_fault_i) out_o.exc = '{valid: 1'b1, cause: CAUSE_FETCH_FAULT, tval: pc};
  end
endmodule
