// RV32IMA (without Atomics: RV32IM) instruction decoder, with the CSR instructions and machine mode, purely combinational.
module decode
  import rv_pkg::*;
#(
    parameter bit Atomics = 1'b1
) (
    input  logic [31:0] inst_i,
    output ctrl_t       ctrl_o,
    output logic        illegal_o,
    output logic        ecall_o,
    output logic        ebreak_o
);
  typedef enum logic [6:0] {
    OP_LOAD     = 7'b0000011,
    OP_MISC_MEM = 7'b0001111,
    OP_IMM      = 7'b0010011,
    OP_AUIPC    = 7'b0010111,
    OP_STORE    = 7'b0100011,
    OP_AMO      = 7'b0101111,
    OP_REG      = 7'b0110011,
    OP_LUI      = 7'b0110111,
    OP_BRANCH   = 7'b1100011,
    OP_JALR     = 7'b1100111,
    OP_JAL      = 7'b1101111,
    OP_SYSTEM   = 7'b1110011
  } opcode_e;

  logic [2:0] funct3;
  logic [6:0] funct7;
  assign funct3 = inst_i[14:12];
  assign funct7 = inst_i[31:25];

  logic [31:0] imm_i, imm_s, imm_b, imm_u, imm_j;
  assign imm_i = {{20{inst_i[31]}}, inst_i[31:20]};
  assign imm_s = {{20{inst_i[31]}}, inst_i[31:25], inst_i[11:7]};
  assign imm_b = {{19{inst_i[31]}}, inst_i[31], inst_i[7], inst_i[30:25], inst_i[11:8], 1'b0};
  assign imm_u = {inst_i[31:12], 12'd0};
  assign imm_j = {{11{inst_i[31]}}, inst_i[31], inst_i[19:12], inst_i[20], inst_i[30:21], 1'b0};

  // Operation of OP and OP-IMM; alternate is bit 30 where it has a meaning.
  function automatic alu_op_e alu_operation(input logic [2:0] f3, input logic alternate);
    unique case (f3)
      3'b000:  return alternate ? ALU_SUB : ALU_ADD;
      3'b001:  return ALU_SLL;
      3'b010:  return ALU_SLT;
      3'b011:  return ALU_SLTU;
      3'b100:  return ALU_XOR;
      3'b101:  return alternate ? ALU_SRA : ALU_SRL;
      3'b110:  return ALU_OR;
      default: return ALU_AND;
    endcase
  endfunction

  // The CSRs of csr_file.sv. Those whose number begins with 11 are read-only.
  function automatic logic csr_exists(input logic [11:0] number);
    case (number)
      12'h300, 12'h301, 12'h304, 12'h305,           // mstatus misa mie mtvec
      12'h340, 12'h341, 12'h342, 12'h343, 12'h344,  // mscratch mepc mcause mtval mip
      12'hb00, 12'hb02, 12'hb80, 12'hb82,           // mcycle minstret mcycleh minstreth
      12'hf11, 12'hf12, 12'hf13, 12'hf14:           // mvendorid marchid mimpid mhartid
        return 1'b1;
      default: return 1'b0;
    endcase
  endfunction

  // Those on words; a reservation has no operand.
  function automatic logic atomic_exists(input logic [4:0] funct5, input logic [4:0] rs2);
    case (atomic_op_e'(funct5))
      ATOMIC_ADD, ATOMIC_SWAP, ATOMIC_SC, ATOMIC_XOR, ATOMIC_OR, ATOMIC_AND,
      ATOMIC_MIN, ATOMIC_MAX, ATOMIC_MINU, ATOMIC_MAXU: return 1'b1;
      ATOMIC_LR: return rs2 == 5'd0;
      default: return 1'b0;
    endcase
  endfunction

  logic csr_writes, csr_ok;
  assign csr_writes = funct3[1:0] == 2'b01 || inst_i[19:15] != 5'd0;
  assign csr_ok     = csr_exists(inst_i[31:20]) && !(csr_writes && inst_i[31:30] == 2'b11);

  logic writes_rd, legal, shift_ok, reg_ok;
  // A shift by immediate and an OP have only these two values of funct7, the second only where it has a meaning.
  assign shift_ok = funct7 == 7'd0 || (funct7 == 7'b0100000 && funct3 == 3'b101);
  assign reg_ok   = funct7 == 7'd0 || (funct7 == 7'b0100000 && (funct3 == 3'b000 || funct3 == 3'b101));
  assign ecall_o  = inst_i == 32'h0000_0073;
  assign ebreak_o = inst_i == 32'h0010_0073;

  always_comb begin
    ctrl_o        = '0;
    ctrl_o.alu_op = ALU_ADD;
    ctrl_o.funct3 = funct3;
    ctrl_o.funct5 = inst_i[31:27];
    ctrl_o.rd     = inst_i[11:7];
    ctrl_o.src.rs1 = inst_i[19:15];
    ctrl_o.src.rs2 = inst_i[24:20];
    writes_rd     = 1'b0;
    legal         = 1'b1;

    case (inst_i[6:0])
      OP_LUI: begin
        ctrl_o.src_a     = SRC_ZERO;
        ctrl_o.src_b_imm = 1'b1;
        ctrl_o.imm       = imm_u;
        writes_rd        = 1'b1;
      end
      OP_AUIPC: begin
        ctrl_o.src_a     = SRC_PC;
        ctrl_o.src_b_imm = 1'b1;
        ctrl_o.imm       = imm_u;
        writes_rd        = 1'b1;
      end
      OP_JAL: begin
        ctrl_o.flow = FLOW_JAL;
        ctrl_o.imm  = imm_j;
        writes_rd   = 1'b1;
      end
      OP_JALR: begin
        ctrl_o.flow     = FLOW_JALR;
        ctrl_o.imm      = imm_i;
        ctrl_o.src.uses_rs1 = 1'b1;
        writes_rd       = 1'b1;
        legal           = funct3 == 3'b000;
      end
      OP_BRANCH: begin
        ctrl_o.flow     = FLOW_BRANCH;
        ctrl_o.imm      = imm_b;
        ctrl_o.src.uses_rs1 = 1'b1;
        ctrl_o.src.uses_rs2 = 1'b1;
        legal           = funct3[2:1] != 2'b01;
      end
      OP_LOAD: begin
        ctrl_o.load      = 1'b1;
        ctrl_o.src_b_imm = 1'b1;
        ctrl_o.imm       = imm_i;
        ctrl_o.src.uses_rs1  = 1'b1;
        writes_rd        = 1'b1;
        legal            = funct3 != 3'b011 && funct3[2:1] != 2'b11;
      end
      OP_STORE: begin
        ctrl_o.store     = 1'b1;
        ctrl_o.src_b_imm = 1'b1;
        ctrl_o.imm       = imm_s;
        ctrl_o.src.uses_rs1  = 1'b1;
        ctrl_o.src.uses_rs2  = 1'b1;
        legal            = !funct3[2] && funct3[1:0] != 2'b11;
      end
      OP_AMO: begin
        ctrl_o.atomic    = 1'b1;
        ctrl_o.src_b_imm = 1'b1;  // nothing is added to the address
        ctrl_o.src.uses_rs1  = 1'b1;
        ctrl_o.src.uses_rs2  = 1'b1;
        writes_rd        = 1'b1;
        legal            = Atomics && funct3 == 3'b010 && atomic_exists(inst_i[31:27], inst_i[24:20]);
      end
      OP_IMM: begin
        ctrl_o.alu_op    = alu_operation(funct3, funct3 == 3'b101 && inst_i[30]);
        ctrl_o.src_b_imm = 1'b1;
        ctrl_o.imm       = imm_i;
        ctrl_o.src.uses_rs1  = 1'b1;
        writes_rd        = 1'b1;
        legal            = funct3[1:0] != 2'b01 || shift_ok;
      end
      OP_REG: begin
        ctrl_o.alu_op   = alu_operation(funct3, inst_i[30]);
        ctrl_o.src.uses_rs1 = 1'b1;
        ctrl_o.src.uses_rs2 = 1'b1;
        ctrl_o.muldiv   = funct7 == 7'd1;
        writes_rd       = 1'b1;
        legal           = reg_ok || ctrl_o.muldiv;
      end
      OP_MISC_MEM: begin
        ctrl_o.system = SYS_FENCE;
        legal         = funct3 == 3'b000;
      end
      OP_SYSTEM: begin
        if (funct3[1:0] != 2'b00) begin
          ctrl_o.system       = SYS_CSR;
          ctrl_o.imm          = imm_i;
          ctrl_o.src.uses_rs1 = !funct3[2];
          writes_rd           = 1'b1;
          legal               = csr_ok;
        end else begin
          if (inst_i == 32'h3020_0073) ctrl_o.system = SYS_MRET;
          if (inst_i == 32'h1050_0073) ctrl_o.system = SYS_WFI;
          legal = ecall_o || ebreak_o || ctrl_o.system != SYS_NONE;
        end
      end
      default:     legal = 1'b0;
    endcase

    // An instruction without effect keeps only its place in the pipeline.
    if (!legal) begin
      ctrl_o.load     = 1'b0;
      ctrl_o.store    = 1'b0;
      ctrl_o.atomic   = 1'b0;
      ctrl_o.flow     = FLOW_NONE;
      ctrl_o.system   = SYS_NONE;
      ctrl_o.muldiv   = 1'b0;
      ctrl_o.src.uses_rs1 = 1'b0;
      ctrl_o.src.uses_rs2 = 1'b0;
    end
    ctrl_o.rd_write = writes_rd && legal && inst_i[11:7] != 5'd0;
  end

  assign illegal_o = !legal;
endmodule
