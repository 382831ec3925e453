/** The part STATS of one core, the plain way: what `CoreSlots` and `RowWalk` say of its instructions is added up as an analysis does. */
import { maxOf } from '../../../sdk/src/base/arrays.js';
import type { ByteWriter } from '../../../sdk/src/base/bytes.js';
import { writeLeb128 } from '../../../sdk/src/base/leb128.js';
import { classOf, LINEAR } from '../../../sdk/src/semantics/cpu/analysis/histogram.js';
import {
  INSTRUCTION_CLASSES,
  InstructionClassifier,
} from '../../../sdk/src/semantics/cpu/analysis/instruction-class.js';
import { MAX_WIDTH } from '../../../sdk/src/semantics/cpu/analysis/retire-widths.js';
import { partWriter } from '../../../sdk/src/trace-index/columns.js';
import type { RowPlan } from '../../../sdk/src/trace-index/row-plan.js';
import {
  FLAG_UNKNOWN_BEFORE,
  type StallRuns,
  type StatsPart,
  type StatsShape,
  type WidthCounts,
} from '../../../sdk/src/trace-index/stats/stats-part.js';

const MAX_STAY = 2n ** 52n;
/** Classes of values that share them, in all histograms together. */
const MAX_LARGE = 512;

class Stays {
  private readonly counts = new Map<number, number>();
  private sum = 0n;
  private least = 0n;
  private most = 0n;

  add(cycles: bigint): void {
    const value = cycles < MAX_STAY ? cycles : MAX_STAY;
    const isLarge = value >= BigInt(LINEAR);
    const index = isLarge ? classOf(Number(value)) : Number(value);
    this.counts.set(index, (this.counts.get(index) ?? 0) + 1);
    if (!isLarge) return;
    this.sum = BigInt.asUintN(64, this.sum + value);
    if (this.least === 0n || value < this.least) this.least = value;
    if (value > this.most) this.most = value;
  }

  get large(): number {
    return [...this.counts.keys()].filter((index) => index >= LINEAR).length;
  }

  get all(): StayCounts {
    const { counts, sum, least, most } = this;
    return { counts, sum, least, most };
  }
}

export class StatsWalk {
  isExact = true;
  births = 0;
  lost = 0;
  /** Slots that are taken, and whose instruction is not known yet. */
  unborn = 0;
  private readonly stages: readonly { cut: number; readonly stays: Stays }[];
  private readonly lifetime = new Stays();
  private readonly squashed: number[];
  private readonly stalls: (StallRuns | null)[];
  private readonly mix = new Array<number>(INSTRUCTION_CLASSES.length).fill(0);
  private readonly classifier: InstructionClassifier | null;
  private readonly widths: { cycle: bigint; width: number }[] = [];

  constructor({ mixXlen }: RowPlan, shape: StatsShape) {
    this.stages = Array.from({ length: shape.stages }, () => ({ cut: 0, stays: new Stays() }));
    this.squashed = new Array<number>(shape.squashed).fill(0);
    this.stalls = new Array<StallRuns | null>(shape.stalls).fill(null);
    this.classifier = mixXlen === null ? null : new InstructionClassifier(mixXlen);
  }

  stay(stage: number, cycles: bigint): void {
    this.stages[stage]!.stays.add(cycles);
  }

  cut(stage: number): void {
    this.stages[stage]!.cut++;
  }

  lived(cycles: bigint): void {
    this.lifetime.add(cycles);
  }

  retire(cycle: bigint, bits: number): void {
    const last = this.widths.at(-1);
    if (last?.cycle === cycle) last.width = Math.min(MAX_WIDTH, last.width + 1);
    else this.widths.push({ cycle, width: 1 });
    if (this.classifier && bits !== 0) this.mix[this.classifier.classOf(bits)]!++;
  }

  squash(reason: number): void {
    this.squashed[reason]!++;
  }

  stall(reason: number, cycle: bigint): void {
    const before = this.stalls[reason]!;
    this.stalls[reason] = before ? longer(before, cycle) : onlyAt(cycle);
  }

  /** The frame is over. */
  settle(): void {
    if (this.unborn > 0) this.isExact = false;
  }

