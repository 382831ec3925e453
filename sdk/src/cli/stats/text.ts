/** The performance report for the terminal: tables with small charts, one section per core. */

import { maxOf } from '../../base/arrays.js';
import { onOneLine } from '../../base/printable.js';
import { type Style, styled } from '../../base/terminal-style.js';
import type { CoreReport, PerformanceReport } from '../../semantics/cpu/analysis/report.js';
import { bar, sparkline, table } from '../common/chart.js';
import { decimal, NONE, percent, ratio, resample, whole } from '../common/number-format.js';
import { countedShare, sideBySide } from './summary.js';

const BAR_WIDTH = 24;
const LINE_WIDTH = 60;
const CELL_WIDTH = 24;
const MAX_LEVELS = 24;

const TITLE: Style = '1';
const DIM: Style = '2';
const GOOD: Style = '32';
const STALL: Style = '33';
const FLUSH: Style = '31';
const LATENCY: Style = '36';
const BUFFER: Style = '35';
const COUNTER: Style = '34';

export interface TextOptions {
  readonly colour: boolean;
  /** Only what puts the cores side by side. */
  readonly onlyTogether?: boolean | undefined;
  readonly out: (text: string) => void;
}

export function printReport(report: PerformanceReport, options: TextOptions): void {
  const text = new ReportText(options);
  if (report.cores.length > 1 || options.onlyTogether) text.summary(report.cores);
  if (options.onlyTogether) return;
  for (const core of report.cores) text.core(core);
}

class ReportText {
  constructor(private readonly options: TextOptions) {}

  summary(cores: readonly CoreReport[]): void {
    const names = cores.map(({ core }) => onOneLine(core));
    const rows = sideBySide(cores).map(({ name, values }) => [name, ...values]);
    this.section('cores', [['', ...names], ...rows], [0]);
  }

  core(core: CoreReport): void {
    this.heading(core);
    this.overview(core);
    this.overTime(core);
    this.retirement(core);
    this.topDown(core);
    this.flushes(core);
    this.stalls(core);
    this.stages(core);
    this.buffers(core);
    this.mix(core);
    this.ratios(core);
    this.counters(core);
    this.checks(core);
    this.print('\n');
  }

  private heading({ core, clock, periodPs, isa, fromCycle, toCycle, clockCycles }: CoreReport): void {
    const last = toCycle > fromCycle ? toCycle - 1n : fromCycle;
    const about = [
      `${onOneLine(clock ?? 'clock')} ${periodPs} ps`,
      ...(isa === null ? [] : [onOneLine(isa)]),
    ].join(', ');
    this.print(
      `${this.paint(TITLE, onOneLine(core))}  cycles ${fromCycle} to ${last}  (${clockCycles} cycles of ${about})\n\n`,
    );
  }

  private overview(core: CoreReport): void {
    const { instructions, cycles, cyclesCounter, lifetime } = core;
    const { ipc, cpi, retired, fetched, squashed, squashedShare, lost } = instructions;
    const rows = [
      [
        'IPC',
        this.paint(TITLE, ratio(ipc)),
        `${whole(retired)} retired in ${cycles} cycles${counted(cyclesCounter)}`,
      ],
      ['CPI', ratio(cpi), ''],
      [
        'fetched',
        whole(fetched),
        `in flight: ${instructions.inFlightAtStart} at the start, ${instructions.inFlightAtEnd} at the end`,
      ],
      ['squashed', whole(squashed), `${percent(squashedShare)} of those that ended`],
      ['stalled', percent(core.stalls.share), `${core.stalls.cycles} cycles`],
      [
        'flushes',
        whole(core.flushes.flushes),
        `${decimal(core.flushes.perKiloInstructions)} per 1000 instructions`,
      ],
      [
        'fetch to retirement',
        decimal(lifetime.mean),
        `cycles on average, p99 ${whole(lifetime.p99)}, max ${whole(lifetime.max)}`,
      ],
    ];
    if (lost > 0)
      rows.push(['lost', whole(lost), 'their slot was reused: the trace does not say how they ended']);
    this.print(table(rows, [0, 1, 2]));
    this.print('\n');
  }

