/** Do the fields of a schema have the types of the contract? */
import {
  type EventDef,
  type FieldDef,
  FieldType,
  fieldSize,
  SF_BUFFER,
  SF_SPARSE,
  type StorageDef,
} from '../format/types.js';
import type { ContractType, EventContract, StorageContract } from './model.js';

const BITS: ReadonlyMap<ContractType, number> = new Map([
  ['bool', 8],
  ['label', 8],
  ['u8', 8],
  ['u16', 16],
  ['u32', 32],
  ['u64', 64],
]);
const NAMES: Readonly<Record<FieldType, string>> = {
  [FieldType.U8]: 'u8',
  [FieldType.U16]: 'u16',
  [FieldType.U32]: 'u32',
  [FieldType.U64]: 'u64',
  [FieldType.I8]: 'i8',
  [FieldType.I16]: 'i16',
  [FieldType.I32]: 'i32',
  [FieldType.I64]: 'i64',
  [FieldType.BOOL]: 'bool',
  [FieldType.STRING_REF]: 'string',
  [FieldType.ENUM]: 'an enum',
};

export const typeName = (type: FieldType): string => NAMES[type];

/**
 * `loose`: other numbers than the contract has, which are read all the same: files of before have them. `wrong`: a text where a number belongs,
 * or the reverse; the field is not read.
 */
export type Fit = 'fits' | 'loose' | 'wrong';

export function fitOf(type: FieldType, wanted: ContractType): Fit {
  const isText = type === FieldType.STRING_REF;
  if (isText || wanted === 'string') return isText && wanted === 'string' ? 'fits' : 'wrong';
  if (wanted === 'wide') return 'fits';
  if (wanted === 'bool') return type === FieldType.BOOL ? 'fits' : 'loose';
  const isUnsigned = type >= FieldType.U8 && type <= FieldType.U64;
  if (wanted === 'label') return isUnsigned || type === FieldType.ENUM ? 'fits' : 'loose';
  return isUnsigned && 8 * fieldSize(type) <= (BITS.get(wanted) ?? 0) ? 'fits' : 'loose';
}

/** The field of a contract in a definition; a field of more than 64 bits is several, named after it. */
export function fieldNamed(fields: readonly FieldDef[], name: string): FieldDef | undefined {
  return fields.find((field) => field.name === name || field.name.startsWith(`${name}.bits`));
}

/** The field whose name is free: counted among those that the contract does not name. */
export function fieldAt(
  fields: readonly FieldDef[],
  name: string,
  { fields: wanted }: EventContract,
): FieldDef | undefined {
  const free = Object.keys(wanted).filter((one) => wanted[one]?.byPosition);
  const others = fields.filter((field) => wanted[field.name] === undefined || wanted[field.name]?.byPosition);
  return others[free.indexOf(name)];
}

/** The field by its name, or by its place when the contract leaves the name free. */
export function fieldFor(
  fields: readonly FieldDef[],
  name: string,
  contract: EventContract,
): FieldDef | undefined {
  return contract.fields[name]?.byPosition ? fieldAt(fields, name, contract) : fieldNamed(fields, name);
}

/** Tools read it: it has all fields that it needs. */
export function isReadable({ fields }: EventDef | StorageDef, contract: EventContract): boolean {
  return Object.entries(contract.fields).every(([name, { presence, type }]) => {
    if (presence !== 'required') return true;
    const field = fieldFor(fields, name, contract);
    return field !== undefined && fitOf(field.type, type) !== 'wrong';
  });
}

/** Fields of another type than the contract's, so that tools do not read them. */
export function unreadFields(fields: readonly FieldDef[], contract: EventContract): ReadonlySet<FieldDef> {
  const unread = new Set<FieldDef>();
  for (const [name, { type }] of Object.entries(contract.fields)) {
    const field = fieldFor(fields, name, contract);
    if (field && fitOf(field.type, type) === 'wrong') unread.add(field);
  }
  return unread;
}

/** The fields of the contract and no others, in its order and of its sizes. */
export function hasExactly({ fields }: EventDef, contract: EventContract): boolean {
  const wanted = Object.entries(contract.fields);
  return (
    wanted.length === fields.length &&
    wanted.every(([name, { type }], at) => {
      const field = fields[at]!;
      return (
        field.name === name && fitOf(field.type, type) === 'fits' && fieldSize(field.type) === bytesOf(type)
      );
    })
  );
}

function bytesOf(type: ContractType): number {
  return type === 'string' ? 4 : (BITS.get(type) ?? 8) / 8;
}

export function hasKind({ flags }: StorageDef, { kind }: StorageContract): boolean {
  if (kind === 'buffer') return (flags & SF_BUFFER) !== 0;
  return ((flags & SF_SPARSE) !== 0) === (kind === 'sparse');
}
