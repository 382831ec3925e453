/** The grammar of storages and fields: what follows the name of a storage, a field or a property. */
import type { Node } from 'yaml';
import { type FieldDef, FieldType, type StorageDef } from '../format/types.js';
import { MAX_WIDE_BITS, MIN_WIDE_BITS, wideFieldNames } from '../format/wide-fields.js';
import type { FixedKeys, NodeReader } from './node-reader.js';
import type { Places } from './problems.js';
import { didYouMean, didYouMeanType, listed } from './suggest.js';
import { BUILTIN_TYPES, ROLES, resolveType, STORAGE_KINDS } from './types.js';
import type { Entry } from './yaml-source.js';

const STORAGE_KEYS = ['slots', 'kind', 'fields', 'properties'];

type StorageBody = Pick<StorageDef, 'numSlots' | 'flags' | 'fields' | 'properties'>;

/** The enums a type may name. */
export interface EnumNames {
  readonly ids: ReadonlyMap<string, number>;
  /** False when the enums could not be read: unknown names are not reported then. */
  readonly known: boolean;
}

export class FieldReader {
  constructor(
    private readonly nodes: NodeReader,
    private readonly places: Places,
    private readonly enums: EnumNames,
  ) {}

  storage(entry: Entry, storageId: number, scopeId: number): StorageDef {
    const { key, keyNode, value } = entry;
    const keys = this.storageKeys(key, keyNode, value);
    const def: StorageDef = {
      name: key,
      storageId,
      scopeId,
      ...(keys ? this.body(key, keyNode, keys) : COUNTER),
    };
    this.places.set(def, this.nodes.place(keyNode));
    const slots = keys?.get('slots');
    if (slots) this.places.set(def, this.nodes.place(slots.value ?? slots.keyNode), 'slots');
    return def;
  }

  /** undefined: the storage is a counter, or not readable. */
  private storageKeys(name: string, keyNode: Node, node: Node | null): FixedKeys | undefined {
    const what = `storage "${name}"`;
    const word = this.nodes.source.scalar(node)?.text;
    if (word === 'counter') return undefined;
    if (word !== undefined) {
      const detail = `${what} must be a mapping or the word "counter", not "${word}".${didYouMean(word, ['counter'])}`;
      this.nodes.problems.add('SCHEMA_TYPE', detail, this.nodes.place(node));
      return undefined;
    }
    if (this.nodes.source.isNothing(node)) {
      const detail = `${what} is empty; give it slots, kind and fields, or write "counter"`;
      this.nodes.problems.add('SCHEMA_MISSING', detail, this.nodes.place(keyNode));
      return undefined;
    }
    return this.nodes.fixedKeys(node, what, STORAGE_KEYS);
  }

  private body(name: string, keyNode: Node, keys: FixedKeys): StorageBody {
    const what = `storage "${name}"`;
    const hasMembers = keys.has('fields') || keys.has('properties');
    return {
      numSlots: this.slots(keys.get('slots'), what, keyNode),
      flags: this.kind(keys.get('kind'), what, keyNode),
      fields: hasMembers ? this.members(keys.get('fields'), what) : this.noFields(what, keyNode),
      properties: this.properties(keys.get('properties'), what),
    };
  }

  private noFields(what: string, keyNode: Node): FieldDef[] {
    this.nodes.missing(what, 'fields', 'for example {value: u32}', keyNode);
    return [plainField('unreadable', FieldType.U8)];
  }

  private slots(entry: Entry | undefined, what: string, keyNode: Node): number {
    if (entry) return this.nodes.integer(entry, `"slots" of ${what}`) ?? 1;
    this.nodes.missing(what, 'slots', 'the number of its slots', keyNode);
    return 1;
  }

  private kind(entry: Entry | undefined, what: string, keyNode: Node): number {
    const kinds = [...STORAGE_KINDS.keys()];
    if (!entry) this.nodes.missing(what, 'kind', `one of ${listed(kinds)}`, keyNode);
    return entry ? (this.nodes.word(entry, STORAGE_KINDS, 'kind', what) ?? 0) : 0;
  }

  private properties(entry: Entry | undefined, what: string): FieldDef[] {
    return this.nodes
      .entriesOf(entry, `"properties" of ${what}`)
      .flatMap((item) => this.fields(item, what, 'property'));
  }

  private members(entry: Entry | undefined, what: string): FieldDef[] {
    return this.nodes
      .entriesOf(entry, `"fields" of ${what}`)
      .flatMap((item) => this.fields(item, what, 'field'));
  }

