/** FTR under the interface of foreign formats. */

import { UscopeError } from '../../base/errors.js';
import { toHex } from '../../base/hex.js';
import type { Source } from '../../reader/index.js';
import type { TraceStats } from '../../writer/index.js';
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
import { dictionaryEntries, relationEntries } from './content.js';
import { findEvents } from './event-reader.js';
import { createdAt, eventsToFtr } from './from-events.js';
import { traceToFtr } from './from-trace.js';
import { type Declaration, FtrModel } from './model.js';
import { exportOptions, OPTIONS, timeUnit } from './options.js';
import { FtrFile, type FtrReadOptions, type RawChunk } from './reader.js';
import { ftrToUscope } from './to-uscope.js';
import { TransactionCursor } from './transaction-cursor.js';
import {
  type FtrAttribute,
  type FtrInfo,
  type FtrRelation,
  type FtrText,
  type FtrTransaction,
  MAGIC,
  PHASE_NAMES,
  TYPE_NAMES,
} from './types.js';
import { shownText, textOf } from './values.js';

type Row = readonly [string, string];

export const FORMAT: ForeignFormat = {
  name: 'ftr',
  title: 'FTR (Fast Transaction Recording) of LWTR4SC',
  extensions: ['.ftr'],
  options: OPTIONS,
  sniff: (head) => head.length >= MAGIC.length && MAGIC.every((byte, index) => head[index] === byte),
  open: async (source, options) => FtrTrace.open(source, options),
  async write(trace, files, _extension, context) {
    const { writer, content, isSeparate } = exportOptions(context.options);
    const types = findEvents(trace);
    if (content === 'transactions' && !types)
      throw new UscopeError(
        'CONVERT_SOURCE',
        'the trace holds no recorded transactions: it has no event ftr.dir',
      );
    if (types && content !== 'trace') await eventsToFtr(trace, types, files, writer, context);
    else await traceToFtr(trace, files, { ...writer, isSeparate, epoch: createdAt(trace) }, context);
  },
};

class FtrTrace extends MaybeCut implements ForeignTrace {
  readonly timeUnit = 'ticks';

  private constructor(
    private readonly file: FtrFile,
    readonly description: string,
    private readonly options: ReadonlyMap<string, string>,
  ) {
    super();
  }

  static async open(source: Source, options: ReadonlyMap<string, string>): Promise<FtrTrace> {
    timeUnit(options);
    const file = await FtrFile.open(source);
    let packing = 'plain';
    try {
      for await (const { kind, isCompressed } of file.chunks({ skip: () => true })) {
        if (kind === 'info') continue;
        packing = isCompressed ? 'LZ4' : 'plain';
        break;
      }
    } catch {
      // The reader reports what is wrong with the file.
    }
    return new FtrTrace(file, `FTR (${packing})`, options);
  }

  async info(context: ConversionContext): Promise<readonly InfoSection[]> {
    const model = new FtrModel();
    const counts = { blocks: 0, transactions: 0, attributes: 0, relations: 0 };
    const perStream = new Map<bigint, number>();
    for await (const chunk of this.pass(context)) {
      if (model.take(chunk)) continue;
      if (chunk.kind === 'relations') for (const _ of relationEntries(chunk)) counts.relations++;
      else {
        counts.blocks++;
        const before = counts.transactions;
        const cursor = new TransactionCursor(chunk);
        while (cursor.next()) {
          counts.transactions++;
          counts.attributes += cursor.count;
        }
        perStream.set(chunk.stream, (perStream.get(chunk.stream) ?? 0) + counts.transactions - before);
      }
    }
    const content: Row[] = [
      ['streams', String(model.streams.size)],
      ['generators', String(model.generators.size)],
      ...Object.entries(counts).map(([name, count]) => [name, String(count)] as const),
      ['texts', String(model.dictionary.size)],
    ];
    if (this.isPartial) content.push(['cut', 'the file ends early']);
    if (this.file.trailingBytes > 0) content.push(['bytes after the end', String(this.file.trailingBytes)]);
    const streams = [...model.streams.values()].map(
      ({ id, name, streamKind }): Row => [
        shownText(name) || `stream ${id}`,
        `${perStream.get(id) ?? 0} transactions, kind ${quoted(streamKind)}`,
      ],
    );
    return [
      { title: 'header', rows: headerRows(model) },
      { title: 'content', rows: content },
      { title: 'streams', rows: streams },
    ];
  }

