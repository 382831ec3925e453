/** Checked schema -> schema text, in the grammar of docs/reference/schema.md. */

import { Document, isMap, isScalar, isSeq, type Node, type Pair, type Scalar, type YAMLMap } from 'yaml';
import { appendAll } from '../base/arrays.js';
import {
  type DutProperties,
  type EnumDef,
  type FieldDef,
  FieldType,
  INHERIT_CLOCK,
  NO_ID,
  PropertyRole,
  qualifiedName,
  type Schema,
  type ScopeDef,
  type StorageDef,
} from '../format/types.js';
import { logicalFields } from '../format/wide-fields.js';
import { GRAMMAR_VERSION } from './limits.js';
import { escapeVariables } from './names.js';
import { ROLES, STORAGE_KINDS, typeName, wordFor } from './types.js';

/** Longest mapping written in one line. */
const FLOW_WIDTH = 90;

/**
 * The schema as YAML. `parseSchema` reads it back to the same schema. A schema read from a foreign file may hold what the grammar
 * cannot say (ids in another order, unknown flags, names outside the rules): a comment at the top then says so.
 */
export function schemaToText(schema: Schema, dut: DutProperties = []): string {
  const writer = new TextWriter(schema);
  const document = writer.document(dut);
  const notes = writer.notes();
  if (notes.length > 0) document.commentBefore = notes.map((note) => ` ${note}`).join('\n');
  return document.toString({ lineWidth: 0, flowCollectionPadding: false, minContentWidth: 0 });
}

type TreeValue = string | number | TreeValue[] | Map<string, TreeValue>;
type Members = Map<string, TreeValue>;

class TextWriter {
  private readonly children = new Map<number, ScopeDef[]>();
  private readonly order = { storages: [] as number[], events: [] as number[], scopes: [] as number[] };
  private readonly found: string[] = [];

  constructor(private readonly schema: Schema) {
    for (const scope of schema.scopes) {
      if (scope.scopeId === 0) continue;
      const group = this.children.get(scope.parentId);
      if (group) group.push(scope);
      else this.children.set(scope.parentId, [scope]);
    }
  }

  document(dut: DutProperties): Document {
    const { schema } = this;
    const top: Members = new Map<string, TreeValue>([['uscope', GRAMMAR_VERSION]]);
    if (dut.length > 0)
      top.set('dut', new Map(dut.map(([key, value]) => [escapeVariables(key), escapeVariables(value)])));
    top.set(
      'clocks',
      new Map(schema.clocks.map((def) => [def.name, def.periodPs === 0 ? 0 : `${def.periodPs} ps`])),
    );
    if (schema.enums.length > 0)
      top.set('enums', new Map(schema.enums.map((def) => [def.name, enumTree(def)])));
    for (const [key, value] of this.scopeMembers(schema.scopes[0], new Set())) top.set(key, value);
    const document = new Document(top, { version: '1.2', aliasDuplicateObjects: false });
    compact(document.contents as Node, 0);
    separateSections(document.contents as YAMLMap);
    return document;
  }

  /** What the text could not say. */
  notes(): string[] {
    const { order, schema, found } = this;
    const moved = (ids: number[], count: number): boolean =>
      ids.length !== count || ids.some((id, index) => id !== index);
    if (moved(order.storages, schema.storages.length))
      found.push('Storages have other ids in the file this was made from.');
    if (moved(order.events, schema.events.length))
      found.push('Events have other ids in the file this was made from.');
    if (moved(order.scopes, schema.scopes.length))
      found.push('Scopes have other ids in the file this was made from.');
    return found;
  }

  private scopeMembers(scope: ScopeDef | undefined, above: Set<number>): Members {
    const members: Members = new Map();
    if (!scope || above.has(scope.scopeId)) return members;
    const { schema, order } = this;
    order.scopes.push(scope.scopeId);
    if (scope.protocol !== null) members.set('protocol', scope.protocol);
    if (scope.clockId !== INHERIT_CLOCK)
      members.set('clock', schema.clocks[scope.clockId]?.name ?? `clock ${scope.clockId}`);
    const owned = <T extends { readonly scopeId: number }>(defs: readonly T[]): T[] =>
      defs.filter((def) => (def.scopeId === NO_ID ? 0 : def.scopeId) === scope.scopeId);
    const storages = owned(schema.storages);
    appendAll(
      order.storages,
      storages.map((def) => def.storageId),
    );
    if (storages.length > 0)
      members.set('storages', new Map(storages.map((def) => [def.name, this.storageTree(def)])));
    const events = owned(schema.events);
    appendAll(
      order.events,
      events.map((def) => def.eventTypeId),
    );
    if (events.length > 0)
      members.set('events', new Map(events.map((def) => [def.name, this.fieldsTree(def.fields)])));
    const summary = owned(schema.summaryFields);
    if (summary.length > 0) {
      members.set('summary', new Map(summary.map((def) => [def.name, typeName(def.type, 0, schema.enums)])));
    }
    const children = this.children.get(scope.scopeId) ?? [];
    const path = new Set(above).add(scope.scopeId);
    if (children.length > 0) {
      members.set('scopes', new Map(children.map((def) => [def.name, this.scopeMembers(def, path)])));
    }
    return members;
  }

