/** Values of the µScope format in memory: what the bytes mean, independent of how they are stored. docs/reference/format.md describes the bytes. */

import { Action, FieldType } from './constants.js';

export { Action, FieldType };

/** Role of a storage property, kept in reserved[0] of its definition. */
export const PropertyRole = { PLAIN: 0, HEAD: 1, TAIL: 2 } as const;

/** docs/reference/format.md#fields: a field of a slot or event, or (with role and pair) a property of a storage. */
export interface FieldDef {
  readonly name: string;
  readonly type: FieldType;
  /** Index into `Schema.enums` when `type` is ENUM, else 0. */
  readonly enumId: number;
  /** Properties only: 0 plain, 1 head pointer, 2 tail pointer (definition byte reserved[0]). */
  readonly role: number;
  /** Properties only: joins a head with its tail (definition byte reserved[1]). */
  readonly pairId: number;
}

/** docs/reference/format.md#clocks */
export interface ClockDef {
  readonly name: string;
  readonly clockId: number;
  /** Clock period in ps; 0 = unknown. */
  readonly periodPs: number;
}

export const NO_ID = 0xffff;
export const INHERIT_CLOCK = 0xff;

/** docs/reference/format.md#scopes */
export interface ScopeDef {
  readonly name: string;
  readonly scopeId: number;
  /** 0xFFFF for the root (scope 0). */
  readonly parentId: number;
  /** null: none (0xFFFF on disk). */
  readonly protocol: string | null;
  /** 0xFF: inherited from the parent. */
  readonly clockId: number;
}

/** docs/reference/format.md#enums */
export interface EnumDef {
  readonly name: string;
  readonly values: readonly { readonly value: number; readonly name: string }[];
}

/** docs/reference/format.md#storages */
export interface StorageDef {
  readonly name: string;
  readonly storageId: number;
  readonly numSlots: number;
  /** Raw flag bits (docs/reference/format.md#storage-flags): bit 0 SF_SPARSE, bit 1 SF_BUFFER. */
  readonly flags: number;
  /** 0xFFFF: root level. */
  readonly scopeId: number;
  readonly fields: readonly FieldDef[];
  readonly properties: readonly FieldDef[];
}
export const SF_SPARSE = 1;
export const SF_BUFFER = 2;

/** docs/reference/format.md#event-types */
export interface EventDef {
  readonly name: string;
  readonly eventTypeId: number;
  readonly scopeId: number;
  readonly fields: readonly FieldDef[];
}

/** docs/reference/format.md#summary-fields */
export interface SummaryFieldDef {
  readonly name: string;
  readonly type: FieldType;
  readonly scopeId: number;
}

/** docs/reference/format.md#schema: everything the schema chunk defines. Ids equal array indices in every file we write. */
export interface Schema {
  readonly clocks: readonly ClockDef[];
  readonly scopes: readonly ScopeDef[];
  readonly enums: readonly EnumDef[];
  readonly storages: readonly StorageDef[];
  readonly events: readonly EventDef[];
  readonly summaryFields: readonly SummaryFieldDef[];
}

/** docs/reference/format.md#dut-descriptor: DUT properties in file order. */
export type DutProperties = readonly (readonly [key: string, value: string])[];

/** One item of a frame, decoded. `value` is the full u64 of the delta, not yet truncated to the field's width. */
export type Item =
  | {
      readonly kind: 'op';
      readonly action: Action;
      readonly storageId: number;
      readonly slot: number;
      readonly field: number;
      readonly value: bigint;
    }
  | { readonly kind: 'event'; readonly eventTypeId: number; readonly payload: Uint8Array };

/** A cycle frame (docs/reference/format.md#interleaved-frames, #plain-frames), decoded. */
export interface Frame {
  readonly timePs: bigint;
  readonly items: readonly Item[];
}

export type CompressionName = 'none' | 'lz4' | 'zstd';

const SIZES: Readonly<Record<FieldType, number>> = {
  [FieldType.U8]: 1,
  [FieldType.U16]: 2,
  [FieldType.U32]: 4,
  [FieldType.U64]: 8,
  [FieldType.I8]: 1,
  [FieldType.I16]: 2,
  [FieldType.I32]: 4,
  [FieldType.I64]: 8,
  [FieldType.BOOL]: 1,
  [FieldType.STRING_REF]: 4,
  [FieldType.ENUM]: 1,
};

/** Size of a field in bytes (docs/reference/format.md#fields). */
export function fieldSize(type: FieldType): number {
  return SIZES[type];
}

/** Packed size of a slot, a property block or an event payload (docs/reference/format.md#packing). */
export function packedSize(fields: readonly FieldDef[]): number {
  let size = 0;
  for (const field of fields) size += fieldSize(field.type);
  return size;
}

export function isSigned(type: FieldType): boolean {
  return type >= FieldType.I8 && type <= FieldType.I64;
}

/** Scope path of a definition without the root: `core0/rob`, or the bare name at root level. */
export function scopePath(schema: Schema, scopeId: number): string {
  const parts: string[] = [];
  let id = scopeId;
  while (id !== NO_ID && id !== 0 && parts.length <= schema.scopes.length) {
    const scope = schema.scopes[id];
    if (!scope) break;
    parts.unshift(scope.name);
    id = scope.parentId;
  }
  return parts.join('/');
}

/** Full name of a storage or event: its scope path without the root, then its own name. */
export function qualifiedName(
  schema: Schema,
  def: { readonly name: string; readonly scopeId: number },
): string {
  const path = scopePath(schema, def.scopeId);
  return path ? `${path}/${def.name}` : def.name;
}

/** A counter by the conventions of the cpu protocol: a dense storage with one slot of one U64 field. */
export function isCounterStorage({ flags, numSlots, fields }: StorageDef): boolean {
  const isDense = (flags & (SF_SPARSE | SF_BUFFER)) === 0;
  return isDense && numSlots === 1 && fields.length === 1 && fields[0]?.type === FieldType.U64;
}
