// SPDX-License-Identifier: Apache-2.0
// What instructions of the RISC-V Formal Interface are, by their bits. Used by uscope_rvfi.
// Each function uses what it needs of an instruction.
/* verilator lint_off UNUSEDSIGNAL */
/* verilator lint_off TIMESCALEMOD */
package uscope_rvfi_pkg;
/* verilator lint_on TIMESCALEMOD */
  // One channel of one cycle. Two-state: what is unknown is 0 here. Not packed: simulators then keep each field in a word, which is much faster.
  typedef struct {
    bit [63:0] order;
    bit [31:0] insn;
    bit        trap, halt, intr;
    bit [1:0]  mode, ixl;
    bit [63:0] pc, next;
    bit [4:0]  rs1_addr, rs2_addr, rd_addr;
    bit [63:0] rs1, rs2, rd;
    bit [63:0] mem_addr, mem_rdata, mem_wdata;
    bit [7:0]  mem_rmask, mem_wmask;
  } retired_t;

  // Rules of the interface. The numbers are those of the enum in uscope_rvfi.yaml.
  typedef enum bit [2:0] {
    ORDER_GAP         = 0,  // indices were left out; expected: the first of them
    ORDER_REPEATED    = 1,  // an index came again, or later than REORDER allows; expected: the lowest one due
    ORDER_TIE         = 2,  // two channels of one cycle have the same index; found: the other channel
    PC_MISMATCH       = 3,  // pc_rdata is not the pc_wdata of the instruction before, and intr is 0
    REGISTER_MISMATCH = 4,  // rs1_rdata or rs2_rdata is not what was last written there
    X0_NOT_ZERO       = 5,  // rd_addr is 0 and rd_wdata is not, or so with rs1 and rs2
    AFTER_HALT        = 6,  // an instruction after the one with halt; expected: that one's index
    UNKNOWN_VALUE     = 7   // X or Z in valid, or in order, insn, trap or pc_rdata of a valid channel
  } violation_t;
  /* verilator lint_off UNUSEDPARAM */
  localparam int unsigned VIOLATIONS = 8;
  /* verilator lint_on UNUSEDPARAM */

  // Which rules an instruction breaks that concern it alone.
  typedef struct packed {
    bit unknown, halted, pc, rs1_x0, rs1, rs2_x0, rs2, rd_x0;
  } rules_t;

  // A broken rule, and where.
  typedef struct {
    violation_t  code;
    int unsigned channel;
    bit [63:0]   order, expected, found;
  } broken_t;

  function automatic void warn_of(input string path, input broken_t b);
    /* verilator no_inline_task */
    $warning("%s: %s: channel %0d, rvfi_order %0d: expected %0h, found %0h. Only the first is reported; events `violation`.",
             violation_name(b.code), path, b.channel, b.order, b.expected, b.found);
  endfunction

  function automatic string violation_name(input violation_t code);
    case (code)
      ORDER_GAP:         return "RVFI_ORDER_GAP";
      ORDER_REPEATED:    return "RVFI_ORDER_REPEATED";
      ORDER_TIE:         return "RVFI_ORDER_TIE";
      PC_MISMATCH:       return "RVFI_PC_MISMATCH";
      REGISTER_MISMATCH: return "RVFI_REGISTER_MISMATCH";
      X0_NOT_ZERO:       return "RVFI_X0_NOT_ZERO";
      AFTER_HALT:        return "RVFI_AFTER_HALT";
      default:           return "RVFI_UNKNOWN_VALUE";
    endcase
  endfunction

  function automatic bit is_compressed(input bit [31:0] insn);
    return insn[1:0] != 2'b11;
  endfunction

  // Conditional: beq .. bgeu, c.beqz, c.bnez.
  function automatic bit is_branch(input bit [31:0] insn);
    if (is_compressed(insn)) return insn[1:0] == 2'b01 && insn[15:14] == 2'b11;
    return insn[6:0] == 7'h63;
  endfunction

  // jal, jalr, c.j, c.jr, c.jalr; c.jal is the RV32 meaning of what is c.addiw in RV64.
  function automatic bit is_jump(input bit [31:0] insn, input bit is_rv32);
    if (!is_compressed(insn)) return insn[6:0] == 7'h6f || insn[6:0] == 7'h67;
    if (insn[1:0] == 2'b01) return insn[15:13] == 3'b101 || (insn[15:13] == 3'b001 && is_rv32);
    return insn[1:0] == 2'b10 && insn[15:13] == 3'b100 && insn[11:7] != 0 && insn[6:2] == 0;
  endfunction

  // Reads memory when it does not trap: loads, LR, and their compressed and floating point forms.
  function automatic bit is_load(input bit [31:0] insn);
    if (is_compressed(insn)) return !insn[0] && !insn[15] && insn[14:13] != 2'b00;
    if (insn[6:0] == 7'h2f) return insn[31:27] == 5'h02;
    return insn[6:0] == 7'h03 || insn[6:0] == 7'h07;
  endfunction

  // Stores, SC, AMOs: their exceptions are those of stores.
  function automatic bit is_store(input bit [31:0] insn);
    if (is_compressed(insn)) return !insn[0] && insn[15] && insn[14:13] != 2'b00;
    return insn[6:0] == 7'h23 || insn[6:0] == 7'h27 || (insn[6:0] == 7'h2f && insn[31:27] != 5'h02);
  endfunction

  // Cannot read memory, whatever the mask says: some cores (Ibex) set rvfi_mem_rmask on everything that is not a store. Custom and vector
  // instructions, and loads of a hypervisor, are left to the mask.
  function automatic bit never_reads(input bit [31:0] insn);
    if (is_compressed(insn))
      // Stores too. Loads of Zcb (quadrant 0, 100) and Zcmp (quadrant 2, 101) are left to the mask.
      case (insn[15:13])
        3'b000, 3'b110, 3'b111: return 1'b1;
        3'b100:  return insn[1:0] != 2'b00;
        3'b101:  return insn[1:0] != 2'b10;
        default: return insn[0];
      endcase
    case (insn[6:0])
      7'h0f, 7'h13, 7'h17, 7'h1b, 7'h23, 7'h27, 7'h33, 7'h37, 7'h3b, 7'h63, 7'h67, 7'h6f: return 1'b1;
      7'h73:   return insn[14:12] != 3'd4;
      default: return 1'b0;
    endcase
  endfunction

  // mret, sret, dret.
  function automatic bit is_return_from_trap(input bit [31:0] insn);
    return insn == 32'h3020_0073 || insn == 32'h1020_0073 || insn == 32'h7b20_0073;
  endfunction

  // log2 of the bytes accessed. In quadrants 0 and 2 bit 13 distinguishes words from doubles, but for the floating point
  // loads and stores of RV32 (c.flw, c.fsw), which are words with bit 13 set.
  function automatic bit [1:0] access_size(input bit [31:0] insn, input bit is_rv32);
    if (!is_compressed(insn)) return insn[13:12];
    if (insn[14:13] == 2'b10) return 2'd2;
    return insn[14:13] == 2'b11 && is_rv32 ? 2'd2 : 2'd3;
  endfunction

  // Address of an access, by rs1 and the immediate; the interface need not give mem_addr where nothing was accessed.
  function automatic bit [63:0] access_address(input retired_t r, input bit is_rv32);
    bit [11:0] offset;
    if (is_compressed(r.insn)) return r.rs1 + compressed_offset(r.insn, access_size(r.insn, is_rv32) == 2'd2);
    case (r.insn[6:0])
      7'h2f:        offset = 12'd0;
      7'h23, 7'h27: offset = {r.insn[31:25], r.insn[11:7]};
      default:      offset = r.insn[31:20];
    endcase
    return r.rs1 + {{52{offset[11]}}, offset};
  endfunction

  function automatic bit [63:0] compressed_offset(input bit [31:0] insn, input bit is_word);
    if (insn[1:0] == 2'b00) return is_word ? 64'({insn[5], insn[12:10], insn[6], 2'b00}) : 64'({insn[6:5], insn[12:10], 3'b000});
    if (insn[15]) return is_word ? 64'({insn[8:7], insn[12:9], 2'b00}) : 64'({insn[9:7], insn[12:10], 3'b000});
    return is_word ? 64'({insn[3:2], insn[12], insn[6:4], 2'b00}) : 64'({insn[4:2], insn[12], insn[6:5], 3'b000});
  endfunction

  // The target of a jump or a taken branch of 32 bits. Targets of compressed ones are never misaligned.
  function automatic bit [63:0] jump_target(input retired_t r);
    bit [31:0] i = r.insn;
    case (i[6:0])
      7'h63:   return r.pc + {{52{i[31]}}, i[7], i[30:25], i[11:8], 1'b0};
      7'h6f:   return r.pc + {{44{i[31]}}, i[19:12], i[20], i[30:21], 1'b0};
      default: return (r.rs1 + {{52{i[31]}}, i[31:20]}) & ~64'd1;
    endcase
  endfunction

  // Encodings of loads, stores, branches and jalr that mean nothing.
  function automatic bit is_undefined(input bit [31:0] insn, input bit is_rv32);
    if (is_compressed(insn)) return 1'b0;
    case (insn[6:0])
      7'h03:   return insn[14:12] == 3'd7 || (is_rv32 && (insn[14:12] == 3'd3 || insn[14:12] == 3'd6));
      7'h23:   return insn[14] || (is_rv32 && insn[13:12] == 2'd3);
      7'h63:   return insn[14:13] == 2'b01;
      7'h67:   return insn[14:12] != 3'd0;
      default: return 1'b0;
    endcase
  endfunction

  // mcause of an exception. The interface does not report it, so it is derived from the instruction. Page faults are
  // not distinguished from access faults, nor a failed fetch from the instruction it shows.
  function automatic bit [63:0] trap_cause(input retired_t r, input bit is_rv32);
    /* verilator no_inline_task */
    bit [63:0] beyond = (64'd1 << access_size(r.insn, is_rv32)) - 64'd1;
    bit misaligned = (access_address(r, is_rv32) & beyond) != 0;
    if (r.insn == 32'h0000_0073) return 64'd8 + 64'(r.mode);
    if (r.insn == 32'h0010_0073 || r.insn == 32'h0000_9002) return 64'd3;
    if (is_undefined(r.insn, is_rv32)) return 64'd2;
    if (is_load(r.insn)) return misaligned ? 64'd4 : 64'd5;
    if (is_store(r.insn)) return misaligned ? 64'd6 : 64'd7;
    if (is_branch(r.insn) || is_jump(r.insn, is_rv32)) return 64'd0;
    return 64'd2;
  endfunction

  // mtval that belongs to that cause.
  function automatic bit [63:0] trap_value(input retired_t r, input bit [63:0] cause, input bit is_rv32);
    /* verilator no_inline_task */
    bit [63:0] address = cause == 64'd0 ? jump_target(r) : access_address(r, is_rv32);
    case (cause)
      64'd0, 64'd4, 64'd5, 64'd6, 64'd7: return is_rv32 ? 64'(address[31:0]) : address;
      64'd2:                             return 64'(r.insn);
      64'd3:                             return r.pc;
      default:                           return 64'd0;
    endcase
  endfunction

  // Bytes outside the mask are not valid.
  function automatic bit [63:0] masked(input bit [63:0] data, input bit [7:0] mask);
    /* verilator no_inline_task */
    bit [63:0] bytes;
    for (int i = 0; i < 8; i++) bytes[8*i +: 8] = mask[i] ? data[8*i +: 8] : 8'd0;
    return bytes;
  endfunction
endpackage
/* verilator lint_on UNUSEDSIGNAL */
