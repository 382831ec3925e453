/** Names and numbers of recorded transactions: those of FTR, which are also those of the events that record them (docs/how-to/transactions.md). */
import { FieldType } from '../../format/types.js';
import { fieldsOf, TR } from '../../protocols/index.js';
import type { SchemaBuilder, ScopeBuilder } from '../../schema/index.js';

/** Tags of chunks; the odd ones of them have LZ4 content. */
export const FtrTag = {
  INFO: 6,
  DICTIONARY: 8,
  DIRECTORY: 10,
  TRANSACTIONS: 12,
  RELATIONS: 14,
  /** In a directory. */
  STREAM: 16,
  GENERATOR: 17,
} as const;

/** Types of attributes. */
export const FtrType = {
  BOOLEAN: 0,
  ENUMERATION: 1,
  INTEGER: 2,
  UNSIGNED: 3,
  FLOATING_POINT_NUMBER: 4,
  BIT_VECTOR: 5,
  LOGIC_VECTOR: 6,
  FIXED_POINT_INTEGER: 7,
  UNSIGNED_FIXED_POINT_INTEGER: 8,
  POINTER: 9,
  STRING: 10,
  TIME: 11,
} as const;
export type FtrType = (typeof FtrType)[keyof typeof FtrType];

/** By number. */
export const TYPE_NAMES: readonly string[] = TR.enums.ftr_type;

/** When an attribute was recorded: with the begin of its transaction, in between, or with its end. */
export const FtrPhase = { BEGIN: 0, RECORD: 1, END: 2 } as const;
export type FtrPhase = (typeof FtrPhase)[keyof typeof FtrPhase];
export const PHASE_NAMES: readonly string[] = TR.enums.ftr_phase;

/** Protocol of a scope in which a testbench records transactions: it has the root events, under their names without prefix. */
export const RECORDING_PROTOCOL = TR.protocol;
export const PHASE_ENUM = 'ftr_phase';
export const TYPE_ENUM = 'ftr_type';

export type FieldSpec = readonly (readonly [
  name: string,
  type: FieldType | typeof PHASE_ENUM | typeof TYPE_ENUM,
])[];
const TYPES: ReadonlyMap<string, FieldType> = new Map([
  ['u8', FieldType.U8],
  ['u16', FieldType.U16],
  ['u32', FieldType.U32],
  ['u64', FieldType.U64],
  ['string', FieldType.STRING_REF],
]);

/** What a reader takes. `bytes` follows an event of whose texts one is not UTF-8, holds NUL, or is too long. */
export type ReadEvent = keyof typeof TR.events;
/** An attribute that is a number, in two thirds of the bytes of `attr`. A scope need not have it. */
export const NUMBER_EVENT = 'number';
export type RootEvent = Exclude<ReadEvent, typeof NUMBER_EVENT>;

/** Payloads of the events that say everything. */
export const ROOT_EVENTS: Readonly<Record<RootEvent, FieldSpec>> = {
  dir: specOf('dir'),
  begin: specOf('begin'),
  end: specOf('end'),
  attr: specOf('attr'),
  rel: specOf('rel'),
  bytes: specOf('bytes'),
};

/** With those that a reader takes besides. */
export const READ_EVENTS: Readonly<Record<ReadEvent, FieldSpec>> = {
  ...ROOT_EVENTS,
  [NUMBER_EVENT]: specOf(NUMBER_EVENT),
};

function specOf(event: ReadEvent): FieldSpec {
  return Object.entries<string>(fieldsOf(TR.events[event])).map(([name, type]) => [
    name,
    TYPES.get(type) ?? (type as typeof PHASE_ENUM),
  ]);
}

/** Adds the scope, and the enums that it needs, to a schema. */
export function addRecordingScope(builder: SchemaBuilder, clock: string, name: string): ScopeBuilder {
  builder.enum(PHASE_ENUM, PHASE_NAMES).enum(TYPE_ENUM, TYPE_NAMES);
  const scope = builder.scope(name, { protocol: RECORDING_PROTOCOL, clock });
  for (const event of Object.keys(ROOT_EVENTS) as RootEvent[]) scope.event(event, fieldsOf(TR.events[event]));
  return scope;
}
