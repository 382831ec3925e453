/** Ticks of an FTR file as picoseconds. */

export const PS_EXPONENT = -12;
/** The last time at which a frame may be: a segment ends after it. */
const MAX_TIME_PS = 0xffff_ffff_ffff_fffen;
const MAX_PERIOD = 0xffff_ffff;

/** What transactions count time in: picoseconds whatever the header says, as their usual writer does, or what the header says. */
export type TimeUnit = 'ps' | 'header';

/** Ticks to picoseconds, at most MAX_TIME_PS. */
export class TimeScale {
  readonly periodPs: number;
  private readonly factor: bigint;
  private readonly divisor: bigint;

  constructor(unit: TimeUnit, exponent: number) {
    const shift = unit === 'header' ? exponent - PS_EXPONENT : 0;
    this.factor = shift > 0 ? 10n ** BigInt(shift) : 1n;
    this.divisor = shift < 0 ? 10n ** BigInt(-shift) : 1n;
    this.periodPs = this.factor <= BigInt(MAX_PERIOD) ? Number(this.factor) : 0;
  }

  get isIdentity(): boolean {
    return this.factor === 1n && this.divisor === 1n;
  }

  toPs(ticks: bigint): bigint {
    const ps = (ticks * this.factor) / this.divisor;
    return ps > MAX_TIME_PS ? MAX_TIME_PS : ps;
  }
}
