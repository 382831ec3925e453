/**
 * Two traces item by item: at every instant both must have the same ops and events in the same order. Frame borders mean nothing: an instant
 * may be one frame or several.
 */
import type { TimeRange } from '../../reader/index.js';
import { explainDivergence } from './explain.js';
import type { SchemaMatch } from './match.js';
import type { PathDifference, TimeReport } from './report.js';
import { compareTimes, type DiffInput, Side, sameItem } from './side.js';

export interface TimeOptions {
  readonly range: TimeRange;
  /** Items of different paths may be in any order within an instant. */
  readonly ignoreOrder: boolean;
  /** Items shown around the divergence. */
  readonly context: number;
  /** Nothing after the first divergence is looked at. */
  readonly stopAtFirst: boolean;
  readonly onProgress?: ((part: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Where the first divergence is: which of the items of an instant. */
export interface Found {
  readonly timePs: bigint;
  /** Number of the first item that differs among those of the instant, of each. */
  readonly index: number;
  /** The order alone differs. */
  readonly reordered: boolean;
  /** Only items of this target are meant, because order does not matter; null: all. */
  readonly target: number | null;
}

/** Instants kept to begin the context with. */
const INSTANTS_BEFORE = 64;

export async function diffByTime(
  a: DiffInput,
  b: DiffInput,
  match: SchemaMatch,
  options: TimeOptions,
): Promise<TimeReport> {
  const walk = new TimeWalk(
    new Side(a, match, 'a', options.range),
    new Side(b, match, 'b', options.range),
    match,
    options,
  );
  try {
    await walk.run();
  } finally {
    await walk.close();
  }
  const first =
    walk.found &&
    (await explainDivergence(a, b, match, walk.found, walk.before, options.context, options.range));
  return walk.report(first);
}

class TimeWalk {
  found: Found | null = null;
  /** Times of the last instants that were the same, the youngest last. */
  readonly before: bigint[] = [];
  private readonly instants = { same: 0, different: 0, reordered: 0, onlyA: 0, onlyB: 0 };
  private readonly rest: InstantRest;
  private readonly differing: Float64Array;
  private readonly firstAt: (bigint | null)[];

  constructor(
    private readonly a: Side,
    private readonly b: Side,
    private readonly match: SchemaMatch,
    private readonly options: TimeOptions,
  ) {
    const targets = match.storages.length + match.events.length;
    this.rest = new InstantRest(targets);
    this.differing = new Float64Array(targets);
    this.firstAt = new Array<bigint | null>(targets).fill(null);
  }

  async run(): Promise<void> {
    const { a, b, options } = this;
    await a.fill();
    await b.fill();
    while (!a.isDone || !b.isDone) {
      if (options.stopAtFirst && this.found) return;
      options.signal?.throwIfAborted();
      const order = compareTimes(a, b);
      if (order === 0) await this.commonInstants();
      else await this.instantOfOne(order < 0 ? a : b);
      options.onProgress?.(Math.min(a.progress, b.progress));
    }
  }

  async close(): Promise<void> {
    await this.a.close();
    await this.b.close();
  }

  /** Instants that both have, until one differs, times do, or one of them needs another segment. */
  private async commonInstants(): Promise<void> {
    const { a, b } = this;
    for (;;) {
      const { timeLo, timeHi } = a;
      let index = 0;
      let inA = true;
      let inB = true;
      while (inA && inB) {
        if (!sameItem(a, b)) return this.differingInstant(timeLo, timeHi, index);
        index++;
        if (!a.advance()) await a.fill();
        if (!b.advance()) await b.fill();
        inA = !a.isDone && a.timeLo === timeLo && a.timeHi === timeHi;
        inB = !b.isDone && b.timeLo === timeLo && b.timeHi === timeHi;
      }
      if (inA !== inB) return this.differingInstant(timeLo, timeHi, index);
      this.instants.same++;
      this.remember(timeLo, timeHi);
      if (compareTimes(a, b) !== 0 || a.isDone) return;
      if (this.instants.same % 4096 === 0) return; // let progress and cancellation have their turn
    }
  }

  private remember(timeLo: number, timeHi: number): void {
    const { before } = this;
    if (this.found) return;
    if (before.length >= 2 * INSTANTS_BEFORE) before.splice(0, INSTANTS_BEFORE);
    before.push((BigInt(timeHi) << 32n) | BigInt(timeLo));
  }

  /** The rest of an instant from the first item that differs on: is it the order alone? */
  private async differingInstant(timeLo: number, timeHi: number, index: number): Promise<void> {
    const timePs = (BigInt(timeHi) << 32n) | BigInt(timeLo);
    const { rest } = this;
    rest.clear();
    await this.drain(this.a, timeLo, timeHi, rest.a);
    await this.drain(this.b, timeLo, timeHi, rest.b);
    const targets = rest.differingTargets();
    if (targets.length === 0) {
      this.instants.reordered++;
      if (!this.options.ignoreOrder) this.found ??= { timePs, index, reordered: true, target: null };
      return;
    }
    this.instants.different++;
    const target = this.options.ignoreOrder ? targets[0] : null;
    this.found ??= { timePs, index, reordered: false, target };
    for (const one of targets) this.mark(one, timePs);
  }

  private async instantOfOne(side: Side): Promise<void> {
    const { timeLo, timeHi, timePs } = side;
    const { rest } = this;
    rest.clear();
    await this.drain(side, timeLo, timeHi, side === this.a ? rest.a : rest.b);
    if (side === this.a) this.instants.onlyA++;
    else this.instants.onlyB++;
    this.found ??= { timePs, index: 0, reordered: false, target: null };
    for (const target of rest.differingTargets()) this.mark(target, timePs);
  }

  private async drain(side: Side, timeLo: number, timeHi: number, into: Tally): Promise<void> {
    while (!side.isDone && side.timeLo === timeLo && side.timeHi === timeHi) {
      into.add(side);
      if (!side.advance()) await side.fill();
    }
  }

  private mark(target: number, timePs: bigint): void {
    this.differing[target]++;
    this.firstAt[target] ??= timePs;
  }

  report(first: TimeReport['first']): TimeReport {
    const { a, b, match } = this;
    const names = [...match.storages, ...match.events].map(({ path }) => path);
    const paths = names.map(
      (path, target): PathDifference => ({
        path,
        itemsA: a.counts[target],
        itemsB: b.counts[target],
        instants: this.differing[target],
        firstPs: this.firstAt[target],
      }),
    );
    const sum = (counts: Float64Array): number => counts.reduce((total, count) => total + count, 0);
    return {
      by: 'time',
      first,
      itemsA: sum(a.counts),
      itemsB: sum(b.counts),
      instants: { ...this.instants },
      paths: paths.filter(({ instants, itemsA, itemsB }) => instants > 0 || itemsA !== itemsB),
      orderIgnored: this.options.ignoreOrder,
    };
  }
}

/** Per target: how many items, and a hash of them in their order. */
class Tally {
  readonly hashes: Float64Array;
  readonly counts: Float64Array;

  constructor(
    targets: number,
    private readonly touched: Set<number>,
  ) {
    this.hashes = new Float64Array(targets);
    this.counts = new Float64Array(targets);
  }

  add(side: Side): void {
    const { target } = side;
    this.touched.add(target);
    this.hashes[target] = side.hash(this.hashes[target]);
    this.counts[target]++;
  }
}

/** What both have of an instant from a place on. */
class InstantRest {
  readonly a: Tally;
  readonly b: Tally;
  private readonly touched = new Set<number>();

  constructor(targets: number) {
    this.a = new Tally(targets, this.touched);
    this.b = new Tally(targets, this.touched);
  }

  clear(): void {
    for (const target of this.touched) {
      for (const { hashes, counts } of [this.a, this.b]) hashes[target] = counts[target] = 0;
    }
    this.touched.clear();
  }

  /** Those whose items are not the same in the same order, rising. */
  differingTargets(): number[] {
    const { a, b } = this;
    return [...this.touched]
      .filter((target) => a.counts[target] !== b.counts[target] || a.hashes[target] !== b.hashes[target])
      .sort((x, y) => x - y);
  }
}
