/** The schema of a file: a FlatBuffers table (identifier "CTRC") with formats, categories and units. */
import { Builder } from 'flatbuffers';
import { UscopeError } from '../../base/errors.js';
import { type Table, TableBuffer } from './tables.js';
import { encodeText } from './text.js';
import type { CtraceCategory, CtraceFormat, CtraceSchema, CtraceUnit } from './types.js';

const IDENTIFIER = 'CTRC';
/** Of schemas that do not say it. */
const DEFAULT_VERSION = 1;
/** A format cannot have more arguments: events count them in a byte. */
const MAX_ARGS = 255;

/** Whether a buffer says that it is a schema. */
export function isSchema(bytes: Uint8Array): boolean {
  return bytes.length >= 8 && [...IDENTIFIER].every((char, i) => bytes[4 + i] === char.charCodeAt(0));
}

/**
 * @param offset of `bytes` in the file
 * @throws UscopeError CONVERT_FORMAT
 */
export function decodeSchema(bytes: Uint8Array, offset: number): CtraceSchema {
  return decodeSchemaPrefix(bytes, offset).schema;
}

/** The schema at the beginning of `bytes`, and how many of them it takes at least. */
export function decodeSchemaPrefix(
  bytes: Uint8Array,
  offset: number,
): { schema: CtraceSchema; bytes: number } {
  if (!isSchema(bytes)) {
    throw new UscopeError('CONVERT_FORMAT', 'the schema is expected here', { offset });
  }
  const buffer = new TableBuffer(bytes, offset);
  const root = buffer.root();
  const schema = {
    version: root.u32(0, DEFAULT_VERSION),
    formats: Array.from(root.tables(1), formatOf),
    categories: Array.from(root.tables(2), categoryOf),
    units: Array.from(root.tables(3), unitOf),
    simulationName: root.text(4),
    configHash: root.u64(5),
  };
  return { schema, bytes: buffer.end };
}

function formatOf(table: Table): CtraceFormat {
  const types = table.bytes(4);
  if (types.length > MAX_ARGS) throw table.buffer.error(table.at, `has ${types.length} argument types`);
  return {
    id: table.u32(0),
    text: table.text(1),
    file: table.text(2),
    line: table.u32(3),
    argTypes: Array.from(types, (type) => (type << 24) >> 24),
    isLog: table.u8(5) !== 0,
    logLevel: table.i8(6),
  };
}

function categoryOf(table: Table): CtraceCategory {
  return { name: table.text(0), description: table.text(1), mask: table.u64(2) };
}

function unitOf(table: Table): CtraceUnit {
  return { id: table.u16(0), name: table.text(1), typeName: table.text(2) };
}

// -- writing

export function encodeSchema(schema: CtraceSchema): Uint8Array {
  const builder = new Builder(4096);
  const formats = schema.formats.map((format) => addFormat(builder, format));
  const categories = schema.categories.map((category) => addCategory(builder, category));
  const units = schema.units.map((unit) => addUnit(builder, unit));
  const formatVector = addOffsets(builder, formats);
  const categoryVector = categories.length > 0 ? addOffsets(builder, categories) : 0;
  const unitVector = addOffsets(builder, units);
  const name = builder.createString(encodeText(schema.simulationName));
  builder.startObject(6);
  builder.addFieldInt32(0, schema.version | 0, DEFAULT_VERSION);
  builder.addFieldOffset(1, formatVector, 0);
  builder.addFieldOffset(2, categoryVector, 0);
  builder.addFieldOffset(3, unitVector, 0);
  builder.addFieldOffset(4, name, 0);
  builder.addFieldInt64(5, BigInt.asIntN(64, schema.configHash), 0n);
  builder.finish(builder.endObject(), IDENTIFIER);
  return builder.asUint8Array();
}

function addFormat(builder: Builder, format: CtraceFormat): number {
  const text = builder.createString(encodeText(format.text));
  const file = builder.createString(encodeText(format.file));
  builder.startVector(1, format.argTypes.length, 1);
  for (const type of [...format.argTypes].reverse()) builder.addInt8(type);
  const types = builder.endVector();
  builder.startObject(7);
  builder.addFieldInt32(0, format.id | 0, 0);
  builder.addFieldOffset(1, text, 0);
  builder.addFieldOffset(2, file, 0);
  builder.addFieldInt32(3, format.line | 0, 0);
  builder.addFieldOffset(4, types, 0);
  builder.addFieldInt8(5, format.isLog ? 1 : 0, 0);
  builder.addFieldInt8(6, format.logLevel, 0);
  return builder.endObject();
}

function addCategory(builder: Builder, { name, description, mask }: CtraceCategory): number {
  const nameAt = builder.createString(encodeText(name));
  const descriptionAt = builder.createString(encodeText(description));
  builder.startObject(3);
  builder.addFieldOffset(0, nameAt, 0);
  builder.addFieldOffset(1, descriptionAt, 0);
  builder.addFieldInt64(2, BigInt.asIntN(64, mask), 0n);
  return builder.endObject();
}

function addUnit(builder: Builder, { id, name, typeName }: CtraceUnit): number {
  const nameAt = builder.createString(encodeText(name));
  const typeAt = builder.createString(encodeText(typeName));
  builder.startObject(3);
  builder.addFieldInt16(0, id, 0);
  builder.addFieldOffset(1, nameAt, 0);
  builder.addFieldOffset(2, typeAt, 0);
  return builder.endObject();
}

/** A vector of tables, whose places in the builder are given. */
export function addOffsets(builder: Builder, offsets: readonly number[]): number {
  builder.startVector(4, offsets.length, 4);
  for (let i = offsets.length - 1; i >= 0; i--) builder.addOffset(offsets[i]);
  return builder.endVector();
}
