/** Follows the values of counters through frames: per-cycle extremes and the change in each interval of a series. */
import { maxOf } from '../../base/arrays.js';
import type { FrameCursor } from '../../format/frame.js';
import { Action } from '../../format/types.js';
import { earlier, later, type SeriesGrid } from '../cpu/query-range.js';

const TWO_32 = 0x1_0000_0000;
/** High half from which a time in ps no longer fits a double exactly. */
const SAFE_HIGH = 0x20_0000;
const NO_CYCLE = -1;

/** A tick of a clock: a bigint where a number would not be exact. */
type Tick = number | bigint;

/** One counter to follow. */
export interface ReplayedCounter {
  readonly storageId: number;
  /** Length of a tick of its clock, see `tickOf`. */
  readonly tickPs: bigint;
  /** null: no series. */
  readonly grid: SeriesGrid | null;
}

/** Least and greatest change per cycle, as unsigned 64-bit numbers; cycles without a change do not count (docs/reference/format.md#buckets). */
export interface PerCycle {
  readonly min: bigint;
  readonly max: bigint;
}

/** All values in u32 halves: nothing is allocated per frame. Times must not decrease. */
export class CounterReplay {
  private readonly tracks: readonly Track[];
  /** Storage id -> index in `tracks`; -1: not followed. */
  private readonly trackOf: Int32Array;

  /** @param values what the counters hold before the first frame */
  constructor(counters: readonly ReplayedCounter[], values: readonly bigint[]) {
    this.tracks = counters.map((counter, index) => new Track(counter, values[index] ?? 0n));
    const ids = counters.map(({ storageId }) => storageId);
    this.trackOf = new Int32Array(maxOf(ids, 0) + 1).fill(-1);
    ids.forEach((id, index) => {
      this.trackOf[id] = index;
    });
  }

  op({ storageId, action, slot, lo, hi, timeLo, timeHi }: FrameCursor): void {
    const index = storageId < this.trackOf.length ? this.trackOf[storageId] : -1;
    if (index < 0 || slot !== 0 || action === Action.PROP_SET) return;
    this.tracks[index].change(action, lo, hi, timeLo, timeHi);
  }

  /** Sums of cycles that are known without frames: they happen in interval `interval`. */
  addKnown(index: number, interval: number, sum: bigint, extremes: PerCycle | null): void {
    this.tracks[index].addKnown(interval, sum, extremes);
  }

  value(index: number): bigint {
    return this.tracks[index].value;
  }

  /** null: the counter has not changed. */
  perCycle(index: number): PerCycle | null {
    return this.tracks[index].perCycle();
  }

  /** The change in each interval, signed. */
  deltas(index: number): bigint[] {
    return this.tracks[index].deltas();
  }
}

class Track {
  private lo: number;
  private hi: number;
  /** Value at the beginning of the present cycle. */
  private startLo: number;
  private startHi: number;
  private tick: Tick = NO_CYCLE;
  private extremes: PerCycle | null = null;
  private minLo = 0;
  private minHi = 0;
  private maxLo = 0;
  private maxHi = 0;
  private readonly tickPs: number;
  private readonly firstTick: Tick;
  private readonly widthTicks: number;
  /** Low and high halves of the change in each interval. */
  private readonly sums: Uint32Array;

  constructor(
    private readonly counter: ReplayedCounter,
    value: bigint,
  ) {
    this.lo = Number(value & 0xffff_ffffn);
    this.hi = Number(value >> 32n);
    this.startLo = this.lo;
    this.startHi = this.hi;
    const { grid, tickPs } = counter;
    this.tickPs = Number(tickPs);
    this.firstTick = tickOf(grid?.firstTick ?? 0n);
    this.widthTicks = Number(grid?.widthTicks ?? 1n);
    this.sums = new Uint32Array((grid?.length ?? 0) * 2);
  }

  get value(): bigint {
    return (BigInt(this.hi) << 32n) | BigInt(this.lo);
  }