  /** A field or property; of a wide one (`{bits: 512}`) its pieces (docs/reference/format.md#wide-fields). */
  fields(entry: Entry, owner: string, noun: 'field' | 'property'): FieldDef[] {
    const what = `${noun} "${entry.key}" of ${owner}`;
    const entries = this.nodes.source.isMap(entry.value)
      ? (this.nodes.source.entries(entry.value, what) ?? [])
      : [];
    if (entries.every(({ key }) => key !== 'bits')) return [this.field(entry, owner, noun)];
    return this.wide(entry, what);
  }

  private wide(entry: Entry, what: string): FieldDef[] {
    const keys = this.nodes.fixedKeys(entry.value, what, ['bits', 'states']);
    const number = (key: string): number | undefined => {
      const found = keys?.get(key);
      return found && this.nodes.integer(found, `"${key}" of ${what}`);
    };
    const bits = number('bits') ?? MIN_WIDE_BITS;
    const states = number('states') ?? 2;
    const problem = (key: string, detail: string): void => {
      const at = keys?.get(key);
      this.nodes.problems.add('SCHEMA_RANGE', detail, this.nodes.place(at?.value ?? entry.keyNode));
    };
    if (bits < MIN_WIDE_BITS || bits > MAX_WIDE_BITS) {
      problem(
        'bits',
        `${what} has ${bits} bits; ${MIN_WIDE_BITS} to ${MAX_WIDE_BITS} make a wide field, fewer fit a type such as u64`,
      );
      return [plainField(entry.key, FieldType.U64)];
    }
    if (states !== 2 && states !== 4) problem('states', `${what} has ${states} states; there are 2 and 4`);
    return wideFieldNames(entry.key, bits, states === 4).map((name) => {
      const def = plainField(name, FieldType.U64);
      this.places.set(def, this.nodes.place(entry.keyNode));
      return def;
    });
  }

  /** A field, or a property with role and pair. `owner` names what it belongs to in messages. */
  field(entry: Entry, owner: string, noun: 'field' | 'property'): FieldDef {
    const what = `${noun} "${entry.key}" of ${owner}`;
    let typeNode = entry.value;
    let role = 0;
    let pairId = 0;
    let pair: Entry | undefined;
    if (this.nodes.source.isMap(entry.value)) {
      const keys = this.nodes.fixedKeys(
        entry.value,
        what,
        noun === 'property' ? ['type', 'role', 'pair'] : ['type'],
      );
      const type = keys?.get('type');
      const roleEntry = keys?.get('role');
      pair = keys?.get('pair');
      if (!type) {
        this.nodes.missing(what, 'type', 'for example u16', entry.keyNode);
        return plainField(entry.key, FieldType.U8);
      }
      typeNode = type.value;
      if (roleEntry) role = this.nodes.word(roleEntry, ROLES, 'role', what) ?? 0;
      if (pair) pairId = this.nodes.integer(pair, `"pair" of ${what}`) ?? 0;
      if (pair && !roleEntry) this.nodes.missing(what, 'role', 'head or tail: it has a pair', entry.keyNode);
    }
    const def: FieldDef = { name: entry.key, ...this.fieldType(typeNode, what, entry.keyNode), role, pairId };
    this.places.set(def, this.nodes.place(entry.keyNode));
    this.places.set(def, this.nodes.place(typeNode ?? entry.keyNode), 'type');
    if (pair) this.places.set(def, this.nodes.place(pair.value), 'pair');
    return def;
  }

  private fieldType(node: Node | null, what: string, keyNode: Node): Pick<FieldDef, 'type' | 'enumId'> {
    const name = this.nodes.text(node, keyNode, `the type of ${what}`);
    const type = name === undefined ? undefined : resolveType(name, this.enums.ids);
    if (type) return type;
    if (name !== undefined && this.enums.known) {
      const enumNames = [...this.enums.ids.keys()];
      const builtin = [...BUILTIN_TYPES.keys()];
      const known =
        enumNames.length > 0 ? `, and the enums ${listed(enumNames)}` : ', or the name of an enum';
      const detail = `${what} has the unknown type "${name}".${didYouMeanType(name, enumNames)} Types are ${builtin.join(', ')}${known}.`;
      this.nodes.problems.add('SCHEMA_TYPE', detail, this.nodes.place(node));
    }
    return { type: FieldType.U8, enumId: 0 };
  }
}

const COUNTER: StorageBody = {
  numSlots: 1,
  flags: 0,
  fields: [plainField('count', FieldType.U64)],
  properties: [],
};

function plainField(name: string, type: FieldType): FieldDef {
  return { name, type, enumId: 0, role: 0, pairId: 0 };
}
