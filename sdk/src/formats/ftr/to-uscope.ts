/**
 * FTR to µScope: transactions, attributes and relations as events, in the order of time. The file is read for its declarations first, then for
 * its transactions, which are sorted; where they do not fit into memory, on disk.
 */

import type { DutProperties } from '../../format/types.js';
import { temporaryName } from '../../writer/output/atomic-file.js';
import { type Imported, isCut } from '../common/cut.js';
import type { ConversionContext, TraceTarget } from '../common/foreign-format.js';
import { checkpointIntervalFor, type TraceFrames, writeTrace } from '../common/trace-frames.js';
import { Collector } from './collector.js';
import { relationEntries } from './content.js';
import { FtrEventEmitter } from './event-emitter.js';
import { buildEventSchema, type EventSchema, Property, SHORT_RELATIONS } from './event-schema.js';
import { FtrModel } from './model.js';
import { PS_EXPONENT, TimeScale, type TimeUnit } from './options.js';
import type { FtrFile, RawChunk } from './reader.js';
import { ATTRIBUTE_WORDS, ExternalSorter, HEAD_WORDS, Kind, type SortedBatch } from './sorter.js';

/** About as many bytes of a file as become an item of the trace: their number is known before the second pass. */
const BYTES_PER_ITEM = 8;

export interface FtrImportOptions {
  readonly unit: TimeUnit;
  /** Words of memory for sorting; for tests. */
  readonly sortWords?: number | undefined;
}

/** In which form the file had its content, so that it comes back in it. */
function formOf(isPlain: boolean, areRelationsShort: boolean): DutProperties {
  return [
    ...(isPlain ? [[Property.COMPRESSION, 'none'] as const] : []),
    ...(areRelationsShort ? [[Property.RELATIONS, SHORT_RELATIONS] as const] : []),
  ];
}

