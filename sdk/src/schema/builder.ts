/** Schemas from TypeScript: the same definitions, ids and checks as in a schema text. */
import { UscopeError } from '../base/errors.js';
import {
  type ClockDef,
  type DutProperties,
  type EnumDef,
  type EventDef,
  type FieldDef,
  INHERIT_CLOCK,
  NO_ID,
  type Schema,
  type ScopeDef,
  type StorageDef,
  type SummaryFieldDef,
} from '../format/types.js';
import { parsePeriod } from './period.js';
import { didYouMean, didYouMeanType, listed } from './suggest.js';
import {
  BUILTIN_TYPES,
  type BuiltinTypeName,
  ROLES,
  type RoleName,
  resolveType,
  STORAGE_KINDS,
  type StorageKind,
} from './types.js';
import { validateSchema } from './validate.js';

/** A builtin type, or the name of an enum. */
export type TypeName = BuiltinTypeName | (string & {});
/** Names and types, in order. */
export type Fields = Readonly<Record<string, TypeName>>;
export type PropertySpec =
  | TypeName
  | { readonly type: TypeName; readonly role?: RoleName; readonly pair?: number };

export interface StorageSpec {
  readonly slots: number;
  readonly kind: StorageKind;
  readonly fields: Fields;
  readonly properties?: Readonly<Record<string, PropertySpec>>;
}

export interface ScopeSpec {
  readonly protocol?: string;
  readonly clock?: string;
}

/** What a scope holds until `build` gives it ids. */
interface ScopeNode {
  readonly name: string;
  readonly spec: ScopeSpec;
  readonly storages: (readonly [string, StorageSpec])[];
  readonly events: (readonly [string, Fields])[];
  readonly summary: (readonly [string, TypeName])[];
  readonly children: ScopeNode[];
}

function scopeNode(name: string, spec: ScopeSpec): ScopeNode {
  return { name, spec, storages: [], events: [], summary: [], children: [] };
}

/** Adds definitions to one scope. Every call returns the builder it was made on, except `scope`, which returns the child's. */
export class ScopeBuilder {
  protected readonly node: ScopeNode;

  /** @internal Scopes are made by `scope`. */
  constructor(node: ScopeNode) {
    this.node = node;
  }

  storage(name: string, spec: StorageSpec): this {
    this.node.storages.push([name, spec]);
    return this;
  }

  /** A dense storage of one slot with one u64, driven by ADD. */
  counter(name: string): this {
    return this.storage(name, { slots: 1, kind: 'dense', fields: { count: 'u64' } });
  }

  event(name: string, fields: Fields = {}): this {
    this.node.events.push([name, fields]);
    return this;
  }

  summary(name: string, type: TypeName): this {
    this.node.summary.push([name, type]);
    return this;
  }

  scope(name: string, spec: ScopeSpec = {}): ScopeBuilder {
    const child = scopeNode(name, spec);
    this.node.children.push(child);
    return new ScopeBuilder(child);
  }
}

/**
 * Builds a schema by calls. The builder itself represents the root scope; ids are assigned by `build`, depth first, as in a text.
 *
 *     const builder = new SchemaBuilder().clock('core_clk', '1 ns').enum('stage', ['fetch', 'execute']);
 *     builder.scope('core0', { clock: 'core_clk' }).counter('cycles').event('enter', { stage: 'stage' });
 *     const { schema, dut } = builder.build();
 */
export class SchemaBuilder extends ScopeBuilder {
  private readonly clocks: ClockDef[] = [];
  private readonly enums: EnumDef[] = [];
  private readonly properties: [string, string][] = [];

  /** @param root protocol and clock of the root scope */
  constructor(root: ScopeSpec = {}) {
    super(scopeNode('root', root));
  }

  dut(key: string, value: string | number): this {
    this.properties.push([key, String(value)]);
    return this;
  }

  /** @param period in ps, or text such as `1.25 ns` or `400 MHz`; 0 = unknown */
  clock(name: string, period: number | string): this {
    const parsed = typeof period === 'number' ? { ps: period } : parsePeriod(period);
    if ('problem' in parsed) throw new UscopeError('SCHEMA_RANGE', `clock "${name}": ${parsed.problem}`);
    this.clocks.push({ name, clockId: this.clocks.length, periodPs: parsed.ps });
    return this;
  }

  /** @param values names, numbered from 0, or names with their numbers */
  enum(name: string, values: readonly string[] | Readonly<Record<string, number>>): this {
    const list = isList(values)
      ? values.map((label, value) => ({ value, name: label }))
      : Object.entries(values).map(([label, value]) => ({ value, name: label }));
    this.enums.push({ name, values: list });
    return this;
  }

