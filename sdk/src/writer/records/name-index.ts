/** Storages, events and fields by id or by qualified name (`core0/rob`). */

import type { ErrorCode } from '../../base/codes.js';
import { type ErrorPlace, UscopeError } from '../../base/errors.js';
import {
  type EventDef,
  type FieldDef,
  packedSize,
  qualifiedName,
  type Schema,
  type StorageDef,
} from '../../format/types.js';
import { type FieldPlan, planOf } from './field-plan.js';

export interface NamedStorage {
  readonly id: number;
  readonly name: string;
  readonly def: StorageDef;
  readonly fields: ReadonlyMap<string, number>;
  readonly properties: ReadonlyMap<string, number>;
  readonly fieldPlans: readonly FieldPlan[];
  readonly propertyPlans: readonly FieldPlan[];
}

export interface NamedEvent {
  readonly id: number;
  readonly name: string;
  readonly def: EventDef;
  readonly fields: ReadonlyMap<string, number>;
  readonly payloadSize: number;
  readonly plans: readonly FieldPlan[];
}

export class NameIndex {
  private readonly storages: readonly NamedStorage[];
  private readonly events: readonly NamedEvent[];
  private readonly storageByName: ReadonlyMap<string, NamedStorage>;
  private readonly eventByName: ReadonlyMap<string, NamedEvent>;

  constructor(schema: Schema) {
    this.storages = schema.storages.map((def, id) => ({
      id,
      name: qualifiedName(schema, def),
      def,
      fields: positions(def.fields),
      properties: positions(def.properties),
      fieldPlans: def.fields.map(planOf),
      propertyPlans: def.properties.map(planOf),
    }));
    this.events = schema.events.map((def, id) => ({
      id,
      name: qualifiedName(schema, def),
      def,
      fields: positions(def.fields),
      payloadSize: packedSize(def.fields),
      plans: def.fields.map(planOf),
    }));
    this.storageByName = new Map(this.storages.map((storage) => [storage.name, storage]));
    this.eventByName = new Map(this.events.map((event) => [event.name, event]));
  }

  storage(key: number | string): NamedStorage {
    const found = typeof key === 'number' ? this.storages[key] : this.storageByName.get(key);
    return found ?? unknown('OP_STORAGE', 'storage', key, [...this.storageByName.keys()]);
  }

  event(key: number | string): NamedEvent {
    const found = typeof key === 'number' ? this.events[key] : this.eventByName.get(key);
    return found ?? unknown('OP_EVENT', 'event', key, [...this.eventByName.keys()]);
  }

  field(storage: NamedStorage, key: number | string): number {
    return (
      position(storage.fields, storage.def.fields, key) ??
      unknown('OP_FIELD', `field of ${storage.name}`, key, [...storage.fields.keys()])
    );
  }

  property(storage: NamedStorage, key: number | string): number {
    const { properties, def, name } = storage;
    return (
      position(properties, def.properties, key) ??
      unknown('OP_PROPERTY', `property of ${name}`, key, [...properties.keys()])
    );
  }
}

function positions(fields: readonly FieldDef[]): ReadonlyMap<string, number> {
  return new Map(fields.map((field, index) => [field.name, index]));
}

function position(
  byName: ReadonlyMap<string, number>,
  fields: readonly FieldDef[],
  key: number | string,
): number | undefined {
  if (typeof key === 'string') return byName.get(key);
  return key >= 0 && key < fields.length ? key : undefined;
}

function unknown(
  code: ErrorCode,
  what: string,
  key: number | string,
  known: readonly string[],
  place: ErrorPlace = {},
): never {
  const shown = known.slice(0, 12).join(', ') + (known.length > 12 ? ', …' : '');
  throw new UscopeError(code, `no ${what} "${key}"; there are: ${shown || 'none'}`, place);
}
