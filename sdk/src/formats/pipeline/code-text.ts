/** How an instruction is shown: its address, a colon, its disassembly. */
import { disassemble, type Xlen } from '../../semantics/cpu/riscv/index.js';

/** `80000000`: no prefix, at least as wide as addresses of its register width usually are. */
export function pcText(pc: bigint, xlen: Xlen | null): string {
  return pc.toString(16).padStart(xlen === 64 && pc > 0xffff_ffffn ? 16 : 8, '0');
}

/** Disassembled where the instruction set is known, else the bits. */
export function bitsText(bits: number, pc: bigint | null, xlen: Xlen | null): string {
  if (xlen === null) return `0x${(bits >>> 0).toString(16).padStart(8, '0')}`;
  return disassemble(bits, { xlen, ...(pc === null ? {} : { pc }) });
}