  /** null: too many values that are large. */
  part(): Uint8Array | null {
    const histograms = [...this.stages.map(({ stays }) => stays), this.lifetime];
    if (histograms.reduce((sum, { large }) => sum + large, 0) > MAX_LARGE) return null;
    const { isExact, births, lost, mix, squashed, stalls } = this;
    const stages = this.stages.map(({ cut, stays }) => ({ cut, stays: stays.all }));
    const lifetime = this.lifetime.all;
    const widths = this.widthCounts();
    return encodeStatsPart({ isExact, births, lost, widths, mix, stages, lifetime, squashed, stalls });
  }

  private widthCounts(): WidthCounts | null {
    const [first, last] = [this.widths[0], this.widths.at(-1)];
    if (!first || !last) return null;
    const most = maxOf(this.widths.map(({ width }) => width));
    const cycles = new Array<number>(most).fill(0);
    for (const { width } of this.widths) cycles[width - 1]!++;
    return {
      cycles,
      first: first.cycle,
      firstWidth: first.width,
      last: last.cycle,
      lastWidth: last.width,
    };
  }
}

function onlyAt(cycle: bigint): StallRuns {
  return { events: 1, episodes: 1, longest: 1, first: cycle, last: cycle, head: 1, run: 1 };
}

function longer(before: StallRuns, cycle: bigint): StallRuns {
  const events = before.events + 1;
  if (cycle === before.last) return { ...before, events };
  const continues = cycle === before.last + 1n;
  const episodes = before.episodes + (continues ? 0 : 1);
  const run = continues ? before.run + 1 : 1;
  const longest = Math.max(before.longest, run);
  return { ...before, events, episodes, longest, last: cycle, run, head: episodes === 1 ? run : before.head };
}

/** Cycles by class of `histogram.ts`; the sums are needed where a class has several values. */
interface StayCounts {
  readonly counts: ReadonlyMap<number, number>;
  readonly sum: bigint;
  readonly least: bigint;
  readonly most: bigint;
}

interface StatsCounts extends Omit<StatsPart, 'stages' | 'lifetime'> {
  readonly stages: readonly { readonly cut: number; readonly stays: StayCounts }[];
  readonly lifetime: StayCounts;
}

function encodeStatsPart(stats: StatsCounts): Uint8Array {
  const writer = partWriter();
  for (const number of [stats.isExact ? 0n : FLAG_UNKNOWN_BEFORE, stats.births, stats.lost])
    writeLeb128(writer, number);
  putWidths(writer, stats.widths);
  putEntries(
    writer,
    [...stats.mix.entries()].filter(([, count]) => count > 0),
  );
  for (const { cut, stays } of stats.stages) {
    writeLeb128(writer, cut);
    putStays(writer, stays);
  }
  putStays(writer, stats.lifetime);
  for (const count of stats.squashed) writeLeb128(writer, count);
  for (const runs of stats.stalls) putRuns(writer, runs);
  return writer.finish();
}

function putStays(writer: ByteWriter, { counts, sum, least, most }: StayCounts): void {
  const entries = [...counts].sort(([a], [b]) => a - b);
  putEntries(writer, entries);
  if (entries.some(([index]) => index >= LINEAR))
    for (const number of [sum, least, most]) writeLeb128(writer, number);
}

function putWidths(writer: ByteWriter, widths: WidthCounts | null): void {
  writeLeb128(writer, widths?.cycles.length ?? 0);
  if (!widths) return;
  const { cycles, first, firstWidth, last, lastWidth } = widths;
  for (const count of cycles) writeLeb128(writer, count);
  for (const number of [first, firstWidth, last - first, lastWidth]) writeLeb128(writer, number);
}

function putRuns(writer: ByteWriter, runs: StallRuns | null): void {
  writeLeb128(writer, runs?.events ?? 0);
  if (!runs) return;
  const { episodes, longest, first, last, head, run } = runs;
  for (const number of [episodes, longest, first, last - first, head, run]) writeLeb128(writer, number);
}

/** Their number; then for each, by rising index: the index minus the one after that of the entry before, and its value. */
export function putEntries(
  writer: ByteWriter,
  entries: readonly (readonly [index: number, value: number | bigint])[],
): void {
  writeLeb128(writer, entries.length);
  let next = 0;
  for (const [index, value] of entries) {
    writeLeb128(writer, index - next);
    writeLeb128(writer, value);
    next = index + 1;
  }
}
