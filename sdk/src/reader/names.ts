/** Names of a schema -> ids. Storages and events are named by their scope path without the root (`core0/rob`); a name that is unique may be used alone. */
import { UscopeError } from '../base/errors.js';
import { namesNear } from '../base/near-names.js';
import {
  type EventDef,
  type FieldDef,
  qualifiedName,
  type Schema,
  type StorageDef,
} from '../format/types.js';

export class NameIndex {
  /** Qualified name of each storage and event, by id. */
  readonly storageNames: readonly string[];
  readonly eventNames: readonly string[];

  constructor(readonly schema: Schema) {
    this.storageNames = schema.storages.map((storage) => qualifiedName(schema, storage));
    this.eventNames = schema.events.map((event) => qualifiedName(schema, event));
  }

  /** @throws UscopeError READER_NAME */
  storage(nameOrId: string | number): StorageDef {
    return find('storage', nameOrId, this.storageNames, this.schema.storages);
  }

  /** @throws UscopeError READER_NAME */
  event(nameOrId: string | number): EventDef {
    return find('event', nameOrId, this.eventNames, this.schema.events);
  }

  /** Index of a slot field. @throws UscopeError READER_NAME */
  field(storage: StorageDef, nameOrIndex: string | number): number {
    return fieldIndex('field', storage.fields, this.storageNames[storage.storageId], nameOrIndex);
  }

  /** Index of a storage property. @throws UscopeError READER_NAME */
  property(storage: StorageDef, nameOrIndex: string | number): number {
    return fieldIndex('property', storage.properties, this.storageNames[storage.storageId], nameOrIndex);
  }
}

function find<T>(kind: string, key: string | number, names: readonly string[], defs: readonly T[]): T {
  if (typeof key === 'number') {
    const def = defs[key];
    if (def === undefined) throw unknown(kind, String(key), String(key), names);
    return def;
  }
  const exact = names.indexOf(key);
  if (exact >= 0) return defs[exact];
  const matches = names.flatMap((name, id) => (name.endsWith(`/${key}`) ? [id] : []));
  if (matches.length === 1) return defs[matches[0]];
  if (matches.length > 1) {
    const candidates = matches.map((id) => names[id]).join(', ');
    throw new UscopeError(
      'READER_NAME',
      `"${key}" is the name of several: ${candidates}; give the scope too`,
    );
  }
  throw unknown(kind, key, `"${key}"`, names);
}

function fieldIndex(kind: string, fields: readonly FieldDef[], owner: string, key: string | number): number {
  const index = typeof key === 'number' ? key : fields.findIndex((field) => field.name === key);
  if (index >= 0 && index < fields.length) return index;
  throw unknown(
    kind,
    String(key),
    `${typeof key === 'number' ? key : `"${key}"`} of "${owner}"`,
    fields.map((field) => field.name),
  );
}

function unknown(kind: string, key: string, what: string, names: readonly string[]): UscopeError {
  return new UscopeError('READER_NAME', `the trace has no ${kind} ${what}; ${namesNear(key, names)}`);
}
