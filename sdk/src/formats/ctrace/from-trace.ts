/** Any µScope trace to .ctrace: every event and every op of a storage as an event of its scope, at the cycle of one clock. */

import { CursorItem, type FrameCursor } from '../../format/frame.js';
import {
  Action,
  type FieldDef,
  FieldType,
  NO_ID,
  type Schema,
  type StorageDef,
  scopePath,
} from '../../format/types.js';
import { payloadLayout, type Trace } from '../../reader/index.js';
import { wordAt } from '../common/event-values.js';
import type { ConversionContext } from '../common/foreign-format.js';
import { itemsWithTexts } from '../common/items-with-texts.js';
import type { ConversionReport, Tally } from '../common/report.js';
import {
  ArgType,
  argBytes,
  type CtraceFormat,
  type CtraceSchema,
  type CtraceUnit,
  MAX_ARGS_BYTES,
} from './types.js';
import { type CtraceOutput, CtraceWriter, type CtraceWriterOptions } from './writer.js';

const encoder = new TextEncoder();

/** @throws UscopeError READER_NAME (option `clock`), FORMAT_* */
export async function traceToCtrace(
  trace: Trace,
  output: CtraceOutput,
  options: CtraceWriterOptions,
  context: ConversionContext,
): Promise<void> {
  const formats = formatsOf(trace.schema, trace.dutProperty('dut_name') ?? '');
  const writer = new CtraceWriter(output, { ...options, schema: formats.schema });
  reportSchema(trace, context.report);
  const emission = new Export(trace, formats, writer, context);
  let isFirst = true;
  for await (const items of itemsWithTexts(trace, context)) {
    if (isFirst && items.segment.header.timeStartPs > 0n) await reportStart(trace, context.report);
    isFirst = false;
    while (items.next()) {
      emission.take(items.cursor);
      if (writer.isFull) await writer.flush();
    }
  }
  emission.end();
  await writer.close();
}

/** What a schema says beyond names and types of fields has no place in .ctrace. */
function reportSchema({ schema, dut }: Trace, report: ConversionReport): void {
  const why = '.ctrace has no place for them';
  report.dropped('DUT properties', why).count += dut.filter(([key]) => key !== 'dut_name').length;
  report.dropped('storage definitions', 'of storages only the ops are there').count += schema.storages.length;
  report.dropped('clocks', 'cycles are those of one clock').count += Math.max(0, schema.clocks.length - 1);
  report.dropped('summary fields', why).count += schema.summaryFields.length;
  report.approximated('enums', 'values by their names').count += schema.enums.length;
}

/** A part of a longer trace begins with what was stored before. */
async function reportStart(trace: Trace, report: ConversionReport): Promise<void> {
  const { raw } = await trace.stateBefore(0);
  if (raw.cells.some((cell) => cell !== 0)) {
    report.dropped('state before the first frame', 'events tell of changes only').count++;
  }
}

class Export {
  private readonly periodPs: bigint;
  private readonly events: readonly (readonly FieldDef[])[];
  private readonly offsets: readonly (readonly number[])[];
  private readonly enumTexts: readonly (readonly Uint8Array[])[];
  private readonly args = new Uint8Array(MAX_ARGS_BYTES);
  private used = 0;
  private cycle = 0n;
  private isBetween = false;
  /** The present frame is empty so far. */
  private isEmpty = false;
  private readonly tallies: Readonly<
    Record<'events' | 'ops' | 'between' | 'empty' | 'cut' | 'fields', Tally>
  >;

  constructor(
    private readonly trace: Trace,
    private readonly formats: TraceFormats,
    private readonly writer: CtraceWriter,
    { report, options }: ConversionContext,
  ) {
    const { schema } = trace;
    this.periodPs = periodOf(trace, options.get('clock'), report);
    this.events = schema.events.map(({ fields }) => fields.slice(0, MAX_FIELDS));
    this.offsets = schema.events.map(({ fields }) => payloadLayout(fields).offsets);
    this.enumTexts = enumTexts(schema);
    this.tallies = {
      events: report.kept('events', 'a format for each type'),
      ops: report.approximated('ops of storages', 'as messages storage.set, .clear, .add, .prop'),
      between: report.approximated('times between cycles', 'at the cycle in which they lie'),
      empty: report.dropped('frames without items', '.ctrace knows only events'),
      cut: report.approximated('strings', 'cut: the arguments of an event have 65,535 bytes'),
      fields: report.dropped('fields of events', 'more than 255 of an event'),
    };
  }