  private storageTree(def: StorageDef): TreeValue {
    if (isCounter(def)) return 'counter';
    const kind = wordFor(STORAGE_KINDS, def.flags & 3) ?? 'dense';
    if (def.flags >>> 2 !== 0) {
      this.found.push(
        `Storage ${qualifiedName(this.schema, def)} has the unknown flags 0x${def.flags.toString(16)}.`,
      );
    }
    const members: Members = new Map<string, TreeValue>([
      ['slots', def.numSlots],
      ['kind', kind],
    ]);
    if (def.fields.length > 0) members.set('fields', this.fieldsTree(def.fields));
    if (def.properties.length > 0) {
      members.set(
        'properties',
        tree(def.properties, (property) => this.propertyTree(property)),
      );
    }
    return members;
  }

  private fieldsTree(fields: readonly FieldDef[]): Members {
    return tree(fields, (field) => typeName(field.type, field.enumId, this.schema.enums));
  }

  private propertyTree(property: FieldDef): TreeValue {
    const type = typeName(property.type, property.enumId, this.schema.enums);
    const role = property.role === PropertyRole.PLAIN ? undefined : wordFor(ROLES, property.role);
    if (role === undefined) {
      if (property.role !== 0)
        this.found.push(`Property ${property.name} has the unknown role ${property.role}.`);
      return type;
    }
    return new Map<string, TreeValue>([
      ['type', type],
      ['role', role],
      ['pair', property.pairId],
    ]);
  }
}

function isCounter(def: StorageDef): boolean {
  const [field] = def.fields;
  return (
    def.numSlots === 1 &&
    def.flags === 0 &&
    def.fields.length === 1 &&
    def.properties.length === 0 &&
    field?.name === 'count' &&
    field.type === FieldType.U64
  );
}

function enumTree(def: EnumDef): TreeValue {
  if (def.values.every((item, index) => item.value === index)) return def.values.map((item) => item.name);
  return new Map(def.values.map((item) => [item.name, item.value]));
}

/**
 * Writes lists and mappings of scalars that fit in one line on one line, and storages whose fields do.
 * @returns the width in one line, infinite when it takes several
 */
function compact(node: Node | null, depth: number): number {
  if (isScalar(node)) return String(node.value).length;
  if (!isMap(node) && !isSeq(node)) return Number.POSITIVE_INFINITY;
  let width = 2;
  let deep = false;
  for (const item of node.items as (Pair<Node, Node> | Node)[]) {
    const [key, value] = 'key' in item ? [item.key, item.value] : [null, item];
    width += (key ? compact(key, depth) + 2 : 0) + compact(value as Node, depth + 1) + 2;
    deep ||= !isScalar(value);
  }
  const small = width <= FLOW_WIDTH && depth > 1 && (!deep || (isMap(node) && node.has('slots')));
  if (small) node.flow = true;
  return small ? width : Number.POSITIVE_INFINITY;
}

/** An empty line before each section, and before the keys of the root scope. */
function separateSections(top: YAMLMap): void {
  let afterSection = false;
  for (const pair of top.items as Pair<Scalar, Node>[]) {
    const isSection = isMap(pair.value);
    if (isSection || afterSection) pair.key.spaceBefore = true;
    afterSection = isSection;
  }
}

/** Fields by name; the pieces of a wide one as one, unless they have roles. */
function tree(fields: readonly FieldDef[], plain: (field: FieldDef) => TreeValue): Members {
  return new Map(
    logicalFields(fields).flatMap(({ name, bits, pieces, unknown }): [string, TreeValue][] => {
      const parts = [...pieces, ...unknown].map((index) => fields[index]);
      if (bits === 0 || parts.some(({ role }) => role !== PropertyRole.PLAIN))
        return parts.map((field) => [field.name, plain(field)]);
      const states: [string, TreeValue][] = unknown.length > 0 ? [['states', 4]] : [];
      return [[name, new Map<string, TreeValue>([['bits', bits], ...states])]];
    }),
  );
}
