/** Schema chunk (docs/reference/format.md#schema), bytes to values, for every minor version up to 3. */
import { ByteReader } from '../base/bytes.js';
import { UscopeError } from '../base/errors.js';
import { checkSchemaReferences } from './schema-check.js';
import { StringPool } from './string-pool.js';
import {
  type ClockDef,
  type EnumDef,
  type EventDef,
  type FieldDef,
  FieldType,
  NO_ID,
  type Schema,
  type ScopeDef,
  type StorageDef,
  type SummaryFieldDef,
} from './types.js';

/** Since this minor version storages have properties, and string_pool_offset is right. */
const PROPERTIES_MINOR = 3;
const FIELD_SIZE = 8;
const MIN_SCHEMA_SIZE = 12;

/**
 * Decodes the payload of a schema chunk. Names are texts, references are checked.
 * Errors: FORMAT_TRUNCATED, FORMAT_STRING_POOL, FORMAT_UTF8, FORMAT_VALUE (field type, loop of scopes), FORMAT_ID (ids, enum, scope and clock references).
 */
export function decodeSchemaPayload(bytes: Uint8Array, versionMinor: number, baseOffset = 0): Schema {
  return decodeSchemaChunk(bytes, versionMinor, baseOffset).schema;
}

/** As `decodeSchemaPayload`, with the pool, which the DUT descriptor needs. */
export function decodeSchemaChunk(
  bytes: Uint8Array,
  versionMinor: number,
  baseOffset = 0,
): { schema: Schema; pool: StringPool } {
  const end = definitionsEnd(new ByteReader(bytes, 0, bytes.length, baseOffset), versionMinor);
  const pool = locatePool(bytes, end, versionMinor, baseOffset);
  const reader = new ByteReader(bytes, 0, end, baseOffset);
  const schema = new DefinitionReader(reader, pool, versionMinor).schema();
  checkSchemaReferences(schema, baseOffset);
  return { schema, pool };
}

interface Counts {
  enums: number;
  clocks: number;
  scopes: number;
  storages: number;
  events: number;
  summaryFields: number;
}

function readCounts(reader: ByteReader): Counts {
  reader.need(MIN_SCHEMA_SIZE, 'schema header');
  const enums = reader.u8();
  const clocks = reader.u8();
  const scopes = reader.u16();
  const storages = reader.u16();
  const events = reader.u16();
  const summaryFields = reader.u16();
  reader.skip(2);
  return { enums, clocks, scopes, storages, events, summaryFields };
}

/** Walks the variable-size definitions without reading names: before minor 3 only this finds the pool. */
function definitionsEnd(reader: ByteReader, versionMinor: number): number {
  const counts = readCounts(reader);
  reader.skip(counts.clocks * 8 + counts.scopes * 12);
  for (let i = 0; i < counts.enums; i++) {
    reader.skip(2);
    const values = reader.u8();
    reader.skip(1 + values * 4);
  }
  for (let i = 0; i < counts.storages; i++) {
    reader.skip(6);
    const fields = reader.u16();
    reader.skip(4);
    let properties = 0;
    if (versionMinor >= PROPERTIES_MINOR) {
      properties = reader.u16();
      reader.skip(2);
    }
    reader.skip((fields + properties) * FIELD_SIZE);
  }
  for (let i = 0; i < counts.events; i++) {
    reader.skip(4);
    const fields = reader.u16();
    reader.skip(2 + fields * FIELD_SIZE);
  }
  reader.skip(counts.summaryFields * 8);
  return reader.offset;
}

function locatePool(bytes: Uint8Array, end: number, versionMinor: number, baseOffset: number): StringPool {
  let start = end;
  if (versionMinor >= PROPERTIES_MINOR) {
    start = bytes[10] | (bytes[11] << 8);
    if (start < end || start > bytes.length) {
      throw new UscopeError(
        'FORMAT_STRING_POOL',
        `string_pool_offset ${start} is not between the end of the definitions (${end}) and of the chunk (${bytes.length})`,
        { offset: baseOffset + 10 },
      );
    }
  }
  return new StringPool(bytes.subarray(start), baseOffset + start);
}

