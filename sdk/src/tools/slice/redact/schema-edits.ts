/** The schema of a redacted trace: scopes that are left, under names that may be seen, and nothing that only dropped ones used. */
import { UscopeError } from '../../../base/errors.js';
import { RUN_ID_PROPERTY } from '../../../format/dut.js';
import {
  type DutProperties,
  type FieldDef,
  FieldType,
  INHERIT_CLOCK,
  NO_ID,
  type Schema,
  scopePath,
} from '../../../format/types.js';
import { isDutKey, isName, NAME_RULE } from '../../../schema/names.js';
import type { RedactionRules } from './rules.js';
import type { TextEdits } from './texts.js';

/** New id of what is not in the redacted trace. */
export const DROPPED = 0xffff;

export interface SchemaEdits {
  readonly schema: Schema;
  readonly dut: DutProperties;
  /** New ids by old ones, or DROPPED. */
  readonly storages: Uint16Array;
  readonly events: Uint16Array;
}

/** @throws UscopeError READER_NAME for a scope that is not there, SCHEMA_NAME for a replacement that is not a name */
export function editSchema(
  schema: Schema,
  dut: DutProperties,
  rules: RedactionRules,
  texts: TextEdits,
): SchemaEdits {
  return new SchemaEditor(schema, rules, texts).edit(dut);
}

class SchemaEditor {
  private readonly paths: readonly string[];
  /** New ids by old ones. */
  private readonly scopes: Uint16Array;

  constructor(
    private readonly schema: Schema,
    private readonly rules: RedactionRules,
    private readonly texts: TextEdits,
  ) {
    this.paths = schema.scopes.map(({ scopeId }) => scopePath(schema, scopeId));
    for (const { path, place } of rules.scopes) {
      if (this.paths.indexOf(path) > 0) continue;
      const known = this.paths.slice(1).join(', ') || 'none';
      throw new UscopeError('READER_NAME', `no scope "${path}"; there are ${known}`, place);
    }
    this.scopes = kept(schema.scopes, ({ scopeId }) => scopeId === 0 || !this.isDropped(this.paths[scopeId]));
  }

  edit(dut: DutProperties): SchemaEdits {
    const { schema } = this;
    const isLeft = ({ scopeId }: { readonly scopeId: number }): boolean =>
      scopeId === NO_ID || this.scopes[scopeId] !== DROPPED;
    const storages = kept(schema.storages, isLeft);
    const events = kept(schema.events, isLeft);
    const leftStorages = schema.storages.filter((_, id) => storages[id] !== DROPPED);
    const leftEvents = schema.events.filter((_, id) => events[id] !== DROPPED);
    const fields = [
      ...leftStorages.flatMap((one) => [...one.fields, ...one.properties]),
      ...leftEvents.flatMap((one) => one.fields),
    ];
    const usedEnums = new Set(
      fields.filter(({ type }) => type === FieldType.ENUM).map(({ enumId }) => enumId),
    );
    const enums = kept(schema.enums, (_, id) => usedEnums.has(id));
    const leftScopes = schema.scopes.filter(({ scopeId }) => this.scopes[scopeId] !== DROPPED);
    const usedClocks = new Set(leftScopes.map(({ clockId }) => clockId));
    const clocks = kept(schema.clocks, ({ clockId }) => usedClocks.has(clockId));
    const field = (one: FieldDef): FieldDef => ({
      ...one,
      name: this.fieldName(one.name),
      enumId: one.type === FieldType.ENUM ? enums[one.enumId] : one.enumId,
    });
    const scopeId = (old: number): number => (old === NO_ID ? NO_ID : this.scopes[old]);
    const edited: Schema = {
      clocks: schema.clocks
        .filter((_, id) => clocks[id] !== DROPPED)
        .map((one, clockId) => ({ ...one, clockId, name: this.name(one.name) })),
      scopes: leftScopes.map((one) => ({
        ...one,
        name: one.scopeId === 0 ? this.texts.edit(one.name) : this.scopeName(one.scopeId, one.name),
        scopeId: this.scopes[one.scopeId],
        parentId: scopeId(one.parentId),
        clockId: one.clockId === INHERIT_CLOCK ? INHERIT_CLOCK : clocks[one.clockId],
      })),
      enums: schema.enums
        .filter((_, id) => enums[id] !== DROPPED)
        .map(({ name, values }) => ({
          name: this.name(name),
          values: values.map((one) => ({ ...one, name: this.name(one.name) })),
        })),
      storages: leftStorages.map((one) => ({
        ...one,
        name: this.name(one.name),
        storageId: storages[one.storageId],
        scopeId: scopeId(one.scopeId),
        fields: one.fields.map(field),
        properties: one.properties.map(field),
      })),
      events: leftEvents.map((one) => ({
        ...one,
        name: this.name(one.name),
        eventTypeId: events[one.eventTypeId],
        scopeId: scopeId(one.scopeId),
        fields: one.fields.map(field),
      })),
      summaryFields: schema.summaryFields
        .filter(isLeft)
        .map((one) => ({ ...one, name: this.name(one.name), scopeId: scopeId(one.scopeId) })),
    };
    checkNames(edited);
    return { schema: edited, dut: this.properties(dut), storages, events };
  }

