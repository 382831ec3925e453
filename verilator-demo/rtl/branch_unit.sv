// Decides branches and computes where control goes. Resolved in execute.
module branch_unit
  import rv_pkg::*;
(
    input  flow_e       flow_i,
    input  logic [2:0]  funct3_i,
    input  logic [31:0] pc_i,
    input  logic [31:0] rs1_i,
    input  logic [31:0] rs2_i,
    input  logic [31:0] imm_i,
    output logic        taken_o,      // control does not continue at pc + 4
    output logic [31:0] target_o,
    output logic        misaligned_o  // taken, but to an address that is not a multiple of four
);
  logic equal, less, less_unsigned, condition;
  assign equal         = rs1_i == rs2_i;
  assign less          = $signed(rs1_i) < $signed(rs2_i);
  assign less_unsigned = rs1_i < rs2_i;

  always_comb begin
    unique case (funct3_i)
      3'b000:  condition = equal;
      3'b001:  condition = !equal;
      3'b100:  condition = less;
      3'b101:  condition = !less;
      3'b110:  condition = less_unsigned;
      3'b111:  condition = !less_unsigned;
      default: condition = 1'b0;
    endcase
  end

  logic [31:0] base, sum;
  assign base     = (flow_i == FLOW_JALR) ? rs1_i : pc_i;
  assign sum      = base + imm_i;
  assign target_o = {sum[31:1], sum[0] & (flow_i != FLOW_JALR)};

  assign taken_o      = (flow_i == FLOW_BRANCH) ? condition : (flow_i != FLOW_NONE);
  assign misaligned_o = taken_o & (target_o[1:0] != 2'b00);
endmodule
