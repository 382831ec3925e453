/** What a schema must keep to, regardless of its source: the limits of the format and the rules that keep names usable everywhere. */

import { UscopeError } from '../base/errors.js';
import { MAX_EVENT_PAYLOAD } from '../format/record.js';
import {
  type DutProperties,
  type EnumDef,
  type FieldDef,
  FieldType,
  INHERIT_CLOCK,
  NO_ID,
  PropertyRole,
  packedSize,
  qualifiedName,
  type Schema,
  type ScopeDef,
  SF_BUFFER,
  SF_SPARSE,
  type StorageDef,
  scopePath,
} from '../format/types.js';
import * as limits from './limits.js';
import { isDutKey, isName, NAME_RULE } from './names.js';
import { Places, Problems } from './problems.js';
import { listed } from './suggest.js';
import { BUILTIN_TYPES, typeName } from './types.js';

/**
 * Checks a schema and its DUT properties.
 * @throws UscopeError SCHEMA_*; its code is that of the first problem, its message lists them all
 */
export function validateSchema(schema: Schema, dut: DutProperties = []): void {
  const problems = new Problems();
  problems.collect(() => findProblems(schema, dut, problems));
  problems.throwIfAny();
}

/** @param allowVariables names may still hold `${variable}` */
export function findProblems(
  schema: Schema,
  dut: DutProperties,
  problems: Problems,
  places: Places = new Places(),
  allowVariables = false,
): void {
  new Validator(schema, problems, places, allowVariables).run(dut);
}

class Validator {
  constructor(
    private readonly schema: Schema,
    private readonly problems: Problems,
    private readonly places: Places,
    private readonly allowVariables: boolean,
  ) {}

  run(dut: DutProperties): void {
    this.checkClocks();
    this.checkEnums();
    this.checkScopes();
    this.checkStorages();
    this.checkEvents();
    this.checkSummary();
    this.checkDut(dut);
    this.checkSizes(dut);
  }

  private checkClocks(): void {
    const { clocks } = this.schema;
    if (clocks.length === 0) {
      const detail = 'no clock is defined; add one under "clocks", for example core_clk: 1000 ps';
      this.problems.add('SCHEMA_CLOCK', detail, this.places.start);
    }
    this.atMost(clocks, limits.MAX_CLOCKS, 'clocks');
    this.unique(clocks, (name) => `clock "${name}" is defined twice`);
    clocks.forEach((clock, index) => {
      this.name(clock, `clock "${clock.name}"`);
      this.id(clock, clock.clockId, index, `clock "${clock.name}"`);
      this.inRange(
        clock,
        'period',
        clock.periodPs,
        0,
        limits.MAX_PERIOD_PS,
        `the period of clock "${clock.name}" in ps`,
      );
    });
  }

  private checkEnums(): void {
    const { enums } = this.schema;
    this.atMost(enums, limits.MAX_ENUMS, 'enums');
    this.unique(enums, (name) => `enum "${name}" is defined twice`);
    for (const def of enums) {
      const what = `enum "${def.name}"`;
      this.name(def, what);
      if (BUILTIN_TYPES.has(def.name)) {
        this.problems.add(
          'SCHEMA_NAME',
          `${what} has the name of a builtin type; choose another`,
          this.places.of(def),
        );
      }
      this.checkEnumValues(def, what);
    }
  }

  private checkEnumValues(def: EnumDef, what: string): void {
    if (def.values.length === 0) {
      this.problems.add('SCHEMA_MISSING', `${what} has no values; name at least one`, this.places.of(def));
    }
    this.atMost(def.values, limits.MAX_ENUM_VALUES, `values of ${what}`, this.places.of(def));
    this.unique(def.values, (name) => `${what} has two values called "${name}"`);
    const names = new Map<number, string>();
    for (const item of def.values) {
      this.name(item, `value "${item.name}" of ${what}`);
      this.inRange(item, '', item.value, 0, 255, `the number of value "${item.name}" of ${what}`);
      const other = names.get(item.value);
      if (other !== undefined) {
        const detail = `"${other}" and "${item.name}" of ${what} are both ${item.value}; give each its own number`;
        this.problems.add('SCHEMA_DUPLICATE', detail, this.places.of(item));
      }
      names.set(item.value, item.name);
    }
  }

