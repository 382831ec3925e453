/** Turns the record that a cursor is at into events of a batch. */
import { MAX_STRING_BYTES } from '../../format/record.js';
import { qualifiedName, type Schema } from '../../format/types.js';
import type { StringOutput } from '../../stream/string-remap.js';
import type { RecordBatch } from '../../writer/records/record-batch.js';
import type { StfCursor } from './cursor.js';
import { decodeRecord } from './decode.js';
import { BYTES_PER_EVENT, EVENT_KINDS, eventName, FIXED, Part, RECORD_SCOPE } from './record-events.js';
import { Channel, type StfRecord, type StfTransaction, StfType } from './types.js';

/** Kind (descriptor or `Part`) -> event type id. */
export function eventIds(schema: Schema): Int32Array {
  const ids = new Int32Array(512).fill(-1);
  const byName = new Map(schema.events.map((event) => [qualifiedName(schema, event), event.eventTypeId]));
  for (const kind of EVENT_KINDS) ids[kind] = byName.get(`${RECORD_SCOPE}/${eventName(kind)}`) ?? -1;
  return ids;
}

export class EventEmitter {
  private readonly ids: Int32Array;
  private readonly decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  constructor(
    schema: Schema,
    private readonly batch: RecordBatch,
    private readonly strings: StringOutput,
    /** Called before each event: a frame holds a limited number. */
    private readonly count: () => void,
  ) {
    this.ids = eventIds(schema);
  }

  emit(cursor: StfCursor): void {
    const { type } = cursor;
    if (FIXED.has(type)) this.copy(cursor, type, cursor.size - 1);
    else if (type === StfType.INST_REG) this.register(cursor);
    else this.record(decodeRecord(cursor));
  }

  private copy({ bytes, at }: StfCursor, kind: number, size: number): void {
    const { view, offset } = this.open(kind, size);
    for (let i = 0; i < size; i++) view.setUint8(offset + i, bytes[at + 1 + i]);
  }

  private register(cursor: StfCursor): void {
    this.copy(cursor, StfType.INST_REG, 11);
    const words = (cursor.size - 4) >>> 3;
    for (let i = 1; i < words; i++) {
      this.word(Part.REGISTER, i, cursor.view.getBigUint64(cursor.at + 4 + 8 * i, true));
    }
  }

  private record(record: StfRecord): void {
    switch (record.type) {
      case StfType.COMMENT:
      case StfType.ISA_EXTENDED:
        this.text(record.type, record.text, 4, () => undefined);
        break;
      case StfType.TRACE_INFO:
        this.text(record.type, record.text, 2, (view, at) => {
          for (const [i, byte] of [record.generator, ...record.version].entries())
            view.setUint8(at + i, byte);
        });
        break;
      case StfType.CLOCK_ID:
        this.text(record.type, record.text, 2, (view, at) => view.setUint8(at, record.clock));
        break;
      case StfType.EVENT: {
        const { view, offset } = this.open(record.type, 9);
        view.setBigUint64(offset, record.id, true);
        view.setUint8(offset + 8, record.data.length);
        for (const [i, value] of record.data.entries()) this.word(Part.EVENT_DATA, i, value);
        break;
      }
      case StfType.PAGE_TABLE_WALK:
        this.pageTableWalk(record);
        break;
      case StfType.TRANSACTION:
        this.transaction(record);
        break;
    }
  }

  /** Text after fixed fields and its size; bytes that are not UTF-8, or too many for a string, follow in events. */
  private text(
    kind: number,
    text: Uint8Array,
    sizeBytes: 2 | 4,
    fill: (view: DataView, at: number) => void,
  ): void {
    const before = kind === StfType.TRACE_INFO ? 4 : kind === StfType.CLOCK_ID ? 1 : 0;
    const string = this.decode(text);
    const index = this.strings.add(string ?? '');
    const { view, offset } = this.open(kind, before + sizeBytes + 4);
    fill(view, offset);
    if (sizeBytes === 2) view.setUint16(offset + before, text.length, true);
    else view.setUint32(offset + before, text.length, true);
    view.setUint32(offset + before + sizeBytes, index, true);
    if (string === null) this.blob(Part.TEXT, text);
  }

  private decode(text: Uint8Array): string | null {
    if (text.length > MAX_STRING_BYTES || text.includes(0)) return null;
    try {
      return this.decoder.decode(text);
    } catch {
      return null;
    }
  }

  private blob(kind: number, bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += BYTES_PER_EVENT) {
      let value = 0n;
      const end = Math.min(at + BYTES_PER_EVENT, bytes.length);
      for (let i = end - 1; i >= at; i--) value = (value << 8n) | BigInt(bytes[i]);
      this.word(kind, at / BYTES_PER_EVENT, value);
    }
  }

  private word(kind: number, index: number, value: bigint): void {
    const { view, offset } = this.open(kind, 12);
    view.setUint32(offset, index, true);
    view.setBigUint64(offset + 4, value, true);
  }

  private pageTableWalk(record: StfRecord & { type: 50 }): void {
    const { view, offset } = this.open(record.type, 21);
    view.setBigUint64(offset, record.address, true);
    view.setBigUint64(offset + 8, record.firstIndex, true);
    view.setUint32(offset + 16, record.pageSize, true);
    view.setUint8(offset + 20, record.entries.length);
    for (const [i, { address, entry }] of record.entries.entries()) {
      const item = this.open(Part.PAGE_TABLE_ENTRY, 20);
      item.view.setUint32(item.offset, i, true);
      item.view.setBigUint64(item.offset + 4, address, true);
      item.view.setBigUint64(item.offset + 12, entry, true);
    }
  }

  private transaction(record: StfTransaction): void {
    const { view, offset: at } = this.open(record.type, 51);
    view.setBigUint64(at, record.id, true);
    view.setBigUint64(at + 8, record.delta, true);
    view.setUint8(at + 16, record.clock);
    view.setUint16(at + 17, record.metadata.length, true);
    view.setUint8(at + 19, record.channel);
    const { code = 0, param = 0, size = 0, source = 0n, data = new Uint8Array(0) } = record;
    for (const [i, byte] of [code, param, size].entries()) view.setUint8(at + 20 + i, byte);
    view.setBigUint64(at + 23, source, true);
    view.setUint16(at + 31, data.length, true);
    view.setBigUint64(at + 33, record.address ?? 0n, true);
    view.setUint16(at + 41, record.maskBits ?? 0, true);
    view.setBigUint64(at + 43, record.sink ?? 0n, true);
    for (const [i, { width, value }] of record.metadata.entries()) {
      const item = this.open(Part.METADATA, 13);
      item.view.setUint32(item.offset, i, true);
      item.view.setUint8(item.offset + 4, width);
      item.view.setBigUint64(item.offset + 5, value, true);
    }
    if (record.channel !== Channel.E) this.blob(Part.DATA, data);
    if (record.mask) this.blob(Part.MASK, record.mask);
  }

  private open(kind: number, size: number): { view: DataView; offset: number } {
    this.count();
    return this.batch.event(this.ids[kind], size);
  }
}
