/** What all generated languages share: the schema with words for identifiers, ids and types, before any language's spelling. */
import { UscopeError } from '../../base/errors.js';
import {
  type FieldDef,
  FieldType,
  NO_ID,
  packedSize,
  qualifiedName,
  type Schema,
  SF_SPARSE,
  type StorageDef,
} from '../../format/types.js';
import { logicalFields } from '../../format/wide-fields.js';
import type { UnboundSchema } from '../parse.js';
import { type BuiltinTypeName, STORAGE_KINDS, typeName, wordFor } from '../types.js';
import { uniqueWords, variablesIn, wordOf } from './identifiers.js';

export interface CodegenInput {
  readonly schema: UnboundSchema;
  /** Identity of the schema, which `open` passes on (`schemaFingerprint`). */
  readonly fingerprint: string;
  /** What packages, files and classes are called after. */
  readonly name: string;
  /** Name of the schema file for the first line of the output, without directories: the output must not depend on them. */
  readonly source: string;
  /** Scope paths in front of all names, not only of those that two scopes define. */
  readonly qualified?: boolean | undefined;
}

export interface CodeModel {
  readonly name: string;
  readonly source: string;
  readonly fingerprint: string;
  /** Those without a default first. */
  readonly variables: readonly VariableModel[];
  readonly clocks: readonly ClockModel[];
  readonly enums: readonly EnumModel[];
  readonly storages: readonly StorageModel[];
  readonly events: readonly EventModel[];
}

export interface VariableModel {
  readonly name: string;
  readonly type: 'int' | 'string';
  /** undefined: it must be given. */
  readonly fallback: string | undefined;
}

export interface ClockModel {
  readonly word: string;
  readonly periodPs: number;
}

export interface EnumModel {
  readonly word: string;
  /** As in the schema. */
  readonly name: string;
  readonly values: readonly { readonly word: string; readonly value: number }[];
}

export type ValueType = BuiltinTypeName | EnumModel;

export interface FieldModel {
  readonly word: string;
  readonly index: number;
  readonly type: ValueType;
}

/** A value of more than 64 bits (docs/reference/format.md#wide-fields). */
export interface WideType {
  readonly bits: number;
  readonly isFourState: boolean;
}

/** What a generated function takes as one value: a field, or the fields that hold a wide value. */
export interface ValueModel {
  readonly word: string;
  readonly type: ValueType | WideType;
  /** One; of a wide value those of its bits, the lowest first, then those of its unknown bits. */
  readonly fields: readonly FieldModel[];
}

export interface StorageModel {
  readonly word: string;
  /** Of the scope it is in, with those above it; '' for the root. */
  readonly scopeWord: string;
  /** Scope path and name as in the schema. */
  readonly title: string;
  readonly id: number;
  readonly slots: number;
  readonly kind: string;
  readonly sparse: boolean;
  /** One value: dense, one slot, one field. */
  readonly single: boolean;
  readonly fields: readonly FieldModel[];
  readonly properties: readonly FieldModel[];
  /** The fields, and the properties, as values. */
  readonly values: readonly ValueModel[];
  readonly propertyValues: readonly ValueModel[];
}

export interface EventModel {
  readonly word: string;
  readonly title: string;
  readonly id: number;
  readonly fields: readonly FieldModel[];
  readonly values: readonly ValueModel[];
  /** Bytes of the packed payload (docs/reference/format.md#packing). */
  readonly payloadSize: number;
}

/** A storage or event in a comment. */
export function describe(def: StorageModel | EventModel): string {
  if (!('kind' in def)) return `event ${def.title}`;
  return `storage ${def.title}: ${def.kind}, ${def.slots} ${def.slots === 1 ? 'slot' : 'slots'}`;
}

/** @throws UscopeError SCHEMA_VARIABLE for a default that the open call of generated code could not pass on */
export function buildModel(input: CodegenInput): CodeModel {
  const { schema } = input.schema;
  const qualified = input.qualified ?? false;
  const enums = enumModels(schema);
  const storageWords = scopedWords(schema, schema.storages, qualified);
  const eventWords = scopedWords(schema, schema.events, qualified);
  const clockWords = uniqueWords(schema.clocks.map((clock) => wordOf(clock.name)));
  return {
    name: wordOf(input.name),
    source: input.source.replace(/[^A-Za-z0-9_.-]/g, '_'),
    fingerprint: input.fingerprint,
    variables: variableModels(input.schema),
    clocks: schema.clocks
      .map(({ periodPs }, index) => ({ word: clockWords[index], periodPs }))
      .filter(({ periodPs }) => periodPs > 0),
    enums,
    storages: schema.storages.map((def, index) => ({
      ...storageValues(def, enums),
      word: storageWords[index],
      scopeWord: scopeWords(schema, def.scopeId).join('_'),
      title: qualifiedName(schema, def),
      id: def.storageId,
      slots: def.numSlots,
      kind: wordFor(STORAGE_KINDS, def.flags) ?? 'dense',
      sparse: (def.flags & SF_SPARSE) !== 0,
      single: (def.flags & SF_SPARSE) === 0 && def.numSlots === 1 && def.fields.length === 1,
    })),
    events: schema.events.map((def, index) => ({
      word: eventWords[index],
      title: qualifiedName(schema, def),
      id: def.eventTypeId,
      ...eventValues(def.fields, enums),
      payloadSize: packedSize(def.fields),
    })),
  };
}

