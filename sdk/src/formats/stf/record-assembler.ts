/** Puts STF records together from the events of a trace that was made of STF. */
import { appendAll } from '../../base/arrays.js';
import { UscopeError } from '../../base/errors.js';
import type { FrameCursor } from '../../format/frame.js';
import type { Schema } from '../../format/types.js';
import { eventIds } from './event-emitter.js';
import { BYTES_PER_EVENT, EVENT_KINDS, eventName, FIXED, Part } from './record-events.js';
import { Channel, type StfMetadata, type StfRecord, StfType } from './types.js';
import type { StfWriter } from './writer.js';

const LARGEST_FIXED = 32;

/** A record whose lists are still coming. */
interface Pending {
  readonly kind: number;
  /** Items still to come, by kind, in their order. */
  readonly parts: { readonly kind: number; left: number; taken: number }[];
  /** Makes the record once everything is there. */
  finish(): StfRecord;
}

export class RecordAssembler {
  private readonly kinds: Uint16Array;
  private readonly scratch = new Uint8Array(LARGEST_FIXED);
  private readonly encoder = new TextEncoder();
  private pending: Pending | null = null;
  private words: bigint[] = [];
  private widths: number[] = [];
  private blobs = new Map<number, Uint8Array>();

  constructor(
    schema: Schema,
    private readonly writer: StfWriter,
    /** Text of a string of the segment at hand. */
    private readonly text: (index: number) => string,
    /** Bits of a vector register, once the header has said them. */
    private readonly vlen: () => number,
  ) {
    const ids = eventIds(schema);
    const missing = EVENT_KINDS.find((kind) => ids[kind] < 0);
    if (missing !== undefined) {
      throw new UscopeError(
        'CONVERT_SOURCE',
        `the trace has no event "${eventName(missing)}" of STF records`,
      );
    }
    this.kinds = new Uint16Array(schema.events.length);
    for (const kind of EVENT_KINDS) this.kinds[ids[kind]] = kind;
  }

  /** Takes the event that the cursor is at if it is one of STF. Returns the kind of a record that begins with it, else 0. */
  take(cursor: FrameCursor): number {
    const kind = this.kinds[cursor.eventType];
    if (kind === 0) return 0;
    if (kind >= Part.TEXT) {
      this.takePart(kind, viewOf(cursor));
      return 0;
    }
    if (this.pending) this.incomplete();
    if (FIXED.has(kind)) this.copy(kind, cursor);
    else this.begin(kind, viewOf(cursor));
    return kind;
  }

  /** @throws UscopeError CONVERT_SOURCE when the last record is not whole */
  end(): void {
    if (this.pending) this.incomplete();
  }

  private copy(kind: number, { bytes, payloadOffset, payloadSize }: FrameCursor): void {
    const { scratch } = this;
    scratch[0] = kind;
    for (let i = 0; i < payloadSize; i++) scratch[i + 1] = bytes[payloadOffset + i];
    this.writer.copy(scratch, 0, payloadSize + 1);
  }

  private begin(kind: number, view: DataView): void {
    this.words = [];
    this.widths = [];
    this.blobs.clear();
    const pending = this.open(kind, view);
    const left = pending.parts.filter((part) => part.left > 0);
    pending.parts.length = 0;
    appendAll(pending.parts, left);
    this.pending = pending;
    this.finishIfWhole();
  }

  private open(kind: number, view: DataView): Pending {
    const u64 = (at: number): bigint => view.getBigUint64(at, true);
    switch (kind) {
      case StfType.COMMENT:
      case StfType.ISA_EXTENDED:
        return this.withText(kind, view.getUint32(0, true), view.getUint32(4, true), (text) => ({
          type: kind,
          text,
        }));
      case StfType.TRACE_INFO: {
        const [generator, major, minor, patch] = [0, 1, 2, 3].map((at) => view.getUint8(at));
        const version = [major, minor, patch] as const;
        return this.withText(kind, view.getUint16(4, true), view.getUint32(6, true), (text) => ({
          type: kind,
          generator,
          version,
          text,
        }));
      }
      case StfType.CLOCK_ID: {
        const clock = view.getUint8(0);
        return this.withText(kind, view.getUint16(1, true), view.getUint32(3, true), (text) => ({
          type: kind,
          clock,
          text,
        }));
      }
      case StfType.INST_REG: {
        const [register, meta, first] = [view.getUint16(0, true), view.getUint8(2), u64(3)];
        const words = (meta & 15) === 3 ? (this.vlen() + 63) >>> 6 : 1;
        return pending(kind, [[Part.REGISTER, words - 1]], () => ({
          type: kind,
          register,
          meta,
          values: [first, ...this.words],
        }));
      }
      case StfType.EVENT: {
        const id = u64(0);
        const parts = [[Part.EVENT_DATA, view.getUint8(8)] as const];
        return pending(kind, parts, () => ({ type: kind, id, data: this.words }));
      }
      case StfType.PAGE_TABLE_WALK: {
        const [address, firstIndex, pageSize] = [u64(0), u64(8), view.getUint32(16, true)];
        return pending(kind, [[Part.PAGE_TABLE_ENTRY, view.getUint8(20)]], () => {
          const entries = Array.from({ length: this.words.length / 2 }, (_, i) => ({
            address: this.words[2 * i],
            entry: this.words[2 * i + 1],
          }));
          return { type: kind, address, firstIndex, pageSize, entries };
        });
      }
      default:
        return this.openTransaction(view);
    }
  }

