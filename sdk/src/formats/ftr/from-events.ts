/** A µScope trace that holds transactions as events, back to FTR: the same streams, generators, transactions and relations. */
import { CursorItem } from '../../format/frame.js';
import { qualifiedName } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import type { ConversionContext, OutputFiles } from '../common/foreign-format.js';
import { itemsWithTexts } from '../common/items-with-texts.js';
import type { ConversionReport } from '../common/report.js';
import { EventReader, type EventTypes, type TransactionSink } from './event-reader.js';
import { epochOf, Property, SHORT_RELATIONS } from './event-schema.js';
import type { Declaration } from './model.js';
import type { FtrRelation, FtrTransaction } from './types.js';
import { FtrWriter, type FtrWriterOptions } from './writer.js';

/** @throws UscopeError FORMAT_* */
export async function eventsToFtr(
  trace: Trace,
  types: EventTypes,
  files: OutputFiles,
  options: FtrWriterOptions,
  context: ConversionContext,
): Promise<void> {
  const writer = new FtrWriter(await files.open(null), {
    ...options,
    ...headerOf(trace),
    ...formOf(trace, options),
  });
  const sink = new WriterSink(writer, context.report);
  await readEvents(trace, types, sink, context, async () => {
    if (writer.isFull) await writer.flush();
  });
  await writer.close();
}

/** What the header said. */
function headerOf(trace: Trace): Pick<FtrWriterOptions, 'exponent' | 'epoch'> {
  const isImported = trace.dutProperty(Property.UNIT) !== undefined;
  const exponent = Number(trace.dutProperty(Property.TIMESCALE) ?? '-12');
  return {
    exponent: Number.isInteger(exponent) && Math.abs(exponent) <= 30 ? exponent : -12,
    epoch: epochOf(trace.dutProperty(Property.EPOCH)) ?? (isImported ? null : createdAt(trace)),
  };
}

/** As the file that the trace came from, if it did. */
function formOf(
  trace: Trace,
  { compression }: FtrWriterOptions,
): Pick<FtrWriterOptions, 'compression' | 'hasShortRelations'> {
  const isPlain = trace.dutProperty(Property.COMPRESSION) === 'none';
  return {
    compression: compression ?? (isPlain ? 'none' : 'lz4'),
    hasShortRelations: trace.dutProperty(Property.RELATIONS) === SHORT_RELATIONS,
  };
}

/** When the trace was begun, in seconds since 1970; null: nobody knows. */
export function createdAt({ session }: Trace): bigint | null {
  return session === null ? null : session.startTimeMs / 1000n;
}

/** Reads all events of transactions. @param after awaited now and then. @throws UscopeError FORMAT_* */
export async function readEvents(
  trace: Trace,
  types: EventTypes,
  sink: TransactionSink,
  context: ConversionContext,
  after: () => Promise<void>,
): Promise<void> {
  const { report } = context;
  const reader = new EventReader(types, (index) => trace.strings.peek(index) ?? '', sink);
  const others = trace.schema.events.map((event) =>
    report.dropped(`event ${qualifiedName(trace.schema, event)}`, 'only transactions are converted'),
  );
  const changes = report.dropped('changes of storages', 'only transactions are converted');
  for await (const items of itemsWithTexts(trace, context)) {
    let count = 0;
    while (items.next()) {
      const { cursor } = items;
      if (cursor.kind === CursorItem.OP) changes.count++;
      else if (cursor.kind === CursorItem.EVENT && !reader.take(cursor)) others[cursor.eventType].count++;
      if (++count % 1024 === 0) await after();
    }
  }
  reader.finish();
  const { stray, unfinished, invalid } = reader.faults;
  report.dropped('attributes and ends of transactions', 'their begin is missing').count += stray;
  report.dropped('events of transactions', 'their values have no meaning').count += invalid;
  report.approximated('transactions without end', 'they end where they begin').count += unfinished;
}

/** What is used and was never declared is declared without a name. */
class WriterSink implements TransactionSink {
  private readonly tallies;

  constructor(
    private readonly writer: FtrWriter,
    report: ConversionReport,
  ) {
    this.tallies = {
      streams: report.kept('streams'),
      generators: report.kept('generators'),
      transactions: report.kept('transactions'),
      attributes: report.kept('attributes'),
      relations: report.kept('relations'),
      undeclared: report.approximated(
        'streams and generators that are not declared',
        'declared without a name',
      ),
    };
  }

  declare(entry: Declaration): void {
    if (entry.kind === 'stream') {
      this.tallies.streams.count++;
      this.writer.stream(entry.id, entry.name, entry.streamKind);
    } else {
      this.needStream(entry.stream);
      this.tallies.generators.count++;
      this.writer.generator(entry.id, entry.name, entry.stream);
    }
  }

  transaction(transaction: FtrTransaction): void {
    const { stream, generator } = transaction;
    if (!this.writer.isDeclared(stream, generator)) this.declareMissing(stream, generator);
    this.tallies.transactions.count++;
    this.tallies.attributes.count += transaction.attributes.length;
    this.writer.transaction(transaction);
  }

  relation(relation: FtrRelation): void {
    this.tallies.relations.count++;
    this.writer.relation(relation);
  }

  private declareMissing(stream: bigint, generator: bigint): void {
    this.needStream(stream);
    if (this.writer.hasGenerator(generator)) return;
    this.tallies.undeclared.count++;
    this.writer.generator(generator, '', stream);
  }

  private needStream(stream: bigint): void {
    if (this.writer.hasStream(stream)) return;
    this.tallies.undeclared.count++;
    this.writer.stream(stream, '', '');
  }
}
