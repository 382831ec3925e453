/** Schema chunk (docs/reference/format.md#schema): definitions in order, then the string pool that they and the DUT descriptor share. Values to bytes. */
import { ByteWriter } from '../base/bytes.js';
import { UscopeError } from '../base/errors.js';
import { encodeDut } from './dut.js';
import { StringPoolBuilder } from './string-pool.js';
import {
  type DutProperties,
  type EnumDef,
  type FieldDef,
  NO_ID,
  type Schema,
  type ScopeDef,
  type StorageDef,
} from './types.js';

export { decodeSchemaChunk, decodeSchemaPayload } from './schema-decode.js';

const POOL_OFFSET_AT = 10;
const MAX_POOL_OFFSET = 0xffff;

/**
 * Payloads of the schema chunk and of the DUT chunk; the texts of both are in the schema's pool.
 * Errors: SCHEMA_LIMIT (a count, the definitions or the pool exceed 65,535 bytes), SCHEMA_NAME, FORMAT_VALUE (a number that its field cannot hold).
 * Meaning is not checked here: see `validateSchema` of the schema package.
 */
export function encodeSchemaPayload(
  schema: Schema,
  dut: DutProperties,
): { schema: Uint8Array; dut: Uint8Array } {
  checkCounts(schema);
  const pool = new StringPoolBuilder();
  const writer = new ByteWriter(4096)
    .u8(schema.enums.length)
    .u8(schema.clocks.length)
    .u16(schema.scopes.length)
    .u16(schema.storages.length)
    .u16(schema.events.length)
    .u16(schema.summaryFields.length)
    .u16(0);
  writeDefinitions(writer, schema, pool);
  const poolOffset = writer.length;
  if (poolOffset > MAX_POOL_OFFSET) {
    throw new UscopeError(
      'SCHEMA_LIMIT',
      `the schema's definitions take ${poolOffset} bytes; the format allows ${MAX_POOL_OFFSET}: use fewer storages, events, fields or enum values`,
    );
  }
  writer.patchU16(POOL_OFFSET_AT, poolOffset);
  const dutPayload = encodeDut(dut, pool);
  return { schema: writer.bytes(pool.finish()).finish(), dut: dutPayload };
}

function writeDefinitions(writer: ByteWriter, schema: Schema, pool: StringPoolBuilder): void {
  for (const clock of schema.clocks) writer.u16(pool.add(clock.name)).u16(clock.clockId).u32(clock.periodPs);
  for (const scope of schema.scopes) writeScope(writer, scope, pool);
  for (const def of schema.enums) writeEnum(writer, def, pool);
  for (const storage of schema.storages) writeStorage(writer, storage, pool);
  for (const event of schema.events) {
    writer.u16(pool.add(event.name)).u16(event.eventTypeId).u16(event.fields.length).u16(event.scopeId);
    for (const field of event.fields) writeField(writer, field, pool);
  }
  for (const field of schema.summaryFields) {
    writer.u16(pool.add(field.name)).u8(field.type).u8(0).u16(field.scopeId).u16(0);
  }
}

function writeScope(writer: ByteWriter, scope: ScopeDef, pool: StringPoolBuilder): void {
  writer
    .u16(pool.add(scope.name))
    .u16(scope.scopeId)
    .u16(scope.parentId)
    .u16(scope.protocol === null ? NO_ID : pool.add(scope.protocol))
    .u8(scope.clockId)
    .zeros(3);
}

function writeEnum(writer: ByteWriter, def: EnumDef, pool: StringPoolBuilder): void {
  writer.u16(pool.add(def.name)).u8(def.values.length).u8(0);
  for (const { value, name } of def.values) writer.u8(value).u8(0).u16(pool.add(name));
}

function writeStorage(writer: ByteWriter, storage: StorageDef, pool: StringPoolBuilder): void {
  writer
    .u16(pool.add(storage.name))
    .u16(storage.storageId)
    .u16(storage.numSlots)
    .u16(storage.fields.length)
    .u16(storage.flags)
    .u16(storage.scopeId)
    .u16(storage.properties.length)
    .u16(0);
  for (const field of storage.fields) writeField(writer, field, pool);
  for (const property of storage.properties) writeField(writer, property, pool);
}

/** Role and pair are in reserved[0] and reserved[1]; for slot and event fields both are 0. */
function writeField(writer: ByteWriter, field: FieldDef, pool: StringPoolBuilder): void {
  writer.u16(pool.add(field.name)).u8(field.type).u8(field.enumId).u8(field.role).u8(field.pairId).u16(0);
}

function checkCounts(schema: Schema): void {
  limit(schema.enums.length, 0xff, 'enums');
  limit(schema.clocks.length, 0xff, 'clock domains');
  limit(schema.scopes.length, 0xffff, 'scopes');
  limit(schema.storages.length, 0xffff, 'storages');
  limit(schema.events.length, 0xffff, 'event types');
  limit(schema.summaryFields.length, 0xffff, 'summary fields');
  for (const def of schema.enums) limit(def.values.length, 0xff, `values of enum '${def.name}'`);
  for (const storage of schema.storages) {
    limit(storage.numSlots, 0xffff, `slots of storage '${storage.name}'`);
    limit(storage.fields.length, 0xffff, `fields of storage '${storage.name}'`);
    limit(storage.properties.length, 0xffff, `properties of storage '${storage.name}'`);
  }
  for (const event of schema.events) limit(event.fields.length, 0xffff, `fields of event '${event.name}'`);
}

function limit(count: number, max: number, what: string): void {
  if (count > max) throw new UscopeError('SCHEMA_LIMIT', `${count} ${what}; the format holds at most ${max}`);
}
