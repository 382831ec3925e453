/**
 * Sums per-frame amounts into per-cycle sums and these into buckets, for many sources at once. This runs inside the writer's inner loop, so all
 * state of a source lies in one typed array, as doubles that hold whole numbers exactly; amounts too large for that take a slower way.
 */
import type { MipmapLevel } from '../../format/tsum.js';
import { CounterRow, DensityRow, FAN_OUT } from './buckets.js';

const BASE_INTERVAL_CYCLES = 1024;
/** The largest interval that coarsening reaches and a u32 holds. */
const MAX_INTERVAL_CYCLES = 2 ** 30;
const TWO_32 = 2 ** 32;
/** Sums above this leave the fast way; far enough below 2^53 that adding a frame's sum (65,535 items of 32 bits) stays exact. */
const MAX_FAST = 2 ** 52;
const MAX_SAFE_HIGH = 0x1f_ffff;
/** From here on cycles are not counted in `state`, but numbered: they all lie in the last bucket. */
const FIRST_LATE = 2 ** 53;

// State of one source: offsets into `state`.
/** 1 once the frame being received has an amount. */
const TOUCHED = 0;
const FRAME_SUM = 1;
const CYCLE = 2;
const CYCLE_SUM = 3;
/** The bucket that is open: cycles from START to below END. */
const BUCKET_START = 4;
const BUCKET_END = 5;
const BUCKET_MIN = 6;
const BUCKET_MAX = 7;
const BUCKET_SUM = 8;
const STRIDE = 9;

// State of one clock: offsets into `clocks`.
const PERIOD = 0;
/** The cycle of the last frame, and the time in ps at which it ends. */
const CLOCK_CYCLE = 1;
const CYCLE_END = 2;
const CLOCK_STRIDE = 3;

/** A counter keeps min, max and sum of its cycles; a density only counts. */
export type SourceKind = 'counter' | 'density';

/** A source of amounts. */
export interface Source {
  readonly kind: SourceKind;
  readonly clockId: number;
}

export class Accumulator {
  private readonly state: Float64Array;
  /** High halves of frame and cycle sums; their low parts are in `state`. */
  private readonly frameHi: Uint32Array;
  private readonly cycleHi: Uint32Array;
  private readonly clocks: Float64Array;
  private readonly clockOf: Uint8Array;
  private readonly touched: Uint16Array;
  /** By clock the last cycle from `FIRST_LATE` on, and its number in `state`; by source its last one. */
  private readonly late: { cycle: bigint; number: number }[];
  private readonly lateOf: bigint[] = [];
  private numTouched = 0;
  /** null: a density. All densities share one row. */
  private readonly rows: readonly (CounterRow | null)[];
  private readonly density = new DensityRow();
  private interval = BASE_INTERVAL_CYCLES;
  private numBuckets = 0;

  /** @param periods period in ps by clock id; those of the sources are not 0 */
  constructor(
    private readonly sources: readonly Source[],
    periods: readonly number[],
    private readonly maxBuckets: number,
  ) {
    const count = sources.length;
    this.clocks = new Float64Array(periods.length * CLOCK_STRIDE);
    periods.forEach((period, clock) => {
      this.clocks[clock * CLOCK_STRIDE + PERIOD] = period;
      this.clocks[clock * CLOCK_STRIDE + CYCLE_END] = period;
    });
    this.state = new Float64Array(count * STRIDE);
    for (let source = 0; source < count; source++) this.state[source * STRIDE + CYCLE] = -1;
    this.late = periods.map(() => ({ cycle: 0n, number: FIRST_LATE }));
    this.frameHi = new Uint32Array(count);
    this.cycleHi = new Uint32Array(count);
    this.clockOf = Uint8Array.from(sources, (source) => source.clockId);
    this.touched = new Uint16Array(count);
    this.rows = sources.map((source) => (source.kind === 'counter' ? new CounterRow() : null));
  }

  /** Cycles per bucket. */
  get intervalCycles(): number {
    return this.interval;
  }

  /** Adds an amount, in u32 halves, to the frame being received. */
  add(source: number, lo: number, hi: number): void {
    const { state } = this;
    const at = source * STRIDE;
    if (state[at + TOUCHED] === 0) {
      state[at + TOUCHED] = 1;
      this.touched[this.numTouched++] = source;
    }
    state[at + FRAME_SUM] = state[at + FRAME_SUM]! + lo;
    if (hi !== 0) this.frameHi[source] = this.frameHi[source]! + hi;
  }

