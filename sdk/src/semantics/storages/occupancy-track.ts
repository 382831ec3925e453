/** The occupancy of one buffer through time: a step function, summed up into a histogram and the intervals of a series. */
import type { PsRange, SeriesGrid } from '../cpu/query-range.js';

const TWO_32 = 0x1_0000_0000;

/** Times are ps since the start of the range, as doubles: exact below 2^53. */
export class OccupancyTrack {
  /** Time spent at each occupancy. */
  readonly histogram: Float64Array;
  private readonly startLo: number;
  private readonly startHi: number;
  private readonly length: number;
  /** Present occupancy, and since when. */
  private count: number;
  private since = 0;
  /** Of the series: start of interval 0 (at or before 0) and width. */
  private readonly origin: number;
  private readonly width: number;
  /** Per interval: sum of occupancy times time, least and greatest occupancy. */
  private readonly sums: Float64Array;
  private readonly least: Uint32Array;
  private readonly most: Uint32Array;

  /** @param count occupied slots before the first frame of the range */
  constructor(range: PsRange, slots: number, count: number, grid: SeriesGrid | null, tickPs: bigint) {
    this.startLo = Number(range.from & 0xffff_ffffn);
    this.startHi = Number(range.from >> 32n);
    this.length = Number(range.to - range.from);
    this.count = count;
    this.histogram = new Float64Array(slots + 1);
    const points = grid?.length ?? 0;
    this.origin = grid ? Number(grid.firstTick * tickPs - range.from) : 0;
    this.width = grid ? Number(grid.widthTicks * tickPs) : 1;
    this.sums = new Float64Array(points);
    this.least = new Uint32Array(points).fill(0xffff_ffff);
    this.most = new Uint32Array(points);
  }

  /** Occupied slots at the end of what was seen. */
  get last(): number {
    return this.count;
  }

  /** Over the time of the range. */
  get mean(): number {
    let sum = 0;
    for (let count = 1; count < this.histogram.length; count++) sum += count * this.histogram[count];
    return this.length > 0 ? sum / this.length : 0;
  }

  /** From the time given (u32 halves of ps) on, `count` slots are occupied. */
  change(count: number, timeLo: number, timeHi: number): void {
    const now = (timeHi - this.startHi) * TWO_32 + (timeLo - this.startLo);
    if (now > this.since) this.lasted(now);
    this.count = count;
  }

  /** The range ends. */
  finish(): void {
    if (this.length > this.since) this.lasted(this.length);
  }

  /** Mean, least and greatest occupancy of each interval. */
  points(): { mean: number; min: number; max: number }[] {
    return Array.from(this.sums, (sum, index) => {
      const from = Math.max(0, this.origin + index * this.width);
      const to = Math.min(this.length, this.origin + (index + 1) * this.width);
      return { mean: sum / (to - from), min: this.least[index], max: this.most[index] };
    });
  }

  /** The present occupancy has lasted until `now`. */
  private lasted(now: number): void {
    const { count, since } = this;
    this.histogram[count] += now - since;
    this.since = now;
    if (this.sums.length > 0) this.addToSeries(count, since, now);
  }

  private addToSeries(count: number, from: number, to: number): void {
    const { origin, width } = this;
    let index = Math.floor((from - origin) / width);
    for (let at = from; at < to && index < this.sums.length; index++) {
      const end = Math.min(to, origin + (index + 1) * width);
      this.sums[index] += count * (end - at);
      if (count < this.least[index]) this.least[index] = count;
      if (count > this.most[index]) this.most[index] = count;
      at = end;
    }
  }
}
