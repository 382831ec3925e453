/**
 * Transactions as events of a µScope trace, in both directions the same tables. The root events say everything; a stream that was known
 * beforehand has a scope, its generators event types, so that viewers show them by name.
 */
import {
  type DutProperties,
  type EnumDef,
  type EventDef,
  type FieldDef,
  FieldType,
  INHERIT_CLOCK,
  NO_ID,
  packedSize,
  type Schema,
  type ScopeDef,
} from '../../format/types.js';
import {
  type FieldSpec,
  PHASE_ENUM,
  READ_EVENTS,
  RECORDING_PROTOCOL,
  type ReadEvent,
  ROOT_EVENTS,
  type RootEvent,
  TYPE_ENUM,
} from '../common/recording.js';
import type { Declaration } from './model.js';
import { type FtrInfo, PHASE_NAMES, TYPE_NAMES } from './types.js';
import { shownText } from './values.js';

export { RECORDING_PROTOCOL, type ReadEvent, ROOT_EVENTS, type RootEvent };

/** Protocol of the scopes of streams. */
export const STREAM_PROTOCOL = 'ftr';
export const ROOT_PREFIX = 'ftr.';
export const Property = {
  TIMESCALE: 'ftr.timescale',
  EPOCH: 'ftr.epoch',
  UNIT: 'ftr.tx_unit',
  /** `none` of a file without compression. */
  COMPRESSION: 'ftr.compression',
  /** `SHORT_RELATIONS` of an old file. */
  RELATIONS: 'ftr.relations',
} as const;
/** Elements of a relation in old files, which lack the streams. */
export const SHORT_RELATIONS = '3';
export const END_SUFFIX = '#end';

/** `part` of `bytes`: which text of the event before. */
export const Part = { NAME: 0, VALUE: 1 } as const;
/** Bytes that an event `bytes` holds. */
export const BYTES_PER_EVENT = 8;
/** Sizes of payloads. */
export const PAYLOAD_BYTES = Object.fromEntries(
  Object.entries(READ_EVENTS).map(([name, fields]) => [name, packedSize(fields.map(fieldOf))]),
) as Readonly<Record<ReadEvent, number>>;

/** Event type of a generator: of the begins of its transactions. */
const { U64 } = FieldType;
const GENERATOR_FIELDS: FieldSpec = [
  ['tx', U64],
  ['t', U64],
];
/** Bytes of definitions and of names that streams and generators may take: the format holds 64 KiB of each. */
const DEFINITION_BYTES = 56_000;
const NAME_BYTES = 48_000;
const SCOPE_BYTES = 12;
const GENERATOR_BYTES = 48;
const MAX_NAME = 120;

/** The names of one generator's event types, and where they are. */
export interface GeneratorNames {
  readonly id: bigint;
  readonly stream: bigint;
  /** Index into `scopes`. */
  readonly scope: number;
  readonly event: string;
}

export interface StreamNames {
  readonly id: bigint;
  readonly name: string;
}

/** Scopes and event types for as many streams and generators as a schema holds; the same for the same directory. */
export interface NamePlan {
  readonly scopes: readonly StreamNames[];
  readonly generators: readonly GeneratorNames[];
}

/** Names of scopes and events: what they may not hold becomes `_`; one that is taken gets a number. */
export function planNames(declarations: readonly Declaration[]): NamePlan {
  const scopes: StreamNames[] = [];
  const generators: GeneratorNames[] = [];
  const taken = new Set<string>(['ftr', 'tr', 'uscope']);
  const ofStream = new Map<bigint, { index: number; taken: Set<string> }>();
  const known = new Set<bigint>();
  let definitions = 0;
  let names = 0;
  for (const entry of declarations) {
    const wanted = cleanName(shownText(entry.name), entry.kind);
    if (entry.kind === 'stream') {
      const isFull = definitions + SCOPE_BYTES > DEFINITION_BYTES || names + wanted.length > NAME_BYTES;
      if (isFull || ofStream.has(entry.id)) continue;
      const name = unique(wanted, taken);
      definitions += SCOPE_BYTES;
      names += name.length + 1;
      taken.add(name);
      ofStream.set(entry.id, { index: scopes.length, taken: new Set() });
      scopes.push({ id: entry.id, name });
      continue;
    }
    const stream = ofStream.get(entry.stream);
    if (!stream || known.has(entry.id)) continue;
    const size = 2 * wanted.length + 16;
    if (definitions + GENERATOR_BYTES > DEFINITION_BYTES || names + size > NAME_BYTES) continue;
    const event = unique(wanted, stream.taken);
    definitions += GENERATOR_BYTES;
    names += size;
    known.add(entry.id);
    stream.taken.add(event);
    generators.push({ id: entry.id, stream: entry.stream, scope: stream.index, event });
  }
  return { scopes, generators };
}

