/** DUT descriptor (docs/reference/format.md#dut-descriptor): properties whose keys and values lie in the schema's string pool. */
import { ByteReader, ByteWriter } from '../base/bytes.js';
import { UscopeError } from '../base/errors.js';
import type { StringPool, StringPoolBuilder } from './string-pool.js';
import type { DutProperties } from './types.js';

// The daemon sets these properties; a client's properties of these names are replaced.

/** Which run a trace belongs to: 32 hexadecimal digits, the same in all traces of it. */
export const RUN_ID_PROPERTY = 'uscope.run_id';
/** Wall clock, ISO 8601. */
export const START_TIME_PROPERTY = 'uscope.start_time';
/** Index of the core; absent: not one of several. */
export const CORE_PROPERTY = 'uscope.core';

const PROPERTY_SIZE = 4;

export function encodeDut(dut: DutProperties, pool: StringPoolBuilder): Uint8Array {
  if (dut.length > 0xffff) {
    throw new UscopeError('SCHEMA_LIMIT', `${dut.length} DUT properties; the format holds 65,535`);
  }
  const writer = new ByteWriter(4 + dut.length * PROPERTY_SIZE).u16(dut.length).u16(0);
  for (const [key, value] of dut) {
    writer.u16(pool.add(key)).u16(pool.add(value));
  }
  return writer.finish();
}

/** Errors: FORMAT_TRUNCATED, FORMAT_STRING_POOL, FORMAT_UTF8. Bytes after the properties are ignored. */
export function decodeDut(bytes: Uint8Array, pool: StringPool, baseOffset = 0): DutProperties {
  const reader = new ByteReader(bytes, 0, bytes.length, baseOffset);
  const count = reader.u16();
  reader.skip(2);
  reader.need(count * PROPERTY_SIZE, `DUT descriptor with ${count} properties`);
  const properties: [string, string][] = [];
  for (let i = 0; i < count; i++) {
    const key = pool.get(reader.u16());
    properties.push([key, pool.get(reader.u16())]);
  }
  return properties;
}
