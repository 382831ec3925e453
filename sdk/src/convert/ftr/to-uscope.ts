/**
 * FTR to µScope: transactions, attributes and relations as events, in the order of time. The file is read for its declarations first, then for
 * its transactions, which are sorted; where they do not fit into memory, on disk.
 */
import { isUscopeError } from '../../base/errors.js';
import { SessionStatus } from '../../format/session-chunk.js';
import type { TraceStats } from '../../writer/index.js';
import { RecordBatch } from '../../writer/record-batch.js';
import type { ConversionContext, TraceTarget } from '../formats/format.js';
import { temporaryName } from '../stream/atomic-file.js';
import { StringOutput } from '../stream/string-remap.js';
import { type TraceOutput, withOutput } from '../stream/trace-output.js';
import { relationEntries } from './content.js';
import { FtrEventEmitter } from './event-emitter.js';
import { buildEventSchema, type EventSchema } from './event-schema.js';
import { FtrModel } from './model.js';
import type { FtrFile, RawChunk } from './reader.js';
import { ExternalSorter, type SortedBatch } from './sorter.js';
import { TransactionCursor } from './transaction-cursor.js';
import { FtrPhase, IS_TEXT } from './types.js';
import { Bits, typeOf } from './values.js';

const PS_EXPONENT = -12;
/** The last time at which a frame may be: a segment ends behind it. */
const MAX_TIME_PS = 0xffff_ffff_ffff_fffen;
const ALL_ONES = 0xffff_ffff;
const MAX_PERIOD = 0xffff_ffff;
/** Checkpoints are due at least this far apart, and at most about so many of them. */
const LEAST_CHECKPOINT_PS = 10_000_000n;
const CHECKPOINTS = 4096n;

/** First words of what is sorted: what it is. */
const Kind = { BEGIN: 0, END: 1, RELATION: 2 } as const;
/** Kind, tx, stream, generator, t, number of attributes. */
const HEAD_WORDS = 10;
/** Index, phase and type, name, low and high half of its bits, or the number of the text. */
const ATTRIBUTE_WORDS = 4;
/** Kind, name, source, sink and their streams. */
const RELATION_WORDS = 10;

export interface FtrImport {
  readonly stats: TraceStats;
  /** The file was cut: what came before is in the trace. */
  readonly isPartial: boolean;
}

/** What transactions count time in: picoseconds whatever the header says, as their usual writer does, or what the header says. */
export type TimeUnit = 'ps' | 'header';

export interface FtrImportOptions {
  readonly unit: TimeUnit;
  /** Words of memory for sorting; for tests. */
  readonly sortWords?: number | undefined;
}

/** @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT, CONVERT_UNSUPPORTED, WRITER_* */
export async function ftrToUscope(
  file: FtrFile,
  target: TraceTarget,
  context: ConversionContext,
  options: FtrImportOptions,
): Promise<FtrImport> {
  const source = new FtrPasses(file, context);
  const { model, hasRelations, lastTick } = await source.declarations();
  const scale = new TimeScale(options.unit, model.info.exponent);
  if (model.info.exponent !== PS_EXPONENT) warnOfScale(model.info.exponent, options.unit, context);
  const period = scale.periodPs;
  const events = buildEventSchema(
    model.declarations,
    model.hasInfo ? model.info : null,
    period,
    options.unit,
  );
  const batch = new RecordBatch();
  const span = scale.toPs(lastTick) / CHECKPOINTS;
  const interval = span > LEAST_CHECKPOINT_PS ? span : LEAST_CHECKPOINT_PS;
  const writer = {
    path: target.path,
    schema: events.schema,
    dut: events.dut,
    compression: target.compression,
    checkpointIntervalPs: target.checkpointIntervalPs ?? interval,
  };
  const times = new ExternalSorter(temporaryName(`${target.path}.times`), options.sortWords);
  const joins = new ExternalSorter(temporaryName(`${target.path}.joins`), options.sortWords);
  try {
    const collected = new Collector(scale, times, hasRelations ? joins : null);
    await source.transactions(
      (chunk) => collected.block(chunk),
      () => collected.spill(),
    );
    if (hasRelations) {
      await source.relations(
        (chunk) => collected.relations(chunk),
        () => collected.spill(),
      );
      await collected.join();
    }
    const stats = await withOutput(writer, batch, context.signal, async (output) => {
      await emit(new Emission(events, model, batch, output, context), times);
      return output.finish({ status: SessionStatus.CLOSED, lost: 0n, rejected: 0n });
    });
    return { stats, isPartial: source.isPartial };
  } finally {
    await times.close();
    await joins.close();
  }
}

