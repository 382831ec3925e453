/** Turns what an import reads into what is sorted. */
import { relationEntries } from './content.js';
import type { RawChunk } from './reader.js';
import { ATTRIBUTE_WORDS, HEAD_WORDS, Kind, RELATION_WORDS } from './sorted-words.js';
import type { ExternalSorter } from './sorter.js';
import type { TimeScale } from './time-scale.js';
import { TransactionCursor } from './transaction-cursor.js';
import { FtrPhase, IS_TEXT } from './types.js';
import { Bits, typeOf } from './values.js';

const ALL_ONES = 0xffff_ffff;

/** Of a number of 64 bits, the lower one first. */
type Halves = readonly [number, number];
const halvesOf = (value: bigint): Halves => [Number(value & 0xffff_ffffn), Number(value >> 32n)];

/** Files what is read under the time at which it is to be emitted. */
export class Collector {
  private readonly bits = new Bits();

  constructor(
    private readonly scale: TimeScale,
    private readonly times: ExternalSorter,
    /** Relations next to the begins of their sinks, by transaction. */
    private readonly joins: ExternalSorter | null,
  ) {}

  async spill(): Promise<void> {
    if (this.times.isFull) await this.times.spill();
    if (this.joins?.isFull) await this.joins.spill();
  }

  block(chunk: RawChunk): void {
    const cursor = new TransactionCursor(chunk);
    const stream = halvesOf(chunk.stream);
    while (cursor.next()) {
      let ends = 0;
      for (let i = 0; i < cursor.count; i++) if (cursor.phases[i] === FtrPhase.END) ends++;
      const { startLo, startHi, endLo, endHi } = cursor;
      const isBackwards = endHi < startHi || (endHi === startHi && endLo < startLo);
      this.part(stream, cursor, Kind.BEGIN, startLo, startHi, startLo, startHi, cursor.count - ends);
      const [atLo, atHi] = isBackwards ? [startLo, startHi] : [endLo, endHi];
      this.part(stream, cursor, Kind.END, atLo, atHi, endLo, endHi, ends);
      this.joinBegin(cursor);
    }
  }

  /** Begin or end with its attributes, emitted at `at`. */
  private part(
    [streamLo, streamHi]: Halves,
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
    words[from + 3] = streamLo;
    words[from + 4] = streamHi;
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
        const [lo, hi] = halvesOf(value);
        target[at + 2 + 2 * i] = lo;
        target[at + 3 + 2 * i] = hi;
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
