/** The report of a run with several traces: a line of numbers for each core, and all of them together. */

import { maxOf } from '../../base/arrays.js';
import { formatBytes, formatCount, formatRate } from '../../base/units.js';
import type { Account } from '../../writer/index.js';
import { lossesOf, remarksOf, STATUS_WORDS, shortPath, type TraceReport } from './summary.js';

/** A table wider than this is printed with scaled counts. */
const MAX_WIDTH = 100;
const MAX_NAME = 24;
/** Of a value that is not known. */
const UNKNOWN = '-';
/** Of one that nobody can know. */
const NOT_KNOWN = '?';
const HEAD = [
  'trace',
  'core',
  'cycles',
  'frames',
  'items',
  '/cycle',
  'size',
  'B/item',
  'segs',
  'status',
  'lost',
  'rej.',
] as const;
/** Columns of strings, which are left-aligned. */
const LEFT: readonly string[] = ['trace', 'status'];

/** Sums over the traces of a run. */
export interface RunTotals {
  readonly traces: number;
  /** In the files. */
  readonly frames: bigint;
  /** null: unknown for a trace; a lower bound for all together. */
  readonly completed: bigint | null;
  readonly atLeast: bigint;
  readonly expired: bigint;
  readonly items: bigint;
  readonly bytes: bigint;
  readonly segments: number;
  /** null: of a trace it is not known. */
  readonly lost: bigint | null;
  readonly rejected: bigint;
  /** Of all traces together over the time in which they were open; null: too short to say. */
  readonly itemsPerSecond: number | null;
}

/** Cycles of the first clock up to the last frame, that one included; null: the clock's period is unknown, or nothing was recorded. */
export function cyclesOf({ stats, periodPs = 0 }: TraceReport): bigint | null {
  if (!stats || periodPs <= 0) return null;
  return stats.frames === 0n ? 0n : stats.totalTimePs / BigInt(periodPs) + 1n;
}

/** Null without a divisor. */
export function quotient(dividend: bigint, divisor: bigint | null): number | null {
  return divisor === null || divisor === 0n ? null : Number(dividend) / Number(divisor);
}

/** @param durationMs from the first trace's begin to the last one's end */
export function runTotals(reports: readonly TraceReport[], durationMs: number): RunTotals {
  const all = reports.flatMap(({ stats }) => (stats ? [stats] : []));
  const sum = (value: (stats: (typeof all)[number]) => bigint): bigint =>
    all.reduce((total, stats) => total + value(stats), 0n);
  const items = sum((stats) => stats.items);
  const of = (value: (account: Account) => bigint): bigint =>
    reports.reduce((total, { account }) => total + (account ? value(account) : 0n), 0n);
  const isKnown = reports.every(({ account }) => account?.completed != null);
  return {
    traces: reports.length,
    frames: of(({ committed }) => committed),
    completed: isKnown ? of(({ atLeast }) => atLeast) : null,
    atLeast: of(({ atLeast }) => atLeast),
    expired: of(({ expired }) => expired),
    items,
    bytes: sum(({ bytes }) => bytes),
    segments: all.reduce((total, { segments }) => total + segments, 0),
    lost: isKnown ? of(({ lost }) => lost ?? 0n) : null,
    rejected: sum(({ rejected }) => rejected),
    itemsPerSecond: durationMs >= 1 ? (Number(items) * 1000) / durationMs : null,
  };
}

/**
 * The lines for the traces of a run: a table, its last row the sums, then where the files are, and what is to be said about single
 * traces. In the order of the core index, then of the name.
 */
export function runLines(reports: readonly TraceReport[], durationMs: number): string[] {
  const sorted = inOrder(reports);
  const totals = runTotals(reports, durationMs);
  return [...tableLines(sorted, totals), together(sorted, totals, durationMs), ...sorted.flatMap(notesOf)];
}

