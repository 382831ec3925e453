/** Does a schema keep the contract of the protocols that it claims, and what can be shown of it? */
import { appendAll } from '../base/arrays.js';
import { closestName } from '../base/near-names.js';
import {
  type DutProperties,
  type EventDef,
  isCounterStorage,
  NO_ID,
  qualifiedName,
  type Schema,
  SF_BUFFER,
  type StorageDef,
  scopePath,
} from '../format/types.js';
import { CPU, NOC, TR } from './definitions.js';
import { fieldFor, fieldNamed, fitOf, hasExactly, hasKind, isReadable, typeName } from './fit.js';
import { membersOf, ownFirst } from './members.js';
import type { EventContract, FieldContract, Protocol, StorageContract } from './model.js';

const PROTOCOLS: readonly Protocol[] = [CPU, NOC, TR];
/** Scopes of streams in a trace of an FTR file. */
const OTHER_NAMES: readonly string[] = ['ftr', 'generic'];

export type ProtocolCode = 'PROTOCOL_MISSING' | 'PROTOCOL_FIELD' | 'PROTOCOL_TYPE' | 'PROTOCOL_UNKNOWN';

export interface ProtocolFinding {
  readonly code: ProtocolCode;
  /** Path of the scope that claims the protocol. */
  readonly scope: string;
  /** What is wrong or missing, and what cannot be shown. */
  readonly detail: string;
}

/** Something is recorded that tools cannot take as it is; else something is missing, and the rest can be shown. */
export const isContradiction = ({ code }: ProtocolFinding): boolean => code !== 'PROTOCOL_MISSING';

/** The line that messages show. */
export const findingText = ({ code, detail }: ProtocolFinding): string => `${code}: ${detail}`;

/** Most findings of a schema: a hostile one may have thousands, with names of thousands of letters. */
export const MAX_FINDINGS = 100;
const MAX_LETTERS = 200;

const clipped = (name: string): string =>
  name.length > MAX_LETTERS ? `${name.slice(0, MAX_LETTERS)}…` : name;

/** What is to be said of a schema, up to a hundred findings; empty: it claims no protocol that is known, or keeps to all of it. */
export function checkProtocol(schema: Schema, dut: DutProperties = []): ProtocolFinding[] {
  const findings: ProtocolFinding[] = [];
  const used = new Set<Protocol>();
  for (const { scopeId, name, protocol: claimed } of schema.scopes) {
    if (claimed === null || findings.length >= MAX_FINDINGS) continue;
    const path = (): string => clipped(scopePath(schema, scopeId) || name);
    const protocol = protocolNamed(claimed);
    if (!protocol) appendAll(findings, unknownProtocol(claimed, path));
    else {
      used.add(protocol);
      appendAll(findings, new ScopeCheck(schema, protocol, scopeId, path).findings());
    }
  }
  for (const protocol of used) appendAll(findings, unknownProperties(protocol, dut));
  return findings.slice(0, MAX_FINDINGS);
}

function protocolNamed(name: string): Protocol | undefined {
  return PROTOCOLS.find(
    ({ protocol, prefix }) => name === protocol || (prefix !== undefined && name.startsWith(prefix)),
  );
}

/** Names with a dot are those of vendors. */
function unknownProtocol(claimed: string, path: () => string): ProtocolFinding[] {
  if (claimed.includes('.') || OTHER_NAMES.includes(claimed)) return [];
  const near = closestName(
    claimed,
    PROTOCOLS.map(({ protocol }) => protocol),
  );
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
  const scope = path();
  const detail = `${scope} has the protocol "${clipped(claimed)}", which no tool knows.${hint} A name of your own has a prefix, such as vendor.${clipped(claimed)}`;
  return [{ code: 'PROTOCOL_UNKNOWN', scope, detail }];
}

function unknownProperties({ protocol, properties }: Protocol, dut: DutProperties): ProtocolFinding[] {
  return dut.flatMap(([key]) => {
    const own = key.slice(key.lastIndexOf('/') + 1);
    if (!own.startsWith(`${protocol}.`) || properties.includes(own)) return [];
    const near = closestName(own, properties);
    if (near === undefined) return [];
    const detail = `the property "${key}" means nothing to any tool. Did you mean "${near}"?`;
    return [{ code: 'PROTOCOL_UNKNOWN' as const, scope: '', detail }];
  });
}

type Part = 'storage' | 'event';

class ScopeCheck {
  private readonly found: ProtocolFinding[] = [];
  private readonly storages: readonly StorageDef[];
  private readonly events: readonly EventDef[];

  constructor(
    private readonly schema: Schema,
    private readonly protocol: Protocol,
    private readonly scopeId: number,
    private readonly path: () => string,
  ) {
    const inside = membersOf(schema, scopeId);
    // The root scope owns what is in no scope.
    const ids = scopeId === 0 ? new Set([...inside, NO_ID]) : inside;
    this.storages = ownFirst(schema.storages, ids, scopeId);
    this.events = ownFirst(schema.events, ids, scopeId);
  }

  findings(): ProtocolFinding[] {
    const { storages, shapes, events, reserved, counters } = this.protocol;
    for (const [name, contract] of Object.entries(storages)) this.storage(name, contract);
    for (const contract of Object.values(shapes)) if (contract.kind === 'buffer') this.buffers(contract);
    this.counters(Object.keys(counters));
    for (const [name, contract] of Object.entries(events)) this.event(name, contract);
    for (const [name, contract] of Object.entries(reserved.events)) this.reserved(name, contract);
    this.misspelt(Object.keys(events), [...Object.keys(events), ...Object.keys(reserved.events)]);
    return this.found;
  }

