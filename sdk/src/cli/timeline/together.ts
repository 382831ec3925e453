/** Several cores on one axis: blocks of cycles, and in each block the rows of every core. Aligned by time: a column is a cycle of the fastest clock. */

import { maxOf, minOf } from '../../base/arrays.js';
import { onOneLine } from '../../base/printable.js';
import { BOLD, DIM, styled } from '../../base/terminal-style.js';
import type { Trace } from '../../reader/index.js';
import { type CpuCore, cycleOf, requirePeriod } from '../../semantics/cpu/cores.js';
import type { Instruction } from '../../semantics/cpu/lifecycle.js';
import type { TimelineRange } from '../../semantics/timeline/selection.js';
import { selected, stallsOf } from '../../semantics/timeline/selection.js';
import { type Layout, layoutFor, printLegend, TextTimeline } from '../../semantics/timeline/text.js';

/** A core of an open trace. */
export interface Lane {
  /** What distinguishes it from the others. */
  readonly name: string;
  readonly file: string;
  readonly trace: Trace;
  readonly core: CpuCore;
}

/** In ps, start inclusive, end exclusive. */
export interface Span {
  readonly fromPs: bigint;
  readonly toPs: bigint;
}

export interface TogetherOptions {
  readonly width: number;
  readonly colour: boolean;
  readonly out: (text: string) => void;
}

/** Of the fastest clock, in ps. */
function finestPeriod(lanes: readonly Lane[]): bigint {
  const periods = lanes.map(({ core }) => requirePeriod(core));
  return periods.reduce((least, period) => {
    if (period < least) return period;
    return least;
  });
}

/** The range as cycles of a lane's own clock: those that begin before the span's end and end after its start. */
export function rangeOf({ core }: Lane, { fromPs, toPs }: Span): TimelineRange {
  const from = cycleOf(core, fromPs);
  const to = toPs > fromPs ? cycleOf(core, toPs - 1n) + 1n : from;
  return { from, to, numbers: null, pc: null };
}

/** Prints the lanes; returns how many rows each had, in order. */
export async function printTogether(
  lanes: readonly Lane[],
  span: Span,
  options: TogetherOptions,
): Promise<number[]> {
  const period = finestPeriod(lanes);
  const range = { from: span.fromPs / period, to: (span.toPs - 1n) / period + 1n, numbers: null, pc: null };
  const columns = lanes.map((lane) => new Column(lane, rangeOf(lane, span)));
  for (const column of columns) await column.start();
  const layout = sharedLayout(columns, options.width);
  printHead(lanes, range, period, options);
  const blocks = columns.map((column) => column.blocks(range, period, layout, options));
  for (let from = 0; from < Number(range.to - range.from); from += layout.cycles) {
    for (const [index, lane] of lanes.entries()) {
      const { value: text = '' } = await blocks[index].next();
      options.out(`\n${styled(BOLD, onOneLine(lane.name), options.colour)}`);
      options.out(text === '' ? `${styled(DIM, '  no instruction in flight', options.colour)}\n` : text);
    }
  }
  return columns.map(({ rows }) => rows);
}

/** One lane while it is printed. */
class Column {
  rows = 0;
  private instructions: AsyncGenerator<Instruction> | null = null;
  /** The one that the layout was made for. */
  private first: IteratorResult<Instruction> = { done: true, value: undefined };

  constructor(
    private readonly lane: Lane,
    private readonly range: TimelineRange,
  ) {}

  async start(): Promise<void> {
    const { trace, core } = this.lane;
    if (this.range.from * core.periodPs > trace.totalTimePs) return; // it ended before
    this.instructions = selected(trace, core, this.range, 'range');
    this.first = await this.instructions.next();
  }

  layout(width: number): Layout | null {
    return this.first.done ? null : layoutFor(this.lane.core, this.first.value, width);
  }

  /** The text of each block, in order. */
  async *blocks(
    axis: TimelineRange,
    periodPs: bigint,
    layout: Layout,
    { width, colour }: TogetherOptions,
  ): AsyncGenerator<string> {
    const { trace, core } = this.lane;
    if (!this.instructions) return;
    const ready: string[] = [];
    let text = '';
    const timeline = new TextTimeline({ ...core, periodPs }, axis, stallsOf(trace, core, this.range), {
      width,
      colour,
      layout,
      lastCycle: trace.totalTimePs / periodPs,
      out: (more) => {
        text += more;
      },
      onBlock: () => {
        ready.push(text);
        text = '';
      },
    });
    for (
      let next: IteratorResult<Instruction> = this.first;
      !next.done;
      next = await this.instructions.next()
    ) {
      await timeline.add(next.value);
      yield* ready.splice(0);
    }
    await timeline.finish();
    this.rows = timeline.printed + timeline.silent;
    yield* ready;
  }
}

/** Wide enough for the numbers and addresses of every lane, so that the same cycle is in the same column. */
function sharedLayout(columns: readonly Column[], width: number): Layout {
  const layouts = columns.flatMap((column) => column.layout(width) ?? []);
  const most = (value: (layout: Layout) => number): number => maxOf(layouts.map(value), 1);
  const seq = most((layout) => layout.seq);
  const pc = most((layout) => layout.pc);
  const text = most((layout) => layout.text);
  const least = minOf(layouts.map((layout) => layout.cycles));
  const heads = maxOf(layouts.map((layout) => layout.seq + layout.pc + layout.text));
  const cycles = Number.isFinite(least) ? Math.max(10, least - (seq + pc + text - heads)) : width;
  return { seq, pc, text, cycles };
}

function printHead(
  lanes: readonly Lane[],
  range: TimelineRange,
  period: bigint,
  options: TogetherOptions,
): void {
  const { colour, out } = options;
  const title = styled(BOLD, lanes.map(({ name }) => onOneLine(name)).join(', '), colour);
  out(`${title}  cycles ${range.from} to ${range.to - 1n}  (${period} ps each)\n`);
  for (const { name, core } of lanes) {
    if (core.periodPs !== period)
      out(`${onOneLine(name)}: ${onOneLine(core.clock?.name ?? 'clock')} ${core.periodPs} ps\n`);
  }
  const [first] = lanes;
  const isSame = lanes.every(({ core }) => core.stages.join() === first.core.stages.join());
  for (const { name, core } of isSame ? [first] : lanes) {
    if (!isSame) out(`${onOneLine(name)}: `);
    printLegend(core, options);
  }
}