  /** The frame is complete; its time in ps, in u32 halves. Times never decrease. */
  endFrame(timeLo: number, timeHi: number): void {
    const { state, clockOf, frameHi, touched, numTouched } = this;
    let clock = -1;
    let cycle = 0;
    for (let i = 0; i < numTouched; i++) {
      const source = touched[i]!;
      const at = source * STRIDE;
      if (clockOf[source] !== clock) {
        clock = clockOf[source]!;
        cycle = this.cycleAt(clock, timeLo, timeHi);
      }
      let sum = state[at + FRAME_SUM]!;
      state[at + TOUCHED] = 0;
      state[at + FRAME_SUM] = 0;
      if (state[at + CYCLE] === cycle) sum += state[at + CYCLE_SUM]!;
      else {
        this.closeCycle(source, at);
        state[at + CYCLE] = cycle;
        if (cycle >= FIRST_LATE) this.lateOf[source] = this.late[clock]!.cycle;
      }
      state[at + CYCLE_SUM] = sum;
      if (frameHi[source] !== 0 || sum >= MAX_FAST) {
        this.carry(source, at, frameHi[source]!);
        frameHi[source] = 0;
      }
    }
    this.numTouched = 0;
  }

  /** Forgets the amounts of the frame being received. */
  abortFrame(): void {
    for (let i = 0; i < this.numTouched; i++) {
      const source = this.touched[i]!;
      this.state[source * STRIDE + TOUCHED] = 0;
      this.state[source * STRIDE + FRAME_SUM] = 0;
      this.frameHi[source] = 0;
    }
    this.numTouched = 0;
  }

  /** The clock's cycle at a time. Most frames come one cycle after the last one or in the same: those need no division. */
  private cycleAt(clock: number, timeLo: number, timeHi: number): number {
    const { clocks } = this;
    const at = clock * CLOCK_STRIDE;
    if (timeHi > MAX_SAFE_HIGH) return this.lateCycle(clock, timeLo, timeHi);
    const time = timeHi * TWO_32 + timeLo;
    const end = clocks[at + CYCLE_END]!;
    const period = clocks[at + PERIOD]!;
    if (time >= end) {
      // Exact: below 2^53 the quotient of two doubles never rounds up to the next whole number.
      const cycle = time < end + period ? clocks[at + CLOCK_CYCLE]! + 1 : Math.floor(time / period);
      clocks[at + CLOCK_CYCLE] = cycle;
      clocks[at + CYCLE_END] = (cycle + 1) * period;
    }
    return clocks[at + CLOCK_CYCLE]!;
  }

  /** Of a time that a double does not hold. */
  private lateCycle(clock: number, timeLo: number, timeHi: number): number {
    const time = (BigInt(timeHi) << 32n) | BigInt(timeLo);
    const cycle = time / BigInt(this.clocks[clock * CLOCK_STRIDE + PERIOD]!);
    if (cycle < FIRST_LATE) return Number(cycle);
    const late = this.late[clock]!;
    // Every second number is a double.
    if (late.cycle !== cycle) late.number += 2;
    late.cycle = cycle;
    return late.number;
  }

  /** Adds what cycles of one bucket of at most the base interval had, in u32 halves; none of them was zero. */
  addBucket(
    source: number,
    firstCycle: number,
    minLo: number,
    minHi: number,
    maxLo: number,
    maxHi: number,
    sumLo: number,
    sumHi: number,
  ): void {
    const bucket = this.bucketOf(firstCycle);
    const row = this.rows[source];
    if (row) row.add(bucket, minLo, minHi, maxLo, maxHi, sumLo, sumHi);
    else this.density.add(bucket, sumLo + sumHi * TWO_32);
  }

  /** The cycle a source is in, and its sum so far, which is forgotten; null when there is none. */
  takeOpenCycle(source: number): { cycle: bigint; sum: bigint } | null {
    const sum = this.openSum(source);
    if (sum === 0n) return null;
    this.state[source * STRIDE + CYCLE_SUM] = 0;
    this.cycleHi[source] = 0;
    const cycle = this.openCycle(source);
    return { cycle: cycle < FIRST_LATE ? BigInt(cycle) : this.lateOf[source]!, sum };
  }

  /** Level 0 of the densities together, and of each counter by source, with all frames so far. Frames may follow. */
  levels(): { density: Uint32Array; counters: (MipmapLevel | null)[] } {
    this.closeBuckets();
    const count = this.sources.length;
    const sums = Array.from({ length: count }, (_, source) => this.openSum(source));
    // First all buckets, so that every level gets the same length and interval.
    for (let source = 0; source < count; source++)
      if (sums[source] !== 0n) this.bucketOf(this.openCycle(source));
    const density = this.density.level(this.numBuckets);
    const counters = this.rows.map((row) => row?.level(this.numBuckets) ?? null);
    for (let source = 0; source < count; source++) {
      if (sums[source] === 0n) continue;
      const bucket = this.bucketOf(this.openCycle(source));
      const level = counters[source];
      if (level) addCycle(level, bucket, sums[source]!);
      else density[bucket] = Math.min(density[bucket]! + Number(sums[source]), 0xffff_ffff);
    }
    return { density, counters };
  }

  private openCycle(source: number): number {
    return this.state[source * STRIDE + CYCLE]!;
  }