  private isDropped(path: string): boolean {
    return this.rules.scopes.some(
      (rule) => rule.name === null && (path === rule.path || path.startsWith(`${rule.path}/`)),
    );
  }

  private scopeName(id: number, name: string): string {
    return this.rules.scopes.find(({ path }) => path === this.paths[id])?.name ?? this.name(name);
  }

  /** The pieces of a wide value keep what joins them. */
  private fieldName(name: string): string {
    const [, base, rest] = /^(.+?)(\.bits\d+\.x?\d+)?$/.exec(name) ?? [];
    return rest === undefined ? this.name(name) : this.name(base) + rest;
  }

  private name(name: string): string {
    const edited = this.texts.edit(name);
    // Other writers have names that ours may not have.
    if (edited === name || isName(edited)) return edited;
    throw new UscopeError(
      'SCHEMA_NAME',
      `the rules make "${edited}" of the name "${name}"; a name has ${NAME_RULE}`,
    );
  }

  /** Those of dropped scopes go, and those of renamed ones follow. */
  private properties(dut: DutProperties): DutProperties {
    return dut.flatMap(([key, value]) => {
      // It leads to the other traces of the run.
      if (key === RUN_ID_PROPERTY) return [];
      const at = key.lastIndexOf('/');
      const scope = this.paths.indexOf(key.slice(0, Math.max(at, 0)));
      if (at > 0 && scope > 0 && this.scopes[scope] === DROPPED) return [];
      const path = at > 0 && scope > 0 ? `${this.newPath(scope)}/` : this.texts.edit(key.slice(0, at + 1));
      const edited = path + this.texts.edit(key.slice(at + 1));
      if (!isDutKey(edited) && edited !== key)
        throw new UscopeError(
          'SCHEMA_NAME',
          `the rules make "${edited}" of the property "${key}"; a key has ${NAME_RULE}`,
        );
      return [[edited, this.texts.edit(value)] as const];
    });
  }

  private newPath(id: number): string {
    const { scopes } = this.schema;
    const parts: string[] = [];
    for (let at = id; at !== NO_ID && at !== 0 && parts.length <= scopes.length; at = scopes[at].parentId)
      parts.unshift(this.scopeName(at, scopes[at].name));
    return parts.join('/');
  }
}

/** @throws UscopeError SCHEMA_DUPLICATE where the rules gave two things one name */
function checkNames({ clocks, scopes, enums, storages, events, summaryFields }: Schema): void {
  const ofScope = ({ scopeId, name }: { readonly scopeId: number; readonly name: string }) =>
    `${scopeId} ${name}`;
  const names = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name);
  checkDifferent('clocks', names(clocks));
  checkDifferent('enums', names(enums));
  for (const { name, values } of enums) checkDifferent(`labels of ${name}`, names(values));
  checkDifferent(
    'scopes',
    scopes.map(({ parentId, name }) => `${parentId} ${name}`),
  );
  for (const [what, all] of Object.entries({ storages, events, 'summary fields': summaryFields }))
    checkDifferent(what, all.map(ofScope));
  for (const { name, fields } of [...storages, ...events]) checkDifferent(`fields of ${name}`, names(fields));
  for (const { name, properties } of storages) checkDifferent(`properties of ${name}`, names(properties));
}

function checkDifferent(what: string, keys: readonly string[]): void {
  const twice = keys.find((key, at) => keys.indexOf(key) !== at);
  if (twice === undefined) return;
  const name = twice.slice(twice.lastIndexOf(' ') + 1);
  throw new UscopeError(
    'SCHEMA_DUPLICATE',
    `the rules give two ${what} the name "${name}"; give them different ones`,
  );
}

function kept<T>(all: readonly T[], isKept: (one: T, id: number) => boolean): Uint16Array {
  let next = 0;
  return Uint16Array.from(all, (one, id) => (isKept(one, id) ? next++ : DROPPED));
}
