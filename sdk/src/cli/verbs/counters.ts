/** `uscope counters`: values and rates of counters over a range. */
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import { onOneLine } from '../../base/printable.js';
import type { Trace } from '../../reader/index.js';
import { findCore } from '../../semantics/cpu/index.js';
import type { CounterOptions, CounterReport } from '../../semantics/storages/counter-work.js';
import { counters } from '../../semantics/storages/counters.js';
import { countersFromIndex } from '../../trace-index/reports/counters.js';
import { shortNumber, sparkline, table } from '../common/chart.js';
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

interface CountersOptions extends RangeArguments {
  readonly counter: readonly string[];
  readonly core?: string;
  readonly series?: string;
  readonly exact?: boolean;
  readonly perCycle?: boolean;
  readonly json?: boolean;
}

export function register(command: Command): void {
  command
    .description(
      'Prints what counters held at both ends of a range, how much they changed, and the change per cycle. Counters are dense storages with one slot of one u64 field.',
    )
    .argument('<file>', 'trace file')
    .option('--counter <name>', 'only this counter (may be repeated)', append, [])
    .option('--core <name>', 'only the counters of this core, whose clock cycles then count');
  addExactOption(addRangeOptions(command))
    .option('--series <n>', 'also the changes in n equal parts of the range')
    .option('--per-cycle', 'also the smallest and the largest change in a cycle')
    .option('--json', 'one JSON document')
    .action((file: string, options: CountersOptions) => {
      const asked = parseRange(options);
      const points = parsePoints(options.series);
      return withTrace(file, async (trace) => {
        const question = questionOf(trace, options, asked, points);
        const scan = () => read(trace, question);
        const reports =
          points === undefined
            ? await scan()
            : await fromIndexOrScan(
                file,
                trace,
                options.exact,
                (index) => countersFromIndex(index, question),
                scan,
              );
        if (reports.length === 0) throw noCounters(question);
        if (options.json) printJson({ counters: reports.map(json) });
        else printText(reports, options);
      });
    });
}

function questionOf(
  trace: Trace,
  options: CountersOptions,
  asked: AskedRange,
  points: number | undefined,
): CounterOptions {
  const core = options.core === undefined ? undefined : findCore(trace, options.core);
  const counters = options.counter.length > 0 ? options.counter : undefined;
  const { perCycle, exact } = options;
  return { ...rangeInTime(asked, trace, core?.clock?.name), core, counters, points, perCycle, exact };
}

function read(trace: Trace, question: CounterOptions): Promise<CounterReport[]> {
  return withProgress('counting', (progress) => counters(trace, { ...question, progress }));
}

function noCounters({ core }: CounterOptions): UscopeError {
  return new UscopeError(
    'READER_NAME',
    `${core ? core.name : 'the trace'} has no counters: no dense storage with one slot of one u64 field`,
  );
}

function json(report: CounterReport) {
  const { name, fromPs, toPs, cycles, startValue, endValue, delta, rate, perCycle, series } = report;
  return {
    counter: name,
    from: fromPs,
    to: toPs,
    cycles,
    start: startValue,
    end: endValue,
    delta,
    rate,
    perCycle,
    series: series?.map((point) => ({
      from: point.fromPs,
      to: point.toPs,
      delta: point.delta,
      value: point.value,
    })),
    source: report.source,
  };
}

function printText(reports: readonly CounterReport[], { perCycle, series }: CountersOptions): void {
  const { fromPs, toPs } = reports[0];
  io.out(`${paint('dim', `${fromPs} to ${toPs} ps${cyclesText(reports[0])}`)}\n`);
  const head = ['counter', 'start', 'end', 'change', 'per cycle'];
  if (perCycle) head.push('least', 'greatest');
  if (series !== undefined) head.push('');
  const rows = reports.map((report) => [
    onOneLine(report.name),
    String(report.startValue),
    String(report.endValue),
    String(report.delta),
    report.rate === null ? '-' : shortNumber(report.rate),
    ...(perCycle ? [String(report.perCycle?.min ?? '-'), String(report.perCycle?.max ?? '-')] : []),
    ...(report.series ? [sparkline(report.series.map(({ delta }) => Number(delta)))] : []),
  ]);
  io.out(table([head, ...rows], [0, head.length - (series === undefined ? head.length : 1)]));
}

function cyclesText({ cycles, fromPs, toPs, periodPs }: CounterReport): string {
  return cycles === null ? '' : `, cycles ${fromPs / periodPs} to ${(toPs - 1n) / periodPs}`;
}
