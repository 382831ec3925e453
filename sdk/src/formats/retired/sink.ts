/** What the log of an instruction set simulator says, call by call. 64-bit numbers come as two halves: no object and no bigint is made for an instruction. */

import { disassemble, isUnknown } from '../../semantics/cpu/riscv/disassemble.js';
import type { TextBytes } from '../text/columns.js';

export const UNKNOWN = -1;

/** What instructions did. `begin` and `trap` open one; the calls that follow belong to it until the next. */
export interface RetiredSink {
  /**
   * One that retired.
   * @param bits machine code; UNKNOWN: the log does not say
   * @param text the log's disassembly, where this project's disassembler does not know the code
   * @param privilege 0 user, 1 supervisor, 3 machine; UNKNOWN: the log does not say
   */
  begin(
    hart: number,
    pcLow: number,
    pcHigh: number,
    bits: number,
    text: string | null,
    privilege: number,
  ): void;
  /** One that trapped instead. */
  trap(
    hart: number,
    pcLow: number,
    pcHigh: number,
    bits: number,
    text: string | null,
    cause: bigint,
    value: bigint,
  ): void;
  /** Taken before it. */
  interrupt({ cause, epc }: Interrupt): void;
  register(isFloat: boolean, index: number, low: number, high: number): void;
  csr(number: number, name: TextBytes, low: number, high: number): void;
  store(addressLow: number, addressHigh: number, bytes: number, low: number, high: number): void;
  load(addressLow: number, addressHigh: number): void;
  /** What has no event: vector registers, the vector configuration. */
  note(text: string): void;
}

export interface Interrupt {
  readonly cause: bigint;
  readonly epc: bigint;
}

/** Of which effects of instructions a log tells. */
export interface Says {
  readonly registers: boolean;
  readonly memory: boolean;
}

export interface RetiredShape {
  /** Numbers of the harts, rising. */
  readonly harts: readonly number[];
  readonly xlen: 32 | 64;
  readonly instructions: number;
  readonly says: Says;
  /** What the log is of: `spike`, `qemu`. */
  readonly name: string;
}

/** The highest number that a hart may have. */
export const MAX_HART = 0xffff;

export const join64 = (low: number, high: number): bigint => (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);

// Machine code that this project's disassembler does not know: of such the log's text is kept.

const MOST_KNOWN = 1 << 16;

export class UnknownCode {
  private readonly known = new Map<number, boolean>();

  has(bits: number, xlen: 32 | 64): boolean {
    let answer = this.known.get(bits);
    if (answer === undefined) {
      if (this.known.size >= MOST_KNOWN) this.known.clear();
      answer = isUnknown(disassemble(bits, { xlen }));
      this.known.set(bits, answer);
    }
    return answer;
  }
}