  private checkScopes(): void {
    const { scopes } = this.schema;
    if (scopes.length === 0) {
      this.problems.add(
        'SCHEMA_MISSING',
        'there is no root scope; scope 0 must be the root',
        this.places.start,
      );
    }
    this.atMost(scopes, NO_ID, 'scopes');
    const siblings = new Map<number, ScopeDef[]>();
    const depths: number[] = [];
    const lengths = [0];
    scopes.forEach((scope, index) => {
      const what = this.scopeName(scope.scopeId);
      if (index > 0 || scope.name !== '/') this.name(scope, what);
      this.id(scope, scope.scopeId, index, what);
      const parentOk = index === 0 ? scope.parentId === NO_ID : scope.parentId < index;
      if (!parentOk) {
        const detail = `${what} has the parent ${scope.parentId}; the root has 65535, any other scope one defined before it`;
        this.problems.add('SCHEMA_RANGE', detail, this.places.of(scope));
      }
      if (index > 0) this.checkPath(scope, lengths, parentOk);
      depths[index] = index === 0 || !parentOk ? 0 : depths[scope.parentId]! + 1;
      if (depths[index]! > limits.MAX_SCOPE_DEPTH) {
        const detail = `${what} lies more than ${limits.MAX_SCOPE_DEPTH} scopes deep`;
        this.problems.add('SCHEMA_LIMIT', detail, this.places.of(scope));
      }
      if (index > 0) append(siblings, scope.parentId, scope);
      this.checkProtocolAndClock(scope, what);
    });
    for (const [parent, group] of siblings) {
      this.unique(group, (name) => `${this.scopeName(parent)} has two scopes called "${name}"`);
    }
  }

  /** Whatever lies below repeats the path: one that is too long ends the search for problems. */
  private checkPath(scope: ScopeDef, lengths: number[], parentOk: boolean): void {
    const parentLength = parentOk ? lengths[scope.parentId]! : 0;
    const length = parentLength + (parentLength > 0 ? 1 : 0) + scope.name.length;
    lengths.push(length);
    if (length <= limits.MAX_SCOPE_PATH_CHARS) return;
    const detail = `the path of scope "${scope.name.slice(0, 80)}" has ${length} characters; at most ${limits.MAX_SCOPE_PATH_CHARS} are allowed: use shorter names`;
    throw new UscopeError('SCHEMA_LIMIT', detail, this.places.of(scope));
  }

  private checkProtocolAndClock(scope: ScopeDef, what: string): void {
    if (scope.protocol !== null && !isName(scope.protocol, this.allowVariables)) {
      const detail = `the protocol "${scope.protocol}" of ${what} is not a name (${NAME_RULE})`;
      this.problems.add('SCHEMA_NAME', detail, this.places.of(scope, 'protocol'));
    }
    if (scope.clockId === INHERIT_CLOCK) {
      if (scope.protocol !== 'cpu') return;
      const detail = `${what} has the protocol cpu but names no clock; add "clock" to it, viewers count its cycles`;
      this.problems.add('SCHEMA_CLOCK', detail, this.places.of(scope, 'protocol'));
    } else if (scope.clockId >= this.schema.clocks.length && this.schema.clocks.length > 0) {
      const detail = `${what} has the clock ${scope.clockId}, but there are ${this.schema.clocks.length}`;
      this.problems.add('SCHEMA_CLOCK', detail, this.places.of(scope));
    }
  }

  private checkStorages(): void {
    const { storages } = this.schema;
    this.atMost(storages, NO_ID, 'storages');
    this.uniquePerScope(storages, 'storages');
    let total = 0;
    storages.forEach((storage, index) => {
      const what = `storage "${qualifiedName(this.schema, storage)}"`;
      this.name(storage, what);
      this.id(storage, storage.storageId, index, what);
      this.scopeId(storage, what);
      this.checkStorage(storage, what);
      const before = total;
      total += limits.storageBytes(storage);
      if (before <= limits.MAX_STATE_BYTES && total > limits.MAX_STATE_BYTES) {
        const detail = `the storages up to ${what} take ${total} bytes, and every checkpoint holds them all; the limit is ${limits.MAX_STATE_BYTES}`;
        this.problems.add('SCHEMA_LIMIT', detail, this.places.of(storage));
      }
    });
  }

