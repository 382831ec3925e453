/** gem5's O3PipeView, for the conversions. It is read, not written. */

import { isUscopeError, UscopeError } from '../../base/errors.js';
import type { Source } from '../../reader/index.js';
import { openSource } from '../../reader/node.js';
import { MaybeCut } from '../common/cut.js';
import type {
  ConversionContext,
  DumpOptions,
  ForeignEvent,
  ForeignFormat,
  ForeignTrace,
  InfoSection,
  TraceTarget,
} from '../common/foreign-format.js';
import { CORE_OPTION, PERIOD_OPTION } from '../pipeline/shape.js';
import { textLines, UNKNOWN_OPTION } from '../text/lines.js';
import { type ByteSource, packingOf, sniffText, unpack } from '../text/unpack.js';

import { GEM5_STAGES, type Gem5Instruction, Gem5Reader } from './log.js';
import { type Gem5Summary, inOrder, summarize } from './order.js';
import { gem5ToUscope, type StatsDump, type StatsFile } from './to-uscope.js';

class Gem5Trace extends MaybeCut implements ForeignTrace {
  readonly timeUnit = 'ps';
  private summary: Gem5Summary | null = null;
  private unknown: InfoSection['rows'][number] = ['lines not understood', '0'];

  private constructor(
    private readonly source: Source,
    readonly description: string,
  ) {
    super();
  }

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
      this.unknown,
    ] as const;
    return [{ title: 'O3PipeView', rows }];
  }

  async *dump({ json }: DumpOptions): AsyncGenerator<string> {
    for await (const one of this.instructions()) {
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
      this.noteCut(error);
    }
  }

  async toUscope(target: TraceTarget, context: ConversionContext) {
    const summary = await this.summarize(context);
    const stats = await this.statistics(context);
    const size = await this.source.size();
    const reader = new Gem5Reader(this.source, (bytes) => context.onProgress?.(0.3 + (0.7 * bytes) / size));
    const written = await gem5ToUscope(reader, summary, stats, target, context);
    reader.unknown.tell(context);
    return written;
  }

  /** What the option `stats` names; null: it is not there. */
  private async statistics({ options, report }: ConversionContext): Promise<StatsFile | null> {
    const path = options.get('stats');
    if (path === undefined) return null;
    const source = await openSource(path);
    try {
      const stats = await readStats(source);
      report.dropped('values of stats.txt that are not whole numbers', 'a counter is one').count +=
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
    reader.unknown.check(reader.understood, context?.options ?? new Map());
    this.unknown = reader.unknown.info;
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
      this.noteCut(error);
    }
  }
}

function lineOf({ seq, pc, microPc, ticks, storeTick, disassembly }: Gem5Instruction): string {
  const stages = ticks.map((tick, stage) => `${GEM5_STAGES[stage]}=${tick}`).join(' ');
  return `${seq} 0x${pc.toString(16)}.${microPc} ${stages} store=${storeTick} ${disassembly}`;
}

/** Lines of stats.txt. */
const BEGIN = /^-+ Begin Simulation Statistics -+\s*$/;
const END = /^-+ End Simulation Statistics\s+-+\s*$/;
/** Name and value; a share, a sum and the words about it may follow. */
const VALUE = /^([A-Za-z_][^\s]{0,200})\s+(-?\d[\d.eE+-]*|nan|inf|-nan|-inf)(\s|$)/;
/** Ticks since the begin of the simulation, in newer versions and in older ones. */
const TICKS: ReadonlySet<string> = new Set(['finalTick', 'final_tick']);
const WHOLE = /^\d{1,20}$/;
const MAX_U64 = (1n << 64n) - 1n;
/** What a trace has room for next to its cores. */
const MOST_NAMES = 60_000;

/** @throws UscopeError CONVERT_UNKNOWN (no dump), CONVERT_FORMAT (a dump without a tick, or before the one before), CONVERT_LIMIT, CONVERT_TRUNCATED */
export async function readStats(source: ByteSource): Promise<StatsFile> {
  const file = new Reading();
  try {
    for await (const lines of textLines(unpack(source)))
      for (const { text, offset } of lines) file.take(text, offset);
    return file.end();
  } catch (error) {
    throw isUscopeError(error) ? error.at({ file: source.name }) : error;
  }
}

/** gem5's stats.txt: the values that it dumps, once or several times. */
class Reading {
  private readonly dumps: StatsDump[] = [];
  private readonly names = new Set<string>();
  private fractions = 0;
  private otherLines = 0;
  private values: Map<string, bigint> | null = null;
  private tick: number | null = null;

  take(text: string, offset: number): void {
    if (BEGIN.test(text)) {
      if (this.values) throw wrong(offset, 'a dump begins inside another one');
      this.values = new Map();
      this.tick = null;
    } else if (END.test(text)) this.endDump(offset);
    else if (text.trim() !== '') this.value(text, offset);
  }

  end(): StatsFile {
    if (this.values) throw new UscopeError('CONVERT_TRUNCATED', 'the file ends inside a dump of statistics');
    if (this.dumps.length === 0)
      throw new UscopeError(
        'CONVERT_UNKNOWN',
        'the file has no "Begin Simulation Statistics": it is not a stats.txt of gem5',
      );
    const { dumps, fractions, otherLines } = this;
    return { dumps, names: [...this.names], fractions, otherLines };
  }

  private value(text: string, offset: number): void {
    const match = this.values ? VALUE.exec(text) : null;
    if (!match || !this.values) {
      this.otherLines++;
      return;
    }
    const [, name, digits] = match;
    const value = WHOLE.test(digits) ? BigInt(digits) : null;
    if (value === null || value > MAX_U64) {
      this.fractions++;
      return;
    }
    if (TICKS.has(name)) this.tick = Number(value);
    this.names.add(name);
    if (this.names.size > MOST_NAMES)
      throw new UscopeError('CONVERT_LIMIT', `more than ${MOST_NAMES} statistics`, { offset });
    this.values.set(name, value);
  }

  private endDump(offset: number): void {
    if (!this.values) throw wrong(offset, 'a dump ends that did not begin');
    if (this.tick === null)
      throw wrong(offset, 'the dump has no finalTick, so it cannot be said when it was made');
    if (!Number.isSafeInteger(this.tick) || this.tick < (this.dumps.at(-1)?.tick ?? 0))
      throw wrong(offset, `finalTick ${this.tick} is before that of the dump before, or too large`);
    this.dumps.push({ tick: this.tick, values: this.values });
    this.values = null;
  }
}

function wrong(offset: number, detail: string): UscopeError {
  return new UscopeError('CONVERT_FORMAT', detail, { offset });
}

export const FORMAT: ForeignFormat = {
  name: 'gem5',
  title: 'gem5 O3PipeView, the pipeline trace of its out-of-order core',
  extensions: ['.out', '.out.gz'],
  options: [
    { ...PERIOD_OPTION, help: 'clock period of the core; default: the greatest common divisor of all ticks' },
    { ...CORE_OPTION, help: 'name of the core in the trace, default core0; several CPUs are numbered' },
    UNKNOWN_OPTION,
    {
      name: 'stats',
      help: 'a stats.txt of the same run, whose whole numbers become counters of the scope stats',
      direction: 'import',
    },
  ],
  sniff: async (head) => /(^|\n)[ \t]*(\d+: *)?([\w.]+: *)?O3PipeView:fetch:/.test(await sniffText(head)),
  open: (source) => Gem5Trace.open(source),
};
