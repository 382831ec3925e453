/** Which RISC-V instructions may go elsewhere than to the next one, and where to as far as their bits say it. */
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
  if ((bits & 3) === 3) {
    const opcode = bits & 0x7f;
    if (opcode === 0x6f) return Flow.JUMP;
    if (opcode === 0x67 && (bits & 0x7000) === 0) return Flow.INDIRECT;
    return opcode === 0x63 ? Flow.BRANCH : Flow.NONE;
  }
  return flowOfHalf(bits, iem);
}

function flowOfHalf(bits: number, iem: number): Flow {
  const funct3 = (bits >>> 13) & 7;
  if ((bits & 3) === 1) {
    if (funct3 === 5 || (funct3 === 1 && iem === StfIem.RV32)) return Flow.JUMP;
    return funct3 >= 6 ? Flow.BRANCH : Flow.NONE;
  }
  // c.jr and c.jalr: no second register, and a first one (0 is c.ebreak, or reserved).
  const isIndirect = (bits & 3) === 2 && funct3 === 4 && (bits & 0x7c) === 0 && (bits & 0xf80) !== 0;
  return isIndirect ? Flow.INDIRECT : Flow.NONE;
}

export function lengthOf(bits: number): 2 | 4 {
  return (bits & 3) === 3 ? 4 : 2;
}

/** Where a JUMP or BRANCH goes when it is taken. */
export function targetOf(pc: bigint, bits: number, iem: number): bigint {
  const target = pc + BigInt(distanceOf(bits));
  return BigInt.asUintN(iem === StfIem.RV32 ? 32 : 64, target);
}

function distanceOf(bits: number): number {
  const bit = (at: number): number => (bits >>> at) & 1;
  const run = (high: number, low: number): number => (bits >>> low) & ((1 << (high - low + 1)) - 1);
  if ((bits & 0x7f) === 0x6f) {
    return ((bits >> 31) << 20) | (run(19, 12) << 12) | (bit(20) << 11) | (run(30, 21) << 1);
  }
  if ((bits & 0x7f) === 0x63) {
    return ((bits >> 31) << 12) | (bit(7) << 11) | (run(30, 25) << 5) | (run(11, 8) << 1);
  }
  const sign = bit(12) ? -1 : 0;
  if (((bits >>> 13) & 7) >= 6) {
    return (sign << 8) | (run(6, 5) << 6) | (bit(2) << 5) | (run(11, 10) << 3) | (run(4, 3) << 1);
  }
  const high = (sign << 11) | (bit(8) << 10) | (run(10, 9) << 8) | (bit(6) << 7) | (bit(7) << 6);
  return high | (bit(2) << 5) | (bit(11) << 4) | (run(5, 3) << 1);
}

/** A load, store or atomic: what it does with memory, and on how many bytes. */
export interface MemoryUse {
  readonly reads: boolean;
  readonly writes: boolean;
  readonly bytes: number;
}

/** Null for instructions that do not touch memory, and for those of vectors, whose size the bits do not say. */
export function memoryUseOf(bits: number, iem: number): MemoryUse | null {
  if ((bits & 3) !== 3) return compressedUse(bits, iem);
  const funct3 = (bits >>> 12) & 7;
  switch (bits & 0x7f) {
    case 0x03:
      return { reads: true, writes: false, bytes: 1 << (funct3 & 3) };
    case 0x07:
      return funct3 >= 1 && funct3 <= 4 ? { reads: true, writes: false, bytes: 1 << funct3 } : null;
    case 0x23:
      return { reads: false, writes: true, bytes: 1 << (funct3 & 3) };
    case 0x27:
      return funct3 >= 1 && funct3 <= 4 ? { reads: false, writes: true, bytes: 1 << funct3 } : null;
    case 0x2f: {
      const operation = bits >>> 27;
      return { reads: operation !== 3, writes: operation !== 2, bytes: 1 << (funct3 & 3) };
    }
    default:
      return null;
  }
}

/** Quadrants 0 and 2: funct3 1 to 3 load, 5 to 7 store. Numbers 3 and 7 are words of floats with 32 bits, doublewords with 64. */
function compressedUse(bits: number, iem: number): MemoryUse | null {
  const quadrant = bits & 3;
  const funct3 = (bits >>> 13) & 7;
  if (quadrant === 1 || (funct3 & 3) === 0) return null;
  const kind = funct3 & 3;
  const bytes = kind === 1 ? 8 : kind === 2 ? 4 : iem === StfIem.RV32 ? 4 : 8;
  return { reads: funct3 < 4, writes: funct3 >= 4, bytes };
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
