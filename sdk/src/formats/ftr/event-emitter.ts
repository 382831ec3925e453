/** Puts what a recording says into events of a batch. */
import { equalBytes } from '../../base/bytes.js';
import { MAX_STRING_BYTES } from '../../format/record.js';
import { StringOutput } from '../../stream/string-remap.js';
import type { TraceFrames } from '../common/trace-frames.js';
import { BYTES_PER_EVENT, type EventSchema, PAYLOAD_BYTES, Part } from './event-schema.js';
import type { Declaration } from './model.js';
import { FtrTag, type FtrText, IS_TEXT } from './types.js';
import { type Dictionary, missingText } from './values.js';

const encoder = new TextEncoder();
const looseDecoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** A text on its way: its number, and the bytes that its string does not say. */
interface OutText {
  readonly index: number;
  readonly bytes: Uint8Array | null;
}

export class FtrEventEmitter {
  /** Number of the string of a text + 1; 0: not asked yet. */
  private readonly known: Uint32Array;
  private readonly special = new Map<number, OutText>();
  /** String of the empty text; -1: not asked yet. */
  private empty = -1;
  /** Texts that the file does not have. */
  missing = 0;
  private readonly strings: StringOutput;

  constructor(
    private readonly events: EventSchema,
    private readonly frames: TraceFrames,
    private readonly dictionary: Dictionary,
  ) {
    this.strings = new StringOutput(frames.batch);
    this.known = new Uint32Array(dictionary.size);
  }

  declaration(entry: Declaration): void {
    const isStream = entry.kind === 'stream';
    const name = this.textOut(entry.name);
    const kind = this.textOut(isStream ? entry.streamKind : '');
    const { view, offset } = this.event(this.events.root.dir, PAYLOAD_BYTES.dir);
    view.setUint8(offset, isStream ? FtrTag.STREAM : FtrTag.GENERATOR);
    view.setBigUint64(offset + 1, entry.id, true);
    view.setUint32(offset + 9, name.index, true);
    view.setBigUint64(offset + 13, isStream ? 0n : entry.stream, true);
    view.setUint32(offset + 21, kind.index, true);
    this.rest(name, kind);
  }

  /** Begin (or end) of a transaction whose generator has its own event types. */
  ofGenerator(type: number, txLo: number, txHi: number, tLo: number, tHi: number): void {
    const { view, offset } = this.event(type, 16);
    setU64(view, offset, txLo, txHi);
    setU64(view, offset + 8, tLo, tHi);
  }

  /** Begin of a transaction of any generator: `words` are tx, stream, generator and t as u32 halves. */
  anyBegin(words: Uint32Array, at: number): void {
    const { view, offset } = this.event(this.events.root.begin, PAYLOAD_BYTES.begin);
    for (let i = 0; i < 8; i++) view.setUint32(offset + 4 * i, words[at + i], true);
  }

  /** Of types that are texts `lo` is the number of one. */
  attribute(
    txLo: number,
    txHi: number,
    index: number,
    phase: number,
    name: number,
    type: number,
    lo: number,
    hi: number,
  ): void {
    const isText = IS_TEXT[type] === 1;
    let nameIndex = this.plainText(name);
    let valueIndex = isText ? this.plainText(lo) : this.empty;
    let nameOut = NO_TEXT;
    let value = NO_TEXT;
    if (nameIndex < 0 || valueIndex < 0) {
      nameOut = this.text(name);
      if (isText) value = this.text(lo);
      nameIndex = nameOut.index;
      valueIndex = isText ? value.index : this.emptyText();
    }
    const { view, offset } = this.event(this.events.root.attr, PAYLOAD_BYTES.attr);
    setU64(view, offset, txLo, txHi);
    view.setUint16(offset + 8, Math.min(index, 0xffff), true);
    view.setUint8(offset + 10, phase);
    view.setUint32(offset + 11, nameIndex, true);
    view.setUint8(offset + 15, type);
    if (!isText) setU64(view, offset + 16, lo, hi);
    view.setUint32(offset + 24, valueIndex, true);
    this.rest(nameOut, value);
  }

  /** `words` are source, sink and their streams as u32 halves. */
  relation(name: number, words: Uint32Array, at: number): void {
    const nameOut = this.text(name);
    const { view, offset } = this.event(this.events.root.rel, PAYLOAD_BYTES.rel);
    view.setUint32(offset, nameOut.index, true);
    for (let i = 0; i < 8; i++) view.setUint32(offset + 4 + 4 * i, words[at + i], true);
    this.rest(nameOut, NO_TEXT);
  }

  private emptyText(): number {
    if (this.empty < 0) this.empty = this.strings.add('');
    return this.empty;
  }

  /** The string of a text of the file's dictionary; -1: it is not known yet, or there is more to it. */
  private plainText(id: number): number {
    const known = id < this.known.length ? this.known[id] : 0;
    return known === 0 || (this.special.size > 0 && this.special.has(id)) ? -1 : known - 1;
  }

  /** A text of the file's dictionary. */
  private text(id: number): OutText {
    const known = id < this.known.length ? this.known[id] : 0;
    if (known !== 0) return this.special.get(id) ?? { index: known - 1, bytes: null };
    const bytes = this.dictionary.bytesOf(id);
    if (!bytes) this.missing++;
    const out = this.bytesOut(bytes ?? encoder.encode(missingText(id)));
    if (id < this.known.length) {
      this.known[id] = out.index + 1;
      if (out.bytes) this.special.set(id, out);
    }
    return out;
  }

  private textOut(text: FtrText): OutText {
    return this.bytesOut(typeof text === 'string' ? encoder.encode(text) : text);
  }

  private bytesOut(bytes: Uint8Array): OutText {
    const shown = looseDecoder.decode(bytes.subarray(0, MAX_STRING_BYTES)).replaceAll('\0', '\ufffd');
    const index = this.strings.add(shown);
    const isSame = bytes.length <= MAX_STRING_BYTES && equalBytes(encoder.encode(shown), bytes);
    return { index, bytes: isSame ? null : bytes.slice() };
  }

  private rest(name: OutText, value: OutText): void {
    if (name.bytes) this.bytes(Part.NAME, name.bytes);
    if (value.bytes) this.bytes(Part.VALUE, value.bytes);
  }

  private bytes(part: number, bytes: Uint8Array): void {
    for (let at = 0; at === 0 || at < bytes.length; at += BYTES_PER_EVENT) {
      const { view, offset } = this.event(this.events.root.bytes, PAYLOAD_BYTES.bytes);
      view.setUint8(offset, part);
      view.setUint32(offset + 1, bytes.length, true);
      view.setUint32(offset + 5, at / BYTES_PER_EVENT, true);
      for (let i = 0; i < BYTES_PER_EVENT; i++) view.setUint8(offset + 9 + i, bytes[at + i] ?? 0);
    }
  }

  private event(id: number, size: number): { view: DataView; offset: number } {
    return this.frames.event({ id, size });
  }
}

const NO_TEXT: OutText = { index: 0, bytes: null };

function setU64(view: DataView, at: number, lo: number, hi: number): void {
  view.setUint32(at, lo, true);
  view.setUint32(at + 4, hi, true);
}
