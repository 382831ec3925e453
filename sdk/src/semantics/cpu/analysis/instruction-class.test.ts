import { describe, expect, it } from 'vitest';
import { disassemble } from '../riscv/disassemble.js';
import { INSTRUCTION_CLASSES, InstructionClassifier } from './instruction-class.js';

const rv64 = new InstructionClassifier(64);
const classOf = (bits: number): string => INSTRUCTION_CLASSES[rv64.classOf(bits)]!;

describe('the class of an instruction', () => {
  it.each([
    [0x0010_0093, 'addi', 'integer'],
    [0x0000_0037, 'lui', 'integer'],
    [0x0000_809b, 'addiw', 'integer'],
    [0x0020_81b3, 'add', 'integer'],
    [0x0220_81b3, 'mul', 'multiply'],
    [0x0220_c1b3, 'div', 'divide'],
    [0x0220_f1bb, 'remuw', 'divide'],
    [0x0000_a083, 'lw', 'load'],
    [0x0000_b087, 'fld', 'float load'],
    [0x0010_a023, 'sw', 'store'],
    [0x0010_b027, 'fsd', 'float store'],
    [0x0020_8463, 'beq', 'branch'],
    [0x0080_00ef, 'jal', 'jump'],
    [0x0000_8067, 'jalr', 'jump'],
    [0x0020_81d3, 'fadd.s', 'float'],
    [0x1000_a1af, 'lr.w', 'atomic'],
    [0x3000_2073, 'csrrs', 'csr'],
    [0x0000_0073, 'ecall', 'system'],
    [0x0ff0_000f, 'fence', 'fence'],
    [0x0000_4501, 'c.li', 'integer'],
    [0x0000_4108, 'c.lw', 'load'],
    [0x0000_e406, 'c.sdsp', 'store'],
    [0x0000_8082, 'c.jr', 'jump'],
    [0x0000_c101, 'c.beqz', 'branch'],
    [0x0000_9002, 'c.ebreak', 'system'],
    [0x0000_007f, '.word', 'other'],
  ])('%s (%s) is %s', (bits, mnemonic, expected) => {
    expect(disassemble(bits, { xlen: 64, pseudo: false }).split(' ')[0]).toBe(mnemonic);
    expect(classOf(bits)).toBe(expected);
  });

  it('of a compressed instruction depends on the word size', () => {
    const half = 0x6108; // RV64: c.ld; RV32: c.flw
    expect(INSTRUCTION_CLASSES[new InstructionClassifier(32).classOf(half)]).toBe('float load');
    expect(classOf(half)).toBe('load');
  });
});