  private checkStorage(storage: StorageDef, what: string): void {
    this.inRange(storage, 'slots', storage.numSlots, 1, limits.MAX_SLOTS, `the number of slots of ${what}`);
    if (storage.flags & ~(SF_SPARSE | SF_BUFFER)) {
      const detail = `${what} has the unknown flags 0x${storage.flags.toString(16)}`;
      this.problems.add('SCHEMA_RANGE', detail, this.places.of(storage));
    }
    if (storage.fields.length === 0 && storage.properties.length === 0) {
      this.problems.add(
        'SCHEMA_MISSING',
        `${what} has neither fields nor properties`,
        this.places.of(storage),
      );
    }
    this.checkFields(storage.fields, what, 'field');
    this.checkFields(storage.properties, what, 'property');
    this.checkPackedSize(storage, storage.fields, limits.MAX_SLOT_BYTES, `a slot of ${what}`);
    this.checkPackedSize(storage, storage.properties, limits.MAX_SLOT_BYTES, `the properties of ${what}`);
    this.checkRoles(storage.properties, what);
  }

  private checkFields(fields: readonly FieldDef[], owner: string, noun: 'field' | 'property'): void {
    this.unique(
      fields,
      (name) => `${owner} has two ${noun === 'field' ? 'fields' : 'properties'} called "${name}"`,
    );
    for (const field of fields) {
      const what = `${noun} "${field.name}" of ${owner}`;
      this.name(field, what);
      const known = field.type >= FieldType.U8 && field.type <= FieldType.ENUM;
      if (!known)
        this.problems.add(
          'SCHEMA_TYPE',
          `${what} has the unknown type ${field.type}`,
          this.places.of(field, 'type'),
        );
      if (field.type === FieldType.ENUM && field.enumId >= this.schema.enums.length) {
        const detail = `${what} has the enum ${field.enumId}, but there are ${this.schema.enums.length}`;
        this.problems.add('SCHEMA_TYPE', detail, this.places.of(field, 'type'));
      }
    }
  }

  private checkRoles(properties: readonly FieldDef[], owner: string): void {
    const taken = new Map<number, string>();
    for (const property of properties) {
      const what = `property "${property.name}" of ${owner}`;
      this.inRange(property, 'pair', property.pairId, 0, 255, `the pair of ${what}`);
      this.inRange(property, 'type', property.role, 0, PropertyRole.TAIL, `the role of ${what}`);
      if (property.role === PropertyRole.PLAIN) continue;
      const role = property.role === PropertyRole.HEAD ? 'head' : 'tail';
      if (property.type > FieldType.U64) {
        const type = typeName(property.type, property.enumId, this.schema.enums);
        const detail = `${what} is a ${role} pointer and must be u8, u16, u32 or u64, not ${type}`;
        this.problems.add('SCHEMA_TYPE', detail, this.places.of(property, 'type'));
      }
      const key = property.role * 256 + property.pairId;
      const other = taken.get(key);
      if (other !== undefined) {
        const detail = `"${other}" and "${property.name}" of ${owner} are both the ${role} of pair ${property.pairId}; give them different pairs`;
        this.problems.add('SCHEMA_DUPLICATE', detail, this.places.of(property));
      }
      taken.set(key, property.name);
    }
  }

  private checkEvents(): void {
    const { events } = this.schema;
    this.atMost(events, NO_ID, 'events');
    this.uniquePerScope(events, 'events');
    events.forEach((event, index) => {
      const what = `event "${qualifiedName(this.schema, event)}"`;
      this.name(event, what);
      this.id(event, event.eventTypeId, index, what);
      this.scopeId(event, what);
      this.checkFields(event.fields, what, 'field');
      this.checkPackedSize(event, event.fields, MAX_EVENT_PAYLOAD, `the payload of ${what}`);
    });
  }

  private checkSummary(): void {
    const { summaryFields } = this.schema;
    this.atMost(summaryFields, NO_ID, 'summary fields');
    this.uniquePerScope(summaryFields, 'summary fields');
    for (const field of summaryFields) {
      const what = `summary field "${qualifiedName(this.schema, field)}"`;
      this.name(field, what);
      this.scopeId(field, what);
      if (field.type < FieldType.U8 || field.type >= FieldType.ENUM) {
        this.problems.add('SCHEMA_TYPE', `${what} must be a number or bool`, this.places.of(field));
      }
    }
  }

  private checkDut(dut: DutProperties): void {
    this.atMost(dut, limits.MAX_DUT_PROPERTIES, 'DUT properties');
    const seen = new Set<string>();
    for (const property of dut) {
      const [key, value] = property;
      if (!isDutKey(key, this.allowVariables)) {
        const detail = `the DUT property "${key}" is not a name (${NAME_RULE}; parts may be joined by /)`;
        this.problems.add('SCHEMA_NAME', detail, this.places.of(property));
      }
      if (seen.has(key)) {
        this.problems.add(
          'SCHEMA_DUPLICATE',
          `the DUT property "${key}" is defined twice`,
          this.places.of(property),
        );
      }
      seen.add(key);
      if (value.length > limits.MAX_STRING_CHARS) continue; // the string pool is too small for it: see checkSizes
      if (/\0|\p{Surrogate}/u.test(value)) {
        const detail = `the value of DUT property "${key}" holds a zero byte or half a character, which the file cannot store`;
        this.problems.add('SCHEMA_TYPE', detail, this.places.of(property, 'value'));
      }
    }
  }

