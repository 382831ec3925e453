/** The range of an analysis in cycles of one clock, and its intervals. */
import { UscopeError } from '../../../base/errors.js';
import type { FrameCursor } from '../../../format/frame.js';

const TWO_32 = 2 ** 32;
const MAX_EXACT = 2 ** 53;

/** Cycles are counted from the one in which the range begins: earlier ones are negative. */
export class CycleWindow {
  /** Cycle of the present frame. */
  cycle = 0;
  /** Whether the present frame lies in the range. */
  inRange = false;
  readonly fromCycle: bigint;
  readonly toCycle: bigint;
  /** Cycles of the range. */
  readonly cycles: number;
  readonly intervalCycles: number;
  /** Number of intervals. */
  readonly intervals: number;
  private readonly baseLo: number;
  private readonly baseHi: number;
  private readonly basePs: bigint;
  private readonly offset: number;
  private readonly period: number;

  /**
   * @param fromPs start, inclusive; the cycle in which it lies is the first
   * @param toPs end, exclusive
   * @param points upper limit of `intervals`; 0: a single interval
   * @param grain intervals are multiples of this number of cycles
   * @throws UscopeError READER_RANGE: the range is too long
   */
  constructor(
    readonly periodPs: bigint,
    fromPs: bigint,
    toPs: bigint,
    points: number,
    grain = 1,
  ) {
    this.fromCycle = fromPs / periodPs;
    this.toCycle = toPs > fromPs ? (toPs - 1n) / periodPs + 1n : this.fromCycle;
    this.cycles = Number(this.toCycle - this.fromCycle);
    if (this.cycles > MAX_EXACT) {
      throw new UscopeError(
        'READER_RANGE',
        `the range has ${this.toCycle - this.fromCycle} cycles, more than the 2^53 that can be counted exactly: ask for a part of it`,
      );
    }
    this.basePs = this.fromCycle * periodPs;
    this.baseLo = Number(this.basePs & 0xffff_ffffn);
    this.baseHi = Number(this.basePs >> 32n);
    this.offset = Number(fromPs - this.basePs);
    this.period = Number(periodPs);
    const grains = this.cycles / grain;
    this.intervalCycles = grain * roundInterval(grains / Math.max(points, 1), points > 0 ? grains : 0);
    this.intervals = Math.max(1, Math.ceil(this.cycles / this.intervalCycles));
  }

  /** Moves to a frame. */
  advance(cursor: FrameCursor): void {
    const time = (cursor.timeHi - this.baseHi) * TWO_32 + (cursor.timeLo - this.baseLo);
    this.inRange = time >= this.offset;
    // Exact: below 2^53 the quotient of two doubles never rounds up to the next whole number.
    if (time < MAX_EXACT && time > -MAX_EXACT) this.cycle = Math.floor(time / this.period);
    else this.cycle = Number(cursor.timePs / this.periodPs - this.fromCycle);
  }

  intervalOf(cycle: number): number {
    return Math.floor(cycle / this.intervalCycles);
  }

  /** Cycles of an interval: the last may be shorter. */
  lengthOf(interval: number): number {
    return Math.min(this.intervalCycles, this.cycles - interval * this.intervalCycles);
  }

  /** An array with one entry per interval. */
  series(): Float64Array {
    return new Float64Array(this.intervals);
  }
}

/** The next of 1, 2, 5, 10, 20, … : borders people can read. */
function roundInterval(least: number, cycles: number): number {
  if (cycles === 0) return Math.max(1, Math.ceil(least));
  for (let scale = 1; ; scale *= 10) {
    for (const step of [1, 2, 5]) if (step * scale >= least) return step * scale;
  }
}
