/** The streams and generators for the scopes, storages and events of a trace, and the attributes of their fields. */
import {
  type DutProperties,
  type FieldDef,
  FieldType,
  NO_ID,
  type Schema,
  SF_BUFFER,
  SF_SPARSE,
  scopePath,
} from '../../format/types.js';
import { interpret } from '../../reader/index.js';
import { type FtrAttribute, FtrPhase, FtrType } from './types.js';
import type { FtrWriter } from './writer.js';

const META_STREAM = 'uscope.meta';
const META_KIND = 'uscope';
const DEFAULT_KIND = 'scope';
const ROOT_NAME = 'root';
const EVENTS_SUFFIX = '.events';
export const PARENT_OF = 'parent_of';

/** Where the transactions of a storage go; ids are those of generators, 0n where there is none. */
export interface StorageOut {
  readonly writer: FtrWriter;
  readonly stream: bigint;
  /** Slots come and go: each lifetime is a transaction. */
  readonly hasLifetimes: boolean;
  readonly generator: bigint;
  readonly changes: bigint;
  readonly properties: bigint;
  /** The slot is given where there are several. */
  readonly tellsSlot: boolean;
}

export interface EventOut {
  readonly writer: FtrWriter;
  readonly stream: bigint;
  readonly generator: bigint;
}

export class TraceStreams {
  readonly storages: readonly StorageOut[];
  readonly events: readonly EventOut[];
  private nextId = 1n;

  /** @param writerOf the file of a scope */
  constructor(schema: Schema, dut: DutProperties, writerOf: (scopeId: number) => FtrWriter) {
    const isUsed = new Set([...schema.storages, ...schema.events].map(({ scopeId }) => rootedId(scopeId)));
    const streams = new Map<number, bigint>();
    const writers = new Set([...isUsed].map(writerOf));
    for (const writer of writers.size > 0 ? writers : [writerOf(0)]) this.meta(writer, schema, dut);
    for (const { scopeId, protocol } of schema.scopes) {
      if (!isUsed.has(scopeId)) continue;
      const id = this.nextId++;
      streams.set(scopeId, id);
      writerOf(scopeId).stream(id, scopePath(schema, scopeId) || ROOT_NAME, protocol ?? DEFAULT_KIND);
    }
    this.storages = schema.storages.map(({ name, scopeId, flags, numSlots, fields, properties }) => {
      const writer = writerOf(rootedId(scopeId));
      const stream = streams.get(rootedId(scopeId)) ?? 0n;
      const hasLifetimes = (flags & (SF_SPARSE | SF_BUFFER)) !== 0;
      return {
        writer,
        stream,
        hasLifetimes,
        tellsSlot: hasLifetimes || numSlots > 1,
        generator: fields.length > 0 ? this.generator(writer, name, stream) : 0n,
        changes: hasLifetimes ? this.generator(writer, name + EVENTS_SUFFIX, stream) : 0n,
        properties: properties.length > 0 ? this.generator(writer, `${name}.properties`, stream) : 0n,
      };
    });
    this.events = schema.events.map(({ name, scopeId }) => {
      const writer = writerOf(rootedId(scopeId));
      const stream = streams.get(rootedId(scopeId)) ?? 0n;
      return { writer, stream, generator: this.generator(writer, name, stream) };
    });
  }

  private generator(writer: FtrWriter, name: string, stream: bigint): bigint {
    const id = this.nextId++;
    writer.generator(id, name, stream);
    return id;
  }

  /** Clocks and DUT properties, as transactions at time 0. */
  private meta(writer: FtrWriter, { clocks }: Schema, dut: DutProperties): void {
    const stream = this.nextId++;
    writer.stream(stream, META_STREAM, META_KIND);
    const [clock, property] = [
      this.generator(writer, 'clock', stream),
      this.generator(writer, 'property', stream),
    ];
    const tell = (generator: bigint, attributes: readonly FtrAttribute[]): void => {
      const id = this.takeTransaction();
      writer.transaction({ id, stream, generator, start: 0n, end: 0n, attributes });
    };
    for (const { name, periodPs } of clocks)
      tell(clock, [textAttribute('name', name), unsigned('period_ps', BigInt(periodPs))]);
    for (const [key, value] of dut)
      tell(property, [textAttribute('key', key), textAttribute('value', value)]);
  }

  private transactions = 0n;

  /** The id of another transaction. */
  takeTransaction(): bigint {
    return ++this.transactions;
  }
}

/** Root level is 0xFFFF on disk; 0, the root scope itself, means the same. */
export function rootedId(scopeId: number): number {
  return scopeId === NO_ID ? 0 : scopeId;
}

export function unsigned(name: string, value: bigint, phase: FtrPhase = FtrPhase.BEGIN): FtrAttribute {
  return { phase, name, type: FtrType.UNSIGNED, value };
}

function textAttribute(name: string, value: string): FtrAttribute {
  return { phase: FtrPhase.BEGIN, name, type: FtrType.STRING, value };
}

/** A field's value as attributes: an enum is its label and, after it, its number. */
export class FieldAttributes {
  private readonly labels: readonly ReadonlyMap<number, string>[];

  constructor(
    { enums }: Schema,
    private readonly text: (index: number) => string,
  ) {
    this.labels = enums.map(({ values }) => new Map(values.map(({ value, name }) => [value, name])));
  }

  label({ enumId }: FieldDef, raw: bigint): string {
    return this.labels[enumId]?.get(Number(raw)) ?? String(raw);
  }

  /** @param raw as stored */
  add(out: FtrAttribute[], field: FieldDef, raw: bigint): void {
    const { name, type } = field;
    const phase = FtrPhase.BEGIN;
    if (type === FieldType.ENUM) {
      out.push({ phase, name, type: FtrType.ENUMERATION, value: this.label(field, raw) });
      out.push(unsigned(`${name}.value`, raw));
    } else if (type === FieldType.STRING_REF) out.push(textAttribute(name, this.text(Number(raw))));
    else if (type === FieldType.BOOL) out.push({ phase, name, type: FtrType.BOOLEAN, value: raw !== 0n });
    else if (type >= FieldType.I8 && type <= FieldType.I64)
      out.push({ phase, name, type: FtrType.INTEGER, value: interpret(type, raw) });
    else out.push(unsigned(name, raw));
  }
}