  private storage(name: string, contract: StorageContract): void {
    const def = this.storages.find((storage) => storage.name === name);
    if (!def) this.missing('storage', name, contract);
    else if (hasKind(def, contract)) this.fields('storage', def, contract);
    else
      this.say(
        'PROTOCOL_TYPE',
        `the storage "${this.nameOf(def)}" is not ${contract.kind}, so it is not read${so(contract)}`,
      );
    const kept = def && this.protocol.reserved.storages[name];
    if (def && kept) this.types('storage', def, { fields: kept });
  }

  private buffers(contract: StorageContract): void {
    const buffers = this.storages.filter(
      ({ flags, fields }) => (flags & SF_BUFFER) !== 0 && fieldNamed(fields, this.protocol.id),
    );
    for (const def of buffers) this.fields('storage', def, contract);
  }

  /** A storage with the name of a counter that has another shape is not one. */
  private counters(names: readonly string[]): void {
    for (const def of this.storages) {
      if (!names.includes(def.name) || isCounterStorage(def)) continue;
      const detail = `the storage "${this.nameOf(def)}" is not a counter (one slot with one field u64), so tools do not take it for one`;
      this.say('PROTOCOL_TYPE', detail);
    }
  }

  private event(name: string, contract: EventContract): void {
    const def = this.events.find((event) => event.name === name);
    if (!def) this.missing('event', name, contract);
    else if (!this.protocol.isExact) this.fields('event', def, contract);
    else if (!hasExactly(def, contract)) {
      const wanted = Object.entries(contract.fields).map(([field, { type }]) => `${field} ${wordOf(type)}`);
      const detail = `the event "${this.nameOf(def)}" has not exactly the fields ${wanted.join(', ')}, so it is not read${so(contract)}`;
      this.say('PROTOCOL_FIELD', detail);
    }
  }

  private reserved(name: string, contract: EventContract): void {
    const def = this.events.find((event) => event.name === name);
    const lacks = def && Object.keys(contract.fields).find((field) => !fieldNamed(def.fields, field));
    if (!def) return;
    if (lacks === undefined) this.types('event', def, contract);
    else
      this.say(
        'PROTOCOL_FIELD',
        `the event "${this.nameOf(def)}" lacks the field "${lacks}": the name "${name}" is kept for an event with the fields ${Object.keys(contract.fields).join(', ')}`,
      );
  }

  private missing(part: Part, name: string, { presence, without }: EventContract): void {
    if (presence !== 'expected') return;
    this.say(
      'PROTOCOL_MISSING',
      `${this.path()} is "${this.claimed()}" and lacks the ${part} "${name}": ${without}`,
    );
  }

  private fields(part: Part, def: StorageDef | EventDef, contract: StorageContract | EventContract): void {
    const absent = Object.entries(contract.fields).filter(([name]) => !fieldFor(def.fields, name, contract));
    const required = absent
      .filter(([, { presence }]) => presence === 'required')
      .map(([name]) => `"${name}"`);
    if (required.length > 0) {
      const lacks = `${required.length > 1 ? 'fields' : 'field'} ${required.join(' and ')}`;
      const detail = `the ${part} "${this.nameOf(def)}" lacks the ${lacks}, so it is not read${so(contract)}`;
      this.say('PROTOCOL_FIELD', detail);
    }
    for (const [name, { presence, without }] of isReadable(def, contract) ? absent : []) {
      if (presence !== 'expected') continue;
      const detail = `the ${part} "${this.nameOf(def)}" lacks the field "${name}": ${without}`;
      this.say('PROTOCOL_MISSING', detail);
    }
    this.types(part, def, contract);
  }

  private types(part: Part, def: StorageDef | EventDef, contract: EventContract): void {
    for (const [name, wanted] of Object.entries(contract.fields)) {
      const field = fieldFor(def.fields, name, contract);
      const fit = field && fitOf(field.type, wanted.type);
      if (!field || fit === 'fits') continue;
      const consequence =
        fit === 'loose' ? '; some values have no meaning there' : unread(part, wanted, contract);
      const detail = `the field "${field.name}" of the ${part} "${this.nameOf(def)}" is ${typeName(field.type)}, and the protocol "${this.protocol.protocol}" has ${wordOf(wanted.type)}${consequence}`;
      this.say('PROTOCOL_TYPE', detail);
    }
  }

  /** A name that is nearly that of an event which is not there. */
  private misspelt(names: readonly string[], known: readonly string[]): void {
    const absent = names.filter((name) => !this.events.some((event) => event.name === name));
    for (const def of this.events) {
      const near = known.includes(def.name) ? undefined : closestName(def.name, absent);
      if (near === undefined) continue;
      this.say(
        'PROTOCOL_UNKNOWN',
        `the event "${this.nameOf(def)}" means nothing to the protocol "${this.protocol.protocol}". Did you mean "${near}"?`,
      );
    }
  }

  /** `noc.router` of a scope that is read as `noc`. */
  private claimed(): string {
    return clipped(this.schema.scopes[this.scopeId]?.protocol ?? '');
  }

  private nameOf(def: StorageDef | EventDef): string {
    return clipped(qualifiedName(this.schema, def));
  }

  private say(code: ProtocolCode, detail: string): void {
    if (this.found.length < MAX_FINDINGS) this.found.push({ code, scope: this.path(), detail });
  }
}

const so = ({ without }: EventContract): string => (without === undefined ? '' : `: ${without}`);

function unread(part: Part, { presence, without }: FieldContract, contract: EventContract): string {
  if (presence === 'required') return `, so the ${part} is not read${so(contract)}`;
  return `, so the field is not read${without === undefined ? '' : `: ${without}`}`;
}

const wordOf = (type: string): string => (type === 'label' ? 'an enum' : type === 'wide' ? 'a number' : type);
