/** EVENT records: what their ids and data mean, and the RISC-V trap that they represent. */
import { StfIem } from './types.js';

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