  private overTime({ series }: CoreReport): void {
    if (!series || series.ipc.length < 2) return;
    const line = resample(series.ipc, LINE_WIDTH);
    const highest = maxOf(series.ipc);
    const width = Math.ceil((series.intervalCycles * series.ipc.length) / line.length);
    this.title(`IPC over time, 0 to ${ratio(highest)}`, `${width} cycles per column`);
    this.print(`  ${this.paint(GOOD, sparkline(line))}\n\n`);
  }

  private retirement({ instructions: { retiredPerCycle }, clockCycles }: CoreReport): void {
    if (retiredPerCycle.length < 2) return;
    const rows = retiredPerCycle.map((cycles, width) => {
      const share = cycles / clockCycles;
      return [String(width), whole(cycles), percent(share), this.paint(GOOD, bar(share, BAR_WIDTH))];
    });
    this.section('retired per cycle', [['instructions', 'cycles', 'share', ''], ...rows], [0, 3]);
  }

  private topDown({ topDown }: CoreReport): void {
    if (!topDown) return;
    const rows = topDown.classes.map(({ name, slots, share }) => [
      onOneLine(name),
      whole(slots),
      percent(share),
      this.paint(GOOD, bar(share ?? 0, BAR_WIDTH)),
    ]);
    rows.push(['together', whole(topDown.counted), percent(countedShare(topDown)), '']);
    const title = `top-down, ${topDown.width} slots per cycle`;
    this.section(title, [['class', 'slots', 'share', ''], ...rows], [0, 3]);
  }

  private flushes({ flushes: { reasons } }: CoreReport): void {
    const most = maxOf(reasons.map(({ share }) => share));
    const rows = reasons.map(({ reason, flushes, squashed, perKiloInstructions, share }) => [
      onOneLine(reason),
      whole(flushes),
      whole(squashed),
      decimal(perKiloInstructions),
      percent(share),
      this.paint(FLUSH, bar(share / most, BAR_WIDTH)),
    ]);
    this.section('flushes', [['reason', 'flushes', 'squashed', 'per 1000', 'share', ''], ...rows], [0, 5]);
  }

  private stalls({ stalls: { reasons } }: CoreReport): void {
    const most = maxOf(reasons.map(({ cycles }) => cycles));
    const rows = reasons.map(({ reason, cycles, share, episodes, longest }) => [
      onOneLine(reason),
      whole(cycles),
      whole(episodes),
      decimal(episodes > 0 ? cycles / episodes : null),
      whole(longest),
      percent(share),
      this.paint(STALL, bar(cycles / most, BAR_WIDTH)),
    ]);
    this.section(
      'stalls',
      [['reason', 'cycles', 'episodes', 'mean', 'longest', 'of cycles', ''], ...rows],
      [0, 6],
    );
  }

  private stages({ stages }: CoreReport): void {
    const seen = stages.filter(({ latency, squashed, unknown }) => latency.count + squashed + unknown > 0);
    const longest = maxOf(
      seen.map(({ latency }) => latency.mean ?? 0),
      1,
    );
    const rows = seen.map(({ stage, latency, squashed }) => [
      onOneLine(stage),
      whole(latency.count),
      decimal(latency.mean),
      whole(latency.median),
      whole(latency.p90),
      whole(latency.p99),
      whole(latency.max),
      whole(squashed),
      this.paint(LATENCY, bar((latency.mean ?? 0) / longest, BAR_WIDTH)),
    ]);
    const head = ['stage', 'visits', 'mean', 'median', 'p90', 'p99', 'max', 'squashed', ''];
    this.section('stage latency in cycles', [head, ...rows], [0, 8]);
    const unknown = seen.reduce((sum, stage) => sum + stage.unknown, 0);
    if (unknown > 0) this.note(`${unknown} visits that began long before the range are not in these figures`);
  }

  private buffers({ buffers }: CoreReport): void {
    const rows = buffers.map(
      ({ buffer, slots, mean, median, p99, max, fullShare, emptyShare, histogram }) => [
        onOneLine(buffer),
        whole(slots),
        decimal(mean),
        whole(median),
        whole(p99),
        whole(max),
        percent(fullShare),
        percent(emptyShare),
        this.paint(BUFFER, sparkline(levels(histogram))),
      ],
    );
    const head = ['buffer', 'slots', 'mean', 'median', 'p99', 'max', 'full', 'empty', 'cycles at 0 to max'];
    this.section('occupied slots', [head, ...rows], [0, 8]);
  }