function warnOfScale(exponent: number, unit: TimeUnit, context: ConversionContext): void {
  const taken = unit === 'ps' ? 'are taken for picoseconds' : 'are taken as the header says';
  context.onWarning?.(
    `the header says 10^${exponent} s per tick; writers are known whose times are picoseconds all the same: times ${taken} (--opt unit=ps|header)`,
  );
}

/** Ticks to picoseconds, at most MAX_TIME_PS. */
class TimeScale {
  readonly periodPs: number;
  private readonly factor: bigint;
  private readonly divisor: bigint;

  constructor(unit: TimeUnit, exponent: number) {
    const shift = unit === 'header' ? exponent - PS_EXPONENT : 0;
    this.factor = shift > 0 ? 10n ** BigInt(shift) : 1n;
    this.divisor = shift < 0 ? 10n ** BigInt(-shift) : 1n;
    this.periodPs = this.factor <= BigInt(MAX_PERIOD) ? Number(this.factor) : 0;
  }

  get isIdentity(): boolean {
    return this.factor === 1n && this.divisor === 1n;
  }

  toPs(ticks: bigint): bigint {
    const ps = (ticks * this.factor) / this.divisor;
    return ps > MAX_TIME_PS ? MAX_TIME_PS : ps;
  }
}

/** The passes over the file, each up to the cut if there is one. */
class FtrPasses {
  isPartial = false;
  private readonly model = new FtrModel();
  private passes = 0;

  constructor(
    private readonly file: FtrFile,
    private readonly context: ConversionContext,
  ) {}

  async declarations(): Promise<{ model: FtrModel; hasRelations: boolean; lastTick: bigint }> {
    let hasRelations = false;
    let lastTick = 0n;
    await this.pass(
      (kind) => kind === 'transactions' || kind === 'relations',
      (chunk) => {
        if (this.model.take(chunk)) return;
        if (chunk.kind === 'relations') hasRelations = true;
        else if (chunk.end !== null && chunk.end > lastTick) lastTick = chunk.end;
      },
      async () => undefined,
    );
    if (this.file.trailingBytes > 0)
      this.context.onWarning?.(
        `${this.file.trailingBytes} bytes follow the end of the recording; they are ignored`,
      );
    return { model: this.model, hasRelations, lastTick };
  }

  async transactions(take: (chunk: RawChunk) => void, after: () => Promise<void>): Promise<void> {
    await this.pass((kind) => kind !== 'transactions', take, after, 'transactions');
  }

  async relations(take: (chunk: RawChunk) => void, after: () => Promise<void>): Promise<void> {
    await this.pass((kind) => kind !== 'relations', take, after, 'relations');
  }

  private async pass(
    skip: (kind: RawChunk['kind']) => boolean,
    take: (chunk: RawChunk) => void,
    after: () => Promise<void>,
    only?: RawChunk['kind'],
  ): Promise<void> {
    const before = this.passes++ / 4;
    const { context, file } = this;
    const onPosition = (offset: number): void =>
      context.onProgress?.(before + offset / Math.max(1, file.size) / 4);
    try {
      for await (const chunk of file.chunks({ skip: ({ kind }) => skip(kind), onPosition })) {
        context.signal?.throwIfAborted();
        if (only !== undefined && chunk.kind !== only) continue;
        take(chunk);
        await after();
      }
    } catch (error) {
      if (!isCut(error)) throw error;
      if (!this.isPartial) context.onWarning?.(error instanceof Error ? error.message : String(error));
      this.isPartial = true;
    }
  }
}

export function isCut(error: unknown): boolean {
  return isUscopeError(error) && error.code === 'CONVERT_TRUNCATED';
}

/** Puts what is read under the time at which it is to be told. */
class Collector {
  private readonly bits = new Bits();

  constructor(
    private readonly scale: TimeScale,
    private readonly times: ExternalSorter,
    /** Relations beside the begins of their sinks, by transaction. */
    private readonly joins: ExternalSorter | null,
  ) {}

  async spill(): Promise<void> {
    if (this.times.isFull) await this.times.spill();
    if (this.joins?.isFull) await this.joins.spill();
  }

