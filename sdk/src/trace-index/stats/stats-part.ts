/**
 * The part STATS (docs/reference/format.md#index-stats): what the analysis of a whole trace adds up, of one core in one segment. The compiled twin is
 * sdk/kernel/index/stats.c.
 */
import { ByteReader } from '../../base/bytes.js';
import { readLeb128, readLeb128Number } from '../../base/leb128.js';
import {
  classOf,
  firstOfClass,
  HISTOGRAM_CLASSES,
  type HistogramCounts,
  LINEAR,
} from '../../semantics/cpu/analysis/histogram.js';
import { INSTRUCTION_CLASSES } from '../../semantics/cpu/analysis/instruction-class.js';
import { MAX_WIDTH } from '../../semantics/cpu/analysis/retire-widths.js';
import { type Channel, ChannelKind } from '../channels.js';
import type { IndexPlan } from '../plan.js';

export const FLAG_UNKNOWN_BEFORE = 1n;

/** Cycles in which instructions retired, by how many; those of the first and the last are in it. */
export interface WidthCounts {
  /** From 1 on. */
  readonly cycles: readonly number[];
  readonly first: bigint;
  readonly firstWidth: number;
  readonly last: bigint;
  readonly lastWidth: number;
}

/** Stalls for one reason; cycles are those of the clock. */
export interface StallRuns {
  readonly events: number;
  readonly episodes: number;
  readonly longest: number;
  readonly first: bigint;
  readonly last: bigint;
  /** Cycles of the first and of the last run. */
  readonly head: number;
  readonly run: number;
}

/** How many columns a core has: see `IndexPlan`. */
export interface StatsShape {
  readonly stages: number;
  readonly squashed: number;
  readonly stalls: number;
}

/** The numbers of a core follow from the plan. */
export function statsShape(plan: Pick<IndexPlan, 'groups' | 'cores'>, core: number): StatsShape {
  return {
    stages: plan.cores[core]!.rows?.stages ?? 0,
    squashed: reasons(coreChannel(plan, core, ChannelKind.FLUSHES)),
    stalls: reasons(coreChannel(plan, core, ChannelKind.STALLS)),
  };
}

export function coreChannel(
  { groups }: Pick<IndexPlan, 'groups'>,
  core: number,
  wanted: ChannelKind,
): Channel | undefined {
  const all = groups.flatMap(({ channels }) => channels);
  return all.find(({ kind, subject }) => kind === wanted && subject === core);
}

/** One for each label, or a single one. */
function reasons(channel: Channel | undefined): number {
  return channel ? (channel.labels?.names.length ?? 1) : 0;
}

/** A part, with histograms as an analysis adds them up. */
export interface StatsPart {
  /** All that was in flight at the start is known, and each slot that is taken holds an instruction. */
  readonly isExact: boolean;
  readonly births: number;
  readonly lost: number;
  /** null: none retired. */
  readonly widths: WidthCounts | null;
  /** Retired instructions by class. */
  readonly mix: readonly number[];
  /** By stage column: stays ended by a flush, and the others. */
  readonly stages: readonly { readonly cut: number; readonly latency: HistogramCounts }[];
  readonly lifetime: HistogramCounts;
  /** Instructions squashed, by reason. */
  readonly squashed: readonly number[];
  /** By reason; null: none. */
  readonly stalls: readonly (StallRuns | null)[];
}

