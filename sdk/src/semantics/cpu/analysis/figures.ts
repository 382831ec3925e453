/**
 * The figures of a performance report, each declared here and nowhere else: its table, its name and its unit. The terminal, the page of `stats`,
 * the viewer and all comparisons print these tables.
 */
import { maxOf } from '../../../base/arrays.js';
import type {
  BufferFigures,
  CoreReport,
  CounterFigures,
  Distribution,
  RatioReport,
  StageReport,
} from './report.js';

/** `ratio`: by which runs are compared, such as IPC. `rate`: per cycle. `mean`: any other number that is not whole. `share`: of 1. */
export type FigureUnit = 'count' | 'mean' | 'rate' | 'ratio' | 'share';

export interface Figure {
  readonly name: string;
  readonly unit: FigureUnit;
  /** Null: not known, or without a meaning here. */
  readonly value: number | bigint | null;
}

/** Words with figures in them. */
export type Remark = readonly (string | Figure)[];

export interface FigureRow {
  readonly name: string;
  /** One for each column. */
  readonly figures: readonly Figure[];
  readonly remark?: Remark;
  /** Length of the row's bar, from 0 to 1. */
  readonly bar?: number;
  /** The row's small curve. */
  readonly line?: readonly number[];
  /** What other cores, ranges and runs are compared by, with names that need no title. */
  readonly compared: readonly Figure[];
}

export interface FigureTable {
  readonly key: string;
  readonly title: string;
  readonly note?: Remark;
  /** Heads of the columns before and after the figures: of the rows' names, of their remarks, of their curves. */
  readonly heads: { readonly name: string; readonly remark?: string; readonly line?: string };
  readonly tone: 'good' | 'stall' | 'flush' | 'latency' | 'buffer' | 'counter';
  readonly rows: readonly FigureRow[];
  /** What a report without such a row has of it; null where left out: not known. */
  readonly absent?: 0;
}

type Value = Figure['value'];
const figure = (unit: FigureUnit) => (name: string, value: Value) => ({ name, unit, value });
const [count, mean, rate] = [figure('count'), figure('mean'), figure('rate')];
const [ratio, share] = [figure('ratio'), figure('share')];

/** The tables of a core in the order in which they are read; the first one is the overview. Tables without rows are left out. */
export function figureTables(core: CoreReport): FigureTable[] {
  const tables = [overview, widths, topDown, flushes, stalls, stages, buffers, mix, ratios, counters];
  return tables.map((table) => table(core)).filter(({ rows }) => rows.length > 0);
}

function overview({
  instructions,
  cycles,
  cyclesCounter,
  stalls: stalled,
  ...core
}: CoreReport): FigureTable {
  const { ipc, cpi, retired, fetched, squashed, squashedShare, lost } = instructions;
  const counter = cyclesCounter === null ? '' : ` (counter "${cyclesCounter}")`;
  const all = count('cycles', cycles);
  const done = count('retired', retired);
  const perKilo = mean('flushes per 1000', core.flushes.perKiloInstructions);
  const p99 = count('fetch to retirement, p99', core.lifetime.p99);
  const row = (main: Figure, remark: Remark, compared: readonly Figure[] = [main]): FigureRow => ({
    name: main.name,
    figures: [main],
    remark,
    compared,
  });
  const [atStart, atEnd] = [instructions.inFlightAtStart, instructions.inFlightAtEnd];
  const gone = count('squashed', squashed);
  const goneShare = share('share squashed', squashedShare);
  const ipcFigure = ratio('IPC', ipc);
  const lifetime = mean('fetch to retirement', core.lifetime.mean);
  const rows = [
    row(ipcFigure, [done, ' retired in ', all, ` cycles${counter}`], [all, done, ipcFigure]),
    row(ratio('CPI', cpi), []),
    row(count('fetched', fetched), [
      'in flight: ',
      count('', atStart),
      ' at the start, ',
      count('', atEnd),
      ' at the end',
    ]),
    row(gone, [goneShare, ' of those that ended'], [gone, goneShare]),
    row(share('stalled', stalled.share), [count('', stalled.cycles), ' cycles']),
    row(count('flushes', core.flushes.flushes), [perKilo, ' per 1000 instructions'], [perKilo]),
    row(lifetime, ['cycles on average, p99 ', p99, ', max ', count('', core.lifetime.max)], [lifetime, p99]),
    ...(lost > 0
      ? [row(count('lost', lost), ['their slot was reused: the trace does not say how they ended'])]
      : []),
  ];
  return { key: 'overview', title: 'overview', heads: { name: '' }, tone: 'good', rows };
}