  block(chunk: RawChunk): void {
    const cursor = new TransactionCursor(chunk);
    while (cursor.next()) {
      let ends = 0;
      for (let i = 0; i < cursor.count; i++) if (cursor.phases[i] === FtrPhase.END) ends++;
      const { startLo, startHi, endLo, endHi } = cursor;
      const isBackwards = endHi < startHi || (endHi === startHi && endLo < startLo);
      this.part(chunk.stream, cursor, Kind.BEGIN, startLo, startHi, startLo, startHi, cursor.count - ends);
      const [atLo, atHi] = isBackwards ? [startLo, startHi] : [endLo, endHi];
      this.part(chunk.stream, cursor, Kind.END, atLo, atHi, endLo, endHi, ends);
      this.joinBegin(cursor);
    }
  }

  /** Begin or end with its attributes, told at `at`. */
  private part(
    stream: bigint,
    cursor: TransactionCursor,
    kind: number,
    atLo: number,
    atHi: number,
    tLo: number,
    tHi: number,
    attributes: number,
  ): void {
    const from = this.addAt(atLo, atHi, HEAD_WORDS + ATTRIBUTE_WORDS * attributes);
    const words = this.times.target;
    words[from] = kind;
    words[from + 1] = cursor.idLo;
    words[from + 2] = cursor.idHi;
    words[from + 3] = Number(stream & 0xffff_ffffn);
    words[from + 4] = Number(stream >> 32n);
    words[from + 5] = cursor.generatorLo;
    words[from + 6] = cursor.generatorHi;
    words[from + 7] = tLo;
    words[from + 8] = tHi;
    words[from + 9] = attributes;
    let at = from + HEAD_WORDS;
    for (let i = 0; i < cursor.count; i++) {
      if ((cursor.phases[i] === FtrPhase.END) !== (kind === Kind.END)) continue;
      const type = cursor.types[i];
      words[at] = (Math.min(i, 0xffff) << 16) | (cursor.phases[i] << 8) | typeOf(type);
      words[at + 1] = cursor.names[i];
      if (IS_TEXT[type] === 1) {
        words[at + 2] = cursor.los[i];
        words[at + 3] = 0;
      } else {
        this.bits.set(type, cursor.forms[i], cursor.los[i], cursor.his[i]);
        words[at + 2] = this.bits.low;
        words[at + 3] = this.bits.high;
      }
      at += ATTRIBUTE_WORDS;
    }
  }

  private addAt(lo: number, hi: number, size: number): number {
    const isLast = hi === ALL_ONES && lo === ALL_ONES;
    if (this.scale.isIdentity && !isLast) return this.times.add(hi, lo, size);
    const ps = this.scale.toPs((BigInt(hi) << 32n) | BigInt(lo));
    return this.times.add(Number(ps >> 32n), Number(ps & 0xffff_ffffn), size);
  }

  private joinBegin(cursor: TransactionCursor): void {
    if (!this.joins) return;
    const at = this.joins.add(cursor.idHi, cursor.idLo, 3);
    const { target } = this.joins;
    target[at] = Kind.BEGIN;
    target[at + 1] = cursor.startLo;
    target[at + 2] = cursor.startHi;
  }

  relations(chunk: RawChunk): void {
    if (!this.joins) return;
    for (const { name, source, sink, sourceStream, sinkStream } of relationEntries(chunk)) {
      const at = this.joins.add(Number(sink >> 32n), Number(sink & 0xffff_ffffn), RELATION_WORDS);
      const { target } = this.joins;
      target[at] = Kind.RELATION;
      target[at + 1] = name;
      [source, sink, sourceStream ?? 0n, sinkStream ?? 0n].forEach((value, i) => {
        target[at + 2 + 2 * i] = Number(value & 0xffff_ffffn);
        target[at + 3 + 2 * i] = Number(value >> 32n);
      });
    }
  }

  /** Puts each relation under the begin of its sink, those without one under time 0. */
  async join(): Promise<void> {
    let [keyLo, keyHi, startLo, startHi] = [0, 0, 0, 0];
    let hasBegin = false;
    for await (const batch of this.joins!.sorted()) {
      for (let i = 0; i < batch.count; i++) {
        const { words } = batch;
        const at = batch.at(i);
        if (!hasBegin || batch.keyHi(i) !== keyHi || batch.keyLo(i) !== keyLo) {
          keyHi = batch.keyHi(i);
          keyLo = batch.keyLo(i);
          hasBegin = true;
          const isBegin = words[at] === Kind.BEGIN;
          startLo = isBegin ? words[at + 1] : 0;
          startHi = isBegin ? words[at + 2] : 0;
        }
        if (words[at] !== Kind.RELATION) continue;
        const to = this.addAt(startLo, startHi, RELATION_WORDS);
        this.times.target.set(words.subarray(at, at + RELATION_WORDS), to);
        if (this.times.isFull) await this.times.spill();
      }
    }
  }
}

