/** What instructions are by their bits, as `sv/uscope_rvfi_pkg.sv` has it: RVFI reports neither kinds nor causes. */
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

export const isCompressed = (insn: number): boolean => (insn & 3) !== 3;

export function isBranch(insn: number): boolean {
  if (isCompressed(insn)) return (insn & 3) === 1 && ((insn >>> 14) & 3) === 3;
  return (insn & 0x7f) === 0x63;
}

/** c.jal is the RV32 meaning of what is c.addiw in RV64. */
export function isJump(insn: number, isRv32: boolean): boolean {
  if (!isCompressed(insn)) return (insn & 0x7f) === 0x6f || (insn & 0x7f) === 0x67;
  const funct3 = (insn >>> 13) & 7;
  if ((insn & 3) === 1) return funct3 === 5 || (funct3 === 1 && isRv32);
  return (insn & 3) === 2 && funct3 === 4 && ((insn >>> 7) & 31) !== 0 && ((insn >>> 2) & 31) === 0;
}

function isLoad(insn: number): boolean {
  if (isCompressed(insn)) return (insn & 1) === 0 && ((insn >>> 15) & 1) === 0 && ((insn >>> 13) & 3) !== 0;
  if ((insn & 0x7f) === 0x2f) return insn >>> 27 === 2;
  return (insn & 0x7f) === 0x03 || (insn & 0x7f) === 0x07;
}

function isStore(insn: number): boolean {
  if (isCompressed(insn)) return (insn & 1) === 0 && ((insn >>> 15) & 1) === 1 && ((insn >>> 13) & 3) !== 0;
  const opcode = insn & 0x7f;
  return opcode === 0x23 || opcode === 0x27 || (opcode === 0x2f && insn >>> 27 !== 2);
}

/** log2 of the bytes accessed. */
function accessSize(insn: number, isRv32: boolean): number {
  if (!isCompressed(insn)) return (insn >>> 12) & 3;
  const kind = (insn >>> 13) & 3;
  if (kind === 2) return 2;
  return kind === 3 && isRv32 ? 2 : 3;
}

function bits(insn: number, high: number, low: number): number {
  return (insn >>> low) & ((1 << (high - low + 1)) - 1);
}

function compressedOffset(insn: number, isWord: boolean): number {
  if ((insn & 3) === 0) {
    const common = bits(insn, 12, 10) << 3;
    return isWord
      ? (bits(insn, 5, 5) << 6) | common | (bits(insn, 6, 6) << 2)
      : (bits(insn, 6, 5) << 6) | common;
  }
  if (insn >>> 15) {
    return isWord
      ? (bits(insn, 8, 7) << 6) | (bits(insn, 12, 9) << 2)
      : (bits(insn, 9, 7) << 6) | (bits(insn, 12, 10) << 3);
  }
  const upper = bits(insn, 12, 12) << 5;
  return isWord
    ? (bits(insn, 3, 2) << 6) | upper | (bits(insn, 6, 4) << 2)
    : (bits(insn, 4, 2) << 6) | upper | (bits(insn, 6, 5) << 3);
}

/** By rs1 and the immediate; the interface need not give the address where nothing was accessed. */
function accessAddress({ insn, rs1 }: RvfiInstruction, isRv32: boolean): bigint {
  const base = BigInt(rs1.value);
  if (isCompressed(insn)) return base + BigInt(compressedOffset(insn, accessSize(insn, isRv32) === 2));
  const opcode = insn & 0x7f;
  if (opcode === 0x2f) return base;
  const offset = opcode === 0x23 || opcode === 0x27 ? ((insn >> 25) << 5) | bits(insn, 11, 7) : insn >> 20;
  return base + BigInt(offset);
}

function jumpTarget({ insn, pc, rs1 }: RvfiInstruction): bigint {
  const opcode = insn & 0x7f;
  if (opcode === 0x63) {
    const offset =
      ((insn >> 31) << 12) | (bits(insn, 7, 7) << 11) | (bits(insn, 30, 25) << 5) | (bits(insn, 11, 8) << 1);
    return BigInt(pc) + BigInt(offset);
  }
  if (opcode === 0x6f) {
    const offset =
      ((insn >> 31) << 20) |
      (bits(insn, 19, 12) << 12) |
      (bits(insn, 20, 20) << 11) |
      (bits(insn, 30, 21) << 1);
    return BigInt(pc) + BigInt(offset);
  }
  return (BigInt(rs1.value) + BigInt(insn >> 20)) & ~1n;
}

/** Encodings of loads, stores, branches and jalr that mean nothing. */
function isUndefined(insn: number, isRv32: boolean): boolean {
  if (isCompressed(insn)) return false;
  const funct3 = bits(insn, 14, 12);
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
  const isAligned = (accessAddress(one, isRv32) & ((1n << BigInt(accessSize(insn, isRv32))) - 1n)) === 0n;
  if (isLoad(insn)) return isAligned ? 5 : 4;
  if (isStore(insn)) return isAligned ? 7 : 6;
  return isBranch(insn) || isJump(insn, isRv32) ? 0 : 2;
}

/** mtval that belongs to that cause. */
export function trapValue(one: RvfiInstruction, cause: number, isRv32: boolean): bigint {
  if (cause === 2) return BigInt(one.insn >>> 0);
  if (cause === 3) return BigInt(one.pc);
  if (cause > 7) return 0n;
  const address = cause === 0 ? jumpTarget(one) : accessAddress(one, isRv32);
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