function widths({ instructions: { retiredPerCycle }, clockCycles }: CoreReport): FigureTable {
  const rows = retiredPerCycle.map((cycles, width) => ({
    name: String(width),
    figures: [count('cycles', cycles), share('share', cycles / clockCycles)],
    bar: cycles / clockCycles,
    compared: [share(`cycles that retired ${width}`, cycles / clockCycles)],
  }));
  return {
    key: 'widths',
    title: 'retired per cycle',
    heads: { name: 'instructions' },
    tone: 'good',
    rows: rows.length < 2 ? [] : rows,
  };
}

function topDown({ topDown: report }: CoreReport): FigureTable {
  const rows: FigureRow[] = (report?.classes ?? []).map(({ name, slots, share: part }) => ({
    name,
    figures: [count('slots', slots), share('share', part)],
    bar: part ?? 0,
    compared: [share(`slots ${name}`, part)],
  }));
  if (report && rows.length > 0) {
    const { counted, slots } = report;
    const part = share('share', slots > 0 ? counted / slots : null);
    rows.push({ name: 'together', figures: [count('slots', counted), part], compared: [] });
  }
  const title = `top-down, ${report?.width} slots per cycle`;
  return { key: 'top-down', title, heads: { name: 'class' }, tone: 'good', rows };
}

function flushes({ flushes: { reasons } }: CoreReport): FigureTable {
  const most = maxOf(reasons.map((one) => one.share));
  const rows = reasons.map(({ reason, flushes: cycles, squashed, perKiloInstructions, share: part }) => ({
    name: reason,
    figures: [
      count('flushes', cycles),
      count('squashed', squashed),
      mean('per 1000', perKiloInstructions),
      share('share', part),
    ],
    bar: part / most,
    compared: [mean(`flushes per 1000 by ${reason}`, perKiloInstructions)],
  }));
  return { key: 'flushes', title: 'flushes', heads: { name: 'reason' }, tone: 'flush', rows, absent: 0 };
}

function stalls({ stalls: { reasons } }: CoreReport): FigureTable {
  const most = maxOf(reasons.map(({ cycles }) => cycles));
  const rows = reasons.map(({ reason, cycles, share: part, episodes, longest }) => ({
    name: reason,
    figures: [
      count('cycles', cycles),
      count('episodes', episodes),
      mean('mean', episodes > 0 ? cycles / episodes : null),
      count('longest', longest),
      share('of cycles', part),
    ],
    bar: cycles / most,
    compared: [share(`stalled by ${reason}`, part)],
  }));
  return { key: 'stalls', title: 'stalls', heads: { name: 'reason' }, tone: 'stall', rows, absent: 0 };
}

function stages({ stages: all, lifetime }: CoreReport): FigureTable {
  const seen = all.filter(({ latency, squashed, unknown }) => latency.count + squashed + unknown > 0);
  const longest = maxOf(
    seen.map(({ latency }) => latency.mean ?? 0),
    1,
  );
  const latencies = (visits: Distribution, squashed: number | null): Figure[] => [
    count('visits', visits.count),
    mean('mean', visits.mean),
    ...(['median', 'p90', 'p99', 'max'] as const).map((name) => count(name, visits[name])),
    count('squashed', squashed),
  ];
  const rowOf = ({ stage, latency, squashed }: StageReport): FigureRow => ({
    name: stage,
    figures: latencies(latency, squashed),
    bar: (latency.mean ?? 0) / longest,
    compared: [mean(`cycles in ${stage}`, latency.mean), count(`cycles in ${stage}, p99`, latency.p99)],
  });
  const whole: FigureRow = {
    name: 'fetch to retirement',
    figures: latencies(lifetime, null),
    compared: [],
  };
  const unknown = seen.reduce((sum, stage) => sum + stage.unknown, 0);
  return {
    key: 'stages',
    title: 'stage latency in cycles',
    note:
      unknown > 0
        ? [count('', unknown), ' visits that began long before the range are not in these figures']
        : [],
    heads: { name: 'stage' },
    tone: 'latency',
    rows: [...seen.map(rowOf), ...(seen.length > 0 && lifetime.count > 0 ? [whole] : [])],
  };
}

