/** The 16-bit encodings (extension C) of RV32 and RV64: their own form, and the 32-bit instruction each represents. */
import type { Xlen } from './encodings.js';
import { field, floatRegisterName, hex, type Operand, registerName, signed, target } from './operands.js';

/** A 16-bit encoding. */
export interface CompressedEncoding {
  readonly name: string;
  readonly match: number;
  readonly mask: number;
  readonly operands: string;
  readonly xlen: Xlen | 0;
  /** False for values that the manual reserves. */
  readonly accepts: (bits: number) => boolean;
  /** The same instruction in 32 bits. */
  readonly expand: (bits: number) => number;
}

const SP = 2;
const RA = 1;

// Register fields. The primed ones of the manual have three bits and name x8..x15.
const rd = (bits: number) => field(bits, 11, 7);
const rs2 = (bits: number) => field(bits, 6, 2);
const rs1c = (bits: number) => field(bits, 9, 7) + 8;
const rs2c = (bits: number) => field(bits, 4, 2) + 8;

// Immediates, in the order of the bits of the result from the top.
const bit = (bits: number, from: number, to: number) => field(bits, from, from) << to;
const imm6 = (bits: number) => signed(bit(bits, 12, 5) | field(bits, 6, 2), 6);
const shamt = (bits: number) => bit(bits, 12, 5) | field(bits, 6, 2);
const wordOffset = (bits: number) => bit(bits, 5, 6) | (field(bits, 12, 10) << 3) | bit(bits, 6, 2);
const doubleOffset = (bits: number) => (field(bits, 6, 5) << 6) | (field(bits, 12, 10) << 3);
const wordLoadSp = (bits: number) => (field(bits, 3, 2) << 6) | bit(bits, 12, 5) | (field(bits, 6, 4) << 2);
const doubleLoadSp = (bits: number) => (field(bits, 4, 2) << 6) | bit(bits, 12, 5) | (field(bits, 6, 5) << 3);
const wordStoreSp = (bits: number) => (field(bits, 8, 7) << 6) | (field(bits, 12, 9) << 2);
const doubleStoreSp = (bits: number) => (field(bits, 9, 7) << 6) | (field(bits, 12, 10) << 3);
const addi4spn = (bits: number) =>
  (field(bits, 10, 7) << 6) | (field(bits, 12, 11) << 4) | bit(bits, 5, 3) | bit(bits, 6, 2);
const addi16sp = (bits: number) =>
  signed(
    bit(bits, 12, 9) | (field(bits, 4, 3) << 7) | bit(bits, 5, 6) | bit(bits, 2, 5) | bit(bits, 6, 4),
    10,
  );
const jumpOffset = (bits: number) =>
  signed(
    bit(bits, 12, 11) |
      bit(bits, 8, 10) |
      (field(bits, 10, 9) << 8) |
      bit(bits, 6, 7) |
      bit(bits, 7, 6) |
      bit(bits, 2, 5) |
      bit(bits, 11, 4) |
      (field(bits, 5, 3) << 1),
    12,
  );
const branchOffset = (bits: number) =>
  signed(
    bit(bits, 12, 8) |
      (field(bits, 6, 5) << 6) |
      bit(bits, 2, 5) |
      (field(bits, 11, 10) << 3) |
      (field(bits, 4, 3) << 1),
    9,
  );

/** Operands of 16-bit encodings, for `compileOperands`. */
export const COMPRESSED_OPERANDS: Readonly<Record<string, Operand>> = {
  rd: (bits) => registerName(rd(bits)),
  rs2: (bits) => registerName(rs2(bits)),
  rs1c: (bits) => registerName(rs1c(bits)),
  rs2c: (bits) => registerName(rs2c(bits)),
  fd: (bits) => floatRegisterName(rd(bits)),
  fs2: (bits) => floatRegisterName(rs2(bits)),
  fs2c: (bits) => floatRegisterName(rs2c(bits)),
  imm6: (bits) => String(imm6(bits)),
  uimm: (bits) => hex(imm6(bits) & 0xf_ffff),
  shamt: (bits) => hex(shamt(bits)),
  addi4spn: (bits) => String(addi4spn(bits)),
  addi16sp: (bits) => String(addi16sp(bits)),
  woff: (bits) => String(wordOffset(bits)),
  doff: (bits) => String(doubleOffset(bits)),
  wlsp: (bits) => String(wordLoadSp(bits)),
  dlsp: (bits) => String(doubleLoadSp(bits)),
  wssp: (bits) => String(wordStoreSp(bits)),
  dssp: (bits) => String(doubleStoreSp(bits)),
  jtarget: (bits, context) => target(jumpOffset(bits), context),
  btarget: (bits, context) => target(branchOffset(bits), context),
};

