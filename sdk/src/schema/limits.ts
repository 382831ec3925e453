/** Limits of the format and of this release, and the sizes they apply to. */
import { MAX_STRING_POOL_BYTES } from '../format/string-pool.js';
import { type DutProperties, packedSize, type Schema, SF_SPARSE, type StorageDef } from '../format/types.js';

export const GRAMMAR_VERSION = 1;
/** UTF-8 bytes of a schema text. */
export const MAX_TEXT_BYTES = 4 * 1024 * 1024;
/** Scopes between the root and a definition, the root not counted. */
export const MAX_SCOPE_DEPTH = 64;
/** docs/reference/format.md#string-pool: bytes of the string pool, terminators included. */
export const MAX_POOL_BYTES = MAX_STRING_POOL_BYTES;
/** Characters of one name or value: what the pool could hold if there were no other. */
export const MAX_STRING_CHARS = MAX_STRING_POOL_BYTES;
/** Characters of the path of a scope: names below it repeat it in messages and tables. */
export const MAX_SCOPE_PATH_CHARS = 4096;
/** docs/reference/format.md#schema-header: `string_pool_offset` is 16 bits wide, so header and definitions end below this. */
export const MAX_DEFINITION_BYTES = 65_535;
export const MAX_ENUMS = 255;
export const MAX_ENUM_VALUES = 255;
export const MAX_CLOCKS = 255;
export const MAX_PERIOD_PS = 0xffff_ffff;
export const MAX_SLOTS = 65_535;
export const MAX_DUT_PROPERTIES = 65_535;
/** Bytes of one slot or of the properties of one storage. */
export const MAX_SLOT_BYTES = 65_520;
/** Bytes of all storages together: writer and reader hold them in memory and every checkpoint repeats them. */
export const MAX_STATE_BYTES = 256 * 1024 * 1024;

/** Bytes a storage takes in memory and at most in a checkpoint (docs/reference/format.md#checkpoints). */
export function storageBytes(storage: StorageDef): number {
  const mask = storage.flags & SF_SPARSE ? (storage.numSlots + 7) >>> 3 : 0;
  return storage.numSlots * packedSize(storage.fields) + packedSize(storage.properties) + mask;
}

/** Bytes of the schema chunk in front of its string pool (docs/reference/format.md#schema). */
export function definitionBytes(schema: Schema): number {
  let size = 12 + 8 * schema.clocks.length + 12 * schema.scopes.length + 8 * schema.summaryFields.length;
  for (const def of schema.enums) size += 4 + 4 * def.values.length;
  for (const def of schema.storages) size += 16 + 8 * (def.fields.length + def.properties.length);
  for (const def of schema.events) size += 8 + 8 * def.fields.length;
  return size;
}

/** Bytes of the string pool that schema and DUT descriptor share: every distinct text once, UTF-8, with its terminator. */
export function poolBytes(schema: Schema, dut: DutProperties): number {
  const texts = new Set<string>(dut.flat());
  for (const def of schema.clocks) texts.add(def.name);
  for (const def of schema.scopes) {
    texts.add(def.name);
    if (def.protocol !== null) texts.add(def.protocol);
  }
  for (const def of schema.enums) {
    texts.add(def.name);
    for (const value of def.values) texts.add(value.name);
  }
  for (const def of schema.storages) {
    texts.add(def.name);
    for (const field of def.fields) texts.add(field.name);
    for (const property of def.properties) texts.add(property.name);
  }
  for (const def of schema.events) {
    texts.add(def.name);
    for (const field of def.fields) texts.add(field.name);
  }
  for (const def of schema.summaryFields) texts.add(def.name);
  let size = 0;
  for (const text of texts) size += utf8Length(text) + 1;
  return size;
}

export function utf8Length(text: string): number {
  let size = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) size += 1;
    else if (unit < 0x800) size += 2;
    else if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text.charCodeAt(i + 1))) {
      size += 4;
      i++;
    } else size += 3;
  }
  return size;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
