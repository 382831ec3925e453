/** Turns the event that a cursor is at into events of a batch. */
import { toHex } from '../../base/hex.js';
import { MAX_STRING_BYTES } from '../../format/record.js';
import { StringOutput } from '../../stream/string-remap.js';
import type { RecordBatch } from '../../writer/records/record-batch.js';
import type { ConversionReport, Tally } from '../common/report.js';
import { exactEnd, sizeAt } from './args.js';
import type { EventCursor } from './cursor.js';
import { HEX_BYTES, RAW_PREFIX_BYTES } from './mapping.js';
import type { MappedSchema, Pair, Roster } from './roster.js';
import { decodeText, isPlain } from './text.js';
import { ArgType, argBytes, type CtraceFormat } from './types.js';

/** What an event of a format needs, besides its category. */
interface Shape {
  readonly hasStrings: boolean;
  readonly payloadBytes: number;
}

const STRING_REF_BYTES = 4;

export class EventEmitter {
  readonly strings: StringOutput;
  private readonly shapes = new Map<CtraceFormat, Shape>();
  /** String numbers of the present event. */
  private readonly refs: number[] = [];
  private readonly kept: Tally;
  private readonly inHex: Tally;

  constructor(
    private readonly roster: Roster,
    private readonly mapped: MappedSchema,
    private readonly batch: RecordBatch,
    /** Called before each event. */
    private readonly count: () => void,
    report: ConversionReport,
  ) {
    this.strings = new StringOutput(batch);
    this.kept = report.kept('events', 'events of their unit, arguments as fields');
    this.inHex = report.kept('events whose arguments cannot be separated', 'in hexadecimal digits');
  }

  emit(cursor: EventCursor): void {
    const pair = this.roster.find(cursor.formatId, cursor.source);
    if (pair?.format && pair.eventType >= 0 && this.emitTyped(cursor, pair.eventType, pair.format)) {
      this.kept.count++;
      return;
    }
    this.inHex.count++;
    this.emitHex(cursor, pair);
  }

  late(cycleLo: number, cycleHi: number): void {
    const { view, offset } = this.open(this.mapped.meta.late, 8);
    view.setUint32(offset, cycleLo, true);
    view.setUint32(offset + 4, cycleHi, true);
  }

  /** False when the arguments are not what the format says, or a string is none that µScope can keep. */
  private emitTyped(cursor: EventCursor, eventType: number, format: CtraceFormat): boolean {
    const end = exactEnd(cursor, format.argTypes);
    if (end < 0) return false;
    const { hasStrings, payloadBytes } = this.shapeOf(format);
    if (hasStrings && !this.addStrings(cursor, end, format.argTypes)) return false;
    const { view, offset } = this.open(eventType, payloadBytes);
    const at = hasStrings
      ? this.copyArgs(cursor, format.argTypes, view, offset)
      : copy(cursor.bytes, cursor.argsAt, end, view, offset);
    view.setUint32(at, cursor.category, true);
    return true;
  }

  /** Strings go into the batch before the event that names them. */
  private addStrings({ bytes, argsAt }: EventCursor, end: number, types: readonly number[]): boolean {
    this.refs.length = 0;
    let at = argsAt;
    for (const type of types) {
      const size = sizeAt(bytes, at, end, type);
      if (type === ArgType.STRING) {
        const text = size <= MAX_STRING_BYTES ? decodeText(bytes.subarray(at, at + size - 1)) : null;
        if (text === null || !isPlain(text)) return false;
        this.refs.push(this.strings.add(text));
      }
      at += size;
    }
    return true;
  }

  private copyArgs(
    { bytes, argsAt, argsEnd }: EventCursor,
    types: readonly number[],
    view: DataView,
    offset: number,
  ): number {
    let [from, to, string] = [argsAt, offset, 0];
    for (const type of types) {
      const size = sizeAt(bytes, from, argsEnd, type);
      if (type === ArgType.STRING) {
        view.setUint32(to, this.refs[string++], true);
        to += STRING_REF_BYTES;
      } else to = copy(bytes, from, from + size, view, to);
      from += size;
    }
    return to;
  }

  /** As an event of the unit where the format is unknown, else as `raw`, which names both. */
  private emitHex(cursor: EventCursor, pair: Pair | undefined): void {
    const { bytes, argsAt, argsEnd, argCount, category, formatId, source } = cursor;
    const isOwn = pair !== undefined && pair.format === null && pair.eventType >= 0;
    const size = argsEnd - argsAt;
    for (let part = 0; part === 0 || part * HEX_BYTES < size; part++) {
      const from = argsAt + part * HEX_BYTES;
      const piece = bytes.subarray(from, Math.min(argsEnd, from + HEX_BYTES));
      const index = this.strings.add(toHex(piece));
      const prefix = isOwn ? 0 : RAW_PREFIX_BYTES;
      const { view, offset } = this.open(isOwn ? pair.eventType : this.mapped.meta.raw, prefix + 13);
      if (!isOwn) {
        view.setUint32(offset, formatId, true);
        view.setUint16(offset + 4, source, true);
      }
      const at = offset + prefix;
      view.setUint8(at, argCount);
      view.setUint16(at + 1, size, true);
      view.setUint16(at + 3, part, true);
      view.setUint32(at + 5, index, true);
      view.setUint32(at + 9, category, true);
    }
  }

  private shapeOf(format: CtraceFormat): Shape {
    const known = this.shapes.get(format);
    if (known) return known;
    const { argTypes } = format;
    const bytes = argTypes.reduce(
      (sum, type) => sum + (type === ArgType.STRING ? STRING_REF_BYTES : argBytes(type)),
      4,
    );
    const shape = { hasStrings: argTypes.includes(ArgType.STRING), payloadBytes: bytes };
    this.shapes.set(format, shape);
    return shape;
  }

  private open(type: number, size: number): { view: DataView; offset: number } {
    this.count();
    return this.batch.event(type, size);
  }
}

function copy(bytes: Uint8Array, from: number, end: number, view: DataView, to: number): number {
  let at = to;
  for (let i = from; i < end; i++) view.setUint8(at++, bytes[i]);
  return at;
}
