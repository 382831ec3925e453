/** µScope made of STF back to STF: the same records in the same order. */

import { appendAll } from '../../base/arrays.js';
import { concatBytes } from '../../base/bytes.js';
import { UscopeError } from '../../base/errors.js';
import { CursorItem, type FrameCursor } from '../../format/frame.js';
import type { Schema } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import type { ConversionContext, OutputFiles } from '../common/foreign-format.js';
import { itemsWithTexts } from '../common/items-with-texts.js';
import type { Tally } from '../common/report.js';
import {
  BYTES_PER_EVENT,
  bytesBeforeText,
  EVENT_KINDS,
  eventIds,
  eventName,
  FIXED,
  Part,
  RECORDS_PROPERTY,
  RECORDS_VERSION,
} from './record-events.js';
import { Channel, type StfMetadata, StfType, TYPE_NAMES } from './types.js';
import { StfWriter, type StfWriterOptions } from './writer.js';

/** Whether a trace holds the records of an STF file. */
export function hasRecords(trace: Trace): boolean {
  return trace.dutProperty(RECORDS_PROPERTY) === RECORDS_VERSION;
}

/** @throws UscopeError CONVERT_SOURCE (the events are not those of a whole file), ENV_MISSING, FORMAT_* */
export async function recordsToStf(
  trace: Trace,
  files: OutputFiles,
  options: StfWriterOptions,
  context: ConversionContext,
): Promise<void> {
  const writer = new StfWriter(await files.open(null), options);
  const text = (index: number): string => trace.strings.peek(index) ?? '';
  const assembler = new RecordAssembler(trace.schema, writer, text, () => writer.vlen);
  const tallies: Tally[] = [];
  for (const [type, name] of TYPE_NAMES) tallies[type] = context.report.kept(`${name} records`);
  for await (const items of itemsWithTexts(trace, context)) {
    while (items.next()) {
      if (items.cursor.kind !== CursorItem.EVENT) continue;
      const kind = assembler.take(items.cursor);
      if (kind) tallies[kind].count++;
      if (writer.isFull) await writer.flush();
    }
  }
  assembler.end();
  await writer.close();
}

// Puts STF records together from the events of a trace that was made of STF.

const LARGEST_FIXED = 32;

/** A record whose lists are still coming. */
interface Pending {
  readonly kind: number;
  /** Items still to come, by kind, in their order. */
  readonly parts: { readonly kind: number; left: number; taken: number }[];
  /** Writes the record once everything is there. */
  finish(): void;
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
      case StfType.TRACE_INFO:
      case StfType.CLOCK_ID:
        return this.withText(kind, view);
      case StfType.INST_REG: {
        const [register, meta, first] = [view.getUint16(0, true), view.getUint8(2), u64(3)];
        const words = (meta & 15) === 3 ? (this.vlen() + 63) >>> 6 : 1;
        return pending(kind, [[Part.REGISTER, words - 1]], () =>
          this.writer.record({ type: kind, register, meta, values: [first, ...this.words] }),
        );
      }
      case StfType.EVENT: {
        const id = u64(0);
        const parts = [[Part.EVENT_DATA, view.getUint8(8)] as const];
        return pending(kind, parts, () => this.writer.record({ type: kind, id, data: this.words }));
      }
      case StfType.PAGE_TABLE_WALK: {
        const [address, firstIndex, pageSize] = [u64(0), u64(8), view.getUint32(16, true)];
        return pending(kind, [[Part.PAGE_TABLE_ENTRY, view.getUint8(20)]], () => {
          const entries = Array.from({ length: this.words.length / 2 }, (_, i) => ({
            address: this.words[2 * i],
            entry: this.words[2 * i + 1],
          }));
          this.writer.record({ type: kind, address, firstIndex, pageSize, entries });
        });
      }
      default:
        return this.openTransaction(view);
    }
  }

  /** The record is its descriptor, the event's bytes in front of the string, and the text. */
  private withText(kind: number, view: DataView): Pending {
    const headBytes = bytesBeforeText(kind);
    const head = new Uint8Array(view.buffer, view.byteOffset, headBytes).slice();
    const isLong = kind === StfType.COMMENT || kind === StfType.ISA_EXTENDED;
    const size = isLong ? view.getUint32(headBytes - 4, true) : view.getUint16(headBytes - 2, true);
    const write = (text: Uint8Array): void => {
      const bytes = concatBytes([Uint8Array.of(kind), head, text]);
      this.writer.copy(bytes, 0, bytes.length);
    };
    const text = this.encoder.encode(this.text(view.getUint32(headBytes, true)));
    if (text.length === size) return pending(kind, [], () => write(text));
    if (text.length > 0) {
      throw new UscopeError('CONVERT_SOURCE', `a text of ${size} bytes has a string of ${text.length}`);
    }
    return pending(kind, [this.blob(Part.TEXT, size)], () => write(this.bytes(Part.TEXT, size)));
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
      this.writer.record({ ...head, code, param, size, source, data, address, maskBits, mask, sink });
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
    pending.finish();
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
  finish: () => void,
): Pending {
  // Word 0 of a vector register is in the record's own event.
  const first = (part: number): number => (part === Part.REGISTER ? 1 : 0);
  return { kind, parts: parts.map(([part, left]) => ({ kind: part, left, taken: first(part) })), finish };
}
