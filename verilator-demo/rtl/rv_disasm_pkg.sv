// RV32IMA disassembler for annotations: the notation of the assembler without pseudo-instructions, jump and branch
// targets as absolute addresses.
package rv_disasm_pkg;

  localparam string RegNames [32] = '{
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2",
    "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
    "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7",
    "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"
  };

  function automatic string branch_name(input logic [2:0] funct3);
    case (funct3)
      3'b000: return "beq";
      3'b001: return "bne";
      3'b100: return "blt";
      3'b101: return "bge";
      3'b110: return "bltu";
      3'b111: return "bgeu";
      default: return "";
    endcase
  endfunction

  function automatic string load_name(input logic [2:0] funct3);
    case (funct3)
      3'b000: return "lb";
      3'b001: return "lh";
      3'b010: return "lw";
      3'b100: return "lbu";
      3'b101: return "lhu";
      default: return "";
    endcase
  endfunction

  function automatic string store_name(input logic [2:0] funct3);
    case (funct3)
      3'b000: return "sb";
      3'b001: return "sh";
      3'b010: return "sw";
      default: return "";
    endcase
  endfunction

  // Names of OP; those of OP-IMM have an "i" after the operation.
  function automatic string op_name(input logic [2:0] funct3, input logic [6:0] funct7);
    case ({funct7, funct3})
      {7'h00, 3'b000}: return "add";
      {7'h20, 3'b000}: return "sub";
      {7'h00, 3'b001}: return "sll";
      {7'h00, 3'b010}: return "slt";
      {7'h00, 3'b011}: return "sltu";
      {7'h00, 3'b100}: return "xor";
      {7'h00, 3'b101}: return "srl";
      {7'h20, 3'b101}: return "sra";
      {7'h00, 3'b110}: return "or";
      {7'h00, 3'b111}: return "and";
      {7'h01, 3'b000}: return "mul";
      {7'h01, 3'b001}: return "mulh";
      {7'h01, 3'b010}: return "mulhsu";
      {7'h01, 3'b011}: return "mulhu";
      {7'h01, 3'b100}: return "div";
      {7'h01, 3'b101}: return "divu";
      {7'h01, 3'b110}: return "rem";
      {7'h01, 3'b111}: return "remu";
      default: return "";
    endcase
  endfunction

  function automatic string atomic_name(input logic [4:0] funct5);
    case (funct5)
      5'b00000: return "amoadd";
      5'b00001: return "amoswap";
      5'b00010: return "lr";
      5'b00011: return "sc";
      5'b00100: return "amoxor";
      5'b01000: return "amoor";
      5'b01100: return "amoand";
      5'b10000: return "amomin";
      5'b10100: return "amomax";
      5'b11000: return "amominu";
      5'b11100: return "amomaxu";
      default: return "";
    endcase
  endfunction

  // The ordering bits of an atomic operation.
  function automatic string atomic_order(input logic [1:0] aq_rl);
    case (aq_rl)
      2'b01: return ".rl";
      2'b10: return ".aq";
      2'b11: return ".aqrl";
      default: return "";
    endcase
  endfunction

  function automatic string csr_op_name(input logic [2:0] funct3);
    case (funct3)
      3'b001: return "csrrw";
      3'b010: return "csrrs";
      3'b011: return "csrrc";
      3'b101: return "csrrwi";
      3'b110: return "csrrsi";
      3'b111: return "csrrci";
      default: return "";
    endcase
  endfunction

  function automatic string csr_name(input logic [11:0] number);
    case (number)
      12'h300: return "mstatus";
      12'h301: return "misa";
      12'h304: return "mie";
      12'h305: return "mtvec";
      12'h340: return "mscratch";
      12'h341: return "mepc";
      12'h342: return "mcause";
      12'h343: return "mtval";
      12'h344: return "mip";
      12'hb00: return "mcycle";
      12'hb02: return "minstret";
      12'hb80: return "mcycleh";
      12'hb82: return "minstreth";
      12'hf11: return "mvendorid";
      12'hf12: return "marchid";
      12'hf13: return "mimpid";
      12'hf14: return "mhartid";
      default: return $sformatf("0x%0x", number);
    endcase
  endfunction

  function automatic string op_imm_name(input logic [2:0] funct3, input logic [6:0] funct7);
    if (funct3[1:0] == 2'b01) begin
      if (funct7 != 7'h00 && !(funct7 == 7'h20 && funct3 == 3'b101)) return "";
      return op_name(funct3, funct7) == "" ? "" : {op_name(funct3, funct7), "i"};
    end
    if (funct3 == 3'b011) return "sltiu";
    return {op_name(funct3, 7'h00), "i"};
  endfunction

  // The sets named by the predecessor and successor bits of FENCE.
  function automatic string fence_set(input logic [3:0] bits);
    string set;
    set = "";
    if (bits[3]) set = {set, "i"};
    if (bits[2]) set = {set, "o"};
    if (bits[1]) set = {set, "r"};
    if (bits[0]) set = {set, "w"};
    return set == "" ? "unknown" : set;
  endfunction

  function automatic string unknown(input logic [31:0] inst);
    return $sformatf(".4byte 0x%0x", inst);
  endfunction

  function automatic string disassemble(input logic [31:0] pc, input logic [31:0] inst);
    logic [2:0] funct3;
    logic [6:0] funct7;
    logic [31:0] imm_i, imm_s, imm_b, imm_j;
    string rd, rs1, rs2, name;
    funct3 = inst[14:12];
    funct7 = inst[31:25];
    imm_i = {{20{inst[31]}}, inst[31:20]};
    imm_s = {{20{inst[31]}}, inst[31:25], inst[11:7]};
    imm_b = {{19{inst[31]}}, inst[31], inst[7], inst[30:25], inst[11:8], 1'b0};
    imm_j = {{11{inst[31]}}, inst[31], inst[19:12], inst[20], inst[30:21], 1'b0};
    rd  = RegNames[inst[11:7]];
    rs1 = RegNames[inst[19:15]];
    rs2 = RegNames[inst[24:20]];

    case (inst[6:0])
      7'b0110111: return $sformatf("lui %s,0x%0x", rd, inst[31:12]);
      7'b0010111: return $sformatf("auipc %s,0x%0x", rd, inst[31:12]);
      7'b1101111: return $sformatf("jal %s,%0x", rd, pc + imm_j);
      7'b1100111: return funct3 == 3'b000 ? $sformatf("jalr %s,%0d(%s)", rd, $signed(imm_i), rs1) : unknown(inst);
      7'b1100011: begin
        name = branch_name(funct3);
        return name == "" ? unknown(inst) : $sformatf("%s %s,%s,%0x", name, rs1, rs2, pc + imm_b);
      end
      7'b0000011: begin
        name = load_name(funct3);
        return name == "" ? unknown(inst) : $sformatf("%s %s,%0d(%s)", name, rd, $signed(imm_i), rs1);
      end
      7'b0100011: begin
        name = store_name(funct3);
        return name == "" ? unknown(inst) : $sformatf("%s %s,%0d(%s)", name, rs2, $signed(imm_s), rs1);
      end
      7'b0101111: begin
        name = atomic_name(inst[31:27]);
        if (name == "" || funct3 != 3'b010 || (name == "lr" && inst[24:20] != 5'd0)) return unknown(inst);
        name = {name, ".w", atomic_order(inst[26:25])};
        if (inst[31:27] == 5'b00010) return $sformatf("%s %s,(%s)", name, rd, rs1);
        return $sformatf("%s %s,%s,(%s)", name, rd, rs2, rs1);
      end
      7'b0010011: begin
        name = op_imm_name(funct3, funct7);
        if (name == "") return unknown(inst);
        if (funct3[1:0] == 2'b01) return $sformatf("%s %s,%s,0x%0x", name, rd, rs1, inst[24:20]);
        return $sformatf("%s %s,%s,%0d", name, rd, rs1, $signed(imm_i));
      end
      7'b0110011: begin
        name = op_name(funct3, funct7);
        return name == "" ? unknown(inst) : $sformatf("%s %s,%s,%s", name, rd, rs1, rs2);
      end
      7'b0001111: begin
        if (funct3 != 3'b000) return unknown(inst);
        return $sformatf("fence %s,%s", fence_set(inst[27:24]), fence_set(inst[23:20]));
      end
      7'b1110011: begin
        if (inst == 32'h0000_0073) return "ecall";
        if (inst == 32'h0010_0073) return "ebreak";
        if (inst == 32'h3020_0073) return "mret";
        if (inst == 32'h1050_0073) return "wfi";
        name = csr_op_name(funct3);
        if (name == "") return unknown(inst);
        if (funct3[2]) return $sformatf("%s %s,%s,%0d", name, rd, csr_name(inst[31:20]), inst[19:15]);
        return $sformatf("%s %s,%s,%s", name, rd, csr_name(inst[31:20]), rs1);
      end
      default: return unknown(inst);
    endcase
  endfunction

endpackage
