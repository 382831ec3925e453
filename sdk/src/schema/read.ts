/**
 * The grammar of schema files: YAML nodes -> definitions as written, with their places. Variables are not bound yet, limits and names
 * not checked yet (`bind.ts`, `validate.ts`). What cannot be read is reported and replaced by something harmless, so that the checks that
 * follow find further problems and no invented ones.
 */
import type { Node } from 'yaml';
import {
  type ClockDef,
  type DutProperties,
  type EnumDef,
  type EventDef,
  FieldType,
  INHERIT_CLOCK,
  NO_ID,
  type Schema,
  type ScopeDef,
  type StorageDef,
  type SummaryFieldDef,
} from '../format/types.js';
import { GRAMMAR_VERSION, MAX_SCOPE_DEPTH } from './limits.js';
import { isVariableName } from './names.js';
import { type FixedKeys, NodeReader } from './node-reader.js';
import { parsePeriod } from './period.js';
import { Places, type Problems } from './problems.js';
import { FieldReader } from './read-fields.js';
import { didYouMean, listed } from './suggest.js';
import type { SchemaWork } from './work.js';
import { type Entry, YamlSource } from './yaml-source.js';

/** A schema as its text says it: variables in names are still variables. */
export interface SchemaSource {
  readonly schema: Schema;
  readonly dut: DutProperties;
  /** Defaults of the variables. */
  readonly variables: ReadonlyMap<string, string>;
  /** Periods that hold variables; such clocks have none before the variables have values. */
  readonly periods: ReadonlyMap<ClockDef, string>;
  readonly places: Places;
}

const SCOPE_KEYS = ['protocol', 'clock', 'storages', 'events', 'summary', 'scopes'];
const TOP_KEYS = ['uscope', 'variables', 'dut', 'clocks', 'enums', ...SCOPE_KEYS];

/** @returns undefined when the text is not even YAML. */
export function readSchema(
  text: string,
  file: string | undefined,
  problems: Problems,
  work: SchemaWork,
): SchemaSource | undefined {
  const source = YamlSource.parse(text, file, problems, work);
  if (!source) return undefined;
  return new SchemaReader(new NodeReader(source, problems), new Places({ file, line: 1, column: 1 })).read();
}

class SchemaReader {
  private readonly clocks: ClockDef[] = [];
  private readonly enums: EnumDef[] = [];
  private readonly scopes: ScopeDef[] = [];
  private readonly storages: StorageDef[] = [];
  private readonly events: EventDef[] = [];
  private readonly summaryFields: SummaryFieldDef[] = [];
  /** False when the section could not be read: names that refer to it are not reported then. */
  private clocksKnown = true;
  private readonly clockIds = new Map<string, number>();
  private readonly periods = new Map<ClockDef, string>();
  private readonly enumNames = { ids: new Map<string, number>(), known: true };
  private readonly fields: FieldReader;

  constructor(
    private readonly nodes: NodeReader,
    private readonly places: Places,
  ) {
    this.fields = new FieldReader(nodes, places, this.enumNames);
  }

  read(): SchemaSource | undefined {
    const keys = this.nodes.fixedKeys(this.nodes.source.root, 'the schema', TOP_KEYS, false);
    if (!keys) return undefined;
    this.readVersion(keys.get('uscope'));
    const variables = this.readVariables(keys.get('variables'));
    const dut = this.readDut(keys.get('dut'));
    this.readClocks(keys.get('clocks'));
    this.readEnums(keys.get('enums'));
    this.readScope('root', keys, NO_ID, 0, undefined);
    const { clocks, enums, scopes, storages, events, summaryFields, periods, places } = this;
    const schema = { clocks, scopes, enums, storages, events, summaryFields };
    return { schema, dut, variables, periods, places };
  }

  // -- sections at the top

  private readVersion(entry: Entry | undefined): void {
    if (!entry) {
      this.nodes.problems.add(
        'SCHEMA_MISSING',
        `the key "uscope" is missing; begin the file with "uscope: ${GRAMMAR_VERSION}"`,
        this.places.start,
      );
      return;
    }
    const version = this.nodes.integer(entry, '"uscope"');
    if (version !== undefined && version !== GRAMMAR_VERSION) {
      const detail = `grammar version ${version} is not known; this release reads version ${GRAMMAR_VERSION}`;
      this.nodes.problems.add('SCHEMA_RANGE', detail, this.nodes.place(entry.value));
    }
  }

