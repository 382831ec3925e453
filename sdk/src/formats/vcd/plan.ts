/** Which variables a trace becomes. */
import { UscopeError } from '../../base/errors.js';
import { floatBits } from '../../format/float-fields.js';
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
import { joinPieces, logicalFields } from '../../format/wide-fields.js';
import { payloadLayout } from '../../reader/payload.js';
import type { VcdScope, VcdVariable } from './writer.js';

/** The place of the value of a field of the schema: a variable of at most 64 bits, or a piece of a wide one (docs/reference/format.md#wide-fields). */
export interface FieldPlace {
  readonly type: FieldType;
  /** In bytes. */
  readonly size: number;
  /** Bits of the floating-point number that it is; 0 for what is none. */
  readonly floatBits: 0 | 32 | 64;
  /** Bits of the low and of the high word that it has. */
  readonly lowMask: number;
  readonly highMask: number;
  /** After the first variable of the row of fields. */
  readonly variable: number;
  /** Number of the piece in the variable; those that say what is unknown follow those of the value. */
  readonly piece: number;
}

export interface StoragePlan {
  readonly def: StorageDef;
  /** Of slot 0: first the valid bit of sparse storages and buffers, then the fields; the next slots follow. */
  readonly firstVariable: number;
  readonly perSlot: number;
  readonly hasValid: boolean;
  readonly fields: readonly FieldPlace[];
  /** The first variable of the properties. */
  readonly properties: number;
  readonly propertyPlaces: readonly FieldPlace[];
}

export interface EventPlan {
  readonly def: EventDef;
  /** The event itself; its fields follow. */
  readonly variable: number;
  readonly fields: readonly FieldPlace[];
  /** In the payload, by field. */
  readonly offsets: readonly number[];
}

export interface VcdPlan {
  readonly top: VcdScope;
  /** By storage id; undefined: left out. */
  readonly storages: readonly (StoragePlan | undefined)[];
  readonly events: readonly EventPlan[];
  readonly variables: number;
  /** By variable, pieces of 64 bits of its value, and those that say what is unknown: none, or the same number. */
  readonly pieces: readonly number[];
  readonly unknownPieces: readonly number[];
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
  private readonly pieces: number[] = [];
  private readonly unknownPieces: number[] = [];

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
    const { storages, events, count, pieces, unknownPieces } = this;
    return { top, storages, events, variables: count, pieces, unknownPieces };
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
    this.addFields(parent, '', def.fields, def.name);
    this.storages[def.storageId] = {
      ...{ def, firstVariable, perSlot: 1, hasValid: false, fields: placesOf(def.fields) },
      ...{ properties: this.count, propertyPlaces: [] },
    };
  }

  /** Everything else is a scope, with a variable per slot and field. */
  private storage(def: StorageDef, parent: OpenScope): void {
    const hasValid = hasValidBit(def);
    const own: OpenScope = { name: def.name, scopes: [], variables: [] };
    const firstVariable = this.count;
    for (let slot = 0; slot < def.numSlots; slot++) this.slot(def, slot, hasValid, own);
    const properties = this.count;
    this.addFields(own, '', def.properties);
    parent.scopes.push(own);
    const perSlot = logicalFields(def.fields).length + (hasValid ? 1 : 0);
    this.storages[def.storageId] = {
      ...{ def, firstVariable, perSlot, hasValid, fields: placesOf(def.fields) },
      ...{ properties, propertyPlaces: placesOf(def.properties) },
    };
  }

  private slot(def: StorageDef, slot: number, hasValid: boolean, own: OpenScope): void {
    const prefix = def.numSlots === 1 ? '' : `slot${slot}_`;
    if (hasValid) this.add(own, { name: `${prefix}valid`, kind: 'wire', width: 1 });
    this.addFields(own, prefix, def.fields);
  }

  private event(def: EventDef, parent: OpenScope): void {
    const own: OpenScope = { name: def.name, scopes: [], variables: [] };
    const index = this.count;
    this.add(own, { name: 'happens', kind: 'event', width: 1 });
    this.addFields(own, '', def.fields);
    parent.scopes.push(own);
    const { offsets } = payloadLayout(def.fields);
    this.events[def.eventTypeId] = { def, variable: index, fields: placesOf(def.fields), offsets };
  }

  /** A variable for each value. @param only the name of a single one */
  private addFields(scope: OpenScope, prefix: string, fields: readonly FieldDef[], only?: string): void {
    for (const logical of logicalFields(fields)) {
      const name = only ?? `${prefix}${logical.name}`;
      if (logical.bits === 0) this.add(scope, variable(name, fields[logical.pieces[0]]));
      else {
        const { bits, pieces, unknown } = logical;
        this.add(scope, { name, kind: 'wire', width: bits }, pieces.length, unknown.length);
      }
    }
  }

  private add(scope: OpenScope, one: VcdVariable, pieces = 1, unknownPieces = 0): void {
    scope.variables.push(one);
    this.pieces.push(pieces);
    this.unknownPieces.push(unknownPieces);
    this.count++;
  }
}

