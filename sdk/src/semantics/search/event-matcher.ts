/** The events of a trace that a term of a pattern means. */
import { UscopeError } from '../../base/errors.js';
import { CursorItem, type FrameCursor } from '../../format/frame.js';
import { type EnumDef, type EventDef, FieldType } from '../../format/types.js';
import { joinPieces, logicalFields, wideText } from '../../format/wide-fields.js';
import { membersOf } from '../../protocols/index.js';
import {
  checkConditionValues,
  interpret,
  isStringRef,
  type LoadedSegment,
  payloadLayout,
  readRaw,
  type Trace,
} from '../../reader/index.js';
import { placeInSegment } from '../../reader/segment-loader.js';
import type { CpuCore } from '../cpu/cores.js';
import type { EventTerm, FieldCondition } from './pattern.js';

/** Fields that say which instruction an event is about. */
const NAMING_FIELDS = ['entity_id', 'dst_id'];

/** An event type that is wanted. */
export interface WantedEvent {
  readonly name: string;
  readonly fields: readonly FieldReader[];
  readonly tests: readonly { readonly reader: FieldReader; readonly condition: FieldCondition }[];
  /** The field with the id of the instruction it is about; null: it is about the core or about something else. */
  readonly subject: FieldReader | null;
  /** The payload has this size. */
  readonly size: number;
}

/** One value of a payload. */
export interface FieldReader {
  readonly name: string;
  readonly isString: boolean;
  raw(cursor: FrameCursor): bigint;
  shown(value: bigint): string;
}

/** Of a wide field: its raw value has the unknown bits above the others. */
class WideReader implements FieldReader {
  readonly isString = false;

  constructor(
    readonly name: string,
    private readonly bits: number,
    private readonly pieces: readonly FieldReader[],
    private readonly unknown: readonly FieldReader[],
  ) {}

  raw(cursor: FrameCursor): bigint {
    const joined = (readers: readonly FieldReader[]): bigint =>
      joinPieces(readers.map((reader) => reader.raw(cursor)));
    return joined(this.pieces) | (joined(this.unknown) << BigInt(64 * this.pieces.length));
  }

  shown(value: bigint): string {
    const width = 64 * this.pieces.length;
    return wideText(this.bits, BigInt.asUintN(width, value), value >> BigInt(width));
  }
}

class PlainReader implements FieldReader {
  readonly isString: boolean;
  private readonly labels: ReadonlyMap<bigint, string> | null;

  constructor(
    readonly name: string,
    private readonly type: FieldType,
    private readonly offset: number,
    labels: EnumDef | undefined,
    private readonly trace: Trace,
    isString: boolean,
  ) {
    this.isString = isString;
    // Where a value has two labels the first one counts.
    const entries = [...(labels?.values ?? [])].reverse();
    this.labels = labels ? new Map(entries.map(({ value, name }) => [BigInt(value), name] as const)) : null;
  }

  raw({ bytes, payloadOffset }: FrameCursor): bigint {
    return interpret(this.type, readRaw(bytes, payloadOffset + this.offset, this.type));
  }

  shown(value: bigint): string {
    if (this.isString) return this.trace.strings.peek(Number(value)) ?? String(value);
    return this.labels?.get(value) ?? String(value);
  }
}

export class EventMatcher {
  private readonly wanted = new Map<number, WantedEvent>();
  private readonly hasStrings: boolean;
  private readonly testsStrings: boolean;

  /** @param scopes of the cores asked for; null: any. @throws UscopeError READER_NAME */
  constructor(
    private readonly trace: Trace,
    { role, name, conditions }: EventTerm,
    cores: readonly CpuCore[],
    scopes: readonly number[] | null,
  ) {
    const defs = role
      ? cores.flatMap((core) => core.events.get(role)?.def ?? [])
      : eventsNamed(trace, name, scopes);
    const inCores = new Set(cores.flatMap(({ scopeId }) => [...membersOf(trace.schema, scopeId)]));
    for (const def of defs) {
      const one = wantedOf(trace, def, conditions, inCores.has(def.scopeId));
      if (one) this.wanted.set(def.eventTypeId, one);
    }
    if (this.wanted.size === 0) throw nothing(name, conditions, defs.length > 0);
    for (const { field, value } of conditions) this.checkValue(field, value);
    const all = [...this.wanted.values()];
    this.hasStrings = all.some(({ fields }) => fields.some(({ isString }) => isString));
    this.testsStrings = all.some(({ tests }) => tests.some(({ reader }) => reader.isString));
  }

