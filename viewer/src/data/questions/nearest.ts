/** The next flush, the next stall or gap in retirement longer than some cycles, or the one before: through the index where there is one. */
import * as cpu from 'uscope/cpu';
import { ChannelKind, type TraceIndex } from 'uscope/trace-index';
import { joinRuns, leastInBucket, type Run, runsOf, spansOf } from '../../model/runs.js';
import type { Trace } from '../library.js';
import type { Question, QuestionContext } from './question.js';

export interface NearestArgs {
  readonly what: 'flush' | 'stall' | 'gap';
  /** After (1) or before (-1) the cycle: what begins later, or earlier. */
  readonly direction: 1 | -1;
  readonly cycle: number;
  /** Cycles that a stall or gap must exceed. */
  readonly longer: number;
}

/** null: there is none. */
type NearestAnswer = Run | null;

/** Cycles looked at between two looks at the signal. */
const WINDOW = 65_536;
/** Cycles whose numbers are asked of the index at a time: fewer buckets than the 65,536 it gives. */
const PAGE = 256 * 65_000;

export const nearest: Question<NearestArgs, NearestAnswer> = async (args, context, signal) => {
  if (!context.core) return null;
  const search = new Search(context, context.core, args, signal);
  return args.direction > 0 ? search.next() : search.previous();
};

class Search {
  private readonly first: number;
  private readonly last: number;

  constructor(
    private readonly context: QuestionContext,
    private readonly core: cpu.CpuCore,
    private readonly args: NearestArgs,
    private readonly signal: AbortSignal,
  ) {
    this.first = context.info.segmentCycles[0] ?? 0;
    this.last = context.info.segmentCycles.at(-1) ?? 0;
  }

  async next(): Promise<Run | null> {
    const { cycle } = this.args;
    // What begins before the cycle does not count; one that begins in it is cut there and does not either.
    let open: Run[] = [];
    for await (const span of this.spans(Math.max(this.first, cycle), this.last)) {
      const runs = this.join(open, await this.runs(span));
      const last = runs.at(-1);
      const isOpen = last !== undefined && last.to === span.to && span.to < this.last;
      open = isOpen ? [last] : [];
      const found = (isOpen ? runs.slice(0, -1) : runs).find((run) => run.from > cycle && this.isLong(run));
      if (found) return found;
    }
    return open.find((run) => run.from > cycle && this.isLong(run)) ?? null;
  }

  async previous(): Promise<Run | null> {
    const { cycle } = this.args;
    const end = await this.endAt(Math.min(cycle, this.last));
    let open: Run[] = [];
    for await (const span of this.spansBackward(this.first, end)) {
      const runs = this.join(await this.runs(span), open);
      const first = runs[0];
      const isOpen = first !== undefined && first.from === span.from && span.from > this.first;
      open = isOpen ? [first] : [];
      const closed = isOpen ? runs.slice(1) : runs;
      const found = closed.reverse().find((run) => run.from < cycle && this.isLong(run));
      if (found) return found;
    }
    return open.find((run) => run.from < cycle && this.isLong(run)) ?? null;
  }

  private join(before: readonly Run[], after: readonly Run[]): Run[] {
    return this.args.what === 'flush' ? [...before, ...after] : joinRuns(before, after);
  }

  private isLong({ from, to }: Run): boolean {
    return to - from > (this.args.what === 'flush' ? 0 : this.args.longer);
  }

  /** Where the run ends that the cycle is in. */
  private async endAt(cycle: number): Promise<number> {
    for (let from = cycle; from < this.last; from += WINDOW) {
      const to = Math.min(this.last, from + WINDOW);
      const [first] = await this.runs({ from, to });
      if (first?.from !== from) return from;
      if (first.to < to) return first.to;
    }
    return this.last;
  }

  /** Runs within a window; of flushes each cycle is one. */
  private async runs({ from, to }: Run): Promise<Run[]> {
    this.signal.throwIfAborted();
    const { what } = this.args;
    const { trace, periodPs } = this.context;
    const range = { from: BigInt(from) * periodPs, to: BigInt(to) * periodPs };
    if (what === 'gap') return runsOf(await this.retiredIn(range, from, to), from, to, true);
    const cycles = await eventCycles(trace, this.core, what, range, periodPs);
    return what === 'flush'
      ? cycles.map((cycle) => ({ from: cycle, to: cycle + 1 }))
      : runsOf(cycles, from, to, false);
  }