  async *dump({ json }: DumpOptions): AsyncGenerator<string> {
    const model = new FtrModel();
    for await (const chunk of this.pass()) {
      yield* linesOf(chunk, model, json);
    }
  }

  /** Transactions, each at its start, in file order: that of their ends. */
  async *events(): AsyncGenerator<ForeignEvent> {
    const model = new FtrModel();
    for await (const chunk of this.pass()) {
      if (model.take(chunk) || chunk.kind !== 'transactions') continue;
      const cursor = new TransactionCursor(chunk);
      while (cursor.next()) yield eventOf(model, cursor, chunk.stream);
    }
  }

  async stats(context: ConversionContext): Promise<readonly InfoSection[]> {
    const model = new FtrModel();
    const durations = new Map<bigint, Durations>();
    for await (const chunk of this.pass(context)) {
      if (model.take(chunk) || chunk.kind !== 'transactions') continue;
      const cursor = new TransactionCursor(chunk);
      while (cursor.next()) {
        const { generator, start, end } = cursor;
        let one = durations.get(generator);
        if (!one) {
          one = new Durations();
          durations.set(generator, one);
        }
        one.add(Number(end > start ? end - start : 0n));
      }
    }
    const rows = [...durations].map(([id, one]): Row => {
      const generator = model.generators.get(id);
      const stream = generator && model.streams.get(generator.stream);
      const name = generator
        ? `${shownText(stream?.name ?? '')}/${shownText(generator.name)}`
        : `generator ${id}`;
      return [name, one.text];
    });
    return [{ title: 'transactions and their ticks', rows }];
  }

  async toUscope(target: TraceTarget, context: ConversionContext): Promise<TraceStats> {
    const unit = timeUnit(this.options);
    return this.noteImport(await ftrToUscope(this.file, target, context, { unit }));
  }

  /** Every chunk; a cut ends it and is noted. */
  private async *pass(context?: ConversionContext): AsyncGenerator<RawChunk> {
    const options: FtrReadOptions = {
      onPosition: (offset) => context?.onProgress?.(offset / Math.max(1, this.file.size)),
    };
    try {
      for await (const chunk of this.file.chunks(options)) {
        context?.signal?.throwIfAborted();
        yield chunk;
      }
    } catch (error) {
      this.noteCut(error, context);
    }
  }
}

class Durations {
  private count = 0;
  private sum = 0;
  private least = Number.POSITIVE_INFINITY;
  private most = 0;

  add(ticks: number): void {
    this.count++;
    this.sum += ticks;
    if (ticks < this.least) this.least = ticks;
    if (ticks > this.most) this.most = ticks;
  }

  get text(): string {
    return `${this.count}: ${this.least} to ${this.most}, mean ${Math.round(this.sum / this.count)}`;
  }
}

function headerRows({ info, hasInfo }: FtrModel): Row[] {
  if (!hasInfo) return [['header', 'none: an old file; 10^-12 s per tick is taken']];
  const rows: Row[] = [['timescale', `10^${info.exponent} s per tick`]];
  const created = creationText(info);
  if (created) rows.push(['created', created]);
  if (info.exponent !== -12)
    rows.push(['note', 'writers are known whose times are picoseconds all the same']);
  return rows;
}