  private checkValue(name: string, value: string): void {
    const { schema, names } = this.trace;
    const asked = [...this.wanted.keys()].flatMap((type) =>
      schema.events[type].fields
        .filter((field) => field.name === name)
        .map((field) => ({ owner: names.eventNames[type], field, value })),
    );
    checkConditionValues(schema, asked);
  }

  /** Types of the events that may match. */
  get eventTypes(): readonly number[] {
    return [...this.wanted.keys()];
  }

  /** Calls `use` with every event of a segment that matches, in the order of the file. @param allStrings those of all fields are loaded */
  async match(
    segment: LoadedSegment,
    use: (cursor: FrameCursor, wanted: WantedEvent) => void,
    allStrings = false,
  ): Promise<void> {
    if (this.testsStrings || (allStrings && this.hasStrings)) await this.loadStrings(segment);
    this.each(segment, (cursor, wanted) => {
      const isMatch = wanted.tests.every(({ reader, condition }) =>
        holds(reader, reader.raw(cursor), condition),
      );
      if (isMatch) use(cursor, wanted);
    });
  }

  private async loadStrings(segment: LoadedSegment): Promise<void> {
    const strings = new Set<number>();
    this.each(segment, (cursor, { fields }) => {
      for (const field of fields) if (field.isString) strings.add(Number(field.raw(cursor)));
    });
    await this.trace.strings.load(strings);
  }

  private each(segment: LoadedSegment, use: (cursor: FrameCursor, wanted: WantedEvent) => void): void {
    const cursor = segment.cursor();
    try {
      while (cursor.next()) {
        if (cursor.kind !== CursorItem.EVENT) continue;
        const wanted = this.wanted.get(cursor.eventType);
        if (wanted && cursor.payloadSize === wanted.size) use(cursor, wanted);
      }
    } catch (error) {
      throw placeInSegment(error, segment);
    }
  }
}

function holds(reader: FieldReader, value: bigint, condition: FieldCondition): boolean {
  return (condition.number !== null && value === condition.number) || reader.shown(value) === condition.value;
}

/** By scope path; by their own name those of all scopes, or of the cores asked for. @throws UscopeError READER_NAME */
function eventsNamed(trace: Trace, name: string, scopes: readonly number[] | null): readonly EventDef[] {
  const own = trace.schema.events.filter((def) => def.name === name);
  const defs = own.length > 0 ? own : [trace.names.event(name)];
  return scopes ? defs.filter(({ scopeId }) => scopes.includes(scopeId)) : defs;
}

/** Null where the event has not all the fields. */
function wantedOf(
  trace: Trace,
  def: EventDef,
  conditions: readonly FieldCondition[],
  isOfCore: boolean,
): WantedEvent | null {
  const { offsets, size } = payloadLayout(def.fields);
  const plain = def.fields.map((field, index) => {
    const labels = field.type === FieldType.ENUM ? trace.schema.enums[field.enumId] : undefined;
    return new PlainReader(field.name, field.type, offsets[index], labels, trace, isStringRef(field));
  });
  const fields = logicalFields(def.fields).map(({ name, bits, pieces, unknown }): FieldReader => {
    if (bits === 0) return plain[pieces[0]];
    const readers = (indices: readonly number[]): FieldReader[] => indices.map((index) => plain[index]);
    return new WideReader(name, bits, readers(pieces), readers(unknown));
  });
  const tests = conditions.flatMap((condition) => {
    const reader = fields.find(({ name }) => name === condition.field);
    return reader ? [{ reader, condition }] : [];
  });
  if (tests.length !== conditions.length) return null;
  const subject = isOfCore ? fields.find(({ name }) => NAMING_FIELDS.includes(name)) : undefined;
  return { name: trace.names.eventNames[def.eventTypeId], fields, tests, subject: subject ?? null, size };
}

function nothing(name: string, conditions: readonly FieldCondition[], isKnown: boolean): UscopeError {
  const fields = conditions.map(({ field }) => `"${field}"`).join(', ');
  const problem = isKnown
    ? `no event "${name}" has the field ${fields}`
    : `the trace has no event "${name}" of a core`;
  return new UscopeError('READER_NAME', problem);
}