// 32-bit encodings by format.
const iType = (opcode: number, funct3: number, d: number, s: number, imm: number) =>
  (((imm & 0xfff) << 20) | (s << 15) | (funct3 << 12) | (d << 7) | opcode) >>> 0;
const sType = (opcode: number, funct3: number, s: number, t: number, imm: number) =>
  ((field(imm, 11, 5) << 25) | (t << 20) | (s << 15) | (funct3 << 12) | (field(imm, 4, 0) << 7) | opcode) >>>
  0;
const rType = (opcode: number, funct3: number, funct7: number, d: number, s: number, t: number) =>
  ((funct7 << 25) | (t << 20) | (s << 15) | (funct3 << 12) | (d << 7) | opcode) >>> 0;
const jType = (d: number, offset: number) =>
  ((bit(offset, 20, 31) |
    (field(offset, 10, 1) << 21) |
    bit(offset, 11, 20) |
    (field(offset, 19, 12) << 12) |
    (d << 7) |
    0x6f) >>>
    0) as number;
const bType = (funct3: number, s: number, offset: number) =>
  (bit(offset, 12, 31) |
    (field(offset, 10, 5) << 25) |
    (s << 15) |
    (funct3 << 12) |
    (field(offset, 4, 1) << 8) |
    bit(offset, 11, 7) |
    0x63) >>>
  0;

interface Rule {
  readonly mask?: number;
  readonly xlen?: Xlen;
  readonly accepts?: (bits: number) => boolean;
}

const always = () => true;
const hasRd = (bits: number) => rd(bits) !== 0;
const hasRs2 = (bits: number) => rs2(bits) !== 0;

/** A row: the quadrant (bits 1..0), funct3 (bits 15..13) and further fixed bits make the match. */
function row(
  name: string,
  quadrant: number,
  funct3: number,
  operands: string,
  expand: (bits: number) => number,
  rule: Rule & { readonly bits?: number } = {},
): CompressedEncoding {
  return {
    name,
    match: (funct3 << 13) | quadrant | (rule.bits ?? 0),
    mask: 0xe003 | (rule.mask ?? 0),
    operands,
    xlen: rule.xlen ?? 0,
    accepts: rule.accepts ?? always,
    expand,
  };
}

const LOAD = 0x03;
const LOAD_FP = 0x07;
const STORE = 0x23;
const STORE_FP = 0x27;
const OP_IMM = 0x13;

function memory(
  name: string,
  funct3: number,
  isDouble: boolean,
  isFloat: boolean,
  isStore: boolean,
  xlen?: Xlen,
): CompressedEncoding {
  const offset = isDouble ? doubleOffset : wordOffset;
  const size = isDouble ? 3 : 2;
  const [load, store] = isFloat ? [LOAD_FP, STORE_FP] : [LOAD, STORE];
  const operands = `${isFloat ? 'fs2c' : 'rs2c'},${isDouble ? 'doff' : 'woff'}(rs1c)`;
  const expand = (bits: number): number =>
    isStore
      ? sType(store, size, rs1c(bits), rs2c(bits), offset(bits))
      : iType(load, size, rs2c(bits), rs1c(bits), offset(bits));
  return row(name, 0, funct3, operands, expand, xlen ? { xlen } : {});
}