  /** @throws UscopeError SCHEMA_*, as `validateSchema` */
  build(): { schema: Schema; dut: DutProperties } {
    const schema = new Assembler(this.clocks, this.enums).assemble(this.node);
    const dut = this.properties.map(([key, value]) => [key, value] as const);
    validateSchema(schema, dut);
    return { schema, dut };
  }
}

/** Gives ids to a tree of scopes. */
class Assembler {
  private readonly scopes: ScopeDef[] = [];
  private readonly storages: StorageDef[] = [];
  private readonly events: EventDef[] = [];
  private readonly summaryFields: SummaryFieldDef[] = [];
  private readonly enumIds: ReadonlyMap<string, number>;

  constructor(
    private readonly clocks: readonly ClockDef[],
    private readonly enums: readonly EnumDef[],
  ) {
    this.enumIds = new Map(enums.map((def, index) => [def.name, index]));
  }

  assemble(root: ScopeNode): Schema {
    this.addScope(root, NO_ID);
    const { scopes, storages, events, summaryFields } = this;
    return { clocks: [...this.clocks], scopes, enums: [...this.enums], storages, events, summaryFields };
  }

  private addScope(node: ScopeNode, parentId: number): void {
    const scopeId = this.scopes.length;
    const owner = parentId === NO_ID ? NO_ID : scopeId;
    const what = parentId === NO_ID ? 'the root scope' : `scope "${node.name}"`;
    const clockId = node.spec.clock === undefined ? INHERIT_CLOCK : this.clockId(node.spec.clock, what);
    this.scopes.push({ name: node.name, scopeId, parentId, protocol: node.spec.protocol ?? null, clockId });
    for (const [name, spec] of node.storages) this.storages.push(this.storage(name, spec, owner));
    for (const [name, fields] of node.events) {
      const eventTypeId = this.events.length;
      this.events.push({ name, eventTypeId, scopeId: owner, fields: this.fields(fields, `event "${name}"`) });
    }
    for (const [name, type] of node.summary) {
      this.summaryFields.push({ name, type: this.field(name, type, what).type, scopeId: owner });
    }
    for (const child of node.children) this.addScope(child, scopeId);
  }

  private clockId(name: string, what: string): number {
    const id = this.clocks.findIndex((def) => def.name === name);
    if (id >= 0) return id;
    const names = this.clocks.map((def) => def.name);
    throw new UscopeError(
      'SCHEMA_CLOCK',
      `${what} names the unknown clock "${name}".${didYouMean(name, names)}`,
    );
  }

  private storage(name: string, spec: StorageSpec, scopeId: number): StorageDef {
    const what = `storage "${name}"`;
    return {
      name,
      storageId: this.storages.length,
      numSlots: spec.slots,
      flags: this.word(STORAGE_KINDS, spec.kind, `the kind of ${what}`),
      scopeId,
      fields: this.fields(spec.fields, what),
      properties: Object.entries(spec.properties ?? {}).map(([key, property]) =>
        this.field(key, property, what),
      ),
    };
  }

  private fields(fields: Fields, what: string): FieldDef[] {
    return Object.entries(fields).map(([name, type]) => this.field(name, type, what));
  }

  private field(name: string, spec: PropertySpec, owner: string): FieldDef {
    const { type, role = 'plain', pair = 0 } = typeof spec === 'string' ? { type: spec } : spec;
    const resolved = resolveType(type, this.enumIds);
    if (!resolved) {
      const known = [...BUILTIN_TYPES.keys(), ...this.enumIds.keys()];
      const detail = `"${name}" of ${owner} has the unknown type "${type}".${didYouMeanType(type, known)} Types are ${known.join(', ')}.`;
      throw new UscopeError('SCHEMA_TYPE', detail);
    }
    return {
      name,
      ...resolved,
      role: this.word(ROLES, role, `the role of "${name}" of ${owner}`),
      pairId: pair,
    };
  }

  private word(words: ReadonlyMap<string, number>, word: string, what: string): number {
    const value = words.get(word);
    if (value !== undefined) return value;
    throw new UscopeError('SCHEMA_TYPE', `${what} is "${word}"; it is one of ${listed([...words.keys()])}`);
  }
}

function isList(values: readonly string[] | Readonly<Record<string, number>>): values is readonly string[] {
  return Array.isArray(values);
}