  private withText(
    kind: number,
    size: number,
    index: number,
    make: (text: Uint8Array) => StfRecord,
  ): Pending {
    const text = this.encoder.encode(this.text(index));
    if (text.length === size) return pending(kind, [], () => make(text));
    if (text.length > 0) {
      throw new UscopeError('CONVERT_SOURCE', `a text of ${size} bytes has a string of ${text.length}`);
    }
    return pending(kind, [this.blob(Part.TEXT, size)], () => make(this.bytes(Part.TEXT, size)));
  }

  private openTransaction(view: DataView): Pending {
    const u64 = (at: number): bigint => view.getBigUint64(at, true);
    const type = StfType.TRANSACTION;
    const [id, delta, clock, channel] = [u64(0), u64(8), view.getUint8(16), view.getUint8(19)];
    const [code, param, size] = [20, 21, 22].map((at) => view.getUint8(at));
    const [source, address, sink] = [u64(23), u64(33), u64(43)];
    const dataBytes = channel === Channel.E ? 0 : view.getUint16(31, true);
    const maskBits = view.getUint16(41, true);
    const maskBytes = channel <= Channel.B ? (maskBits + 7) >>> 3 : 0;
    const parts = [
      [Part.METADATA, view.getUint16(17, true)],
      this.blob(Part.DATA, dataBytes),
      this.blob(Part.MASK, maskBytes),
    ] as const;
    return pending(type, parts, () => {
      const metadata = this.words.map(
        (value, i): StfMetadata => ({ width: this.widths[i] as StfMetadata['width'], value }),
      );
      const data = this.bytes(Part.DATA, dataBytes);
      const mask = this.bytes(Part.MASK, maskBytes);
      const head = { type, id, delta, clock, metadata, channel };
      return { ...head, code, param, size, source, data, address, maskBits, mask, sink };
    });
  }

  private blob(kind: number, size: number): readonly [kind: number, count: number] {
    return [kind, Math.ceil(size / BYTES_PER_EVENT)];
  }

  private takePart(kind: number, view: DataView): void {
    const part = this.pending?.parts[0];
    if (part?.kind !== kind || view.getUint32(0, true) !== part.taken) {
      throw new UscopeError('CONVERT_SOURCE', `an event "${eventName(kind)}" is not allowed here`);
    }
    if (kind === Part.METADATA) {
      this.widths.push(view.getUint8(4));
      this.words.push(view.getBigUint64(5, true));
    } else if (kind === Part.TEXT || kind === Part.DATA || kind === Part.MASK) {
      this.takeBytes(kind, part.taken, part.left, view.getBigUint64(4, true));
    } else {
      this.words.push(view.getBigUint64(4, true));
      if (kind === Part.PAGE_TABLE_ENTRY) this.words.push(view.getBigUint64(12, true));
    }
    part.taken++;
    if (--part.left === 0) this.pending!.parts.shift();
    this.finishIfWhole();
  }

  /** The bytes grow as they come: nothing is allocated on the word of a size. */
  private takeBytes(kind: number, index: number, left: number, value: bigint): void {
    const at = index * BYTES_PER_EVENT;
    let bytes = this.blobs.get(kind) ?? new Uint8Array(Math.min(left, 64) * BYTES_PER_EVENT);
    if (at + BYTES_PER_EVENT > bytes.length) {
      const grown = new Uint8Array(bytes.length * 2);
      grown.set(bytes);
      bytes = grown;
    }
    new DataView(bytes.buffer).setBigUint64(at, value, true);
    this.blobs.set(kind, bytes);
  }

  private bytes(kind: number, size: number): Uint8Array {
    return (this.blobs.get(kind) ?? new Uint8Array(0)).subarray(0, size);
  }

  private finishIfWhole(): void {
    const { pending } = this;
    if (!pending || pending.parts.length > 0) return;
    this.pending = null;
    this.writer.record(pending.finish());
  }

  private incomplete(): never {
    const [part] = this.pending!.parts;
    throw new UscopeError(
      'CONVERT_SOURCE',
      `a record "${eventName(this.pending!.kind)}" lacks ${part.left} events "${eventName(part.kind)}"`,
    );
  }
}

function viewOf({ bytes, payloadOffset, payloadSize }: FrameCursor): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset + payloadOffset, payloadSize);
}

function pending(
  kind: number,
  parts: readonly (readonly [kind: number, count: number])[],
  finish: () => StfRecord,
): Pending {
  // Word 0 of a vector register is in the record's own event.
  const first = (part: number): number => (part === Part.REGISTER ? 1 : 0);
  return { kind, parts: parts.map(([part, left]) => ({ kind: part, left, taken: first(part) })), finish };
}