const QUADRANT_0: readonly CompressedEncoding[] = [
  row('c.unimp', 0, 0, '', () => 0xc000_1073, { mask: 0x1fff }),
  row('c.addi4spn', 0, 0, 'rs2c,sp,addi4spn', (c) => iType(OP_IMM, 0, rs2c(c), SP, addi4spn(c)), {
    accepts: (bits) => addi4spn(bits) !== 0,
  }),
  memory('c.fld', 1, true, true, false),
  memory('c.lw', 2, false, false, false),
  memory('c.flw', 3, false, true, false, 32),
  memory('c.ld', 3, true, false, false, 64),
  memory('c.fsd', 5, true, true, true),
  memory('c.sw', 6, false, false, true),
  memory('c.fsw', 7, false, true, true, 32),
  memory('c.sd', 7, true, false, true, 64),
];

/** Arithmetic on two of x8..x15: bits 12..10 are 0b011 or 0b111, bits 6..5 choose. */
function pair(name: string, bits: number, expand: (d: number, t: number) => number, xlen?: Xlen) {
  return row(name, 1, 4, 'rs1c,rs2c', (c) => expand(rs1c(c), rs2c(c)), {
    bits,
    mask: 0x1c60,
    ...(xlen ? { xlen } : {}),
  });
}

/** RV32 has no shift by 32 and more. */
function shiftRows(name: string, bits: number, funct7: number): CompressedEncoding[] {
  const expand = (c: number) => iType(OP_IMM, 5, rs1c(c), rs1c(c), (funct7 << 5) | shamt(c));
  return [
    row(name, 1, 4, 'rs1c,shamt', expand, { bits, mask: 0x1c00, xlen: 32 }),
    row(name, 1, 4, 'rs1c,shamt', expand, { bits, mask: 0x0c00, xlen: 64 }),
  ];
}

const QUADRANT_1: readonly CompressedEncoding[] = [
  row('c.nop', 1, 0, '', () => OP_IMM, { mask: 0x1ffc }),
  row('c.addi', 1, 0, 'rd,imm6', (c) => iType(OP_IMM, 0, rd(c), rd(c), imm6(c))),
  row('c.jal', 1, 1, 'jtarget', (c) => jType(RA, jumpOffset(c)), { xlen: 32 }),
  row('c.addiw', 1, 1, 'rd,imm6', (c) => iType(0x1b, 0, rd(c), rd(c), imm6(c)), {
    xlen: 64,
    accepts: hasRd,
  }),
  row('c.li', 1, 2, 'rd,imm6', (c) => iType(OP_IMM, 0, rd(c), 0, imm6(c))),
  row('c.addi16sp', 1, 3, 'sp,addi16sp', (c) => iType(OP_IMM, 0, SP, SP, addi16sp(c)), {
    bits: SP << 7,
    mask: 0x0f80,
    accepts: (bits) => addi16sp(bits) !== 0,
  }),
  row('c.lui', 1, 3, 'rd,uimm', (c) => (((imm6(c) << 12) | (rd(c) << 7) | 0x37) >>> 0) as number, {
    accepts: (bits) => imm6(bits) !== 0 && rd(bits) !== SP,
  }),
  ...shiftRows('c.srli', 0, 0),
  ...shiftRows('c.srai', 0x0400, 0x20),
  row('c.andi', 1, 4, 'rs1c,imm6', (c) => iType(OP_IMM, 7, rs1c(c), rs1c(c), imm6(c)), {
    bits: 0x0800,
    mask: 0x0c00,
  }),
  pair('c.sub', 0x0c00, (d, t) => rType(0x33, 0, 0x20, d, d, t)),
  pair('c.xor', 0x0c20, (d, t) => rType(0x33, 4, 0, d, d, t)),
  pair('c.or', 0x0c40, (d, t) => rType(0x33, 6, 0, d, d, t)),
  pair('c.and', 0x0c60, (d, t) => rType(0x33, 7, 0, d, d, t)),
  pair('c.subw', 0x1c00, (d, t) => rType(0x3b, 0, 0x20, d, d, t), 64),
  pair('c.addw', 0x1c20, (d, t) => rType(0x3b, 0, 0, d, d, t), 64),
  row('c.j', 1, 5, 'jtarget', (c) => jType(0, jumpOffset(c))),
  row('c.beqz', 1, 6, 'rs1c,btarget', (c) => bType(0, rs1c(c), branchOffset(c))),
  row('c.bnez', 1, 7, 'rs1c,btarget', (c) => bType(1, rs1c(c), branchOffset(c))),
];