  set value(value: bigint) {
    this.lo = Number(value & 0xffff_ffffn);
    this.hi = Number(value >> 32n);
  }

  change(action: number, lo: number, hi: number, timeLo: number, timeHi: number): void {
    const tick = this.tickAt(timeLo, timeHi);
    if (tick !== this.tick) {
      this.closeCycle();
      this.tick = tick;
    }
    if (action === Action.ADD) {
      const sum = this.lo + lo;
      this.lo = sum >>> 0;
      this.hi = (this.hi + hi + (sum >= TWO_32 ? 1 : 0)) >>> 0;
    } else {
      // CLEAR zeroes the slot.
      this.lo = action === Action.SET ? lo : 0;
      this.hi = action === Action.SET ? hi : 0;
    }
  }

  addKnown(interval: number, sum: bigint, extremes: PerCycle | null): void {
    this.closeCycle();
    this.value = BigInt.asUintN(64, this.value + sum);
    this.startLo = this.lo;
    this.startHi = this.hi;
    this.addTo(interval, Number(sum & 0xffff_ffffn), Number((sum >> 32n) & 0xffff_ffffn));
    if (extremes) this.extremes = merged(this.extremes, extremes);
  }

  perCycle(): PerCycle | null {
    this.closeCycle();
    if (this.maxLo === 0 && this.maxHi === 0) return this.extremes;
    const own = {
      min: (BigInt(this.minHi) << 32n) | BigInt(this.minLo),
      max: (BigInt(this.maxHi) << 32n) | BigInt(this.maxLo),
    };
    return merged(this.extremes, own);
  }

  deltas(): bigint[] {
    this.closeCycle();
    const { sums } = this;
    return Array.from({ length: sums.length / 2 }, (_, i) =>
      BigInt.asIntN(64, (BigInt(sums[i * 2 + 1]) << 32n) | BigInt(sums[i * 2])),
    );
  }

  private closeCycle(): void {
    const low = this.lo - this.startLo;
    const lo = low >>> 0;
    const hi = (this.hi - this.startHi - (low < 0 ? 1 : 0)) >>> 0;
    if (lo === 0 && hi === 0) return;
    this.startLo = this.lo;
    this.startHi = this.hi;
    const isFirst = this.maxLo === 0 && this.maxHi === 0;
    if (isFirst || hi < this.minHi || (hi === this.minHi && lo < this.minLo)) {
      this.minLo = lo;
      this.minHi = hi;
    }
    if (hi > this.maxHi || (hi === this.maxHi && lo > this.maxLo)) {
      this.maxLo = lo;
      this.maxHi = hi;
    }
    this.addTo(this.intervalOf(this.tick), lo, hi);
  }

  private addTo(interval: number, lo: number, hi: number): void {
    const at = interval * 2;
    if (!(at >= 0 && at < this.sums.length)) return;
    const sum = this.sums[at] + lo;
    this.sums[at] = sum;
    this.sums[at + 1] = this.sums[at + 1] + hi + (sum >= TWO_32 ? 1 : 0);
  }

  private tickAt(timeLo: number, timeHi: number): Tick {
    if (timeHi < SAFE_HIGH) return Math.floor((timeHi * TWO_32 + timeLo) / this.tickPs);
    return tickOf(((BigInt(timeHi) << 32n) | BigInt(timeLo)) / this.counter.tickPs);
  }

  private intervalOf(tick: Tick): number {
    const { firstTick, widthTicks } = this;
    if (typeof tick === 'number' && typeof firstTick === 'number') {
      return Math.floor((tick - firstTick) / widthTicks);
    }
    const { grid } = this.counter;
    return grid ? Number((BigInt(tick) - grid.firstTick) / grid.widthTicks) : 0;
  }
}

function tickOf(tick: bigint): Tick {
  return tick <= Number.MAX_SAFE_INTEGER ? Number(tick) : tick;
}

function merged(a: PerCycle | null, b: PerCycle): PerCycle {
  return a ? { min: earlier(a.min, b.min), max: later(a.max, b.max) } : b;
}
