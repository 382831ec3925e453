/** Searches the events of a segment. */
import { UscopeError } from '../../base/errors.js';
import { CursorItem, type FrameCursor } from '../../format/frame.js';
import { type EnumDef, type EventDef, FieldType } from '../../format/types.js';
import { interpret, isStringRef, payloadLayout, readRaw, type Trace } from '../../reader/index.js';
import { placeInSegment } from '../../reader/segment-loader.js';
import type { CpuCore } from '../cpu/cores.js';
import type { FieldCondition, Pattern } from './pattern.js';
import type { SearchCall, SearchRange } from './search-call.js';

/** An event that matches. */
export interface FoundEvent {
  readonly kind: 'event';
  readonly timePs: bigint;
  /** Scope path and name. */
  readonly event: string;
  /** Labels, strings, and numbers in decimal, by field. */
  readonly fields: Readonly<Record<string, string>>;
}

interface Wanted {
  readonly name: string;
  readonly fields: readonly FieldReader[];
  readonly tests: readonly { readonly reader: FieldReader; readonly condition: FieldCondition }[];
  /** The payload has this size. */
  readonly size: number;
}

/** One field of a payload. */
class FieldReader {
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

export class EventSearch {
  private readonly wanted = new Map<number, Wanted>();
  private readonly hasStrings: boolean;

  /** @param scopes of the cores asked for; null: any. @throws UscopeError READER_NAME */
  constructor(
    private readonly trace: Trace,
    pattern: Extract<Pattern, { kind: 'event' }>,
    cores: readonly CpuCore[],
    scopes: readonly number[] | null,
  ) {
    const { role, name, conditions } = pattern;
    const defs = role
      ? cores.flatMap((core) => core.events.get(role)?.def ?? [])
      : eventsNamed(trace, name, scopes);
    for (const def of defs) {
      const one = wantedOf(trace, def, conditions);
      if (one) this.wanted.set(def.eventTypeId, one);
    }
    if (this.wanted.size === 0) throw nothing(name, conditions, defs.length > 0);
    this.hasStrings = [...this.wanted.values()].some(({ fields }) => fields.some(({ isString }) => isString));
  }

  /** Segment by segment, in file order. */
  async *search(
    range: SearchRange,
    { signal, pause, progress }: SearchCall,
  ): AsyncGenerator<readonly FoundEvent[]> {
    const { trace } = this;
    if (trace.segmentCount === 0) return;
    const first = await trace.firstSegmentReaching(range.from);
    const last = range.to === null ? trace.segmentCount - 1 : await trace.segmentAt(range.to - 1n);
    for (let segment = first; segment <= last; segment++) {
      signal?.throwIfAborted();
      await pause?.();
      progress?.((segment - first) / (last - first + 1));
      yield await this.inSegment(segment, range);
    }
  }

  private async inSegment(segment: number, { from, to }: SearchRange): Promise<FoundEvent[]> {
    const loaded = await this.trace.loadSegment(segment);
    const each = (use: (cursor: FrameCursor, wanted: Wanted) => void): void => {
      const cursor = loaded.cursor();
      try {
        while (cursor.next()) {
          if (cursor.kind !== CursorItem.EVENT) continue;
          const wanted = this.wanted.get(cursor.eventType);
          if (!wanted || cursor.payloadSize !== wanted.size) continue;
          const { timePs } = cursor;
          if (timePs >= from && (to === null || timePs < to)) use(cursor, wanted);
        }
      } catch (error) {
        throw placeInSegment(error, loaded);
      }
    };
    if (this.hasStrings) {
      const strings = new Set<number>();
      each((cursor, { fields }) => {
        for (const field of fields) if (field.isString) strings.add(Number(field.raw(cursor)));
      });
      await this.trace.strings.load(strings);
    }
    const found: FoundEvent[] = [];
    each((cursor, { name, fields, tests }) => {
      if (!tests.every(({ reader, condition }) => holds(reader, reader.raw(cursor), condition))) return;
      found.push({
        kind: 'event',
        timePs: cursor.timePs,
        event: name,
        fields: Object.fromEntries(fields.map((field) => [field.name, field.shown(field.raw(cursor))])),
      });
    });
    return found;
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
function wantedOf(trace: Trace, def: EventDef, conditions: readonly FieldCondition[]): Wanted | null {
  const { offsets, size } = payloadLayout(def.fields);
  const fields = def.fields.map((field, index) => {
    const labels = field.type === FieldType.ENUM ? trace.schema.enums[field.enumId] : undefined;
    return new FieldReader(field.name, field.type, offsets[index], labels, trace, isStringRef(field));
  });
  const tests = conditions.flatMap((condition) => {
    const reader = fields.find(({ name }) => name === condition.field);
    return reader ? [{ reader, condition }] : [];
  });
  const name = trace.names.eventNames[def.eventTypeId];
  return tests.length === conditions.length ? { name, fields, tests, size } : null;
}

function nothing(name: string, conditions: readonly FieldCondition[], isKnown: boolean): UscopeError {
  const fields = conditions.map(({ field }) => `"${field}"`).join(', ');
  const problem = isKnown
    ? `no event "${name}" has the field ${fields}`
    : `the trace has no event "${name}" of a core`;
  return new UscopeError('READER_NAME', problem);
}