const slli = (c: number) => iType(OP_IMM, 1, rd(c), rd(c), shamt(c));

const QUADRANT_2: readonly CompressedEncoding[] = [
  row('c.slli', 2, 0, 'rd,shamt', slli, { mask: 0x1000, xlen: 32 }),
  row('c.slli', 2, 0, 'rd,shamt', slli, { xlen: 64 }),
  row('c.fldsp', 2, 1, 'fd,dlsp(sp)', (c) => iType(LOAD_FP, 3, rd(c), SP, doubleLoadSp(c))),
  row('c.lwsp', 2, 2, 'rd,wlsp(sp)', (c) => iType(LOAD, 2, rd(c), SP, wordLoadSp(c)), { accepts: hasRd }),
  row('c.flwsp', 2, 3, 'fd,wlsp(sp)', (c) => iType(LOAD_FP, 2, rd(c), SP, wordLoadSp(c)), { xlen: 32 }),
  row('c.ldsp', 2, 3, 'rd,dlsp(sp)', (c) => iType(LOAD, 3, rd(c), SP, doubleLoadSp(c)), {
    xlen: 64,
    accepts: hasRd,
  }),
  row('c.jr', 2, 4, 'rd', (c) => iType(0x67, 0, 0, rd(c), 0), { mask: 0x107c, accepts: hasRd }),
  // An addition of zero would be the literal expansion; assemblers write the move as addi.
  row('c.mv', 2, 4, 'rd,rs2', (c) => iType(OP_IMM, 0, rd(c), rs2(c), 0), {
    mask: 0x1000,
    accepts: hasRs2,
  }),
  row('c.ebreak', 2, 4, '', () => 0x0010_0073, { bits: 0x1000, mask: 0x1ffc }),
  row('c.jalr', 2, 4, 'rd', (c) => iType(0x67, 0, RA, rd(c), 0), { bits: 0x1000, mask: 0x107c }),
  row('c.add', 2, 4, 'rd,rs2', (c) => rType(0x33, 0, 0, rd(c), rd(c), rs2(c)), {
    bits: 0x1000,
    mask: 0x1000,
    accepts: hasRs2,
  }),
  row('c.fsdsp', 2, 5, 'fs2,dssp(sp)', (c) => sType(STORE_FP, 3, SP, rs2(c), doubleStoreSp(c))),
  row('c.swsp', 2, 6, 'rs2,wssp(sp)', (c) => sType(STORE, 2, SP, rs2(c), wordStoreSp(c))),
  row('c.fswsp', 2, 7, 'fs2,wssp(sp)', (c) => sType(STORE_FP, 2, SP, rs2(c), wordStoreSp(c)), { xlen: 32 }),
  row('c.sdsp', 2, 7, 'rs2,dssp(sp)', (c) => sType(STORE, 3, SP, rs2(c), doubleStoreSp(c)), { xlen: 64 }),
];

/** Every 16-bit instruction; where several fit, the first counts. */
export const COMPRESSED: readonly CompressedEncoding[] = [...QUADRANT_0, ...QUADRANT_1, ...QUADRANT_2];

const expansions: Readonly<Record<Xlen, Map<number, number | null>>> = { 32: new Map(), 64: new Map() };

/** The same instruction in 32 bits; null: the half word is none. */
export function expandHalf(half: number, xlen: Xlen): number | null {
  const known = expansions[xlen].get(half);
  if (known !== undefined) return known;
  const row = COMPRESSED.find(
    ({ match, mask, xlen: only, accepts }) =>
      (half & mask) === match && (only === 0 || only === xlen) && accepts(half),
  );
  const word = row ? row.expand(half) >>> 0 : null;
  expansions[xlen].set(half, word);
  return word;
}