function* linesOf(chunk: RawChunk, model: FtrModel, json: boolean): Generator<string> {
  const { offset, kind, stream, start, end } = chunk;
  const declared = model.declarations.length;
  const isTaken = model.take(chunk);
  if (kind === 'info') yield json ? toJson({ offset, ...model.info }) : listInfo(model.info);
  if (kind === 'dictionary') {
    for (const [id, bytes] of dictionaryEntries(chunk))
      yield json ? toJson({ kind: 'text', id, text: textOf(bytes) }) : `text ${id} ${quoted(textOf(bytes))}`;
  }
  for (const entry of model.declarations.slice(declared)) yield json ? toJson(entry) : listDeclaration(entry);
  if (isTaken) return;
  if (kind === 'relations') {
    for (const raw of relationEntries(chunk)) {
      const relation = model.relation(raw);
      yield json ? toJson({ kind: 'relation', ...relation }) : listRelation(relation);
    }
    return;
  }
  const times = start === null ? '' : ` ${start}..${end}`;
  yield json ? toJson({ kind: 'block', offset, stream, start, end }) : `block stream ${stream}${times}`;
  const cursor = new TransactionCursor(chunk);
  while (cursor.next()) {
    const transaction = model.transaction(cursor, stream);
    yield json
      ? toJson(jsonTransaction(transaction))
      : listTransaction(transaction, model.generators.get(transaction.generator)?.name);
  }
}

function eventOf(model: FtrModel, cursor: TransactionCursor, stream: bigint): ForeignEvent {
  const { id, generator, start, end, attributes } = model.transaction(cursor, stream);
  const generatorName = shownText(model.generators.get(generator)?.name ?? `generator ${generator}`);
  const streamName = shownText(model.streams.get(stream)?.name ?? `stream ${stream}`);
  const fields = attributes.map(
    ({ name, value }) => [shownText(name), value instanceof Uint8Array ? shownText(value) : value] as const,
  );
  return {
    time: start,
    type: `${streamName}/${generatorName}`,
    fields: [['tx', id], ['end', end], ...fields],
  };
}

/** Records of a file as lines, for people and as JSON. */
export const quoted = (text: FtrText): string => JSON.stringify(shownText(text));

function creationText({ epoch }: FtrInfo): string | null {
  if (epoch === null) return null;
  const date = new Date(Number(epoch) * 1000);
  return Number.isNaN(date.getTime()) ? String(epoch) : date.toISOString();
}

export function listInfo(info: FtrInfo): string {
  const created = creationText(info);
  return `info 1 tick = 10^${info.exponent} s${created ? `, created ${created}` : ''}`;
}

export function listDeclaration(entry: Declaration): string {
  if (entry.kind === 'stream')
    return `stream ${entry.id} ${quoted(entry.name)} kind ${quoted(entry.streamKind)}`;
  return `generator ${entry.id} ${quoted(entry.name)} stream ${entry.stream}`;
}

export function listTransaction(transaction: FtrTransaction, generator: FtrText | undefined): string {
  const { id, start, end, attributes } = transaction;
  const name = generator === undefined ? '' : ` ${quoted(generator)}`;
  const head = `tx ${id} generator ${transaction.generator}${name} ${start}..${end}`;
  return [head, ...attributes.map(listAttribute)].join(' ');
}

function listAttribute({ phase, name, type, value }: FtrAttribute): string {
  return `${PHASE_NAMES[phase]}:${shownText(name)}:${TYPE_NAMES[type]}=${valueText(value)}`;
}

function valueText(value: FtrAttribute['value']): string {
  if (typeof value === 'string' || value instanceof Uint8Array) return quoted(value);
  return Object.is(value, -0) ? '-0' : String(value);
}

export function listRelation({ name, source, sink, sourceStream, sinkStream }: FtrRelation): string {
  return `relation ${quoted(name)} ${source} (stream ${sourceStream}) -> ${sink} (stream ${sinkStream})`;
}

/** 64-bit numbers become decimal strings, texts that are not UTF-8 `{ "hex": … }`, numbers that JSON lacks strings. */
export function toJson(record: unknown): string {
  return JSON.stringify(record, (_, value: unknown) => {
    if (typeof value === 'bigint') return value.toString();
    if (value instanceof Uint8Array) return { hex: toHex(value) };
    return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
  });
}

export function jsonTransaction({ attributes, ...rest }: FtrTransaction): unknown {
  return {
    kind: 'transaction',
    ...rest,
    attributes: attributes.map(({ phase, name, type, value }) => ({
      phase: PHASE_NAMES[phase],
      name,
      type: TYPE_NAMES[type],
      value,
    })),
  };
}
