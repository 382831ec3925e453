/** Text of the operands of an instruction, by the name under which the tables of encodings mention them. */
import { csrName } from './csr-names.js';
import type { Xlen } from './encodings.js';

/** What the text of an instruction depends on next to its bits. */
export interface OperandContext {
  readonly xlen: Xlen;
  /** Address of the instruction; undefined: targets are shown relative to it. */
  readonly pc: bigint | undefined;
}

export type Operand = (bits: number, context: OperandContext) => string;

const REGISTERS =
  'zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6'.split(
    ' ',
  );
const FLOAT_REGISTERS =
  'ft0 ft1 ft2 ft3 ft4 ft5 ft6 ft7 fs0 fs1 fa0 fa1 fa2 fa3 fa4 fa5 fa6 fa7 fs2 fs3 fs4 fs5 fs6 fs7 fs8 fs9 fs10 fs11 ft8 ft9 ft10 ft11'.split(
    ' ',
  );
const ROUNDING_MODES = ['rne', 'rtz', 'rdn', 'rup', 'rmm', '', '', 'dyn'];
const DYNAMIC = 7;

/** ABI name of integer register 0..31. */
export function registerName(index: number): string {
  return REGISTERS[index] ?? `x${index}`;
}

/** ABI name of floating-point register 0..31. */
export function floatRegisterName(index: number): string {
  return FLOAT_REGISTERS[index] ?? `f${index}`;
}

export const hex = (value: number): string => `0x${value.toString(16)}`;

/** Bits `high..low` of a word. */
export const field = (bits: number, high: number, low: number): number =>
  (bits >>> low) & (2 ** (high - low + 1) - 1);

/** The lower `width` bits as a signed number. */
export const signed = (value: number, width: number): number => (value << (32 - width)) >> (32 - width);

export const branchOffset = (bits: number): number =>
  signed(
    (field(bits, 31, 31) << 12) |
      (field(bits, 7, 7) << 11) |
      (field(bits, 30, 25) << 5) |
      (field(bits, 11, 8) << 1),
    13,
  );

export const jumpOffset = (bits: number): number =>
  signed(
    (field(bits, 31, 31) << 20) |
      (field(bits, 19, 12) << 12) |
      (field(bits, 20, 20) << 11) |
      (field(bits, 30, 21) << 1),
    21,
  );

/** An address, or the distance to it as assemblers write it (`.+8`). */
export function target(offset: number, { pc, xlen }: OperandContext): string {
  if (pc === undefined) return offset < 0 ? `.${offset}` : `.+${offset}`;
  return `0x${BigInt.asUintN(xlen, pc + BigInt(offset)).toString(16)}`;
}

/** `iorw` subsets; 0 where nothing is named. */
function fenceSet(bits: number): string {
  const named = ['i', 'o', 'r', 'w'].filter((_, index) => bits & (8 >> index)).join('');
  return named || '0';
}

function rounding(bits: number, omitted: number): string {
  const mode = field(bits, 14, 12);
  return mode === omitted ? '' : `,${ROUNDING_MODES[mode]}`;
}

/** A rounding mode the manual reserves: the instruction is none. */
export function isReservedRounding(bits: number): boolean {
  return ROUNDING_MODES[field(bits, 14, 12)] === '';
}

/** Operands of 32-bit encodings. */
export const OPERANDS: Readonly<Record<string, Operand>> = {
  rd: (bits) => registerName(field(bits, 11, 7)),
  rs1: (bits) => registerName(field(bits, 19, 15)),
  rs2: (bits) => registerName(field(bits, 24, 20)),
  fd: (bits) => floatRegisterName(field(bits, 11, 7)),
  fs1: (bits) => floatRegisterName(field(bits, 19, 15)),
  fs2: (bits) => floatRegisterName(field(bits, 24, 20)),
  fs3: (bits) => floatRegisterName(field(bits, 31, 27)),
  imm: (bits) => String(bits >> 20),
  simm: (bits) => String(((bits >> 25) << 5) | field(bits, 11, 7)),
  uimm: (bits) => hex(bits >>> 12),
  shamt: (bits, { xlen }) => hex(field(bits, xlen === 64 ? 25 : 24, 20)),
  btarget: (bits, context) => target(branchOffset(bits), context),
  jtarget: (bits, context) => target(jumpOffset(bits), context),
  csr: (bits) => csrName(bits >>> 20),
  zimm: (bits) => String(field(bits, 19, 15)),
  pred: (bits) => fenceSet(field(bits, 27, 24)),
  succ: (bits) => fenceSet(field(bits, 23, 20)),
  '~': (bits) => rounding(bits, DYNAMIC),
  '^': (bits) => rounding(bits, 0),
};

/** Compiles the operands of a table row: words that name an operand become its text, the rest represents itself. */
export function compileOperands(template: string, operands: Readonly<Record<string, Operand>>): Operand {
  const parts = template.match(/[a-z0-9]+|[^a-z0-9]/g) ?? [];
  const makers = parts.map((part): Operand => operands[part] ?? (() => part));
  return (bits, context) => {
    let text = '';
    for (const make of makers) text += make(bits, context);
    return text;
  };
}
