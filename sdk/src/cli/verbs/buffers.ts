/** `uscope buffers`: how full buffers are over a range. */

import type { Command } from 'commander';
import { maxOf } from '../../base/arrays.js';
import { UscopeError } from '../../base/errors.js';
import { onOneLine } from '../../base/printable.js';
import type { Trace } from '../../reader/index.js';
import { findCore } from '../../semantics/cpu/index.js';
import {
  type OccupancyOptions,
  type OccupancyReport,
  occupancy,
} from '../../semantics/storages/occupancy.js';
import { occupancyFromIndex } from '../../trace-index/reports/occupancy.js';
import { bar, shortNumber, sparkline, table } from '../common/chart.js';
import { io, paint, printJson } from '../common/io.js';
import { append, parsePoints } from '../common/option-values.js';
import { withProgress } from '../common/progress-bar.js';
import {
  type AskedRange,
  addRangeOptions,
  parseRange,
  type RangeArguments,
  rangeInTime,
} from '../common/ranges.js';
import { withTrace } from '../common/trace-file.js';
import { addExactOption, fromIndexOrScan } from '../common/whole-trace.js';

interface BuffersOptions extends RangeArguments {
  readonly buffer: readonly string[];
  readonly core?: string;
  readonly series?: string;
  readonly exact?: boolean;
  readonly histogram: boolean;
  readonly json?: boolean;
}

/** Lines of a histogram; where a buffer has more slots, several share one. */
const MAX_LINES = 16;
const BAR_WIDTH = 40;

export function register(command: Command): void {
  command
    .description(
      'Prints how many slots of buffers were occupied over a range: mean, extremes and a histogram, weighted with time.',
    )
    .argument('<file>', 'trace file')
    .option(
      '--buffer <name>',
      'only this buffer, or another sparse storage (may be repeated; default: all buffers)',
      append,
      [],
    )
    .option('--core <name>', 'only the buffers of this core, whose clock cycles then count');
  addExactOption(addRangeOptions(command))
    .option('--series <n>', 'also the occupancy in n equal parts of the range')
    .option('--no-histogram', 'no histograms')
    .option('--json', 'one JSON document')
    .action((file: string, options: BuffersOptions) => {
      const asked = parseRange(options);
      const points = parsePoints(options.series);
      return withTrace(file, async (trace) => {
        const question = questionOf(trace, options, asked, points);
        const reports = await fromIndexOrScan(
          file,
          trace,
          options.exact,
          (index) => occupancyFromIndex(index, question),
          () => scan(trace, question),
        );
        if (reports.length === 0) throw noBuffers(question);
        if (options.json) printJson({ buffers: reports.map((report) => json(report, options)) });
        else printText(reports, options);
      });
    });
}

function questionOf(
  trace: Trace,
  options: BuffersOptions,
  asked: AskedRange,
  points: number | undefined,
): OccupancyOptions {
  const core = options.core === undefined ? undefined : findCore(trace, options.core);
  const buffers = options.buffer.length > 0 ? options.buffer : undefined;
  return { ...rangeInTime(asked, trace, core?.clock?.name), core, buffers, points };
}

function scan(trace: Trace, question: OccupancyOptions): Promise<OccupancyReport[]> {
  return withProgress('reading', (progress) => occupancy(trace, { ...question, progress }));
}

function noBuffers({ core }: OccupancyOptions): UscopeError {
  return new UscopeError(
    'READER_NAME',
    `${core ? core.name : 'the trace'} has no buffers; name sparse storages with --buffer`,
  );
}

function json(report: OccupancyReport, { histogram }: BuffersOptions) {
  const { name, slots, fromPs, toPs, periodPs, mean, min, max, last, series } = report;
  return {
    buffer: name,
    slots,
    from: fromPs,
    to: toPs,
    cycles: periodPs > 0n ? Number(toPs - fromPs) / Number(periodPs) : null,
    mean,
    min,
    max,
    last,
    histogram: histogram ? report.histogram.slice(0, max + 1) : undefined,
    series: series?.map((point) => ({
      from: point.fromPs,
      to: point.toPs,
      mean: point.mean,
      min: point.min,
      max: point.max,
    })),
  };
}

function printText(reports: readonly OccupancyReport[], options: BuffersOptions): void {
  const { fromPs, toPs, periodPs } = reports[0];
  const cycles = periodPs > 0n ? `, cycles ${fromPs / periodPs} to ${(toPs - 1n) / periodPs}` : '';
  io.out(`${paint('dim', `${fromPs} to ${toPs} ps${cycles}`)}\n`);
  const rows = reports.map((report) => [
    onOneLine(report.name),
    String(report.slots),
    shortNumber(report.mean),
    String(report.min),
    String(report.max),
    String(report.last),
    percent(report.histogram[report.slots], report),
    ...(report.series ? [sparkline(report.series.map(({ mean }) => mean))] : []),
  ]);
  const head = ['buffer', 'slots', 'mean', 'least', 'greatest', 'last', 'full'];
  const hasSeries = options.series !== undefined;
  io.out(table([hasSeries ? [...head, ''] : head, ...rows], hasSeries ? [0, head.length] : [0]));
  if (options.histogram) reports.forEach(printHistogram);
}

function printHistogram(report: OccupancyReport): void {
  const { histogram, max } = report;
  const perLine = Math.ceil((max + 1) / MAX_LINES);
  const lines: { label: string; ps: bigint }[] = [];
  for (let first = 0; first <= max; first += perLine) {
    const last = Math.min(max, first + perLine - 1);
    const ps = histogram.slice(first, last + 1).reduce((sum, time) => sum + time, 0n);
    lines.push({ label: first === last ? String(first) : `${first}-${last}`, ps });
  }
  const most = maxOf(lines.map(({ ps }) => Number(ps)));
  const width = maxOf(lines.map(({ label }) => label.length));
  io.out(`\n${paint('cyan', report.name)}\n`);
  for (const { label, ps } of lines) {
    const length = most > 0 ? Number(ps) / most : 0;
    io.out(`  ${label.padStart(width)}  ${percent(ps, report).padStart(6)}  ${bar(length, BAR_WIDTH)}\n`);
  }
}

function percent(ps: bigint, { fromPs, toPs }: OccupancyReport): string {
  const length = Number(toPs - fromPs);
  return length > 0 ? `${((Number(ps) / length) * 100).toFixed(1)}%` : '-';
}
