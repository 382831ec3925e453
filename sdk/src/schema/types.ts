/** Words of the schema grammar and the numbers of the format they represent. */
import { type EnumDef, FieldType, PropertyRole, SF_BUFFER, SF_SPARSE } from '../format/types.js';

export type BuiltinTypeName = 'u8' | 'u16' | 'u32' | 'u64' | 'i8' | 'i16' | 'i32' | 'i64' | 'bool' | 'string';
export type StorageKind = 'sparse' | 'dense' | 'buffer' | 'dense_buffer';
export type RoleName = 'plain' | 'head' | 'tail';

/** docs/reference/format.md#field-types, without ENUM: an enum type is written as the name of the enum. */
export const BUILTIN_TYPES: ReadonlyMap<string, FieldType> = new Map<BuiltinTypeName, FieldType>([
  ['u8', FieldType.U8],
  ['u16', FieldType.U16],
  ['u32', FieldType.U32],
  ['u64', FieldType.U64],
  ['i8', FieldType.I8],
  ['i16', FieldType.I16],
  ['i32', FieldType.I32],
  ['i64', FieldType.I64],
  ['bool', FieldType.BOOL],
  ['string', FieldType.STRING_REF],
]);

/** docs/reference/format.md#storage-flags */
export const STORAGE_KINDS: ReadonlyMap<string, number> = new Map<StorageKind, number>([
  ['sparse', SF_SPARSE],
  ['dense', 0],
  ['buffer', SF_SPARSE | SF_BUFFER],
  ['dense_buffer', SF_BUFFER],
]);

export const ROLES: ReadonlyMap<string, number> = new Map<RoleName, number>([
  ['plain', PropertyRole.PLAIN],
  ['head', PropertyRole.HEAD],
  ['tail', PropertyRole.TAIL],
]);

/** The word for a number of one of the maps above. */
export function wordFor(words: ReadonlyMap<string, number>, number: number): string | undefined {
  for (const [word, value] of words) if (value === number) return word;
  return undefined;
}

/** A type by its name in the grammar: a builtin or one of the enums. */
export function resolveType(
  name: string,
  enumIds: ReadonlyMap<string, number>,
): { readonly type: FieldType; readonly enumId: number } | undefined {
  const builtin = BUILTIN_TYPES.get(name);
  if (builtin !== undefined) return { type: builtin, enumId: 0 };
  const enumId = enumIds.get(name);
  return enumId === undefined ? undefined : { type: FieldType.ENUM, enumId };
}

/** Name of a field's type in the grammar. */
export function typeName(type: FieldType, enumId: number, enums: readonly EnumDef[]): string {
  if (type === FieldType.ENUM) return enums[enumId]?.name ?? `enum ${enumId}`;
  return wordFor(BUILTIN_TYPES, type) ?? `type ${type}`;
}
