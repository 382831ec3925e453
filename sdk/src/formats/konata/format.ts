/** Kanata, for the conversions. */
import { isUscopeError } from '../../base/errors.js';
import type { Source } from '../../reader/index.js';
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
import { uscopeToKanata } from './from-uscope.js';
import { KanataReader } from './reader.js';
import { KanataClock, type KanataSummary, summarize } from './scan.js';
import { kanataToUscope } from './to-uscope.js';
import type { KanataRecord } from './types.js';
import { lineOf } from './writer.js';

class KanataTrace implements ForeignTrace {
  readonly timeUnit = 'cycles';
  isPartial = false;

  private constructor(
    private readonly source: Source,
    readonly description: string,
  ) {}

  static async open(source: Source): Promise<KanataTrace> {
    const packing = packingOf(await source.read(0, 4));
    return new KanataTrace(source, `Kanata 0004${packing === 'plain' ? '' : ` (${packing})`}`);
  }

  async info(context: ConversionContext): Promise<readonly InfoSection[]> {
    const summary = await this.summarize(context);
    const { counts, firstCycle, lastCycle } = summary;
    const rows: (readonly [string, string])[] = [
      ['cycles', firstCycle === null ? 'none' : `${firstCycle} to ${lastCycle}`],
      ['instructions', String(counts.begin)],
      ['retired', String(counts.retired)],
      ['flushed', String(counts.flushed)],
      ['unfinished', String(summary.unfinished)],
      ['in flight at a time', `${summary.maxInFlight} at most`],
      ['stages', summary.stages.join(' ')],
      ['lanes', summary.lanes.join(' ')],
      ['threads', summary.threads.join(' ')],
      ['labels', String(counts.label)],
      ['dependencies', String(counts.dependency)],
    ];
    return [{ title: 'Kanata log', rows }];
  }

  async *dump({ json, limit = Number.POSITIVE_INFINITY }: DumpOptions): AsyncGenerator<string> {
    let left = limit;
    for await (const record of this.records()) {
      if (left-- <= 0) return;
      yield json ? JSON.stringify(record, bigAsText) : lineOf(record).trimEnd();
    }
  }

  async *events(): AsyncGenerator<ForeignEvent> {
    const clock = new KanataClock();
    for await (const record of this.records()) {
      if (clock.take(record)) continue;
      const { kind, ...fields } = record;
      yield { time: clock.cycle, type: kind, fields: Object.entries(fields) };
    }
  }

  async toUscope(target: TraceTarget, context: ConversionContext) {
    const summary = await this.summarize(context);
    const size = await this.source.size();
    // The second pass is the longer one.
    const reader = new KanataReader(this.source, (bytes) => context.onProgress?.(0.3 + (0.7 * bytes) / size));
    return kanataToUscope(reader, summary, target, context);
  }

  async close(): Promise<void> {
    await this.source.close?.();
  }

  private async summarize({ onProgress, onWarning, signal }: ConversionContext): Promise<KanataSummary> {
    const size = await this.source.size();
    const reader = new KanataReader(this.source, (bytes) => onProgress?.((0.3 * bytes) / size));
    const summary = await summarize(reader, signal);
    this.isPartial = summary.cut !== null;
    if (summary.cut) onWarning?.(summary.cut.message);
    return summary;
  }

  /** Up to the cut, if there is one. */
  private async *records(): AsyncGenerator<KanataRecord> {
    try {
      for await (const { record } of new KanataReader(this.source).records()) yield record;
    } catch (error) {
      if (!isUscopeError(error) || error.code !== 'CONVERT_TRUNCATED') throw error;
      this.isPartial = true;
    }
  }
}

const bigAsText = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

export const FORMAT: ForeignFormat = {
  name: 'konata',
  title: 'Kanata 0004, the log of the Konata viewer',
  extensions: ['.kanata', '.kanata.gz', '.kanata.zst', '.konata', '.log'],
  options: [
    PERIOD_OPTION,
    {
      ...CORE_OPTION,
      help: 'import: name of the core, default core0; export: only this core',
      direction: 'both',
    },
    {
      name: 'stage-names',
      help: 'short (default): one to three letters, with a legend in the first instruction; full: as in the trace',
      direction: 'export',
    },
  ],
  sniff: async (head) => /^\s*Kanata\t/.test(await sniffText(head)),
  open: (source) => KanataTrace.open(source),
  write: uscopeToKanata,
};