  private checkSizes(dut: DutProperties): void {
    const definitions = limits.definitionBytes(this.schema);
    if (definitions > limits.MAX_DEFINITION_BYTES) {
      const detail = `the definitions take ${definitions} bytes of the schema chunk, ${definitions - limits.MAX_DEFINITION_BYTES} more than fit; use fewer scopes, storages, events or fields`;
      this.problems.add('SCHEMA_LIMIT', detail, this.places.start);
    }
    const pool = limits.poolBytes(this.schema, dut);
    if (pool > limits.MAX_POOL_BYTES) {
      const detail = `names and DUT properties take ${pool} bytes of the string pool, ${pool - limits.MAX_POOL_BYTES} more than fit; shorten them or use the same name more often`;
      this.problems.add('SCHEMA_LIMIT', detail, this.places.start);
    }
  }

  // -- small checks

  private name(part: { readonly name: string }, what: string): void {
    if (isName(part.name, this.allowVariables)) return;
    this.problems.add(
      'SCHEMA_NAME',
      `the name of ${what} is not allowed; it takes ${NAME_RULE}`,
      this.places.of(part),
    );
  }

  private id(part: object, id: number, index: number, what: string): void {
    if (id === index) return;
    const detail = `${what} has the id ${id} but is at place ${index}; ids count from 0 in order`;
    this.problems.add('SCHEMA_RANGE', detail, this.places.of(part));
  }

  private scopeId(part: { readonly scopeId: number }, what: string): void {
    if (part.scopeId === NO_ID || part.scopeId < this.schema.scopes.length) return;
    const detail = `${what} has the scope ${part.scopeId}, but there are ${this.schema.scopes.length}`;
    this.problems.add('SCHEMA_RANGE', detail, this.places.of(part));
  }

  private inRange(part: object, key: string, value: number, low: number, high: number, what: string): void {
    if (Number.isInteger(value) && value >= low && value <= high) return;
    this.problems.add(
      'SCHEMA_RANGE',
      `${what} is ${value}; it must be ${low} to ${high}`,
      this.places.of(part, key),
    );
  }

  private atMost(
    parts: readonly object[],
    limit: number,
    what: string,
    place = this.places.of(parts[limit]),
  ): void {
    if (parts.length <= limit) return;
    this.problems.add(
      'SCHEMA_LIMIT',
      `there are ${parts.length} ${what}; the format holds at most ${limit}`,
      place,
    );
  }

  private checkPackedSize(part: object, fields: readonly FieldDef[], limit: number, what: string): void {
    const size = packedSize(fields);
    if (size <= limit) return;
    const detail = `${what} takes ${size} bytes (${listed(fields.map((field) => field.name))}); at most ${limit} are allowed`;
    this.problems.add('SCHEMA_LIMIT', detail, this.places.of(part));
  }

  private unique(parts: readonly { readonly name: string }[], detail: (name: string) => string): void {
    const seen = new Set<string>();
    for (const part of parts) {
      if (seen.has(part.name)) this.problems.add('SCHEMA_DUPLICATE', detail(part.name), this.places.of(part));
      seen.add(part.name);
    }
  }

  private uniquePerScope(
    parts: readonly { readonly name: string; readonly scopeId: number }[],
    noun: string,
  ): void {
    const groups = new Map<number, { readonly name: string }[]>();
    // Root level is 0xFFFF on disk; 0, the root scope itself, means the same.
    for (const part of parts) append(groups, part.scopeId === NO_ID ? 0 : part.scopeId, part);
    for (const [scopeId, group] of groups) {
      this.unique(group, (name) => `${this.scopeName(scopeId)} has two ${noun} called "${name}"`);
    }
  }

  private scopeName(scopeId: number): string {
    const path = scopePath(this.schema, scopeId);
    return path ? `scope "${path}"` : 'the root scope';
  }
}

function append<T>(groups: Map<number, T[]>, key: number, item: T): void {
  const group = groups.get(key);
  if (group) group.push(item);
  else groups.set(key, [item]);
}