  /** Sum of the cycle a source is in: more of it may come, so it is not in its bucket yet. */
  private openSum(source: number): bigint {
    const low = BigInt(this.state[source * STRIDE + CYCLE_SUM]!);
    return BigInt.asUintN(64, (BigInt(this.cycleHi[source]!) << 32n) + low);
  }

  /** Moves what exceeds the low half of a cycle's sum to its high half, and adds to that. */
  private carry(source: number, at: number, hi: number): void {
    const sum = this.state[at + CYCLE_SUM]!;
    this.state[at + CYCLE_SUM] = sum % TWO_32;
    // A Uint32Array keeps the sum modulo 2^32: the whole wraps at 64 bits, as the counter does.
    this.cycleHi[source] = this.cycleHi[source]! + high(sum) + hi;
  }

  private closeCycle(source: number, at: number): void {
    const { state } = this;
    const sum = state[at + CYCLE_SUM]!;
    if (this.cycleHi[source] !== 0) {
      this.closeLargeCycle(source, at);
      return;
    }
    if (sum === 0) return;
    const cycle = state[at + CYCLE]!;
    if (cycle >= state[at + BUCKET_END]! || state[at + BUCKET_SUM]! + sum >= MAX_FAST) {
      this.openBucket(source, at, cycle);
    }
    if (sum < state[at + BUCKET_MIN]!) state[at + BUCKET_MIN] = sum;
    if (sum > state[at + BUCKET_MAX]!) state[at + BUCKET_MAX] = sum;
    state[at + BUCKET_SUM] = state[at + BUCKET_SUM]! + sum;
    state[at + CYCLE_SUM] = 0;
  }

  /** A cycle whose sum needs more than a double: goes to its row at once. */
  private closeLargeCycle(source: number, at: number): void {
    this.carry(source, at, 0);
    const lo = this.state[at + CYCLE_SUM]!;
    const hi = this.cycleHi[source]!;
    const bucket = this.bucketOf(this.state[at + CYCLE]!);
    const row = this.rows[source];
    if (row && (lo !== 0 || hi !== 0)) row.add(bucket, lo, hi, lo, hi, lo, hi);
    this.state[at + CYCLE_SUM] = 0;
    this.cycleHi[source] = 0;
  }

  /** Closes the source's bucket and opens the one of this cycle. */
  private openBucket(source: number, at: number, cycle: number): void {
    this.closeBucket(source, at);
    const bucket = this.bucketOf(cycle);
    const { state } = this;
    state[at + BUCKET_START] = bucket * this.interval;
    const isLast = bucket === this.maxBuckets - 1 && this.interval === MAX_INTERVAL_CYCLES;
    state[at + BUCKET_END] = isLast ? Number.POSITIVE_INFINITY : (bucket + 1) * this.interval;
    state[at + BUCKET_MIN] = Number.POSITIVE_INFINITY;
  }

  private closeBucket(source: number, at: number): void {
    const { state } = this;
    const sum = state[at + BUCKET_SUM]!;
    state[at + BUCKET_END] = 0;
    if (sum === 0) return;
    const bucket = state[at + BUCKET_START]! / this.interval;
    const row = this.rows[source];
    if (row) {
      const min = state[at + BUCKET_MIN]!;
      const max = state[at + BUCKET_MAX]!;
      row.add(bucket, min % TWO_32, high(min), max % TWO_32, high(max), sum % TWO_32, high(sum));
    } else {
      this.density.add(bucket, sum);
    }
    state[at + BUCKET_MAX] = 0;
    state[at + BUCKET_SUM] = 0;
  }

  private closeBuckets(): void {
    for (let source = 0; source < this.sources.length; source++) this.closeBucket(source, source * STRIDE);
  }

  private bucketOf(cycle: number): number {
    let bucket = Math.floor(cycle / this.interval);
    while (bucket >= this.maxBuckets && this.interval < MAX_INTERVAL_CYCLES) {
      this.coarsen();
      bucket = Math.floor(cycle / this.interval);
    }
    // Beyond the largest interval (days of simulated time) the last bucket takes what is left.
    if (bucket >= this.maxBuckets) bucket = this.maxBuckets - 1;
    if (bucket >= this.numBuckets) this.numBuckets = bucket + 1;
    return bucket;
  }

  private coarsen(): void {
    this.closeBuckets();
    this.interval *= FAN_OUT;
    this.numBuckets = Math.ceil(this.numBuckets / FAN_OUT);
    this.density.coarsen();
    for (const row of this.rows) row?.coarsen();
  }
}

function addCycle(level: MipmapLevel, bucket: number, sum: bigint): void {
  if (level.max[bucket] === 0n || sum < level.min[bucket]!) level.min[bucket] = sum;
  if (sum > level.max[bucket]!) level.max[bucket] = sum;
  level.sum[bucket] = level.sum[bucket]! + sum;
}

/** High half of a whole number below 2^53. */
function high(value: number): number {
  return Math.floor(value / TWO_32);
}
