/** Any µScope trace as formats of .ctrace: `event f={} g={}` per event type, `storage.set slot={} f={}` per field of a storage. */
import {
  type FieldDef,
  FieldType,
  NO_ID,
  type Schema,
  type StorageDef,
  scopePath,
} from '../../format/types.js';
import { ArgType, type CtraceFormat, type CtraceSchema, type CtraceUnit } from './types.js';

/** Events count their arguments in a byte. */
export const MAX_FIELDS = 255;

const ARG_TYPES: Readonly<Record<FieldType, number>> = {
  [FieldType.U8]: ArgType.UINT8,
  [FieldType.U16]: ArgType.UINT16,
  [FieldType.U32]: ArgType.UINT32,
  [FieldType.U64]: ArgType.UINT64,
  [FieldType.I8]: ArgType.INT8,
  [FieldType.I16]: ArgType.INT16,
  [FieldType.I32]: ArgType.INT32,
  [FieldType.I64]: ArgType.INT64,
  [FieldType.BOOL]: ArgType.BOOL,
  [FieldType.STRING_REF]: ArgType.STRING,
  [FieldType.ENUM]: ArgType.STRING,
};

/** Format ids of a storage's ops: `set` and `add` plus the field, `prop` plus the property. */
export interface StorageFormats {
  readonly set: number;
  readonly add: number;
  readonly clear: number;
  readonly prop: number;
}

export interface TraceFormats {
  readonly schema: CtraceSchema;
  readonly storages: readonly StorageFormats[];
}

/** Id of an event type's format. */
export const eventFormat = (eventTypeId: number): number => eventTypeId + 1;

export function argTypeOf({ type }: FieldDef): number {
  return ARG_TYPES[type];
}

/** Unit of a definition: its scope; 0 for none and the root, which have no name. */
export function unitOf(scopeId: number): number {
  return scopeId === NO_ID ? 0 : scopeId;
}

export function formatsOf(schema: Schema, simulationName: string): TraceFormats {
  const formats: CtraceFormat[] = schema.events.map(({ name, eventTypeId, fields }) => {
    const shown = fields.slice(0, MAX_FIELDS);
    const text = [name, ...shown.map((field) => `${field.name}={}`)].join(' ');
    return formatOf(eventFormat(eventTypeId), text, shown.map(argTypeOf));
  });
  const storages = schema.storages.map((storage) => addStorage(storage, formats));
  const units: CtraceUnit[] = schema.scopes
    .filter(({ scopeId }) => scopeId !== 0)
    .map(({ scopeId, protocol }) => ({
      id: scopeId,
      name: scopePath(schema, scopeId),
      typeName: protocol ?? '',
    }));
  return {
    schema: { version: 1, formats, categories: [], units, simulationName, configHash: 0n },
    storages,
  };
}

function addStorage({ name, fields, properties }: StorageDef, formats: CtraceFormat[]): StorageFormats {
  const next = (): number => formats.length + 1;
  const add = (text: string, ...types: readonly number[]): void =>
    void formats.push(formatOf(next(), text, types));
  const set = next();
  for (const field of fields) add(`${name}.set slot={} ${field.name}={}`, ArgType.UINT16, argTypeOf(field));
  const adds = next();
  for (const field of fields) add(`${name}.add slot={} ${field.name}={}`, ArgType.UINT16, ArgType.INT64);
  const clear = next();
  add(`${name}.clear slot={}`, ArgType.UINT16);
  const prop = next();
  for (const property of properties) add(`${name}.prop ${property.name}={}`, argTypeOf(property));
  return { set, add: adds, clear, prop };
}

function formatOf(id: number, text: string, argTypes: readonly number[]): CtraceFormat {
  return { id, text, file: '', line: 0, argTypes, isLog: false, logLevel: 0 };
}
