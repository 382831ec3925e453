/** What the page's script draws, as small as it can be. */
import { reasonPlace } from '../../base/colours.js';
import { onOneLine } from '../../base/printable.js';
import type {
  CoreReport,
  Distribution,
  PerformanceReport,
  SeriesReport,
} from '../../semantics/cpu/analysis/report.js';

export interface NamedValues {
  readonly name: string;
  readonly values: readonly number[];
}

export interface ReasonValues extends NamedValues {
  /** The place of its colour; null: several reasons together. */
  readonly place: number | null;
}

export interface Bars {
  readonly name: string;
  /** One per bar. */
  readonly labels: readonly string[];
  readonly values: readonly number[];
  readonly unit: string;
}

export interface CoreCharts {
  readonly name: string;
  readonly interval: number;
  /** First cycle of each interval. */
  readonly x: readonly number[];
  readonly ipc: readonly number[];
  /** Per 1000 cycles. */
  readonly flushes: readonly NamedValues[];
  /** Shares of the cycles, in percent. */
  readonly stalls: readonly ReasonValues[];
  readonly buffers: readonly NamedValues[];
  /** Per cycle. */
  readonly counters: readonly NamedValues[];
  readonly latency: readonly Bars[];
  readonly occupancy: readonly Bars[];
}

/** Significant digits: more than a screen can show. */
const DIGITS = 5;
/** Reasons drawn by themselves; the others are added up. */
const MAX_REASONS = 8;
const MAX_BARS = 64;

/** @param reasons of each core, as `toldApart` gives them */
export function chartData(
  { cores }: PerformanceReport,
  reasons: readonly (readonly string[])[],
): CoreCharts[] {
  return cores.map((core, index) => coreCharts(core, reasons[index]));
}

function coreCharts(core: CoreReport, reasons: readonly string[]): CoreCharts {
  const { series, stages, lifetime, buffers } = core;
  const lifetimes = lifetime.count > 0 ? [latencyBars('fetch to retirement', lifetime)] : [];
  return {
    name: onOneLine(core.core),
    ...overTime(series, Number(core.fromCycle), reasons),
    latency: [
      ...stages
        .filter(({ latency }) => latency.count > 0)
        .map(({ stage, latency }) => latencyBars(stage, latency)),
      ...lifetimes,
    ],
    occupancy: buffers.map(({ buffer, histogram }) => levelBars(buffer, histogram)),
  };
}

function overTime(series: SeriesReport | null, from: number, reasons: readonly string[]) {
  if (!series) return { interval: 1, x: [], ipc: [], flushes: [], stalls: [], buffers: [], counters: [] };
  const { cycles, intervalCycles } = series;
  const per = (values: readonly number[], scale: number): number[] =>
    values.map((value, index) => short((value * scale) / cycles[index]));
  return {
    interval: intervalCycles,
    x: series.start.map((start) => start + from),
    ipc: series.ipc.map(short),
    flushes: [
      { name: 'flushes', values: per(series.flushes, 1000) },
      { name: 'squashed instructions', values: per(series.squashed, 1000) },
    ],
    stalls: mostFrequent(series, reasons).map((one) => ({ ...one, values: per(one.values, 100) })),
    buffers: series.buffers.map(({ buffer, mean }) => ({ name: onOneLine(buffer), values: mean.map(short) })),
    counters: series.counters.map(({ counter, delta }) => ({
      name: onOneLine(counter),
      values: per(delta, 1),
    })),
  };
}

function mostFrequent({ stalls }: SeriesReport, reasons: readonly string[]): ReasonValues[] {
  const named = stalls.map(({ reason, cycles }) => ({
    name: onOneLine(reason),
    values: cycles,
    place: reasonPlace(reasons, reason),
  }));
  if (named.length <= MAX_REASONS) return named;
  const rest = named.slice(MAX_REASONS - 1);
  const values = rest[0].values.map((_, index) => rest.reduce((sum, one) => sum + one.values[index], 0));
  return [...named.slice(0, MAX_REASONS - 1), { name: `${rest.length} others`, values, place: null }];
}

function latencyBars(name: string, { classes }: Distribution): Bars {
  return {
    name: onOneLine(name),
    labels: classes.map(({ from, to }) => (from === to ? String(from) : `${from}–${to}`)),
    values: classes.map(({ count }) => count),
    unit: 'cycles',
  };
}

function levelBars(name: string, histogram: readonly number[]): Bars {
  const size = Math.ceil(histogram.length / MAX_BARS) || 1;
  const starts = Array.from({ length: Math.ceil(histogram.length / size) }, (_, index) => index * size);
  return {
    name: onOneLine(name),
    labels: starts.map((from) =>
      size === 1 ? String(from) : `${from}–${Math.min(from + size, histogram.length) - 1}`,
    ),
    values: starts.map((from) => histogram.slice(from, from + size).reduce((sum, cycles) => sum + cycles, 0)),
    unit: 'slots',
  };
}

function short(value: number): number {
  return Number(value.toPrecision(DIGITS));
}