  private readVariables(entry: Entry | undefined): Map<string, string> {
    const variables = new Map<string, string>();
    for (const { key, keyNode, value } of this.nodes.entriesOf(entry, '"variables"')) {
      if (!isVariableName(key)) {
        const detail = `"${key}" is not a variable name; use a letter or _ first, then letters, digits and _`;
        this.nodes.problems.add('SCHEMA_VARIABLE', detail, this.nodes.place(keyNode));
        continue;
      }
      const text = this.nodes.text(value, keyNode, `the default of variable "${key}"`);
      if (text?.includes('${')) {
        const detail = `the default of variable "${key}" holds a variable itself; write its value`;
        this.nodes.problems.add('SCHEMA_VARIABLE', detail, this.nodes.place(value));
      }
      variables.set(key, text ?? '0');
    }
    return variables;
  }

  private readDut(entry: Entry | undefined): DutProperties {
    const dut: [string, string][] = [];
    for (const { key, keyNode, value } of this.nodes.entriesOf(entry, '"dut"')) {
      const property: [string, string] = [
        key,
        this.nodes.text(value, keyNode, `DUT property "${key}"`) ?? '',
      ];
      this.places.set(property, this.nodes.place(keyNode));
      this.places.set(property, this.nodes.place(value ?? keyNode), 'value');
      dut.push(property);
    }
    return dut;
  }

  private readClocks(entry: Entry | undefined): void {
    if (!entry) return;
    const entries = this.nodes.source.entries(entry.value, '"clocks"');
    this.clocksKnown = entries !== undefined;
    if (!entries) this.clocks.push({ name: 'unreadable', clockId: 0, periodPs: 0 });
    for (const { key, keyNode, value } of entries ?? []) {
      const period = this.period(key, keyNode, value);
      const isKnown = typeof period === 'number';
      const clock: ClockDef = { name: key, clockId: this.clocks.length, periodPs: isKnown ? period : 0 };
      if (!isKnown) this.periods.set(clock, period);
      this.places.set(clock, this.nodes.place(keyNode));
      this.places.set(clock, this.nodes.place(value ?? keyNode), 'period');
      this.clockIds.set(key, clock.clockId);
      this.clocks.push(clock);
    }
  }

  /** In ps, or its text where that holds variables. */
  private period(clock: string, keyNode: Node, value: Node | null): number | string {
    let node = value;
    if (this.nodes.source.isMap(value)) {
      const keys = this.nodes.fixedKeys(value, `clock "${clock}"`, ['period_ps']);
      const entry = keys?.get('period_ps');
      if (!entry)
        this.nodes.missing(`clock "${clock}"`, 'period_ps', 'for example {period_ps: 1000}', keyNode);
      else return this.nodes.integer(entry, `"period_ps" of clock "${clock}"`) ?? 0;
      node = null;
    } else {
      const text = this.nodes.text(node, keyNode, `the period of clock "${clock}"`);
      if (text === undefined) return 0;
      if (text.includes('${')) return text;
      const period = parsePeriod(text);
      if ('ps' in period) return period.ps;
      this.nodes.problems.add('SCHEMA_RANGE', `clock "${clock}": ${period.problem}`, this.nodes.place(node));
    }
    return 0;
  }

  private readEnums(entry: Entry | undefined): void {
    if (!entry) return;
    const entries = this.nodes.source.entries(entry.value, '"enums"');
    this.enumNames.known = entries !== undefined;
    for (const { key, keyNode, value } of entries ?? []) {
      const def: EnumDef = { name: key, values: this.enumValues(key, keyNode, value) };
      this.places.set(def, this.nodes.place(keyNode));
      this.enumNames.ids.set(key, this.enums.length);
      this.enums.push(def);
    }
  }

  private enumValues(name: string, keyNode: Node, node: Node | null): EnumDef['values'] {
    const values: { value: number; name: string }[] = [];
    const add = (label: string, value: number, labelNode: Node | null): void => {
      const item = { value, name: label };
      this.places.set(item, this.nodes.place(labelNode ?? node ?? keyNode));
      values.push(item);
    };
    const items = this.nodes.source.items(node);
    if (items) {
      items.forEach((item, index) => {
        add(this.label(item, keyNode, `value ${index} of enum "${name}"`) ?? `value_${index}`, index, item);
      });
    } else if (this.nodes.source.isMap(node)) {
      for (const entry of this.nodes.source.entries(node, `enum "${name}"`) ?? []) {
        const value = this.nodes.integer(entry, `value "${entry.key}" of enum "${name}"`);
        if (value !== undefined) add(entry.key, value, entry.keyNode);
      }
      if (values.length === 0 && this.nodes.problems.count > 0) add('unreadable', 0, keyNode);
    } else {
      const detail = `enum "${name}" must be a list of names or a mapping of names to values, not ${this.nodes.source.describe(node)}`;
      this.nodes.problems.add('SCHEMA_TYPE', detail, this.nodes.place(node ?? keyNode));
      add('unreadable', 0, keyNode);
    }
    return values;
  }

