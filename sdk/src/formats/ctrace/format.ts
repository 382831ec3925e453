/** .ctrace under the interface of foreign formats. */

import { UscopeError } from '../../base/errors.js';
import { canCompressZstd } from '../../codecs/zstd.js';
import type { Source, Trace } from '../../reader/index.js';
import type { TraceStats } from '../../writer/index.js';
import { MaybeCut } from '../common/cut.js';
import type {
  ConversionContext,
  DumpOptions,
  ForeignEvent,
  ForeignFormat,
  ForeignTrace,
  FormatOption,
  InfoSection,
  OutputFiles,
  TraceTarget,
} from '../common/foreign-format.js';
import { choice } from '../common/options.js';
import { PERIOD_OPTION } from '../pipeline/shape.js';
import { ByteText } from '../text/byte-text.js';
import type { EventCursor } from './cursor.js';
import { EventNames } from './dump.js';
import { LineFormatter } from './formatter.js';
import { hasRecords, recordsToCtrace } from './from-records.js';
import { traceToCtrace } from './from-trace.js';
import { hasMagic } from './header.js';
import { CREATED_PROPERTY } from './mapping.js';
import { CtraceFile } from './reader.js';
import { ctraceToUscope } from './to-uscope.js';
import { LOG_LEVELS } from './types.js';
import type { CtraceWriterOptions } from './writer.js';

const OPTIONS: readonly FormatOption[] = [
  { ...PERIOD_OPTION, help: 'what a cycle takes: 1ns, 500ps, 2 GHz; default 1ns' },
  {
    name: 'clock',
    help: 'whose cycles are counted; default: that of the first scope with a protocol, else the first',
    direction: 'export',
  },
  {
    name: 'compression',
    help: 'of blocks: zstd (needs the package zstd-napi) or none; default zstd where it can be written',
    direction: 'export',
  },
];

export const FORMAT: ForeignFormat = {
  name: 'ctrace',
  title: '.ctrace, binary traces of the Chronon simulation framework',
  extensions: ['.ctrace'],
  options: OPTIONS,
  sniff: hasMagic,
  open: (source) => CtraceTrace.open(source),
  write: uscopeToCtrace,
};

/** A trace made of .ctrace becomes what it was; any other one messages. */
async function uscopeToCtrace(
  trace: Trace,
  files: OutputFiles,
  _extension: string,
  context: ConversionContext,
): Promise<void> {
  const created = trace.dutProperty(CREATED_PROPERTY) ?? '';
  const options: CtraceWriterOptions = {
    compression: compressionOption(context.options),
    ...(/^\d{1,18}$/.test(created) ? { created: BigInt(created) } : {}),
  };
  const output = await files.open(null);
  if (hasRecords(trace)) {
    if (await recordsToCtrace(trace, output, options, context)) return;
    context.onWarning?.('the trace is a part of one made of .ctrace: its formats are not in it');
  }
  await traceToCtrace(trace, output, options, context);
}

/** @throws UscopeError CONVERT_OPTION */
function compressionOption(options: ReadonlyMap<string, string>): 'zstd' | 'none' {
  const name = choice(options, 'compression', ['zstd', 'none']) ?? (canCompressZstd() ? 'zstd' : 'none');
  if (name === 'none' || canCompressZstd()) return name;
  throw new UscopeError('CONVERT_OPTION', 'compression=zstd needs the package zstd-napi; without it: none');
}

/** Totals of one pass over the events. */
interface Totals {
  readonly counts: Map<number, number>;
  readonly units: Map<number, number>;
  blocks: number;
  events: number;
  min: bigint | null;
  max: bigint;
}

class CtraceTrace extends MaybeCut implements ForeignTrace {
  readonly timeUnit = 'cycles';

  private constructor(
    private readonly source: Source,
    private readonly file: CtraceFile,
    readonly description: string,
  ) {
    super();
  }

  static async open(source: Source): Promise<CtraceTrace> {
    const file = await CtraceFile.open(source);
    const { versionMajor, versionMinor } = file.header;
    const packing = file.isCompressed ? ' (zstd)' : '';
    return new CtraceTrace(source, file, `Chronon .ctrace ${versionMajor}.${versionMinor}${packing}`);
  }

