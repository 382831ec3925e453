/** The performance report for the terminal: tables with small charts, one section per core. */

import { maxOf } from '../../base/arrays.js';
import { onOneLine } from '../../base/printable.js';
import { type Style, styled } from '../../base/terminal-style.js';
import { comparedTables, type FigureTable, figureTables } from '../../semantics/cpu/analysis/figures.js';
import type { CoreReport, PerformanceReport } from '../../semantics/cpu/analysis/report.js';
import { bar, sparkline, table } from '../common/chart.js';
import { figureText, ratio, remarkText, resample, whole } from '../common/number-format.js';

const BAR_WIDTH = 24;
const LINE_WIDTH = 60;
const CELL_WIDTH = 24;

const TITLE: Style = '1';
const DIM: Style = '2';
const COLOURS: Readonly<Record<FigureTable['tone'], Style>> = {
  ...{ good: '32', stall: '33', flush: '31', latency: '36', buffer: '35', counter: '34' },
};

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
    const rows = comparedTables(cores).flatMap(({ figures }) =>
      figures.map(({ name, unit, values }) => [
        onOneLine(name),
        ...values.map((value) => figureText({ unit, value })),
      ]),
    );
    this.section('cores', [['', ...names], ...rows], [0]);
  }

  core(core: CoreReport): void {
    const [overview, ...tables] = figureTables(core);
    this.heading(core);
    if (overview) this.overview(overview);
    this.overTime(core);
    for (const one of tables) this.table(one);
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

  private overview({ rows }: FigureTable): void {
    const lines = rows.map(({ name, figures, remark }, index) => {
      const [value = ''] = figures.map((figure) => figureText(figure));
      return [name, index === 0 ? this.paint(TITLE, value) : value, onOneLine(remarkText(remark))];
    });
    this.print(`${table(lines, [0, 1, 2])}\n`);
  }

  private overTime({ series }: CoreReport): void {
    if (!series || series.ipc.length < 2) return;
    const line = resample(series.ipc, LINE_WIDTH);
    const highest = maxOf(series.ipc);
    const width = Math.ceil((series.intervalCycles * series.ipc.length) / line.length);
    this.title(`IPC over time, 0 to ${ratio(highest)}`, `${width} cycles per column`);
    this.print(`  ${this.paint(COLOURS.good, sparkline(line))}\n\n`);
  }

  private table({ title, note, heads, tone, rows }: FigureTable): void {
    const hasBars = rows.some(({ bar: share }) => share !== undefined);
    const [first] = rows;
    const head = [
      heads.name,
      ...(first?.figures.map(({ name }) => name) ?? []),
      ...(hasBars ? [''] : []),
      ...[heads.remark, heads.line].filter((name) => name !== undefined),
    ];
    const body = rows.map(({ name, figures, bar: share = 0, remark, line = [] }) => [
      onOneLine(name),
      ...figures.map((figure) => figureText(figure)),
      ...(hasBars ? [this.paint(COLOURS[tone], bar(share, BAR_WIDTH))] : []),
      ...(heads.remark === undefined ? [] : [onOneLine(remarkText(remark))]),
      ...(heads.line === undefined ? [] : [this.paint(COLOURS[tone], curve(line))]),
    ]);
    this.section(title, [head, ...body], [0, head.length - 1]);
    if (note && note.length > 0) this.note(remarkText(note));
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

const curve = (values: readonly number[]): string =>
  values.length > 1 ? sparkline(resample(values, CELL_WIDTH)) : '';