async function emit(emission: Emission, times: ExternalSorter): Promise<void> {
  emission.start();
  for await (const batch of times.sorted()) {
    for (let i = 0; i < batch.count; i++) {
      emission.take(batch, i);
      if (emission.isDue) await emission.push();
    }
  }
  emission.finish();
}

/** Writes what comes in the order of time. */
class Emission {
  private readonly emitter: FtrEventEmitter;
  private readonly tallies;
  private frameLo = 0;
  private frameHi = 0;
  private isNewFrame = false;

  constructor(
    private readonly events: EventSchema,
    private readonly model: FtrModel,
    batch: RecordBatch,
    private readonly output: TraceOutput,
    private readonly context: ConversionContext,
  ) {
    const strings = new StringOutput(batch);
    this.emitter = new FtrEventEmitter(events, batch, strings, model.dictionary, () => output.frames++);
    const { report } = context;
    this.tallies = {
      streams: report.kept('streams'),
      generators: report.kept('generators'),
      transactions: report.kept('transactions'),
      attributes: report.kept('attributes'),
      relations: report.kept('relations'),
      missing: report.approximated('texts that the file does not have', 'told by their numbers'),
    };
  }

  get isDue(): boolean {
    return this.output.isFull;
  }

  start(): void {
    this.emitter.begin(0n);
    for (const entry of this.model.declarations) {
      this.emitter.declaration(entry);
      if (entry.kind === 'stream') this.tallies.streams.count++;
      else this.tallies.generators.count++;
    }
  }

  /** Ends the frame: what follows at the same time is in another one. */
  async push(): Promise<void> {
    this.emitter.end();
    await this.output.push();
    this.isNewFrame = true;
  }

  take(batch: SortedBatch, i: number): void {
    const [hi, lo] = [batch.keyHi(i), batch.keyLo(i)];
    if (this.isNewFrame || hi !== this.frameHi || lo !== this.frameLo) {
      this.emitter.end();
      this.frameHi = hi;
      this.frameLo = lo;
      this.isNewFrame = false;
      this.emitter.begin((BigInt(hi) << 32n) | BigInt(lo));
    }
    const { words } = batch;
    const at = batch.at(i);
    if (words[at] === Kind.RELATION) {
      this.emitter.relation(words[at + 1], words, at + 2);
      this.tallies.relations.count++;
    } else if (words[at] === Kind.BEGIN) this.begin(words, at);
    else this.end(words, at);
  }

  private begin(words: Uint32Array, at: number): void {
    this.tallies.transactions.count++;
    const type = this.typeOf(words, at);
    if (type < 0) this.emitter.anyBegin(words, at + 1);
    else this.emitter.ofGenerator(type, words[at + 1], words[at + 2], words[at + 7], words[at + 8]);
    this.attributes(words, at);
  }

  private end(words: Uint32Array, at: number): void {
    this.attributes(words, at);
    const type = this.typeOf(words, at);
    if (type < 0) this.emitter.anyEnd(words[at + 1], words[at + 2], words[at + 7], words[at + 8]);
    else this.emitter.ofGenerator(type + 1, words[at + 1], words[at + 2], words[at + 7], words[at + 8]);
  }

  private attributes(words: Uint32Array, at: number): void {
    const count = words[at + 9];
    this.tallies.attributes.count += count;
    for (let i = 0, from = at + HEAD_WORDS; i < count; i++, from += ATTRIBUTE_WORDS) {
      const head = words[from];
      const index = head >>> 16;
      const phase = (head >>> 8) & 0xff;
      const type = head & 0xff;
      this.emitter.attribute(
        words[at + 1],
        words[at + 2],
        index,
        phase,
        words[from + 1],
        type,
        words[from + 2],
        words[from + 3],
      );
    }
  }

  /** Event type of the generator; -1 where it has none, or the block is of another stream. */
  private typeOf(words: Uint32Array, at: number): number {
    const generator = (BigInt(words[at + 6]) << 32n) | BigInt(words[at + 5]);
    const type = this.events.ofGenerator.get(generator);
    if (type === undefined) return -1;
    const stream = (BigInt(words[at + 4]) << 32n) | BigInt(words[at + 3]);
    return this.model.generators.get(generator)?.stream === stream ? type : -1;
  }

  finish(): void {
    this.emitter.end();
    this.tallies.missing.count += this.emitter.missing;
    this.context.onProgress?.(1);
  }
}
