/** Turns what is sorted into the frames of the trace. */

import { StringOutput } from '../../stream/string-remap.js';
import type { TraceOutput } from '../../stream/trace-output.js';
import type { RecordBatch } from '../../writer/records/record-batch.js';
import type { ConversionContext } from '../common/foreign-format.js';
import { FtrEventEmitter } from './event-emitter.js';
import type { EventSchema } from './event-schema.js';
import type { FtrModel } from './model.js';
import { ATTRIBUTE_WORDS, HEAD_WORDS, Kind } from './sorted-words.js';
import type { SortedBatch } from './sorter.js';

/** Upper halves of times that are safe integers are below. */
const SAFE_UPPER = 2 ** 21;
/** A power of two. */
const KNOWN_TYPES = 256;

interface KnownType {
  readonly generatorLo: number;
  readonly generatorHi: number;
  readonly streamLo: number;
  readonly streamHi: number;
  readonly type: number;
}

/** Writes what comes in the order of time. */
export class Emission {
  private readonly emitter: FtrEventEmitter;
  private readonly tallies;
  private frameLo = 0;
  private frameHi = 0;
  private isNewFrame = false;
  /** Those asked for last, by the low bits of the generator. */
  private readonly types: (KnownType | undefined)[] = new Array(KNOWN_TYPES).fill(undefined);

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
      missing: report.approximated('strings that the file does not have', 'shown as their numbers'),
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
      this.emitter.begin(hi < SAFE_UPPER ? hi * 2 ** 32 + lo : (BigInt(hi) << 32n) | BigInt(lo));
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
    const [streamLo, streamHi] = [words[at + 3], words[at + 4]];
    const [generatorLo, generatorHi] = [words[at + 5], words[at + 6]];
    const known = this.types[generatorLo & (this.types.length - 1)];
    if (
      known?.generatorLo === generatorLo &&
      known.generatorHi === generatorHi &&
      known.streamLo === streamLo &&
      known.streamHi === streamHi
    )
      return known.type;
    const type = this.findType(
      (BigInt(generatorHi) << 32n) | BigInt(generatorLo),
      (BigInt(streamHi) << 32n) | BigInt(streamLo),
    );
    const found = { generatorLo, generatorHi, streamLo, streamHi, type };
    this.types[generatorLo & (this.types.length - 1)] = found;
    return type;
  }

  private findType(generator: bigint, stream: bigint): number {
    const type = this.events.ofGenerator.get(generator);
    return type !== undefined && this.model.generators.get(generator)?.stream === stream ? type : -1;
  }

  finish(): void {
    this.emitter.end();
    this.tallies.missing.count += this.emitter.missing;
    this.context.onProgress?.(1);
  }
}