/** @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT, CONVERT_UNSUPPORTED, WRITER_* */
export async function ftrToUscope(
  file: FtrFile,
  target: TraceTarget,
  context: ConversionContext,
  options: FtrImportOptions,
): Promise<Imported> {
  const source = new FtrPasses(file, context);
  const { model, hasRelations, lastTick, isPlain, areRelationsShort } = await source.declarations();
  const scale = new TimeScale(options.unit, model.info.exponent);
  if (model.info.exponent !== PS_EXPONENT) warnOfScale(model.info.exponent, options.unit, context);
  const period = scale.periodPs;
  const events = buildEventSchema(
    model.declarations,
    model.hasInfo ? model.info : null,
    period,
    options.unit,
  );
  const content = {
    schema: events.schema,
    dut: [...events.dut, ...formOf(isPlain, areRelationsShort)],
    checkpointIntervalPs: checkpointIntervalFor(scale.toPs(lastTick), file.size / BYTES_PER_ITEM),
  };
  const times = new ExternalSorter(temporaryName(`${target.path}.times`), options.sortWords);
  const joins = new ExternalSorter(temporaryName(`${target.path}.joins`), options.sortWords);
  try {
    const collected = new Collector(scale, times, hasRelations ? joins : null);
    const spill = (): Promise<void> => collected.spill();
    await source.chunks('transactions', (chunk) => collected.block(chunk), spill);
    if (hasRelations) {
      await source.chunks('relations', (chunk) => collected.relations(chunk), spill);
      await collected.join();
    }
    const stats = await writeTrace(target, content, context.signal, (frames) =>
      emit(new Emission(events, model, frames, context), times),
    );
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

/** What an import reads: the file's declarations, then its transactions, then its relations. */
export interface FtrDeclarations {
  readonly model: FtrModel;
  readonly hasRelations: boolean;
  readonly lastTick: bigint;
  /** No chunk is compressed. */
  readonly isPlain: boolean;
  /** The relations are those of old files: three elements, without streams. */
  readonly areRelationsShort: boolean;
}

/** The passes over the file, each up to the cut if there is one. */
export class FtrPasses {
  isPartial = false;
  private readonly model = new FtrModel();
  private passes = 0;

  constructor(
    private readonly file: FtrFile,
    private readonly context: ConversionContext,
  ) {}

  async declarations(): Promise<FtrDeclarations> {
    let hasRelations = false;
    let lastTick = 0n;
    let isCompressed = false;
    let hasChunks = false;
    let areRelationsShort = false;
    await this.pass(
      // The first chunk of relations says of which form they are.
      (kind) => kind === 'transactions' || (kind === 'relations' && hasRelations),
      (chunk) => {
        if (chunk.kind !== 'info') {
          hasChunks = true;
          isCompressed ||= chunk.isCompressed;
        }
        if (this.model.take(chunk)) return;
        if (chunk.kind === 'relations') {
          if (!hasRelations) areRelationsShort = isShort(chunk);
          hasRelations = true;
        } else if (chunk.end !== null && chunk.end > lastTick) lastTick = chunk.end;
      },
    );
    if (this.file.trailingBytes > 0)
      this.context.onWarning?.(
        `${this.file.trailingBytes} bytes follow the end of the recording; they are ignored`,
      );
    const isPlain = hasChunks && !isCompressed;
    return { model: this.model, hasRelations, lastTick, isPlain, areRelationsShort };
  }

  /** The chunks of one kind. @param after awaited after each */
  async chunks(
    wanted: RawChunk['kind'],
    take: (chunk: RawChunk) => void,
    after: () => Promise<void>,
  ): Promise<void> {
    const takeWanted = (chunk: RawChunk): void => {
      if (chunk.kind === wanted) take(chunk);
    };
    await this.pass((kind) => kind !== wanted, takeWanted, after);
  }

  private async pass(
    skip: (kind: RawChunk['kind']) => boolean,
    take: (chunk: RawChunk) => void,
    after?: () => Promise<void>,
  ): Promise<void> {
    const before = this.passes++ / 4;
    const { context, file } = this;
    const onPosition = (offset: number): void =>
      context.onProgress?.(before + offset / Math.max(1, file.size) / 4);
    try {
      for await (const chunk of file.chunks({ skip: ({ kind }) => skip(kind), onPosition })) {
        context.signal?.throwIfAborted();
        take(chunk);
        await after?.();
      }
    } catch (error) {
      if (!isCut(error)) throw error;
      if (!this.isPartial) context.onWarning?.(error.message);
      this.isPartial = true;
    }
  }
}

function isShort(chunk: RawChunk): boolean {
  const [first] = relationEntries(chunk);
  return first !== undefined && first.sourceStream === null;
}

// Turns what is sorted into the frames of the trace.

/** Upper halves of times that are safe integers are below. */
const SAFE_UPPER = 2 ** 21;

/** Writes what comes in the order of time. */
export class Emission {
  private readonly emitter: FtrEventEmitter;
  private readonly tallies;
  private frameLo = 0;
  private frameHi = 0;
  private isNewFrame = false;

  constructor(
    private readonly events: EventSchema,
    private readonly model: FtrModel,
    private readonly frames: TraceFrames,
    private readonly context: ConversionContext,
  ) {
    this.emitter = new FtrEventEmitter(events, frames, model.dictionary);
    const { report } = context;
    this.tallies = {
      streams: report.kept('streams'),
      generators: report.kept('generators'),
      transactions: report.kept('transactions'),
      attributes: report.kept('attributes'),
      relations: report.kept('relations'),
      missing: report.approximated('strings that the file does not have', 'shown as their numbers'),
    };
  }

  get isDue(): boolean {
    return this.frames.isFull;
  }

  start(): void {
    this.frames.beginFrame(0n);
    for (const entry of this.model.declarations) {
      this.emitter.declaration(entry);
      if (entry.kind === 'stream') this.tallies.streams.count++;
      else this.tallies.generators.count++;
    }
  }

  /** Ends the frame: what follows at the same time is in another one. */
  async push(): Promise<void> {
    await this.frames.push();
    this.isNewFrame = true;
  }

  take(batch: SortedBatch, i: number): void {
    const [hi, lo] = [batch.keyHi(i), batch.keyLo(i)];
    if (this.isNewFrame || hi !== this.frameHi || lo !== this.frameLo) {
      this.frameHi = hi;
      this.frameLo = lo;
      this.isNewFrame = false;
      this.frames.beginFrame(hi < SAFE_UPPER ? hi * 2 ** 32 + lo : (BigInt(hi) << 32n) | BigInt(lo));
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
    const end = type < 0 ? this.events.root.end : type + 1;
    this.emitter.ofGenerator(end, words[at + 1], words[at + 2], words[at + 7], words[at + 8]);
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
    const stream = (BigInt(words[at + 4]) << 32n) | BigInt(words[at + 3]);
    const generator = (BigInt(words[at + 6]) << 32n) | BigInt(words[at + 5]);
    const type = this.events.ofGenerator.get(generator);
    return type !== undefined && this.model.generators.get(generator)?.stream === stream ? type : -1;
  }

  finish(): void {
    this.tallies.missing.count += this.emitter.missing;
    this.context.onProgress?.(1);
  }
}