  take(cursor: FrameCursor): void {
    if (cursor.kind === CursorItem.FRAME) {
      this.frame(cursor.timePs);
      return;
    }
    this.isEmpty = false;
    if (this.isBetween) this.tallies.between.count++;
    if (cursor.kind === CursorItem.OP) this.op(cursor);
    else this.event(cursor);
  }

  end(): void {
    if (this.isEmpty) this.tallies.empty.count++;
    this.isEmpty = false;
  }

  private frame(timePs: bigint): void {
    this.end();
    this.isEmpty = true;
    this.cycle = timePs / this.periodPs;
    this.isBetween = timePs % this.periodPs !== 0n;
  }

  private event({ bytes, eventType, payloadOffset }: FrameCursor): void {
    const fields = this.events[eventType];
    const offsets = this.offsets[eventType];
    this.used = 0;
    for (const [i, field] of fields.entries()) {
      const at = payloadOffset + offsets[i];
      const [lo, hi] = [wordAt(bytes, at, sizeOf(field)), wordAt(bytes, at + 4, sizeOf(field) - 4)];
      this.put(field, lo, hi, reserved(fields, i));
    }
    this.tallies.events.count++;
    this.tallies.fields.count += offsets.length - fields.length;
    this.emit(eventFormat(eventType), this.trace.schema.events[eventType].scopeId, fields.length);
  }

  private op({ action, storageId, slot, field, lo, hi }: FrameCursor): void {
    const storage = this.trace.schema.storages[storageId];
    const ids = this.formats.storages[storageId];
    this.used = 0;
    this.tallies.ops.count++;
    if (action === Action.PROP_SET) {
      this.put(storage.properties[field], lo, hi, 0);
      this.emit(ids.prop + field, storage.scopeId, 1);
      return;
    }
    this.bits(slot, 0, 2);
    if (action === Action.SET) this.put(storage.fields[field], lo, hi, 0);
    if (action === Action.ADD) this.bits(lo, hi, 8);
    const id = action === Action.SET ? ids.set + field : action === Action.ADD ? ids.add + field : ids.clear;
    this.emit(id, storage.scopeId, action === Action.CLEAR ? 1 : 2);
  }

  /** @param behind bytes that the fields after this one need */
  private put(field: FieldDef, lo: number, hi: number, behind: number): void {
    if (field.type === FieldType.STRING_REF) {
      this.text(encoder.encode(this.trace.strings.peek(lo) ?? `#${lo}`), behind);
    } else if (field.type === FieldType.ENUM) {
      this.text(this.enumTexts[field.enumId]?.[lo & 0xff] ?? encoder.encode(String(lo & 0xff)), behind);
    } else if (field.type === FieldType.BOOL) this.bits(lo & 0xff ? 1 : 0, 0, 1);
    else this.bits(lo, hi, argBytes(argTypeOf(field)));
  }

  /** A text ends at its first NUL: so do those of .ctrace. */
  private text(bytes: Uint8Array, behind: number): void {
    const nul = bytes.indexOf(0);
    const length = nul < 0 ? bytes.length : nul;
    let end = Math.min(length, MAX_ARGS_BYTES - behind - this.used - 1);
    if (end < length) while (end > 0 && (bytes[end] & 0xc0) === 0x80) end--; // not inside a character
    if (end < bytes.length) this.tallies.cut.count++;
    this.args.set(bytes.subarray(0, end), this.used);
    this.used += end;
    this.args[this.used++] = 0;
  }

  private bits(lo: number, hi: number, size: number): void {
    for (let i = 0; i < size; i++)
      this.args[this.used++] = (i < 4 ? lo >>> (8 * i) : hi >>> (8 * i - 32)) & 0xff;
  }

  private emit(formatId: number, scopeId: number, argCount: number): void {
    const head = { cycle: this.cycle, formatId, category: 0, source: unitOf(scopeId) };
    this.writer.rawEvent(head, argCount, this.args.subarray(0, this.used));
  }
}

/** Without a clock whose period is known a cycle is a picosecond. */
function periodOf(trace: Trace, name: string | undefined, report: ConversionReport): bigint {
  if (name === undefined && trace.schema.clocks.length === 0) return withoutClock(report);
  const { periodPs } = trace.clock(name);
  return periodPs > 0 ? BigInt(periodPs) : withoutClock(report);
}