  /** Cycles in which something retired. */
  private async retiredIn(range: { from: bigint; to: bigint }, from: number, to: number): Promise<number[]> {
    const { trace, periodPs } = this.context;
    const cycles = new Set<number>();
    const options = { signal: this.signal, numbering: 'never', stages: 'range' } as const;
    for await (const block of cpu.instructionBlocks(trace, this.core, range, options)) {
      for (let row = 0; row < block.count; row++) {
        if (cpu.endOf(block, row) !== cpu.BlockEnd.RETIRED) continue;
        const cycle = Number(cpu.psOf(block, cpu.endTick(block, row)) / periodPs);
        if (cycle >= from && cycle < to) cycles.add(cycle);
      }
    }
    return [...cycles].sort((a, b) => a - b);
  }

  /** Windows in which there may be one, rising. */
  private async *spans(from: number, to: number): AsyncGenerator<Run> {
    const index = this.index();
    for (let at = from; at < to; at += PAGE) {
      for (const span of await this.candidates(index, at, Math.min(to, at + PAGE)))
        for (let start = span.from; start < span.to; start += WINDOW)
          yield { from: start, to: Math.min(span.to, start + WINDOW) };
    }
  }

  private async *spansBackward(from: number, to: number): AsyncGenerator<Run> {
    const index = this.index();
    for (let end = to; end > from; end -= PAGE) {
      const spans = await this.candidates(index, Math.max(from, end - PAGE), end);
      for (const span of spans.reverse())
        for (let stop = span.to; stop > span.from; stop -= WINDOW)
          yield { from: Math.max(span.from, stop - WINDOW), to: stop };
    }
  }

  /** Of a page, rising. */
  private async candidates(index: TraceIndex | null, from: number, to: number): Promise<Run[]> {
    this.signal.throwIfAborted();
    const { what, longer } = this.args;
    // A short gap may be in any bucket, whatever retired in it.
    if (!index || (what === 'gap' && longer < 511)) return [{ from, to }];
    const kind = { flush: ChannelKind.FLUSHES, stall: ChannelKind.STALLS, gap: ChannelKind.RETIRED }[what];
    const channel = index.channels.find((one) => one.kind === kind && one.name === this.core.name);
    if (!channel) return [{ from, to }];
    const series = await index.series(channel, { from, to, intervals: 65_536 });
    // Coarser intervals than buckets say less: then all of it is looked at.
    if (series.intervalCycles !== 256 || !series.isExact) return [{ from, to }];
    const values = series.channels[0]!.columns[0]!.values;
    const least = what === 'flush' ? 1 : leastInBucket(longer);
    const isCandidate = Array.from(values, (value) => (what === 'gap' ? value === 0 : value >= least));
    return spansOf(isCandidate, series.fromCycle).flatMap((span) => {
      const part = { from: Math.max(from, span.from), to: Math.min(to, span.to) };
      return part.from < part.to ? [part] : [];
    });
  }

  /** null: there is none, or it counts another clock than the axis. */
  private index(): TraceIndex | null {
    const index = this.context.indexNow();
    const own = index?.channels.find(({ name }) => name === this.core.name);
    return index && own && index.groupOf(own).periodPs === Number(this.context.periodPs) ? index : null;
  }
}

/** Cycles with such an event of the core, rising, each once. */
async function eventCycles(
  trace: Trace,
  core: cpu.CpuCore,
  what: 'flush' | 'stall',
  range: { from: bigint; to: bigint },
  periodPs: bigint,
): Promise<number[]> {
  const type = core.events.get(what)?.def.eventTypeId;
  const cycles: number[] = [];
  if (type === undefined) return cycles;
  const period = Number(periodPs);
  await trace.scan(range, {
    event: ({ eventType, timeHi, timeLo }) => {
      if (eventType !== type) return;
      const cycle = Math.floor((timeHi * 2 ** 32 + timeLo) / period);
      if (cycles.at(-1) !== cycle) cycles.push(cycle);
    },
  });
  // Several segments may begin in one instant.
  return [...new Set(cycles)].sort((a, b) => a - b);
}
