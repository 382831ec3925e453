/** Follows the values of counters through frames: per-cycle extremes and the change in each interval of a series. */
import { maxOf } from '../../base/arrays.js';
import type { FrameCursor } from '../../format/frame.js';
import { Action } from '../../format/types.js';
import { FrameTimes } from './frame-times.js';
import { earlier, later, type SeriesGrid } from './query-range.js';

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

/** The change of a counter in one cycle, modulo 2^64. */
interface CycleChange {
  readonly tick: Tick;
  readonly delta: bigint;
}

/** What a counter did in a stretch: plain data. The cycles at its borders may go on in the neighbours. */
export interface ReplayPart {
  /** Values in front of its first frame and behind its last. */
  readonly start: bigint;
  readonly end: bigint;
  /** The first cycle that changed the value; null: the last is the only one. */
  readonly head: CycleChange | null;
  readonly tail: CycleChange | null;
  /** Of the cycles between them. */
  readonly extremes: PerCycle | null;
  readonly sums: Uint32Array;
}

/** All values in u32 halves: nothing is allocated per frame. Times must not decrease. */
export class CounterReplay {
  private readonly tracks: readonly Track[];
  /** Storage id -> index in `tracks`; -1: not followed. */
  private readonly trackOf: Int32Array;
  readonly times = new FrameTimes();

  /** @param values what the counters hold before the first frame */
  constructor(counters: readonly ReplayedCounter[], values: readonly bigint[]) {
    this.tracks = counters.map((counter, index) => new Track(counter, values[index] ?? 0n));
    const ids = counters.map(({ storageId }) => storageId);
    this.trackOf = new Int32Array(maxOf(ids, 0) + 1).fill(-1);
    ids.forEach((id, index) => {
      this.trackOf[id] = index;
    });
  }

  frame(cursor: FrameCursor): void {
    this.times.begin(cursor);
  }

  /** To be joined with others: the first cycle may have begun in the stretch before. */
  splitHead(): void {
    for (const track of this.tracks) track.splitsHead = true;
  }

  parts(): ReplayPart[] {
    return this.tracks.map((track) => track.part());
  }

  /** False: the stretch began with other values; nothing was added. */
  absorb(parts: readonly ReplayPart[]): boolean {
    if (!parts.every(({ start }, index) => start === this.tracks[index].value)) return false;
    parts.forEach((part, index) => {
      this.tracks[index].absorb(part);
    });
    return true;
  }

  op({ storageId, action, slot, lo, hi }: FrameCursor): void {
    const index = storageId < this.trackOf.length ? this.trackOf[storageId] : -1;
    if (index < 0 || slot !== 0 || action === Action.PROP_SET) return;
    this.tracks[index].change(action, lo, hi, this.times.timeLo, this.times.timeHi);
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
  /** The first cycle that changes the value is kept apart. */
  splitsHead = false;
  private head: CycleChange | null = null;
  private readonly initial: bigint;
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
    this.initial = value;
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
    return this.closedExtremes();
  }

  part(): ReplayPart {
    const { initial, value, head, tick, sums } = this;
    const delta = BigInt.asUintN(64, value - this.cycleStart);
    const tail = tick === NO_CYCLE ? null : { tick, delta };
    return { start: initial, end: value, head, tail, extremes: this.closedExtremes(), sums };
  }

  absorb({ end, head, tail, extremes, sums }: ReplayPart): void {
    if (!tail) return;
    if (!head) {
      this.go(tail);
      return;
    }
    this.go(head);
    this.closeCycle();
    if (extremes) this.extremes = merged(this.extremes, extremes);
    for (let at = 0; at < sums.length; at += 2) this.addTo(at / 2, sums[at], sums[at + 1]);
    this.value = end;
    this.cycleStart = BigInt.asUintN(64, end - tail.delta);
    this.tick = tail.tick;
  }

  /** A change in a cycle, which may be the present one. */
  private go({ tick, delta }: CycleChange): void {
    if (tick !== this.tick) this.closeCycle();
    this.tick = tick;
    this.value = BigInt.asUintN(64, this.value + delta);
  }

  private get cycleStart(): bigint {
    return (BigInt(this.startHi) << 32n) | BigInt(this.startLo);
  }

  private set cycleStart(value: bigint) {
    this.startLo = Number(value & 0xffff_ffffn);
    this.startHi = Number(value >> 32n);
  }

  private closedExtremes(): PerCycle | null {
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
    if (this.splitsHead && !this.head) {
      this.head = { tick: this.tick, delta: (BigInt(hi) << 32n) | BigInt(lo) };
      return;
    }
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