function withoutClock(report: ConversionReport): bigint {
  report.approximated('cycles', 'no clock with a period: cycles are picoseconds').count++;
  return 1n;
}

/** Name of each value, as the bytes of a string. */
function enumTexts({ enums }: Schema): Uint8Array[][] {
  return enums.map(({ values }) => {
    const texts: Uint8Array[] = [];
    for (const { value, name } of values) texts[value] = encoder.encode(name);
    return texts;
  });
}

/** Bytes that fields need at least, texts empty. */
function reserved(fields: readonly FieldDef[], after: number): number {
  let size = 0;
  for (let i = after + 1; i < fields.length; i++) size += Math.max(1, argBytes(argTypeOf(fields[i])));
  return size;
}

function sizeOf(field: FieldDef): number {
  const type = argTypeOf(field);
  if (type !== ArgType.STRING) return argBytes(type);
  return field.type === FieldType.STRING_REF ? 4 : 1;
}

// Any µScope trace as formats of .ctrace: `event f={} g={}` per event type, `storage.set slot={} f={}` per field of a storage.

/** Events count their arguments in a byte. */
export const MAX_FIELDS = 255;

const ARG_TYPES: Readonly<Record<FieldType, number>> = {
  [FieldType.U8]: ArgType.UINT8,
  [FieldType.U16]: ArgType.UINT16,
  [FieldType.U32]: ArgType.UINT32,
  [FieldType.U64]: ArgType.UINT64,
  [FieldType.I8]: ArgType.INT8,
  [FieldType.I16]: ArgType.INT16,
  [FieldType.I32]: ArgType.INT32,
  [FieldType.I64]: ArgType.INT64,
  [FieldType.BOOL]: ArgType.BOOL,
  [FieldType.STRING_REF]: ArgType.STRING,
  [FieldType.ENUM]: ArgType.STRING,
};

/** Format ids of a storage's ops: `set` and `add` plus the field, `prop` plus the property. */
export interface StorageFormats {
  readonly set: number;
  readonly add: number;
  readonly clear: number;
  readonly prop: number;
}

export interface TraceFormats {
  readonly schema: CtraceSchema;
  readonly storages: readonly StorageFormats[];
}

/** Id of an event type's format. */
export const eventFormat = (eventTypeId: number): number => eventTypeId + 1;

export function argTypeOf({ type }: FieldDef): number {
  return ARG_TYPES[type];
}

/** Unit of a definition: its scope; 0 for none and the root, which have no name. */
export function unitOf(scopeId: number): number {
  return scopeId === NO_ID ? 0 : scopeId;
}

export function formatsOf(schema: Schema, simulationName: string): TraceFormats {
  const formats: CtraceFormat[] = schema.events.map(({ name, eventTypeId, fields }) => {
    const shown = fields.slice(0, MAX_FIELDS);
    const text = [name, ...shown.map((field) => `${field.name}={}`)].join(' ');
    return formatOf(eventFormat(eventTypeId), text, shown.map(argTypeOf));
  });
  const storages = schema.storages.map((storage) => addStorage(storage, formats));
  const units: CtraceUnit[] = schema.scopes
    .filter(({ scopeId }) => scopeId !== 0)
    .map(({ scopeId, protocol }) => ({
      id: scopeId,
      name: scopePath(schema, scopeId),
      typeName: protocol ?? '',
    }));
  return {
    schema: { version: 1, formats, categories: [], units, simulationName, configHash: 0n },
    storages,
  };
}

function addStorage({ name, fields, properties }: StorageDef, formats: CtraceFormat[]): StorageFormats {
  const next = (): number => formats.length + 1;
  const add = (text: string, ...types: readonly number[]): void =>
    void formats.push(formatOf(next(), text, types));
  const set = next();
  for (const field of fields) add(`${name}.set slot={} ${field.name}={}`, ArgType.UINT16, argTypeOf(field));
  const adds = next();
  for (const field of fields) add(`${name}.add slot={} ${field.name}={}`, ArgType.UINT16, ArgType.INT64);
  const clear = next();
  add(`${name}.clear slot={}`, ArgType.UINT16);
  const prop = next();
  for (const property of properties) add(`${name}.prop ${property.name}={}`, argTypeOf(property));
  return { set, add: adds, clear, prop };
}

function formatOf(id: number, text: string, argTypes: readonly number[]): CtraceFormat {
  return { id, text, file: '', line: 0, argTypes, isLog: false, logLevel: 0 };
}
