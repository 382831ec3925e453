/** What RISC-V instructions are by their bits, compressed ones by what they represent. */
import { expandHalf } from '../../semantics/cpu/riscv/compressed.js';
import type { Xlen } from '../../semantics/cpu/riscv/encodings.js';
import { branchOffset, jumpOffset } from '../../semantics/cpu/riscv/operands.js';

export const isCompressed = (bits: number): boolean => (bits & 3) !== 3;

/** The same instruction in 32 bits; 0, which is none, for a half word that is none. */
export function expanded(bits: number, xlen: Xlen): number {
  return isCompressed(bits) ? (expandHalf(bits & 0xffff, xlen) ?? 0) : bits;
}

/** How far a jump or branch of 32 bits goes, where its bits say it. */
export const distanceOf = (word: number): number =>
  (word & 0x7f) === 0x6f ? jumpOffset(word) : branchOffset(word);
