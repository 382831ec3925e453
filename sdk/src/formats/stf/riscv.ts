/** Which RISC-V instructions may go elsewhere than to the next one, and where to as far as their bits say it. */
import type { Xlen } from '../../semantics/cpu/riscv/encodings.js';
import { distanceOf, expanded, isCompressed } from '../common/riscv.js';
import { StfIem } from './types.js';

export const Flow = {
  /** Goes to the next instruction, unless it traps. */
  NONE: 0,
  /** jal, c.j, c.jal: always to `target`. */
  JUMP: 1,
  /** jalr, c.jr, c.jalr: always, wherever the register says. */
  INDIRECT: 2,
  /** Branches: to `target` or to the next one. */
  BRANCH: 3,
} as const;
export type Flow = (typeof Flow)[keyof typeof Flow];

/** @param iem StfIem: c.jal exists for 32 bits only */
export function flowOf(bits: number, iem: number): Flow {
  const word = expanded(bits, xlenOf(iem));
  const opcode = word & 0x7f;
  if (opcode === 0x6f) return Flow.JUMP;
  if (opcode === 0x67 && (word & 0x7000) === 0) return Flow.INDIRECT;
  return opcode === 0x63 ? Flow.BRANCH : Flow.NONE;
}

const xlenOf = (iem: number): Xlen => (iem === StfIem.RV32 ? 32 : 64);

export function lengthOf(bits: number): 2 | 4 {
  return isCompressed(bits) ? 2 : 4;
}

/** Where a JUMP or BRANCH goes when it is taken. */
export function targetOf(pc: bigint, bits: number, iem: number): bigint {
  const xlen = xlenOf(iem);
  return BigInt.asUintN(xlen, pc + BigInt(distanceOf(expanded(bits, xlen))));
}

/** A load, store or atomic: what it does with memory, and on how many bytes. */
export interface MemoryUse {
  readonly reads: boolean;
  readonly writes: boolean;
  readonly bytes: number;
}

/** Null for instructions that do not touch memory, and for those of vectors, whose size the bits do not say. */
export function memoryUseOf(bits: number, iem: number): MemoryUse | null {
  const word = expanded(bits, xlenOf(iem));
  const funct3 = (word >>> 12) & 7;
  switch (word & 0x7f) {
    case 0x03:
      return { reads: true, writes: false, bytes: 1 << (funct3 & 3) };
    case 0x07:
      return funct3 >= 1 && funct3 <= 4 ? { reads: true, writes: false, bytes: 1 << funct3 } : null;
    case 0x23:
      return { reads: false, writes: true, bytes: 1 << (funct3 & 3) };
    case 0x27:
      return funct3 >= 1 && funct3 <= 4 ? { reads: false, writes: true, bytes: 1 << funct3 } : null;
    case 0x2f: {
      const operation = word >>> 27;
      return { reads: operation !== 3, writes: operation !== 2, bytes: 1 << (funct3 & 3) };
    }
    default:
      return null;
  }
}

// EVENT records: what their ids and data mean, and the RISC-V trap that they represent.

/** Special event with data[0] 0 U, 1 S, 2 H, 3 M. */
const INTERRUPT_BIT = { true: 63n, false: 31n };
const SPECIAL_BIT = { true: 62n, false: 30n };

const [ILLEGAL_INSTRUCTION, BREAKPOINT] = [2n, 3n];
const FIRST_ACCESS = 4n;
const [FIRST_ECALL, LAST_ECALL] = [8n, 11n];
const FETCH_PAGE_FAULTS = new Set([12n, 20n]);

/** @param wide ids have 64 bits (EVENT64) */
export function isInterrupt(id: bigint, wide: boolean): boolean {
  return ((id >> INTERRUPT_BIT[`${wide}`]) & 1n) === 1n;
}

/** No trap: a change of mode, for instance. */
export function isSpecialEvent(id: bigint, wide: boolean): boolean {
  return ((id >> SPECIAL_BIT[`${wide}`]) & 1n) === 1n;
}

/** `tval` of the trap: the address where the data hold one, the instruction where it was not a legal one. */
export function trapValue(id: bigint, data: readonly bigint[]): bigint {
  if (data.length >= 3) return id === ILLEGAL_INSTRUCTION ? data[1] : data[2];
  return data.length > 0 && id < FIRST_ACCESS ? data[0] : 0n;
}

/** A trap as the `cpu` protocol records it, of the instruction at `pc`. */
export interface TrapEvent {
  readonly cause: bigint;
  readonly tval: bigint;
  readonly pc: bigint;
  readonly bits: number;
  readonly iem: number;
}

/** The interrupt bit of `mcause` is the highest of the core's word. */
export function isInterruptCause(cause: bigint, iem: number): boolean {
  return ((cause >> (iem === StfIem.RV32 && cause < 1n << 32n ? 31n : 63n)) & 1n) === 1n;
}

/**
 * Id (of 64 bits) and data of the EVENT of a trap. What the format wants and the trap does not know is `tval`: the number of the system call, the source
 * of an interrupt.
 */
export function eventOfTrap({ cause, tval, pc, bits, iem }: TrapEvent): { id: bigint; data: bigint[] } {
  if (isInterruptCause(cause, iem)) return { id: (1n << 63n) | (cause & 0x7fff_ffffn), data: [tval] };
  const encoding = BigInt(bits);
  if (cause < ILLEGAL_INSTRUCTION || cause === BREAKPOINT) return { id: cause, data: [pc] };
  if (cause === ILLEGAL_INSTRUCTION) return { id: cause, data: [pc, encoding, BigInt(iem)] };
  if (cause >= FIRST_ECALL && cause <= LAST_ECALL) return { id: cause, data: [tval] };
  if (FETCH_PAGE_FAULTS.has(cause)) return { id: cause, data: [pc, encoding] };
  return { id: cause, data: [pc, encoding, tval] };
}