function enumModels({ enums }: Schema): EnumModel[] {
  const words = uniqueWords(enums.map((def) => wordOf(def.name)));
  return enums.map((def, index) => {
    const labels = uniqueWords(def.values.map((item) => wordOf(item.name)));
    const values = def.values.map(({ value }, at) => ({ word: labels[at], value }));
    return { word: words[index], name: def.name, values };
  });
}

function fieldModels(defs: readonly FieldDef[], enums: readonly EnumModel[]): FieldModel[] {
  const words = uniqueWords(defs.map((def) => wordOf(def.name)));
  return defs.map((def, index) => {
    const builtin = def.type === FieldType.ENUM ? undefined : (typeName(def.type, 0, []) as BuiltinTypeName);
    return { word: words[index], index, type: builtin ?? enums[def.enumId] };
  });
}

function storageValues(def: StorageDef, enums: readonly EnumModel[]) {
  const fields = fieldModels(def.fields, enums);
  const properties = fieldModels(def.properties, enums);
  return {
    fields,
    properties,
    values: valueModels(def.fields, fields),
    propertyValues: valueModels(def.properties, properties),
  };
}

function eventValues(defs: readonly FieldDef[], enums: readonly EnumModel[]) {
  const fields = fieldModels(defs, enums);
  return { fields, values: valueModels(defs, fields) };
}

function valueModels(defs: readonly FieldDef[], models: readonly FieldModel[]): ValueModel[] {
  const logical = logicalFields(defs);
  const words = uniqueWords(logical.map(({ name }) => wordOf(name)));
  return logical.map(({ bits, pieces, unknown }, index) => {
    const fields = [...pieces, ...unknown].map((at) => models[at]);
    const type = bits === 0 ? fields[0].type : { bits, isFourState: unknown.length > 0 };
    return { word: words[index], type, fields };
  });
}

/** Words for definitions that live in scopes; the scope's path is in front where two scopes define the same word. */
function scopedWords(
  schema: Schema,
  defs: readonly { readonly name: string; readonly scopeId: number }[],
  qualified: boolean,
): string[] {
  const scopes = new Map<string, Set<number>>();
  for (const def of defs) {
    const key = wordOf(def.name).toLowerCase();
    scopes.set(key, (scopes.get(key) ?? new Set()).add(def.scopeId));
  }
  const words = defs.map((def) => {
    const word = wordOf(def.name);
    const shared = (scopes.get(word.toLowerCase())?.size ?? 0) > 1;
    return qualified || shared ? [...scopeWords(schema, def.scopeId), word].join('_') : word;
  });
  return uniqueWords(words);
}

function scopeWords(schema: Schema, scopeId: number): string[] {
  const words: string[] = [];
  for (let id = scopeId; id !== NO_ID && id !== 0; id = schema.scopes[id].parentId) {
    words.unshift(wordOf(schema.scopes[id].name));
  }
  return words;
}

function variableModels({ schema, dut, variables }: UnboundSchema): VariableModel[] {
  const used = textsOf(schema).concat(dut.flat()).flatMap(variablesIn);
  const required = [...new Set(used)].filter((name) => !variables.has(name));
  const optional = [...variables].map(([name, fallback]): VariableModel => {
    if (fallback.includes(',')) {
      const detail = `the default "${fallback}" of variable "${name}" holds a comma, which separates variables where generated code opens a trace; choose another default`;
      throw new UscopeError('SCHEMA_VARIABLE', detail);
    }
    return { name, type: /^(0|-?[1-9][0-9]{0,8})$/.test(fallback) ? 'int' : 'string', fallback };
  });
  return [
    ...required.map((name): VariableModel => ({ name, type: 'string', fallback: undefined })),
    ...optional,
  ];
}

/** Everything of a schema that may hold variables, in its order. */
function textsOf(schema: Schema): string[] {
  const names = (defs: readonly { readonly name: string }[]): string[] => defs.map(({ name }) => name);
  return [
    ...names(schema.clocks),
    ...schema.enums.flatMap((def) => [def.name, ...names(def.values)]),
    ...schema.scopes.flatMap((def) => [def.name, def.protocol ?? '']),
    ...schema.storages.flatMap((def) => [def.name, ...names(def.fields), ...names(def.properties)]),
    ...schema.events.flatMap((def) => [def.name, ...names(def.fields)]),
    ...names(schema.summaryFields),
  ];
}
