/** The first pass over a file: which formats each unit uses. From it follows the schema of the µScope trace. */
import { MAX_STRING_POOL_BYTES } from '../../format/string-pool.js';
import { type DutProperties, qualifiedName, type Schema } from '../../format/types.js';
import { type Fields, SchemaBuilder } from '../../schema/index.js';
import type { EventCursor } from './cursor.js';
import {
  CREATED_PROPERTY,
  FLAGS_PROPERTY,
  fieldType,
  HEX_FIELDS,
  MAPPING_PROPERTY,
  MAPPING_VERSION,
  META_EVENTS,
  META_NAMES,
  META_SCOPE,
  type MetaEvent,
  PERIOD_PROPERTY,
  VERSION_PROPERTY,
} from './mapping.js';
import { argNames, cleanName, messageName, unique } from './names.js';
import type { CtraceFile } from './reader.js';
import { type CtraceFormat, isArgType } from './types.js';

/** Schemas of µScope hold no more event types than this; what is used rarely goes without. */
const MAX_PAIRS = 8192;
/** Bytes of definitions and of names that the pairs may take: the rest is for everything else in the schema (docs/reference/format.md#schema-header). */
const DEFINITION_BYTES = 62_000;
const NAME_BYTES = MAX_STRING_POOL_BYTES - 8_000;
const CLOCK = 'cycle';

/** A format as a unit uses it. */
export interface Pair {
  readonly formatId: number;
  readonly source: number;
  /** null: the format is not known, or has types that are none; its arguments are kept as hexadecimal digits. */
  readonly format: CtraceFormat | null;
  count: number;
  /** -1: there was no room for it in the schema. */
  eventType: number;
}

export class Roster {
  readonly pairs = new Map<number, Pair>();
  events = 0;
  private maxCycleLo = 0;
  private maxCycleHi = 0;

  constructor(private readonly file: CtraceFile) {}

  take(cursor: EventCursor): void {
    this.events++;
    if (
      cursor.cycleHi > this.maxCycleHi ||
      (cursor.cycleHi === this.maxCycleHi && cursor.cycleLo > this.maxCycleLo)
    ) {
      this.maxCycleHi = cursor.cycleHi;
      this.maxCycleLo = cursor.cycleLo;
    }
    const pair = this.find(cursor.formatId, cursor.source);
    if (pair) pair.count++;
    else this.add(cursor.formatId, cursor.source);
  }

  get maxCycle(): bigint {
    return (BigInt(this.maxCycleHi) << 32n) | BigInt(this.maxCycleLo);
  }

  find(formatId: number, source: number): Pair | undefined {
    return this.pairs.get(formatId * 0x1_0000 + source);
  }

  private add(formatId: number, source: number): void {
    if (this.pairs.size >= MAX_PAIRS) return;
    const known = this.file.format(formatId);
    const format = known?.argTypes.every(isArgType) ? known : null;
    const pair = { formatId, source, format, count: 1, eventType: -1 };
    this.pairs.set(formatId * 0x1_0000 + source, pair);
  }

  /** Gives the pairs their event types, those used most first. */
  buildSchema(periodPs: number): MappedSchema {
    const { file } = this;
    const units = new Map(file.schema.units.map(({ id, name }) => [id, name]));
    const builder = new SchemaBuilder({ clock: CLOCK }).clock(CLOCK, periodPs);
    for (const [key, value] of dutOf(file, periodPs)) builder.dut(key, value);
    const meta = builder.scope(META_SCOPE, { clock: CLOCK });
    for (const name of META_NAMES) meta.event(name, META_EVENTS[name]);
    const paths = new Map<Pair, string>();
    const scopeNames = new Set([META_SCOPE, 'root', 'uscope']);
    for (const [source, pairs] of this.chosen(units)) {
      const name = unique(scopeName(units.get(source), source), scopeNames, source);
      const scope = builder.scope(name, { clock: CLOCK });
      const eventNames = new Set<string>();
      for (const pair of pairs) {
        const event = unique(eventName(pair), eventNames, pair.formatId);
        scope.event(event, fieldsOf(pair));
        paths.set(pair, `${name}/${event}`);
      }
    }
    const { schema, dut } = builder.build();
    const ids = new Map(schema.events.map((event) => [qualifiedName(schema, event), event.eventTypeId]));
    for (const [pair, path] of paths) pair.eventType = ids.get(path) ?? -1;
    const metaIds = META_NAMES.map((name) => [name, ids.get(`${META_SCOPE}/${name}`)!] as const);
    return { schema, dut, meta: Object.fromEntries(metaIds) as Record<MetaEvent, number> };
  }

  /** As many as a schema holds, by unit. */
  private chosen(units: ReadonlyMap<number, string>): Map<number, Pair[]> {
    const bySource = new Map<number, Pair[]>();
    const texts = new Set<string>();
    let [definitions, names] = [DEFINITION_BYTES, NAME_BYTES];
    for (const pair of [...this.pairs.values()].sort((a, b) => b.count - a.count)) {
      const fields = Object.keys(fieldsOf(pair));
      const isNew = !bySource.has(pair.source);
      const size = 8 + 8 * fields.length + (isNew ? 12 : 0);
      const scope = scopeName(units.get(pair.source), pair.source);
      const added = [eventName(pair), ...fields, scope].filter((text) => !texts.has(text));
      // Names that are taken get a number.
      const text = sizeOf(added) + 2 * 12;
      if (size > definitions || text > names) continue;
      for (const one of added) texts.add(one);
      definitions -= size;
      names -= text;
      if (isNew) bySource.set(pair.source, []);
      bySource.get(pair.source)?.push(pair);
    }
    const ordered = [...bySource].sort(([a], [b]) => a - b);
    return new Map(ordered.map(([source, pairs]) => [source, pairs.sort((a, b) => a.formatId - b.formatId)]));
  }
}

export interface MappedSchema {
  readonly schema: Schema;
  readonly dut: DutProperties;
  /** Event types of the scope `ctrace`. */
  readonly meta: Readonly<Record<MetaEvent, number>>;
}

/** Without the letters that names must not have; long ones cut. */
export function scopeName(name: string | undefined, source: number): string {
  return cleanName((name ?? '').slice(0, 200), `unit_${source}`);
}

function eventName({ format, formatId }: Pair): string {
  return format ? messageName(format) : `format_${formatId}`;
}

function fieldsOf({ format }: Pair): Fields {
  if (!format) return HEX_FIELDS;
  const names = argNames(format);
  const fields = format.argTypes.map((type, i) => [names[i], fieldType(type)] as const);
  return { ...Object.fromEntries(fields), category: 'u32' };
}

const sizeOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length + 1, 0);

function* dutOf({ header, schema, footer }: CtraceFile, periodPs: number): Generator<[string, string]> {
  yield ['dut_name', cleanName(schema.simulationName.slice(0, 200), 'ctrace')];
  yield [MAPPING_PROPERTY, MAPPING_VERSION];
  yield [VERSION_PROPERTY, `${header.versionMajor}.${header.versionMinor}`];
  yield [FLAGS_PROPERTY, String(header.flags)];
  if (footer) yield [CREATED_PROPERTY, String(footer.created)];
  yield [PERIOD_PROPERTY, String(periodPs)];
}
