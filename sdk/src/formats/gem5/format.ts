/** gem5's O3PipeView, for the conversions. It is read, not written. */
import { isUscopeError } from '../../base/errors.js';
import type { Source } from '../../reader/index.js';
import { openSource } from '../../reader/node.js';
import type {
  ConversionContext,
  DumpOptions,
  ForeignEvent,
  ForeignFormat,
  ForeignTrace,
  InfoSection,
  TraceTarget,
} from '../common/foreign-format.js';
import { CORE_OPTION, PERIOD_OPTION } from '../pipeline/options.js';
import { sniffText } from '../text/sniff.js';
import { packingOf } from '../text/unpack.js';
import { inOrder } from './order.js';
import { Gem5Reader } from './reader.js';
import { readStats, type StatsFile } from './stats-file.js';
import { type Gem5Summary, summarize } from './summary.js';
import { gem5ToUscope } from './to-uscope.js';
import { GEM5_STAGES, type Gem5Instruction } from './types.js';

class Gem5Trace implements ForeignTrace {
  readonly timeUnit = 'ps';
  isPartial = false;
  private summary: Gem5Summary | null = null;

  private constructor(
    private readonly source: Source,
    readonly description: string,
  ) {}

  static async open(source: Source): Promise<Gem5Trace> {
    const packing = packingOf(await source.read(0, 4));
    return new Gem5Trace(source, `gem5 O3PipeView${packing === 'plain' ? '' : ` (${packing})`}`);
  }

  async info(context: ConversionContext): Promise<readonly InfoSection[]> {
    const summary = await this.summarize(context);
    const { instructions, squashed, unfinished } = summary;
    const rows = [
      ['instructions', String(instructions)],
      ['retired', String(instructions - squashed - unfinished)],
      ['squashed', String(squashed)],
      ['unfinished', String(unfinished)],
      ['micro-operations after the first', String(summary.microOps)],
      ['stores that wrote', String(summary.stores)],
      ['ticks', `${summary.firstTick} to ${summary.lastTick}`],
      ['step of all ticks', String(summary.tickStep)],
      ['CPUs', summary.cpus.join(' ') || 'no line names one'],
      ['threads', String(summary.maxThread + 1)],
      ['lines of other debug flags', String(summary.debugLines)],
      ['lines of stages before the first fetch', String(summary.earlyLines)],
      ['other lines', String(summary.otherLines)],
    ] as const;
    return [{ title: 'O3PipeView', rows }];
  }

  async *dump({ json, limit = Number.POSITIVE_INFINITY }: DumpOptions): AsyncGenerator<string> {
    let left = limit;
    for await (const one of this.instructions()) {
      if (left-- <= 0) return;
      yield json
        ? JSON.stringify(one, (_, v: unknown) => (typeof v === 'bigint' ? String(v) : v))
        : lineOf(one);
    }
  }

  async *events(): AsyncGenerator<ForeignEvent> {
    const summary = await this.summarize();
    try {
      for await (const batch of inOrder(new Gem5Reader(this.source), summary)) {
        for (const { time, stage, instruction } of batch) {
          const type = GEM5_STAGES[stage] ?? 'squash';
          yield {
            time: BigInt(time),
            type,
            fields: [
              ['seq', instruction.seq],
              ['pc', instruction.pc],
            ],
          };
        }
      }
    } catch (error) {
      this.tolerate(error);
    }
  }

  async toUscope(target: TraceTarget, context: ConversionContext) {
    const summary = await this.summarize(context);
    const stats = await this.statistics(context);
    const size = await this.source.size();
    const reader = new Gem5Reader(this.source, (bytes) => context.onProgress?.(0.3 + (0.7 * bytes) / size));
    return gem5ToUscope(reader, summary, stats, target, context);
  }

  async close(): Promise<void> {
    await this.source.close?.();
  }

  /** What the option `stats` names; null: it is not there. */
  private async statistics({ options, report }: ConversionContext): Promise<StatsFile | null> {
    const path = options.get('stats');
    if (path === undefined) return null;
    const source = await openSource(path);
    try {
      const stats = await readStats(source);
      report.dropped('values of stats.txt that are no whole numbers', 'a counter is one').count +=
        stats.fractions;
      report.dropped('other lines of stats.txt', 'no lines of its form').count += stats.otherLines;
      return stats;
    } finally {
      await source.close?.();
    }
  }

  private async summarize(context?: ConversionContext): Promise<Gem5Summary> {
    if (this.summary) return this.summary;
    const size = await this.source.size();
    const reader = new Gem5Reader(this.source, (bytes) => context?.onProgress?.((0.3 * bytes) / size));
    this.summary = await summarize(reader, context?.signal);
    const { cut, damaged } = this.summary;
    this.isPartial = cut !== null || damaged !== null;
    if (cut) context?.onWarning?.(cut.message);
    if (damaged) {
      const { count, offset, stage } = damaged;
      context?.onWarning?.(
        `${count} instructions lack the line of a stage, the first one that of ${stage} (at byte ${offset}): the log is damaged; what it says of them was kept`,
      );
    }
    return this.summary;
  }

  /** Up to the cut, if there is one. */
  private async *instructions(): AsyncGenerator<Gem5Instruction> {
    try {
      for await (const batch of new Gem5Reader(this.source).batches()) yield* batch;
    } catch (error) {
      this.tolerate(error);
    }
  }

  private tolerate(error: unknown): void {
    if (!isUscopeError(error) || error.code !== 'CONVERT_TRUNCATED') throw error;
    this.isPartial = true;
  }
}

function lineOf({ seq, pc, microPc, ticks, storeTick, disassembly }: Gem5Instruction): string {
  const stages = ticks.map((tick, stage) => `${GEM5_STAGES[stage]}=${tick}`).join(' ');
  return `${seq} 0x${pc.toString(16)}.${microPc} ${stages} store=${storeTick} ${disassembly}`;
}

export const FORMAT: ForeignFormat = {
  name: 'gem5',
  title: 'gem5 O3PipeView, the pipeline trace of its out-of-order core',
  extensions: ['.out', '.out.gz'],
  options: [
    { ...PERIOD_OPTION, help: 'clock period of the core; default: the greatest common divisor of all ticks' },
    { ...CORE_OPTION, help: 'name of the core in the trace, default core0; several CPUs are numbered' },
    {
      name: 'stats',
      help: 'a stats.txt of the same run, whose whole numbers become counters of the scope stats',
      direction: 'import',
    },
  ],
  sniff: async (head) => /(^|\n)[ \t]*(\d+: *)?([\w.]+: *)?O3PipeView:fetch:/.test(await sniffText(head)),
  open: (source) => Gem5Trace.open(source),
};