function cleanName(text: string, fallback: string): string {
  const name = text.slice(0, MAX_NAME).replace(/[^A-Za-z0-9_.-]/g, '_') || fallback;
  return /^[A-Za-z_]/.test(name) ? name : `_${name}`;
}

function unique(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let number = 2; ; number++) if (!taken.has(`${name}.${number}`)) return `${name}.${number}`;
}

export interface EventSchema {
  readonly schema: Schema;
  readonly dut: DutProperties;
  readonly plan: NamePlan;
  /** Event type ids. */
  readonly root: Readonly<Record<RootEvent, number>>;
  /** By generator: its event type; that of its ends is the next one. */
  readonly ofGenerator: ReadonlyMap<bigint, number>;
}

/** @param periodPs of a tick; @param unit what transactions count time in */
export function buildEventSchema(
  declarations: readonly Declaration[],
  info: FtrInfo | null,
  periodPs: number,
  unit: string,
): EventSchema {
  const plan = planNames(declarations);
  const scopes: ScopeDef[] = [{ name: 'root', scopeId: 0, parentId: NO_ID, protocol: null, clockId: 0 }];
  for (const { name } of plan.scopes)
    scopes.push({
      name,
      scopeId: scopes.length,
      parentId: 0,
      protocol: STREAM_PROTOCOL,
      clockId: INHERIT_CLOCK,
    });
  const events: EventDef[] = [];
  const define = (name: string, scopeId: number, fields: FieldSpec): number => {
    events.push({ name, eventTypeId: events.length, scopeId, fields: fields.map(fieldOf) });
    return events.length - 1;
  };
  const root = Object.fromEntries(
    Object.entries(ROOT_EVENTS).map(([name, fields]) => [name, define(ROOT_PREFIX + name, NO_ID, fields)]),
  ) as Record<RootEvent, number>;
  const ofGenerator = new Map<bigint, number>();
  for (const { id, scope, event } of plan.generators) {
    ofGenerator.set(id, define(event, scope + 1, GENERATOR_FIELDS));
    define(event + END_SUFFIX, scope + 1, GENERATOR_FIELDS);
  }
  const clocks = [{ name: 'tick', clockId: 0, periodPs }];
  const schema = { clocks, scopes, enums: ENUMS, storages: [], events, summaryFields: [] };
  return { schema, dut: dutOf(info, unit), plan, root, ofGenerator };
}

const numbered = (names: readonly string[]): EnumDef['values'] =>
  names.map((name, value) => ({ value, name }));
const ENUMS: readonly EnumDef[] = [
  { name: PHASE_ENUM, values: numbered(PHASE_NAMES) },
  { name: TYPE_ENUM, values: numbered(TYPE_NAMES) },
];

function fieldOf([name, type]: FieldSpec[number]): FieldDef {
  const enumId = type === TYPE_ENUM ? 1 : 0;
  return { name, type: typeof type === 'string' ? FieldType.ENUM : type, enumId, role: 0, pairId: 0 };
}

function dutOf(info: FtrInfo | null, unit: string): DutProperties {
  const dut: [string, string][] = [
    ['dut_name', 'FTR recording'],
    [Property.UNIT, unit],
  ];
  if (!info) return dut;
  dut.push([Property.TIMESCALE, String(info.exponent)]);
  if (info.epoch !== null) dut.push([Property.EPOCH, epochText(info.epoch)]);
  return dut;
}

/** Floats have a point or an exponent, integers have none. */
function epochText(epoch: bigint | number): string {
  if (typeof epoch === 'bigint' || !Number.isInteger(epoch)) return String(epoch);
  return `${epoch}.0`;
}

export function epochOf(text: string | undefined): bigint | number | null {
  if (text === undefined) return null;
  if (/^-?\d+$/.test(text)) return BigInt(text);
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}
