/** Which variables a trace becomes. */
import { UscopeError } from '../../base/errors.js';
import {
  type EventDef,
  type FieldDef,
  FieldType,
  fieldSize,
  NO_ID,
  type Schema,
  SF_BUFFER,
  SF_SPARSE,
  type StorageDef,
} from '../../format/types.js';
import type { VcdScope, VcdVariable } from './writer.js';

export interface StoragePlan {
  readonly def: StorageDef;
  /** Of slot 0: first the valid bit of sparse storages and buffers, then the fields; the next slots follow. */
  readonly firstVariable: number;
  readonly perSlot: number;
  readonly hasValid: boolean;
  readonly properties: number;
}

export interface EventPlan {
  readonly def: EventDef;
  /** The event itself; its fields follow. */
  readonly variable: number;
  readonly offsets: readonly number[];
}

export interface VcdPlan {
  readonly top: VcdScope;
  /** By storage id; undefined: left out. */
  readonly storages: readonly (StoragePlan | undefined)[];
  readonly events: readonly EventPlan[];
  readonly variables: number;
}

export interface PlanOptions {
  /** Storages with more slots are left out. */
  readonly maxSlots: number;
  readonly events: boolean;
}

/** More make viewers slow and are of little use. */
const MAX_VARIABLES = 1_000_000;

/** @throws UscopeError CONVERT_UNSUPPORTED: more than a million variables */
export function planVcd(schema: Schema, options: PlanOptions): VcdPlan {
  return new Planner(schema, options).plan();
}

interface OpenScope {
  name: string;
  scopes: OpenScope[];
  variables: VcdVariable[];
}

class Planner {
  private count = 0;
  private readonly storages: (StoragePlan | undefined)[] = [];
  private readonly events: EventPlan[] = [];

  constructor(
    private readonly schema: Schema,
    private readonly options: PlanOptions,
  ) {}

  plan(): VcdPlan {
    const root = this.schema.scopes.findIndex(({ parentId }) => parentId === NO_ID);
    const top = this.scope(root, 'trace');
    if (this.count > MAX_VARIABLES) {
      throw new UscopeError(
        'CONVERT_UNSUPPORTED',
        `the trace would have ${this.count} variables; ${MAX_VARIABLES} are the most. Leave large storages out: max-slots=N`,
      );
    }
    return { top, storages: this.storages, events: this.events, variables: this.count };
  }

  /** Depth first, as the header lists them. */
  private scope(scopeId: number, name: string): OpenScope {
    const { storages, events, scopes } = this.schema;
    const open: OpenScope = { name, scopes: [], variables: [] };
    const isHere = (owner: number): boolean =>
      owner === scopeId || (owner === NO_ID && scopes[scopeId]?.parentId === NO_ID);
    const own = storages.filter((one) => isHere(one.scopeId) && one.numSlots <= this.options.maxSlots);
    // Variables are numbered as the header lists them: those of a scope before those of the scopes in it.
    for (const def of own.filter(isScalar)) this.scalar(def, open);
    for (const def of own.filter((one) => !isScalar(one))) this.storage(def, open);
    if (this.options.events)
      for (const def of events.filter((one) => isHere(one.scopeId))) this.event(def, open);
    for (const child of scopes) {
      if (child.parentId === scopeId && child.scopeId !== scopeId)
        open.scopes.push(this.scope(child.scopeId, child.name));
    }
    return open;
  }

  /** A counter, and what looks like one, is a variable of its name. */
  private scalar(def: StorageDef, parent: OpenScope): void {
    const firstVariable = this.count;
    const [field] = def.fields;
    if (field) this.add(parent, variable(def.name, field));
    this.storages[def.storageId] = {
      def,
      firstVariable,
      perSlot: 1,
      hasValid: false,
      properties: this.count,
    };
  }

  /** Everything else is a scope, with a variable per slot and field. */
  private storage(def: StorageDef, parent: OpenScope): void {
    const hasValid = hasValidBit(def);
    const own: OpenScope = { name: def.name, scopes: [], variables: [] };
    const firstVariable = this.count;
    for (let slot = 0; slot < def.numSlots; slot++) this.slot(def, slot, hasValid, own);
    const properties = this.count;
    for (const property of def.properties) this.add(own, variable(property.name, property));
    parent.scopes.push(own);
    const perSlot = def.fields.length + (hasValid ? 1 : 0);
    this.storages[def.storageId] = { def, firstVariable, perSlot, hasValid, properties };
  }

  private slot(def: StorageDef, slot: number, hasValid: boolean, own: OpenScope): void {
    const prefix = def.numSlots === 1 ? '' : `slot${slot}_`;
    if (hasValid) this.add(own, { name: `${prefix}valid`, kind: 'wire', width: 1 });
    for (const field of def.fields) this.add(own, variable(`${prefix}${field.name}`, field));
  }

  private event(def: EventDef, parent: OpenScope): void {
    const own: OpenScope = { name: def.name, scopes: [], variables: [] };
    const index = this.count;
    this.add(own, { name: 'happens', kind: 'event', width: 1 });
    let size = 0;
    const offsets = def.fields.map((field) => {
      const offset = size;
      size += fieldSize(field.type);
      this.add(own, variable(field.name, field));
      return offset;
    });
    parent.scopes.push(own);
    this.events[def.eventTypeId] = { def, variable: index, offsets };
  }

  private add(scope: OpenScope, one: VcdVariable): void {
    scope.variables.push(one);
    this.count++;
  }
}

function hasValidBit({ flags }: StorageDef): boolean {
  return (flags & (SF_SPARSE | SF_BUFFER)) !== 0;
}

function isScalar(def: StorageDef): boolean {
  return def.numSlots === 1 && !hasValidBit(def) && def.properties.length === 0 && def.fields.length === 1;
}

function variable(name: string, { type }: FieldDef): VcdVariable {
  if (type === FieldType.STRING_REF) return { name, kind: 'string', width: 1 };
  return { name, kind: 'wire', width: type === FieldType.BOOL ? 1 : 8 * fieldSize(type) };
}