/** By field of the schema. */
function placesOf(fields: readonly FieldDef[]): FieldPlace[] {
  return logicalFields(fields).flatMap(({ pieces, unknown }, variable) =>
    [...pieces, ...unknown].map((field, piece) => placeOf(fields[field], variable, piece)),
  );
}

function placeOf(field: FieldDef, variable: number, piece: number): FieldPlace {
  const { type } = field;
  const size = fieldSize(type);
  const bits = type === FieldType.BOOL ? 1 : 8 * size;
  const lowMask = bits < 32 ? 2 ** bits - 1 : 0xffff_ffff;
  const highMask = bits < 64 ? 0 : 0xffff_ffff;
  return { type, size, floatBits: floatBits(field), lowMask, highMask, variable, piece };
}

function hasValidBit({ flags }: StorageDef): boolean {
  return (flags & (SF_SPARSE | SF_BUFFER)) !== 0;
}

function isScalar(def: StorageDef): boolean {
  return (
    def.numSlots === 1 &&
    !hasValidBit(def) &&
    def.properties.length === 0 &&
    logicalFields(def.fields).length === 1
  );
}

function variable(name: string, field: FieldDef): VcdVariable {
  const { type } = field;
  if (type === FieldType.STRING_REF) return { name, kind: 'string', width: 1 };
  if (floatBits(field) !== 0) return { name, kind: 'real', width: 64 };
  return { name, kind: 'wire', width: type === FieldType.BOOL ? 1 : 8 * fieldSize(type) };
}

/** The values of the variables of a dump, and which of them a frame has changed: typed arrays, since millions of changes are not worth an object each. */
export class VariableValues {
  /** 1 for each variable that has a value. Fields of events have none before the first one. */
  readonly known: Uint8Array;
  /** In the order of their first change since `forgetChanges`. */
  readonly changed: number[] = [];
  private readonly isChanged: Uint8Array;
  /** Low and high half of each piece; those of a variable are a row. */
  private readonly words: Uint32Array;
  /** First word of each variable; one more at the end. */
  private readonly firstWord: Uint32Array;

  constructor(private readonly plan: Pick<VcdPlan, 'variables' | 'pieces' | 'unknownPieces'>) {
    const { variables, pieces, unknownPieces } = plan;
    this.known = new Uint8Array(variables);
    this.isChanged = new Uint8Array(variables);
    this.firstWord = new Uint32Array(variables + 1);
    for (let variable = 0; variable < variables; variable++)
      this.firstWord[variable + 1] =
        this.firstWord[variable] + 2 * (pieces[variable] + unknownPieces[variable]);
    this.words = new Uint32Array(this.firstWord[variables]);
  }

  /** True if it is one field of at most 64 bits: then `lo` and `hi` are its value. */
  isSingle(variable: number): boolean {
    return this.firstWord[variable + 1] - this.firstWord[variable] === 2;
  }

  lo(variable: number): number {
    return this.words[this.firstWord[variable]];
  }

  hi(variable: number): number {
    return this.words[this.firstWord[variable] + 1];
  }

  /** Value of a wide variable. */
  value(variable: number): bigint {
    return joinPieces(this.row(variable, 0, this.plan.pieces[variable]));
  }

  /** Bits of a wide one of four states that are x or z; null: it has two. */
  unknown(variable: number): bigint | null {
    const count = this.plan.unknownPieces[variable];
    return count === 0 ? null : joinPieces(this.row(variable, this.plan.pieces[variable], count));
  }

  /** A field gets a value, of which it takes the bits that it has. @param first variable of the row of fields */
  set(first: number, place: FieldPlace, lo: number, hi: number): void {
    const index = first + place.variable;
    const at = this.firstWord[index] + 2 * place.piece;
    const low = (lo & place.lowMask) >>> 0;
    const high = (hi & place.highMask) >>> 0;
    const { words } = this;
    if (words[at] === low && words[at + 1] === high && this.known[index] === 1) return;
    words[at] = low;
    words[at + 1] = high;
    this.change(index);
  }

  /** A field becomes what it is plus a value. */
  add(first: number, place: FieldPlace, lo: number, hi: number): void {
    const at = this.firstWord[first + place.variable] + 2 * place.piece;
    const low = this.words[at] + lo;
    const carry = low > 0xffff_ffff ? 1 : 0;
    this.set(first, place, low >>> 0, (this.words[at + 1] + hi + carry) >>> 0);
  }

  /** A variable of one bit. */
  setBit(variable: number, bit: number): void {
    const at = this.firstWord[variable];
    if (this.words[at] === bit && this.known[variable] === 1) return;
    this.words[at] = bit;
    this.change(variable);
  }

  forgetChanges(): void {
    for (const variable of this.changed) this.isChanged[variable] = 0;
    this.changed.length = 0;
  }

  private change(variable: number): void {
    this.known[variable] = 1;
    if (this.isChanged[variable] === 1) return;
    this.isChanged[variable] = 1;
    this.changed.push(variable);
  }

  private row(variable: number, from: number, count: number): bigint[] {
    const first = this.firstWord[variable] + 2 * from;
    return Array.from({ length: count }, (_, piece) => {
      const at = first + 2 * piece;
      return (BigInt(this.words[at + 1]) << 32n) | BigInt(this.words[at]);
    });
  }
}
