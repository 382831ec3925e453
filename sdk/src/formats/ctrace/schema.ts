/** The schema of a file: a FlatBuffers table (identifier "CTRC") with formats, categories and units. */

import { Builder } from 'flatbuffers';
import { UscopeError } from '../../base/errors.js';
import { decodeText, encodeText } from './text.js';
import type { CtraceCategory, CtraceFormat, CtraceSchema, CtraceUnit } from './types.js';

// Reading FlatBuffers tables of files that are not trusted: every offset is checked against the bytes before it is followed.

/** The bytes of one buffer; `end` becomes the end of what has been read so far, for buffers whose size is not known. */
export class TableBuffer {
  end = 0;
  readonly view: DataView;
  private readonly texts = new Map<number, string>();
  private textBytes = 0;
  private tableBytes = 0;

  /** @param offset of `bytes` in the file */
  constructor(
    readonly bytes: Uint8Array,
    readonly offset: number,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  root(): Table {
    return new Table(this, this.indirect(0));
  }

  /** The place that the offset at `at` points to. */
  indirect(at: number): number {
    const to = at + this.u32(at);
    if (to >= this.bytes.length) throw this.error(at, 'points beyond its end');
    return to;
  }

  u32(at: number): number {
    this.need(at, 4);
    return this.view.getUint32(at, true);
  }

  need(at: number, size: number): void {
    if (at < 0 || at + size > this.bytes.length)
      throw this.error(Math.max(0, at), 'continues beyond its end');
    if (at + size > this.end) this.end = at + size;
  }

  /** The string at `at`. Strings may be shared but do not overlap: all of them together are no longer than the buffer. */
  text(at: number): string {
    const known = this.texts.get(at);
    if (known !== undefined) return known;
    const length = this.u32(at);
    this.need(at + 4, length);
    if (at + 4 + length < this.bytes.length) this.need(at + 4 + length, 1); // the NUL after it
    this.textBytes += length + 4;
    if (this.textBytes > this.bytes.length) throw this.error(at, 'has strings that overlap');
    const text = decodeText(this.bytes.subarray(at + 4, at + 4 + length));
    this.texts.set(at, text);
    return text;
  }

  /** Tables do not overlap, and none is there twice: so a vector holds no more of them than there is room for. */
  claim(at: number, size: number): void {
    this.need(at, size);
    this.tableBytes += size;
    if (this.tableBytes > this.bytes.length) throw this.error(at, 'is there more than once');
  }

  error(at: number, what: string): UscopeError {
    const offset = this.offset + Math.min(at, this.bytes.length);
    return new UscopeError('CONVERT_FORMAT', `a FlatBuffers table ${what}`, { offset });
  }
}

export class Table {
  private readonly vtable: number;
  private readonly vtableBytes: number;

  constructor(
    readonly buffer: TableBuffer,
    readonly at: number,
  ) {
    buffer.need(at, 4);
    this.vtable = at - buffer.view.getInt32(at, true);
    buffer.need(this.vtable, 4);
    this.vtableBytes = buffer.view.getUint16(this.vtable, true);
    if (this.vtableBytes < 4) throw buffer.error(this.vtable, 'has a vtable that is too small');
    buffer.need(this.vtable, this.vtableBytes);
    buffer.claim(at, Math.max(4, buffer.view.getUint16(this.vtable + 2, true)));
  }

  u8(id: number): number {
    const at = this.field(id, 1);
    return at ? this.buffer.view.getUint8(at) : 0;
  }

  i8(id: number): number {
    return (this.u8(id) << 24) >> 24;
  }

  u16(id: number): number {
    const at = this.field(id, 2);
    return at ? this.buffer.view.getUint16(at, true) : 0;
  }

  u32(id: number, byDefault = 0): number {
    const at = this.field(id, 4);
    return at ? this.buffer.view.getUint32(at, true) : byDefault;
  }

  u64(id: number): bigint {
    const at = this.field(id, 8);
    return at ? this.buffer.view.getBigUint64(at, true) : 0n;
  }

  text(id: number): string {
    const field = this.field(id, 4);
    return field ? this.buffer.text(this.buffer.indirect(field)) : '';
  }

  /** A vector of bytes. */
  bytes(id: number): Uint8Array {
    const vector = this.vector(id, 1);
    return this.buffer.bytes.subarray(vector.at, vector.at + vector.length);
  }

  /** Number of tables in a vector. */
  count(id: number): number {
    return this.vector(id, 4).length;
  }

  *tables(id: number): Generator<Table> {
    const { at, length } = this.vector(id, 4);
    for (let i = 0; i < length; i++) yield new Table(this.buffer, this.buffer.indirect(at + 4 * i));
  }

  private vector(id: number, elementBytes: number): { at: number; length: number } {
    const field = this.field(id, 4);
    if (!field) return { at: 0, length: 0 };
    const at = this.buffer.indirect(field);
    const length = this.buffer.u32(at);
    this.buffer.need(at + 4, length * elementBytes);
    return { at: at + 4, length };
  }

  /** Offset of a field; 0 when it has its default. */
  private field(id: number, size: number): number {
    const entry = 4 + 2 * id;
    if (entry + 2 > this.vtableBytes) return 0;
    const offset = this.buffer.view.getUint16(this.vtable + entry, true);
    if (offset === 0) return 0;
    this.buffer.need(this.at + offset, size);
    return this.at + offset;
  }
}

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
