/** What two schemas have in common, by path: storages, events and their fields, however they are numbered and ordered in each. */
import { appendAll } from '../../base/arrays.js';
import {
  type EnumDef,
  type EventDef,
  type FieldDef,
  FieldType,
  isSigned,
  type Schema,
  type StorageDef,
} from '../../format/types.js';
import { logicalFields } from '../../format/wide-fields.js';
import type { Trace } from '../../reader/index.js';

/** A scope of one trace that represents a scope of the other. */
export interface ScopePair {
  readonly a: string;
  readonly b: string;
}

/** Field of both: index in each. */
export interface FieldPair {
  readonly name: string;
  readonly a: number;
  readonly b: number;
  /** Values are compared as numbers, by the labels of two different enums, or as texts. */
  readonly as: 'number' | 'label' | 'text';
}

export interface StoragePair {
  readonly path: string;
  readonly a: StorageDef;
  readonly b: StorageDef;
  readonly fields: readonly FieldPair[];
  readonly properties: readonly FieldPair[];
}

export interface EventPair {
  readonly path: string;
  readonly a: EventDef;
  readonly b: EventDef;
  readonly fields: readonly FieldPair[];
}

export interface SchemaDifference {
  /** Paths of storages, events and fields (`core0/rob.ready`) that only one has. */
  readonly onlyA: readonly string[];
  readonly onlyB: readonly string[];
  /** What both have in different ways, in words. */
  readonly changed: readonly string[];
}

export interface SchemaMatch extends SchemaDifference {
  readonly storages: readonly StoragePair[];
  readonly events: readonly EventPair[];
}

/** @param scopes only what is in these; none: everything, paths as they are */
export function matchSchemas(a: Trace, b: Trace, scopes: readonly ScopePair[]): SchemaMatch {
  return new Matcher(a, b, scopes).run();
}

type Defs<T> = Map<string, T>;

class Matcher {
  private readonly onlyA: string[] = [];
  private readonly onlyB: string[] = [];
  private readonly changed: string[] = [];

  constructor(
    private readonly a: Trace,
    private readonly b: Trace,
    private readonly scopes: readonly ScopePair[],
  ) {}

  run(): SchemaMatch {
    const storages = this.pairs(
      this.byPath('a', this.a.names.storageNames, this.a.schema.storages),
      this.byPath('b', this.b.names.storageNames, this.b.schema.storages),
      (path, a, b) => this.storage(path, a, b),
    );
    const events = this.pairs(
      this.byPath('a', this.a.names.eventNames, this.a.schema.events),
      this.byPath('b', this.b.names.eventNames, this.b.schema.events),
      (path, a, b) => ({ path, a, b, fields: this.fields(path, a.fields, b.fields) }),
    );
    const { onlyA, onlyB, changed } = this;
    return { storages, events, onlyA, onlyB, changed };
  }

  private byPath<T>(side: 'a' | 'b', names: readonly string[], defs: readonly T[]): Defs<T> {
    const found: Defs<T> = new Map();
    names.forEach((name, id) => {
      const path = this.commonPath(side, name);
      if (path !== null && !found.has(path)) found.set(path, defs[id]);
    });
    return found;
  }

  /** The path in the first trace; null: outside the scopes asked for. */
  private commonPath(side: 'a' | 'b', name: string): string | null {
    if (this.scopes.length === 0) return name;
    for (const scope of this.scopes) {
      const own = scope[side];
      if (own === '') return name;
      if (name.startsWith(`${own}/`)) return `${scope.a}${name.slice(own.length)}`;
    }
    return null;
  }

  private pairs<T, P>(a: Defs<T>, b: Defs<T>, pair: (path: string, a: T, b: T) => P): P[] {
    for (const path of b.keys()) if (!a.has(path)) this.onlyB.push(path);
    const found: P[] = [];
    for (const [path, def] of a) {
      const other = b.get(path);
      if (other) found.push(pair(path, def, other));
      else this.onlyA.push(path);
    }
    return found;
  }

  private storage(path: string, a: StorageDef, b: StorageDef): StoragePair {
    if (a.numSlots !== b.numSlots) this.changed.push(`${path}: ${a.numSlots} slots, ${b.numSlots} slots`);
    if (a.flags !== b.flags) this.changed.push(`${path}: flags ${a.flags}, flags ${b.flags}`);
    return {
      path,
      a,
      b,
      fields: this.fields(path, a.fields, b.fields),
      properties: this.fields(path, a.properties, b.properties),
    };
  }

  private fields(path: string, a: readonly FieldDef[], b: readonly FieldDef[]): FieldPair[] {
    const missing = (from: readonly FieldDef[], other: readonly FieldDef[]): string[] =>
      logicalFields(from).flatMap(({ name, bits, pieces, unknown }) => {
        const isThere = (index: number): boolean => other.some((field) => field.name === from[index].name);
        if (!pieces.every(isThere)) return [`${path}.${name}${bits > 0 ? ` (${bits} bits)` : ''}`];
        return unknown.every(isThere) ? [] : [`${path}.${name} (its unknown bits)`];
      });
    appendAll(this.onlyA, missing(a, b));
    appendAll(this.onlyB, missing(b, a));
    return a.flatMap((field, index) => {
      const other = b.findIndex(({ name }) => name === field.name);
      const as = other < 0 ? null : this.comparison(`${path}.${field.name}`, field, b[other]);
      return as === null ? [] : [{ name: field.name, a: index, b: other, as }];
    });
  }

  private comparison(path: string, a: FieldDef, b: FieldDef): FieldPair['as'] | null {
    const [inA, inB] = [typeText(this.a.schema, a), typeText(this.b.schema, b)];
    if (inA !== inB) this.changed.push(`${path}: ${inA}, ${inB}`);
    const texts = [a, b].filter(({ type }) => type === FieldType.STRING_REF).length;
    if (texts === 2) return 'text';
    if (texts === 1) return null; // nothing to compare
    if (a.type !== FieldType.ENUM || b.type !== FieldType.ENUM) return 'number';
    return inA === inB ? 'number' : 'label';
  }
}

function typeText(schema: Schema, { type, enumId }: FieldDef): string {
  if (type === FieldType.ENUM) return `enum ${labelsText(schema.enums[enumId])}`;
  if (type === FieldType.STRING_REF) return 'string';
  if (type === FieldType.BOOL) return 'bool';
  const signed = isSigned(type);
  const bits = 8 << (type - (signed ? FieldType.I8 : FieldType.U8));
  return `${signed ? 'i' : 'u'}${bits}`;
}

function labelsText(def: EnumDef | undefined): string {
  return (def?.values ?? []).map(({ name, value }) => `${name}=${value}`).join(' ');
}
