/** Bits of a signal as they were before the clock edge. */
import type { SignalStore } from '../read/signal-store.js';

/** Values up to 2^53 are numbers and larger ones bigints: equal values are then equal by `===`. */
export type Wide = number | bigint;

const TWO_32 = 4_294_967_296;
/** High words from here on make a value that a number cannot hold exactly. */
const FIRST_INEXACT = 1 << 21;

export function wideOf(lo: number, hi: number): Wide {
  return hi >>> 0 < FIRST_INEXACT
    ? (hi >>> 0) * TWO_32 + (lo >>> 0)
    : (BigInt(hi >>> 0) << 32n) | BigInt(lo >>> 0);
}

/** Up to 64 bits of a signal, from bit `from` of its value on. */
export class Probe {
  private readonly word: number;
  private readonly shift: number;
  private readonly maskLo: number;
  private readonly maskHi: number;
  /** The words that it reaches into. */
  private readonly last: number;

  constructor(
    private readonly store: SignalStore,
    readonly signal: number,
    readonly from: number,
    readonly width: number,
  ) {
    this.word = store.offsets[signal] + (from >>> 5);
    this.shift = from & 31;
    this.maskLo = width >= 32 ? -1 : (1 << width) - 1;
    this.maskHi = width >= 64 ? -1 : width > 32 ? (1 << (width - 32)) - 1 : 0;
    this.last = store.offsets[signal] + ((from + width - 1) >>> 5);
  }

  /** The lower 32 bits, as an unsigned number. */
  low(): number {
    return (this.take(this.store.bits, 0) & this.maskLo) >>> 0;
  }

  high(): number {
    return this.maskHi === 0 ? 0 : (this.take(this.store.bits, 1) & this.maskHi) >>> 0;
  }

  value(): Wide {
    return this.maskHi === 0 ? this.low() : wideOf(this.low(), this.high());
  }

  /** Some bit is x or z. */
  isUnknown(): boolean {
    const { unknown } = this.store;
    return (
      (this.take(unknown, 0) & this.maskLo) !== 0 ||
      (this.maskHi !== 0 && (this.take(unknown, 1) & this.maskHi) !== 0)
    );
  }

  /** A single bit is 1: not 0, x or z. */
  isSet(): boolean {
    return (
      ((this.store.bits[this.word] >>> this.shift) & 1) === 1 &&
      ((this.store.unknown[this.word] >>> this.shift) & 1) === 0
    );
  }

  private take(words: Uint32Array, index: number): number {
    const at = this.word + index;
    const lower = at <= this.last ? words[at] >>> this.shift : 0;
    if (this.shift === 0 || at + 1 > this.last) return lower;
    return lower | (words[at + 1] << (32 - this.shift));
  }
}