function buffers({ buffers: all }: CoreReport): FigureTable {
  const rowOf = ({
    buffer,
    slots,
    fullShare,
    emptyShare,
    histogram,
    ...taken
  }: BufferFigures): FigureRow => ({
    name: buffer,
    figures: [
      count('slots', slots),
      mean('mean', taken.mean),
      ...(['median', 'p99', 'max'] as const).map((name) => count(name, taken[name])),
      share('full', fullShare),
      share('empty', emptyShare),
    ],
    line: histogram,
    // Cores of one kind have the last part of the name in common.
    compared: [mean(`occupied in ${buffer.slice(buffer.lastIndexOf('/') + 1)}`, taken.mean)],
  });
  const heads = { name: 'buffer', line: 'cycles at 0 to max' };
  return { key: 'buffers', title: 'occupied slots', heads, tone: 'buffer', rows: all.map(rowOf) };
}

function mix({ mix: all }: CoreReport): FigureTable {
  const most = maxOf(all.map((one) => one.share));
  const rows = all.map(({ kind, count: retired, share: part }) => ({
    name: kind,
    figures: [count('count', retired), share('share', part)],
    bar: part / most,
    compared: [share(`retired ${kind}`, part)],
  }));
  return {
    key: 'mix',
    title: 'retired instructions',
    heads: { name: 'class' },
    tone: 'good',
    rows,
    absent: 0,
  };
}

function ratios({ ratios: all }: CoreReport): FigureTable {
  const rowOf = ({ name, denominator, perKiloInstructions, ...one }: RatioReport): FigureRow => {
    const perKilo = mean('per 1000', perKiloInstructions);
    return {
      name,
      figures: [share('rate', one.ratio), perKilo],
      remark: [
        `${one.numerator} `,
        count('', one.count),
        ...(denominator === null ? [] : [` / ${denominator} `, count('', one.of)]),
      ],
      compared: [denominator === null ? { ...perKilo, name: `${name} per 1000` } : share(name, one.ratio)],
    };
  };
  const heads = { name: '', remark: 'from' };
  return { key: 'ratios', title: 'branches and caches', heads, tone: 'flush', rows: all.map(rowOf) };
}

function counters({ counters: all, series }: CoreReport): FigureTable {
  const rowOf = (
    { counter, delta, perCycle, perKiloInstructions, end }: CounterFigures,
    index: number,
  ): FigureRow => ({
    name: counter,
    figures: [
      count('in range', delta),
      rate('per cycle', perCycle),
      mean('per 1000', perKiloInstructions),
      count('at the end', end),
    ],
    line:
      delta === 0n
        ? []
        : (series?.counters[index]?.delta.map((value, at) => value / series.cycles[at]) ?? []),
    compared: [rate(`${counter} per cycle`, perCycle)],
  });
  const heads = { name: 'counter', line: series ? 'over time' : '' };
  return { key: 'counters', title: 'counters', heads, tone: 'counter', rows: all.map(rowOf) };
}

/** A figure of several reports that are put side by side; null where a report does not have it. */
export interface ComparedFigure {
  readonly name: string;
  readonly unit: FigureUnit;
  readonly values: readonly Value[];
}

export interface ComparedTable {
  readonly key: string;
  readonly title: string;
  readonly figures: readonly ComparedFigure[];
}

/** The figures that reports are compared by, table by table; each figure that at least one of them has. */
export function comparedTables(cores: readonly (CoreReport | null)[]): ComparedTable[] {
  const tables = cores.map((core) => (core ? figureTables(core) : []));
  const kinds = new Map(tables.flat().map((table) => [table.key, table]));
  return [...kinds.values()].map(({ key, title, absent = null }) => {
    const figures = tables.map((all) =>
      all
        .filter((table) => table.key === key)
        .flatMap(({ rows }) => rows.flatMap(({ compared }) => compared)),
    );
    const known = new Map(figures.flat().map(({ name, unit }) => [name, unit]));
    const valuesOf = (name: string): Value[] =>
      figures.map((all, index) => {
        const found = all.find((one) => one.name === name);
        return found ? found.value : cores[index] ? absent : null;
      });
    return {
      key,
      title,
      figures: [...known].map(([name, unit]) => ({ name, unit, values: valuesOf(name) })),
    };
  });
}