/** @throws UscopeError FORMAT_* where it is malformed */
export function decodeStatsPart(bytes: Uint8Array, shape: StatsShape): StatsPart {
  const reader = new ByteReader(bytes);
  const isExact = (readLeb128(reader) & FLAG_UNKNOWN_BEFORE) === 0n;
  const births = readLeb128Number(reader);
  const lost = readLeb128Number(reader);
  const widths = getWidths(reader);
  const mix = new Array<number>(INSTRUCTION_CLASSES.length).fill(0);
  for (const [index, count] of getEntries(reader, mix.length)) mix[index] = count;
  const stages = Array.from({ length: shape.stages }, () => ({
    cut: readLeb128Number(reader),
    latency: getStays(reader),
  }));
  const lifetime = getStays(reader);
  const squashed = Array.from({ length: shape.squashed }, () => readLeb128Number(reader));
  const stalls = Array.from({ length: shape.stalls }, () => getRuns(reader));
  if (reader.remaining > 0) throw reader.error('FORMAT_LENGTH', 'a part STATS has bytes beyond its end');
  return { isExact, births, lost, widths, mix, stages, lifetime, squashed, stalls };
}

/** Entries whose indices rise, below a limit. */
function getEntries(reader: ByteReader, limit: number): [number, number][] {
  const length = readLeb128Number(reader);
  if (length > limit || length * 2 > reader.remaining) {
    throw reader.error('FORMAT_LENGTH', `${length} entries in ${reader.remaining} bytes of a part STATS`);
  }
  let next = 0;
  return Array.from({ length }, () => {
    const index = next + readLeb128Number(reader);
    if (index >= limit) throw reader.error('FORMAT_VALUE', `a part STATS has class ${index}`);
    next = index + 1;
    return [index, readLeb128Number(reader)];
  });
}

function getStays(reader: ByteReader): HistogramCounts {
  const entries = getEntries(reader, HISTOGRAM_CLASSES);
  const end = (entries.at(-1)?.[0] ?? -1) + 1;
  const counts = new Float64Array(end);
  let [count, sum] = [0, 0];
  for (const [index, times] of entries) {
    counts[index] = times;
    count += times;
    sum += times * index;
  }
  if (end === 0) return { count, min: Number.POSITIVE_INFINITY, max: 0, sum, counts };
  if (end <= LINEAR) return { count, min: entries[0]![0], max: end - 1, sum, counts };
  // Of the values without a class.
  const [larger, least, most] = [
    readLeb128Number(reader),
    readLeb128Number(reader),
    readLeb128Number(reader),
  ];
  const small = entries.filter(([index]) => index < LINEAR);
  const isOfClass = (value: number, index: number) => value >= LINEAR && classOf(value) === index;
  const first = entries.find(([index]) => index >= LINEAR)![0];
  if (!isOfClass(least, first) || !isOfClass(most, end - 1) || larger < firstOfClass(first)) {
    throw reader.error('FORMAT_VALUE', 'a part STATS has extremes that are not in their classes');
  }
  sum = small.reduce((total, [index, times]) => total + index * times, larger);
  return { count, min: small[0]?.[0] ?? least, max: most, sum, counts };
}

function getWidths(reader: ByteReader): WidthCounts | null {
  const length = readLeb128Number(reader);
  if (length === 0) return null;
  if (length > MAX_WIDTH || length > reader.remaining) {
    throw reader.error('FORMAT_LENGTH', `a part STATS has ${length} widths`);
  }
  const cycles = Array.from({ length }, () => readLeb128Number(reader));
  const first = readLeb128(reader);
  const firstWidth = readLeb128Number(reader);
  const last = first + readLeb128(reader);
  const lastWidth = readLeb128Number(reader);
  const has = (width: number) => width > 0 && width <= length && cycles[width - 1]! > 0;
  if (!has(firstWidth) || !has(lastWidth)) {
    throw reader.error('FORMAT_VALUE', 'a part STATS has no cycle of a width that it names');
  }
  return { cycles, first, firstWidth, last, lastWidth };
}

function getRuns(reader: ByteReader): StallRuns | null {
  const events = readLeb128Number(reader);
  if (events === 0) return null;
  const [episodes, longest] = [readLeb128Number(reader), readLeb128Number(reader)];
  const first = readLeb128(reader);
  const last = first + readLeb128(reader);
  return {
    events,
    episodes,
    longest,
    first,
    last,
    head: readLeb128Number(reader),
    run: readLeb128Number(reader),
  };
}