  private mix({ mix }: CoreReport): void {
    const most = maxOf(mix.map(({ share }) => share));
    const rows = mix.map(({ kind, count, share }) => [
      kind,
      whole(count),
      percent(share),
      this.paint(GOOD, bar(share / most, BAR_WIDTH)),
    ]);
    this.section('retired instructions', [['class', 'count', 'share', ''], ...rows], [0, 3]);
  }

  private ratios({ ratios }: CoreReport): void {
    const rows = ratios.map(
      ({ name, ratio: value, numerator, denominator, count, of, perKiloInstructions }) => [
        onOneLine(name),
        percent(value),
        decimal(perKiloInstructions),
        onOneLine(
          denominator === null ? `${numerator} ${count}` : `${numerator} ${count} / ${denominator} ${of}`,
        ),
      ],
    );
    this.section('branches and caches', [['', 'rate', 'per 1000', 'from'], ...rows], [0, 3]);
  }

  private counters({ counters, series }: CoreReport): void {
    const rows = counters.map(({ counter, delta, perCycle, perKiloInstructions }, index) => {
      const rates = series?.counters[index]?.delta.map((value, at) => value / series.cycles[at]) ?? [];
      const line = rates.length > 1 && delta !== 0n ? sparkline(resample(rates, CELL_WIDTH)) : '';
      return [
        onOneLine(counter),
        whole(delta),
        rate(perCycle),
        decimal(perKiloInstructions),
        this.paint(COUNTER, line),
      ];
    });
    const head = ['counter', 'in range', 'per cycle', 'per 1000', series ? 'over time' : ''];
    this.section('counters', [head, ...rows], [0, 4]);
  }

  private checks({ checks }: CoreReport): void {
    if (checks.length === 0) return;
    const differing = checks.filter(({ counted: count, value }) => BigInt(count) !== value);
    const agreeing = checks.length - differing.length;
    this.title('checked against the counters of the core', `${agreeing} of ${checks.length} agree`);
    const rows = differing.map(({ what, counted: count, counter, value }) => [
      `  ${onOneLine(what)}`,
      whole(count),
      onOneLine(counter),
      whole(value),
    ]);
    if (rows.length > 0) this.print(table([['', 'counted', 'counter', 'says'], ...rows], [0, 2]));
  }

  /** A table with a head; nothing for one without rows. */
  private section(title: string, rows: readonly (readonly string[])[], left: readonly number[]): void {
    const [head = [], ...body] = rows;
    if (body.length === 0) return;
    this.title(title, '');
    const lines = table([head, ...body], left).split('\n');
    const [first = '', ...rest] = lines;
    this.print(`  ${this.paint(DIM, first)}\n`);
    for (const line of rest) if (line !== '') this.print(`  ${line}\n`);
    this.print('\n');
  }

  private title(title: string, remark: string): void {
    this.print(`${this.paint(TITLE, title)}${remark ? `  ${this.paint(DIM, remark)}` : ''}\n`);
  }

  private note(text: string): void {
    this.print(`  ${this.paint(DIM, text)}\n\n`);
  }

  private paint(style: Style, text: string): string {
    return styled(style, text, this.options.colour);
  }

  private print(text: string): void {
    this.options.out(text);
  }
}

function counted(counter: string | null): string {
  return counter === null ? '' : ` (counter "${onOneLine(counter)}")`;
}

/** Rates per cycle are small: four digits after the point. */
function rate(value: number | null): string {
  if (value === null) return NONE;
  return Number.isInteger(value) ? String(value) : value.toFixed(4);
}

/** Columns of an occupancy histogram: one per level, or the sum of neighbours where there are many. */
function levels(histogram: readonly number[]): number[] {
  if (histogram.length <= MAX_LEVELS) return [...histogram];
  const size = Math.ceil(histogram.length / MAX_LEVELS);
  return Array.from({ length: Math.ceil(histogram.length / size) }, (_, index) =>
    histogram.slice(index * size, (index + 1) * size).reduce((sum, cycles) => sum + cycles, 0),
  );
}