  async info(context: ConversionContext): Promise<readonly InfoSection[]> {
    const totals = await this.totals(context);
    const { schema, footer, isIndexed } = this.file;
    const rows: (readonly [string, string])[] = [
      ['simulation', schema.simulationName],
      ['events', String(totals.events)],
      ['cycles', totals.min === null ? 'none' : `${totals.min} to ${totals.max}`],
      ['blocks', `${totals.blocks}${isIndexed ? '' : ', without an index'}`],
      ['formats', String(schema.formats.length)],
      ['units', String(schema.units.length)],
    ];
    if (footer && footer.created > 0n) rows.push(['created', createdText(footer.created)]);
    if (this.isPartial) rows.push(['cut', 'the file ends early']);
    const formats = schema.formats.map(({ id, text, file, line }) => {
      return [String(id), `${text}${file ? ` (${file}:${line})` : ''}`] as const;
    });
    const units = schema.units.map(({ id, name }) => [String(id), name] as const);
    return [
      { title: 'file', rows },
      { title: 'formats', rows: formats },
      { title: 'units', rows: units },
    ];
  }

  async *dump({ json }: DumpOptions): AsyncGenerator<string> {
    const formatter = new LineFormatter(this.file.schema);
    const line = new ByteText();
    const names = new EventNames(this.file);
    for await (const cursor of this.pass()) {
      line.clear();
      if (json) formatter.message(cursor, line);
      else formatter.line(cursor, line);
      const text = line.text(line.length - (json ? 0 : 1));
      yield json ? names.json(cursor, text) : text;
    }
  }

  async *events(): AsyncGenerator<ForeignEvent> {
    const names = new EventNames(this.file);
    for await (const cursor of this.pass()) {
      const { cycle, category } = cursor;
      yield {
        ...{ time: cycle, type: names.typeOf(cursor) },
        fields: [...names.fieldsOf(cursor), ['category', category]],
      };
    }
  }

  async stats(context: ConversionContext): Promise<readonly InfoSection[]> {
    const { counts, units } = await this.totals(context);
    const unitNames = new Map(this.file.schema.units.map(({ id, name }) => [id, name]));
    const levels = new Map<string, number>();
    for (const [id, count] of counts) {
      const format = this.file.format(id);
      if (!format?.isLog) continue;
      const level = LOG_LEVELS[format.logLevel] ?? `level ${format.logLevel}`;
      levels.set(level, (levels.get(level) ?? 0) + count);
    }
    const text = (id: number): string => this.file.format(id)?.text ?? '[unknown format]';
    return [
      { title: 'events by format', rows: ranked(counts, (id) => `${id} ${text(id)}`) },
      { title: 'events by unit', rows: ranked(units, (id) => unitNames.get(id) ?? `unit ${id}`) },
      ...(levels.size > 0 ? [{ title: 'log messages by level', rows: ranked(levels, (name) => name) }] : []),
    ];
  }

  async toUscope(target: TraceTarget, context: ConversionContext): Promise<TraceStats> {
    return this.noteImport(await ctraceToUscope(this.file, await this.source.size(), target, context));
  }

  private async totals(context: ConversionContext): Promise<Totals> {
    const totals: Totals = { counts: new Map(), units: new Map(), blocks: 0, events: 0, min: null, max: 0n };
    for await (const block of this.blocksOf(context)) {
      totals.blocks++;
      for (const cursor of block) {
        totals.events++;
        bump(totals.counts, cursor.formatId);
        bump(totals.units, cursor.source);
        const { cycle } = cursor;
        if (totals.min === null || cycle < totals.min) totals.min = cycle;
        if (cycle > totals.max) totals.max = cycle;
      }
    }
    return totals;
  }

  private async *pass(): AsyncGenerator<EventCursor> {
    for await (const block of this.blocksOf()) yield* block;
  }

  /** The events of each block; a cut ends them and is noted. */
  private async *blocksOf(context?: ConversionContext): AsyncGenerator<Iterable<EventCursor>> {
    const stream = this.file.stream();
    const size = await this.source.size();
    try {
      while (await stream.more()) {
        context?.signal?.throwIfAborted();
        yield eventsOf(stream.cursor);
        context?.onProgress?.(stream.position / size);
      }
    } catch (error) {
      this.noteCut(error, context);
    }
    for (const warning of this.file.warnings) context?.onWarning?.(warning);
  }
}

function* eventsOf(cursor: EventCursor): Generator<EventCursor> {
  while (cursor.next()) yield cursor;
}

/** A damaged file may have any number of kinds: those found later are not counted apart. */
const MAX_KINDS = 100_000;

function bump(counts: Map<number, number>, key: number): void {
  const known = counts.get(key);
  if (known !== undefined || counts.size < MAX_KINDS) counts.set(key, (known ?? 0) + 1);
}

function ranked<K>(counts: ReadonlyMap<K, number>, name: (key: K) => string): [string, string][] {
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.map(([key, count]) => [name(key), String(count)]);
}

function createdText(seconds: bigint): string {
  const at = new Date(Number(seconds) * 1000);
  return Number.isNaN(at.getTime()) ? `${seconds} s after 1970` : at.toISOString();
}