  private label(node: Node | null, keyNode: Node, what: string): string | undefined {
    return this.nodes.source.scalar(node, true)?.text ?? this.nodes.text(node, keyNode, what);
  }

  // -- scopes

  private readScope(
    name: string,
    keys: FixedKeys,
    parentId: number,
    depth: number,
    keyNode: Node | undefined,
  ): void {
    const scopeId = this.scopes.length;
    const isRoot = parentId === NO_ID;
    const what = isRoot ? 'the root scope' : `scope "${name}"`;
    const protocol = keys.get('protocol');
    const clock = keys.get('clock');
    const scope: ScopeDef = {
      name,
      scopeId,
      parentId,
      protocol: protocol
        ? (this.nodes.text(protocol.value, protocol.keyNode, `"protocol" of ${what}`) ?? null)
        : null,
      clockId: clock ? this.clockId(clock, what) : INHERIT_CLOCK,
    };
    this.places.set(scope, keyNode ? this.nodes.place(keyNode) : this.places.start);
    if (protocol) this.places.set(scope, this.nodes.place(protocol.value ?? protocol.keyNode), 'protocol');
    this.scopes.push(scope);
    const owner = isRoot ? NO_ID : scopeId;
    this.readStorages(keys.get('storages'), owner, what);
    this.readEvents(keys.get('events'), owner, what);
    this.readSummary(keys.get('summary'), owner, what);
    this.readChildren(keys.get('scopes'), scopeId, depth, what);
  }

  private readChildren(entry: Entry | undefined, parentId: number, depth: number, what: string): void {
    const children = this.nodes.entriesOf(entry, `"scopes" of ${what}`);
    if (children.length > 0 && depth >= MAX_SCOPE_DEPTH) {
      const detail = `scopes are nested more than ${MAX_SCOPE_DEPTH} deep here`;
      this.nodes.problems.add('SCHEMA_LIMIT', detail, this.nodes.place(children[0]!.keyNode));
      return;
    }
    for (const { key, keyNode, value } of children) {
      const keys = this.nodes.fixedKeys(value, `scope "${key}"`, SCOPE_KEYS);
      if (keys) this.readScope(key, keys, parentId, depth + 1, keyNode);
    }
  }

  private clockId(entry: Entry, what: string): number {
    const name = this.nodes.text(entry.value, entry.keyNode, `"clock" of ${what}`);
    if (name === undefined || !this.clocksKnown) return 0;
    const clockId = this.clockIds.get(name);
    if (clockId !== undefined) return clockId;
    const names = [...this.clockIds.keys()];
    const known = names.length > 0 ? `Clocks are ${listed(names)}.` : 'No clocks are defined.';
    const detail = `${what} names the unknown clock "${name}".${didYouMean(name, names)} ${known}`;
    this.nodes.problems.add('SCHEMA_CLOCK', detail, this.nodes.place(entry.value));
    return 0;
  }

  // -- storages, events, summary fields

  private readStorages(entry: Entry | undefined, scopeId: number, owner: string): void {
    for (const item of this.nodes.entriesOf(entry, `"storages" of ${owner}`)) {
      this.storages.push(this.fields.storage(item, this.storages.length, scopeId));
    }
  }

  private readEvents(entry: Entry | undefined, scopeId: number, owner: string): void {
    for (const { key, keyNode, value } of this.nodes.entriesOf(entry, `"events" of ${owner}`)) {
      const what = `event "${key}"`;
      const fields = (this.nodes.source.entries(value, what) ?? []).flatMap((item) =>
        this.fields.fields(item, what, 'field'),
      );
      const def: EventDef = { name: key, eventTypeId: this.events.length, scopeId, fields };
      this.places.set(def, this.nodes.place(keyNode));
      this.events.push(def);
    }
  }

  private readSummary(entry: Entry | undefined, scopeId: number, owner: string): void {
    for (const item of this.nodes.entriesOf(entry, `"summary" of ${owner}`)) {
      const field = this.fields.field(item, `the summary of ${owner}`, 'field');
      if (field.type === FieldType.ENUM || field.type === FieldType.STRING_REF) {
        const detail = `summary field "${item.key}" must be a number or bool`;
        this.nodes.problems.add('SCHEMA_TYPE', detail, this.nodes.place(item.value));
        continue;
      }
      const def: SummaryFieldDef = { name: field.name, type: field.type, scopeId };
      this.places.set(def, this.nodes.place(item.keyNode));
      this.summaryFields.push(def);
    }
  }
}
