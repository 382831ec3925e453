/** Names and numbers of recorded transactions: those of FTR, which are also those of the events that record them (docs/how-to/transactions.md). */
import { FieldType } from '../../format/types.js';

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
export const TYPE_NAMES: readonly string[] = Object.keys(FtrType);

/** When an attribute was recorded: with the begin of its transaction, in between, or with its end. */
export const FtrPhase = { BEGIN: 0, RECORD: 1, END: 2 } as const;
export type FtrPhase = (typeof FtrPhase)[keyof typeof FtrPhase];
export const PHASE_NAMES: readonly string[] = ['begin', 'record', 'end'];

/** Protocol of a scope in which a testbench records transactions: it has the root events, under their names without prefix. */
export const RECORDING_PROTOCOL = 'tr';
export const PHASE_ENUM = 'ftr_phase';
export const TYPE_ENUM = 'ftr_type';

export type FieldSpec = readonly (readonly [
  name: string,
  type: FieldType | typeof PHASE_ENUM | typeof TYPE_ENUM,
])[];
const { U8, U16, U32, U64, STRING_REF } = FieldType;

/** Payloads of the events that say everything. `bytes` follows an event of whose texts one is not UTF-8, holds NUL, or is too long. */
export const ROOT_EVENTS = {
  dir: [
    ['tag', U8],
    ['id', U64],
    ['name', STRING_REF],
    ['stream', U64],
    ['kind', STRING_REF],
  ],
  begin: [
    ['tx', U64],
    ['stream', U64],
    ['generator', U64],
    ['t', U64],
  ],
  end: [
    ['tx', U64],
    ['t', U64],
  ],
  attr: [
    ['tx', U64],
    ['idx', U16],
    ['phase', PHASE_ENUM],
    ['name', STRING_REF],
    ['type', TYPE_ENUM],
    ['bits', U64],
    ['str', STRING_REF],
  ],
  rel: [
    ['name', STRING_REF],
    ['src', U64],
    ['sink', U64],
    ['srcStream', U64],
    ['sinkStream', U64],
  ],
  bytes: [
    ['part', U8],
    ['size', U32],
    ['index', U32],
    ['value', U64],
  ],
} as const satisfies Record<string, FieldSpec>;

/** An attribute that is a number, in two thirds of the bytes of `attr`. A scope need not have it. */
export const NUMBER_EVENT = 'number';
export const NUMBER_FIELDS = [
  ['tx', U64],
  ['name', STRING_REF],
  ['phase', PHASE_ENUM],
  ['type', TYPE_ENUM],
  ['bits', U64],
] as const satisfies FieldSpec;
