/** What is known of an instruction set, and of an instruction's length, without the tables of the disassembler. */
import type { Xlen } from './encodings.js';

/** Word size that a DUT's `cpu.isa` names (`RV64GC`, `rv32imc_zicsr`); null where it is not RISC-V of 32 or 64 bits. */
export function xlenOfIsa(isa: string | undefined): Xlen | null {
  const match = /^\s*rv(32|64)/i.exec(isa ?? '');
  return match ? (Number(match[1]) as Xlen) : null;
}

/** Length of the instruction that starts with these bits, in bytes; 0: longer than 32 bits. */
export function instructionLength(bits: number): 0 | 2 | 4 {
  if ((bits & 3) !== 3) return 2;
  return (bits & 0x1f) === 0x1f ? 0 : 4;
}
