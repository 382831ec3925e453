/** What instructions are by their bits, as `sv/uscope_rvfi_pkg.sv` has it: RVFI reports neither kinds nor causes. */
import { field } from '../../../semantics/cpu/riscv/operands.js';
import { distanceOf, expanded, isCompressed } from '../../common/riscv.js';
import type { Wide } from '../sampling/run.js';

export interface RvfiInstruction {
  readonly order: number;
  readonly insn: number;
  readonly isTrap: boolean;
  readonly isHalt: boolean;
  readonly isInterrupt: boolean;
  readonly mode: number;
  readonly ixl: number;
  readonly pc: Wide;
  readonly next: Wide;
  readonly rs1: { readonly register: number; readonly value: Wide };
  readonly rs2: { readonly register: number; readonly value: Wide };
  readonly rd: { readonly register: number; readonly value: Wide };
  readonly address: Wide;
  readonly readMask: number;
  readonly writeMask: number;
  readonly readData: Wide;
  readonly writeData: Wide;
}

export const isBranch = (word: number): boolean => (word & 0x7f) === 0x63;

export const isJump = (word: number): boolean => (word & 0x7f) === 0x6f || (word & 0x7f) === 0x67;

function isLoad(word: number): boolean {
  if ((word & 0x7f) === 0x2f) return word >>> 27 === 2;
  return (word & 0x7f) === 0x03 || (word & 0x7f) === 0x07;
}

function isStore(word: number): boolean {
  const opcode = word & 0x7f;
  return opcode === 0x23 || opcode === 0x27 || (opcode === 0x2f && word >>> 27 !== 2);
}

/** By rs1 and the immediate; the interface need not give the address where nothing was accessed. */
function accessAddress(word: number, { rs1 }: RvfiInstruction): bigint {
  const base = BigInt(rs1.value);
  const opcode = word & 0x7f;
  if (opcode === 0x2f) return base;
  const offset = opcode === 0x23 || opcode === 0x27 ? ((word >> 25) << 5) | field(word, 11, 7) : word >> 20;
  return base + BigInt(offset);
}

function jumpTarget({ insn, pc, rs1 }: RvfiInstruction): bigint {
  const opcode = insn & 0x7f;
  if (opcode === 0x63 || opcode === 0x6f) return BigInt(pc) + BigInt(distanceOf(insn));
  return (BigInt(rs1.value) + BigInt(insn >> 20)) & ~1n;
}

/** Encodings of loads, stores, branches and jalr that mean nothing. */
function isUndefined(insn: number, isRv32: boolean): boolean {
  if (isCompressed(insn)) return false;
  const funct3 = field(insn, 14, 12);
  switch (insn & 0x7f) {
    case 0x03:
      return funct3 === 7 || (isRv32 && (funct3 === 3 || funct3 === 6));
    case 0x23:
      return funct3 >= 4 || (isRv32 && funct3 === 3);
    case 0x63:
      return funct3 === 2 || funct3 === 3;
    case 0x67:
      return funct3 !== 0;
    default:
      return false;
  }
}

/** mcause of an exception, derived from the instruction. */
export function trapCause(one: RvfiInstruction, isRv32: boolean): number {
  const { insn } = one;
  if (insn === 0x73) return 8 + one.mode;
  if (insn === 0x0010_0073 || insn === 0x9002) return 3;
  if (isUndefined(insn, isRv32)) return 2;
  const word = expanded(insn, isRv32 ? 32 : 64);
  const bytes = 1n << BigInt(field(word, 13, 12));
  const isAligned = (accessAddress(word, one) & (bytes - 1n)) === 0n;
  if (isLoad(word)) return isAligned ? 5 : 4;
  if (isStore(word)) return isAligned ? 7 : 6;
  return isBranch(word) || isJump(word) ? 0 : 2;
}

/** mtval that belongs to that cause. */
export function trapValue(one: RvfiInstruction, cause: number, isRv32: boolean): bigint {
  if (cause === 2) return BigInt(one.insn >>> 0);
  if (cause === 3) return BigInt(one.pc);
  if (cause > 7) return 0n;
  const word = expanded(one.insn, isRv32 ? 32 : 64);
  const address = cause === 0 ? jumpTarget(one) : accessAddress(word, one);
  return BigInt.asUintN(isRv32 ? 32 : 64, address);
}

/** The address of the next instruction where none is taken. */
export function following({ pc, insn }: RvfiInstruction, isRv32: boolean): Wide {
  const step = isCompressed(insn) ? 2 : 4;
  if (typeof pc === 'number' && pc < 2 ** 52) return isRv32 ? (pc + step) % 2 ** 32 : pc + step;
  const wide = BigInt.asUintN(64, BigInt(pc) + BigInt(step));
  return wide < 2n ** 53n ? Number(wide) : wide;
}

/** Bytes outside of the mask are 0. */
export function masked(data: Wide, mask: number): Wide {
  if (typeof data === 'number' && data < 2 ** 32) return (data & byteMask(mask & 15)) >>> 0;
  const wide = (BigInt(byteMask(mask >>> 4) >>> 0) << 32n) | BigInt(byteMask(mask & 15) >>> 0);
  const value = BigInt(data) & wide;
  return value < 2n ** 53n ? Number(value) : value;
}

function byteMask(mask: number): number {
  return (
    (mask & 1 ? 0xff : 0) |
    (mask & 2 ? 0xff00 : 0) |
    (mask & 4 ? 0xff_0000 : 0) |
    (mask & 8 ? 0xff00_0000 : 0)
  );
}
