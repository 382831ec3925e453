/** A recording as a µScope trace, by itself or next to what else a model traces. */
import { MAX_STRING_BYTES } from '../format/record.js';
import { BYTES_PER_EVENT, Part } from '../formats/ftr/event-schema.js';
import { FtrTag, type FtrText, IS_TEXT } from '../formats/ftr/types.js';
import { bitsOfValue } from '../formats/ftr/values.js';
import type { EventFields, TraceStats, TraceWriter } from '../writer/index.js';
import { TraceWriter as Writer, type WriterOptions } from '../writer/index.js';
import type { RecordedAttribute, RecordingBackend, TxFiber, TxGenerator, TxHandle } from './frontend.js';
import { RECORDING_SCOPE, transactionSchema } from './schema.js';

const encoder = new TextEncoder();

/** What events are given to: a `TraceWriter` is one. */
export type EventSink = Pick<TraceWriter, 'event'>;

/**
 * Records into the cycle that is open: for a model that traces other things too, with `addTransactionScope` in its schema.
 */
export class TransactionEvents implements RecordingBackend {
  constructor(
    private readonly trace: EventSink,
    private readonly scope = RECORDING_SCOPE,
  ) {}

  fiber({ id, name, kind }: TxFiber): void {
    this.told([name, kind], (texts) => ['dir', [FtrTag.STREAM, id, texts[0], 0, texts[1]]]);
  }

  generator({ id, name, fiber }: TxGenerator): void {
    this.told([name, ''], (texts) => ['dir', [FtrTag.GENERATOR, id, texts[0], fiber.id, texts[1]]]);
  }

  begin(transaction: TxHandle, attributes: readonly RecordedAttribute[]): void {
    const { id, fiber, generator, startPs } = transaction;
    this.event('begin', [id, fiber.id, generator.id, startPs]);
    for (const attribute of attributes) this.attribute(transaction, attribute);
  }

  /** Index 0: the order of the events is that of the attributes. */
  attribute({ id }: TxHandle, { phase, name, type, value }: RecordedAttribute): void {
    const isText = IS_TEXT[type] === 1;
    const bits = isText ? 0n : bitsOfValue(type, value);
    this.told([name, isText ? (value as FtrText) : ''], (texts) => [
      'attr',
      [id, 0, phase, texts[0], type, bits, texts[1]],
    ]);
  }

  end(transaction: TxHandle, attributes: readonly RecordedAttribute[]): void {
    for (const attribute of attributes) this.attribute(transaction, attribute);
    this.event('end', [transaction.id, transaction.endPs ?? transaction.startPs]);
  }

  relation(name: string, source: TxHandle, sink: TxHandle): void {
    this.told([name, ''], (texts) => ['rel', [texts[0], source.id, sink.id, source.fiber.id, sink.fiber.id]]);
  }

  /** An event with two texts, and after it the bytes of what a string of a trace cannot say. */
  private told(
    texts: readonly [FtrText, FtrText],
    event: (shown: readonly string[]) => readonly [string, EventFields],
  ): void {
    const bytes = texts.map((text) => (typeof text === 'string' ? encoder.encode(text) : text));
    const shown = bytes.map((one) =>
      new TextDecoder().decode(one.subarray(0, MAX_STRING_BYTES)).replaceAll('\0', '\ufffd'),
    );
    this.event(...event(shown));
    for (const [part, one] of bytes.entries()) {
      if (Buffer.compare(encoder.encode(shown[part]), one) !== 0)
        this.bytes(part === 0 ? Part.NAME : Part.VALUE, one);
    }
  }

  private bytes(part: number, bytes: Uint8Array): void {
    for (let at = 0; at === 0 || at < bytes.length; at += BYTES_PER_EVENT) {
      const word = new DataView(new ArrayBuffer(BYTES_PER_EVENT));
      for (let i = 0; i < BYTES_PER_EVENT; i++) word.setUint8(i, bytes[at + i] ?? 0);
      this.event('bytes', [part, bytes.length, at / BYTES_PER_EVENT, word.getBigUint64(0, true)]);
    }
  }

  private event(name: string, fields: EventFields): void {
    this.trace.event(`${this.scope}/${name}`, fields);
  }
}

/**
 * Writes a trace of the recording alone; a cycle per time.
 *
 *     database.register(await UscopeBackend.create({ path: 'run.uscope' }));
 */
export class UscopeBackend implements RecordingBackend {
  /** Of the trace, once the database is closed. */
  stats: TraceStats | undefined;
  private readonly events: TransactionEvents;
  private timePs = -1n;

  private constructor(private readonly trace: TraceWriter) {
    this.events = new TransactionEvents(trace);
  }

  /** @throws UscopeError WRITER_* */
  static async create(
    options: Omit<WriterOptions, 'schema' | 'dut'> & { readonly name?: string },
  ): Promise<UscopeBackend> {
    const { name = 'transactions', ...rest } = options;
    return new UscopeBackend(await Writer.create({ ...rest, ...transactionSchema(name) }));
  }

  private waiting = false;

  get isFull(): boolean {
    return this.waiting;
  }

  fiber(fiber: TxFiber): void {
    this.at(null);
    this.events.fiber(fiber);
  }

  generator(generator: TxGenerator): void {
    this.at(null);
    this.events.generator(generator);
  }

  begin(transaction: TxHandle, attributes: readonly RecordedAttribute[]): void {
    this.at(transaction.startPs);
    this.events.begin(transaction, attributes);
  }

  attribute(transaction: TxHandle, attribute: RecordedAttribute): void {
    this.at(null);
    this.events.attribute(transaction, attribute);
  }

  end(transaction: TxHandle, attributes: readonly RecordedAttribute[]): void {
    this.at(transaction.endPs ?? null);
    this.events.end(transaction, attributes);
  }

  relation(name: string, source: TxHandle, sink: TxHandle): void {
    this.at(null);
    this.events.relation(name, source, sink);
  }

  async flush(): Promise<void> {
    this.waiting = false;
    await this.trace.ready();
  }

  async close(): Promise<void> {
    if (this.timePs >= 0n) this.trace.endCycle();
    this.stats = await this.trace.close();
  }

  /** In the cycle of a time; null: the present one. */
  private at(timePs: bigint | null): void {
    if (this.timePs >= 0n && (timePs === null || timePs === this.timePs)) return;
    if (this.timePs >= 0n && !this.trace.endCycle()) this.waiting = true;
    this.timePs = timePs ?? 0n;
    this.trace.beginCycle(this.timePs);
  }
}