class DefinitionReader {
  constructor(
    private readonly reader: ByteReader,
    private readonly pool: StringPool,
    private readonly versionMinor: number,
  ) {}

  schema(): Schema {
    const counts = readCounts(this.reader);
    return {
      clocks: this.list(counts.clocks, () => this.clock()),
      scopes: this.list(counts.scopes, () => this.scope()),
      enums: this.list(counts.enums, () => this.enumDef()),
      storages: this.list(counts.storages, () => this.storage()),
      events: this.list(counts.events, () => this.event()),
      summaryFields: this.list(counts.summaryFields, () => this.summaryField()),
    };
  }

  private list<T>(count: number, read: () => T): T[] {
    const list: T[] = [];
    for (let i = 0; i < count; i++) list.push(read());
    return list;
  }

  private name(): string {
    return this.pool.get(this.reader.u16());
  }

  private clock(): ClockDef {
    const name = this.name();
    const clockId = this.reader.u16();
    return { name, clockId, periodPs: this.reader.u32() };
  }

  private scope(): ScopeDef {
    const { reader } = this;
    const name = this.name();
    const scopeId = reader.u16();
    const parentId = reader.u16();
    const protocol = reader.u16();
    const clockId = reader.u8();
    reader.skip(3);
    return {
      name,
      scopeId,
      parentId,
      protocol: protocol === NO_ID ? null : this.pool.get(protocol),
      clockId,
    };
  }

  private enumDef(): EnumDef {
    const name = this.name();
    const count = this.reader.u8();
    this.reader.skip(1);
    const values = this.list(count, () => {
      const value = this.reader.u8();
      this.reader.skip(1);
      return { value, name: this.name() };
    });
    return { name, values };
  }

  private storage(): StorageDef {
    const { reader } = this;
    const name = this.name();
    const storageId = reader.u16();
    const numSlots = reader.u16();
    const numFields = reader.u16();
    const flags = reader.u16();
    const scopeId = reader.u16();
    let numProperties = 0;
    if (this.versionMinor >= PROPERTIES_MINOR) {
      numProperties = reader.u16();
      reader.skip(2);
    }
    const fields = this.list(numFields, () => this.field(false));
    const properties = this.list(numProperties, () => this.field(true));
    return { name, storageId, numSlots, flags, scopeId, fields, properties };
  }

  private event(): EventDef {
    const { reader } = this;
    const name = this.name();
    const eventTypeId = reader.u16();
    const numFields = reader.u16();
    const scopeId = reader.u16();
    return { name, eventTypeId, scopeId, fields: this.list(numFields, () => this.field(false)) };
  }

  /** Role and pair mean something for properties only; in other fields those bytes are reserved. */
  private field(isProperty: boolean): FieldDef {
    const { reader } = this;
    const name = this.name();
    const type = this.fieldType(name);
    const enumId = reader.u8();
    const role = reader.u8();
    const pairId = reader.u8();
    reader.skip(2);
    return {
      name,
      type,
      enumId: type === FieldType.ENUM ? enumId : 0,
      role: isProperty ? role : 0,
      pairId: isProperty ? pairId : 0,
    };
  }

  private summaryField(): SummaryFieldDef {
    const name = this.name();
    const type = this.fieldType(name);
    this.reader.skip(1);
    const scopeId = this.reader.u16();
    this.reader.skip(2);
    return { name, type, scopeId };
  }

  private fieldType(name: string): FieldType {
    const at = this.reader.offset;
    const type = this.reader.u8();
    if (type < FieldType.U8 || type > FieldType.ENUM) {
      throw this.reader.error(
        'FORMAT_VALUE',
        `field '${name}' has the unknown type 0x${type.toString(16)}`,
        at,
      );
    }
    return type as FieldType;
  }
}