export function inOrder(reports: readonly TraceReport[]): TraceReport[] {
  const core = (report: TraceReport): number => report.core ?? Number.POSITIVE_INFINITY;
  return [...reports].sort((a, b) => {
    if (core(a) !== core(b)) return core(a) < core(b) ? -1 : 1;
    return a.name.localeCompare(b.name, 'en', { numeric: true });
  });
}

function notesOf(report: TraceReport): string[] {
  return [...lossesOf(report), ...remarksOf(report)].map((note) => `${report.name}: ${note}`);
}

type Count = (value: bigint) => string;
const scaled: Count = (value) => formatRate(Number(value));

function tableLines(reports: readonly TraceReport[], totals: RunTotals): string[] {
  const exact = laidOut(reports, totals, formatCount);
  const fits = exact.every((line) => line.length <= MAX_WIDTH);
  return fits ? exact : laidOut(reports, totals, scaled);
}

function laidOut(reports: readonly TraceReport[], totals: RunTotals, count: Count): string[] {
  const rows = [HEAD, ...reports.map((report) => row(report, count)), totalsRow(totals, count)];
  const kept = HEAD.map((_, column) => rows.slice(1, -1).some((cells) => cells[column] !== UNKNOWN));
  const shown = rows.map((cells) => cells.filter((_, column) => kept[column]));
  const widths = shown[0].map((_, column) => maxOf(shown.map((cells) => cells[column].length)));
  return shown.map((cells) =>
    cells
      .map((cell, column) =>
        LEFT.includes(shown[0][column]) ? cell.padEnd(widths[column]) : cell.padStart(widths[column]),
      )
      .join('  ')
      .trimEnd(),
  );
}

function row(report: TraceReport, count: Count): string[] {
  const { stats } = report;
  const core = report.core === null || report.core === undefined ? UNKNOWN : String(report.core);
  if (!stats)
    return [shortName(report.name), core, ...Array<string>(7).fill(UNKNOWN), 'unfinished', UNKNOWN, UNKNOWN];
  const cycles = cyclesOf(report);
  return [
    shortName(report.name),
    core,
    cycles === null ? UNKNOWN : count(cycles),
    count(report.account?.committed ?? stats.frames),
    count(stats.items),
    decimal(quotient(stats.items, cycles)),
    formatBytes(stats.bytes),
    decimal(quotient(stats.bytes, stats.items)),
    count(BigInt(stats.segments)),
    STATUS_WORDS[stats.status],
    lostCell(report.account?.lost ?? null, count),
    count(stats.rejected),
  ];
}

function totalsRow(totals: RunTotals, count: Count): string[] {
  const { frames, items, bytes, segments, lost, rejected } = totals;
  const perItem = decimal(quotient(bytes, items));
  const sums = ['', count(frames), count(items), '', formatBytes(bytes), perItem, count(BigInt(segments))];
  return ['together', '', ...sums, '', lostCell(lost, count), count(rejected)];
}

function lostCell(lost: bigint | null, count: Count): string {
  return lost === null ? NOT_KNOWN : count(lost);
}

function together(reports: readonly TraceReport[], totals: RunTotals, durationMs: number): string {
  const rate =
    totals.itemsPerSecond === null
      ? ''
      : ` in ${(durationMs / 1000).toFixed(2)} s: ${formatRate(totals.itemsPerSecond)} items/s`;
  return `${reports.length} traces, ${formatCount(totals.items)} items${rate}; ${placeOf(reports)}`;
}

/** The directory that all files are in, or what their paths begin with. */
function placeOf(reports: readonly TraceReport[]): string {
  const directories = reports.map(({ name, path }) =>
    path.endsWith(`${name}.uscope`) ? path.slice(0, -`/${name}.uscope`.length) : path,
  );
  const [first] = directories;
  if (directories.some((directory) => directory !== first)) return `files ${first} and others`;
  return `files in ${shortPath(first) || '.'}`;
}

/** The end of a long name distinguishes the cores. */
function shortName(name: string): string {
  return name.length <= MAX_NAME ? name : `…${name.slice(1 - MAX_NAME)}`;
}

function decimal(value: number | null): string {
  return value === null ? UNKNOWN : value.toFixed(2);
}
