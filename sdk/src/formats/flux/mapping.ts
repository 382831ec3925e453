/** How values of flux are in a µScope trace: the forms, and the events that keep what is not a value. Both directions use these tables. */
import { FieldType } from '../../format/types.js';
import type { Fields } from '../../schema/index.js';
import type { EventFields, PackedValue } from '../common/event-values.js';
import { type FluxEntry, FluxTag, LAYOUT } from './types.js';

const ITEM_TAGS = [FluxTag.SCPD, FluxTag.SIGD, FluxTag.MSGD, FluxTag.SIRD, FluxTag.SSGD, FluxTag.SSRD];

/** DUT property of a trace made of flux, and its value. */
export const ENTRIES_PROPERTY = 'flux.entries';
export const ENTRIES_VERSION = '1';
export const META_SCOPE = 'flux';

/** Bits of `tag`. A value that continues has its next part in the next event of the same type. */
export const Tag = { CONFLICT: 1, NONE: 2, GOES_ON: 4 } as const;

/** Form of a signal's values. */
export const Form = {
  /** Bytes in hex, in the common event `flux/sample`. */
  BYTES: 0,
  INTEGER: 1,
  /** As decimal text: some value has more than 64 bits. */
  DECIMAL: 2,
  FLOAT: 3,
  TEXT: 4,
  BINARY: 5,
  /** Two states, 64 of them at most. */
  LOGIC: 6,
  STATES: 7,
  LIST: 8,
  STRUCT: 9,
} as const;
export type Form = (typeof Form)[keyof typeof Form];

/** `shape` of LOGIC: bytes of the value, or nothing but 0 or 1. */
export const ALL_ZERO = 0x10;
export const ALL_ONE = 0x11;
/** `shape` of STATES and LIST: no bytes; the list carries its length. */
export const UNIFORM = 0x80;
export const DYNAMIC = 0x80;

export const FORM_FIELDS: ReadonlyMap<Form, Fields> = new Map<Form, Fields>([
  [Form.INTEGER, { tag: 'u8', value: 'i64' }],
  [Form.DECIMAL, { tag: 'u8', value: 'string' }],
  [Form.FLOAT, { tag: 'u8', width: 'u8', bits: 'u64' }],
  [Form.TEXT, { tag: 'u8', value: 'string' }],
  [Form.BINARY, { tag: 'u8', hex: 'string' }],
  [Form.LOGIC, { tag: 'u8', shape: 'u8', value: 'u64' }],
  [Form.STATES, { tag: 'u8', shape: 'u8', states: 'string' }],
  [Form.LIST, { tag: 'u8', shape: 'u8', values: 'string' }],
]);

const FIELD_TYPES = { id: 'u32', u8: 'u8', text: 'string', sint: 'i64', pint: 'u64' } as const;

/** The fields of an entry as those of its event, by the same names. @param asText signed numbers are kept as decimal text */
function fieldsOfEntry(tag: number, asText = false): Fields {
  const fields = LAYOUT[tag]!.map(({ name, kind }) => {
    const type = asText && kind === 'sint' ? 'string' : FIELD_TYPES[kind as keyof typeof FIELD_TYPES];
    return [name, type] as const;
  });
  return { trace: 'u32', ...Object.fromEntries(fields) };
}

/** Events of the scope `flux`, in the order of their ids. */
export const META_EVENTS = {
  mapping: { trace: 'u32', item: 'u32', form: 'u8', event: 'string', members: 'string' },
  head: {
    ...{ trace: 'u32', version: 'u8', mode: 'u8', name: 'string', description: 'string' },
    ...{ max_item: 'u32', max_entry: 'u32' },
  },
  item: {
    ...{ trace: 'u32', kind: 'u8', id: 'u32', id_to: 'u32', parent: 'u32', name: 'string' },
    ...{ description: 'string', type: 'u8', descriptor: 'string', from: 'u32', to: 'u32' },
  },
  domain: fieldsOfEntry(FluxTag.DOMD),
  /** `origin`: ps, or units of what is not a time, that are at time 0 of this trace. `effective`: the domain with the default put in. */
  open: {
    ...{ trace: 'u32', id: 'u32', domain: 'string', effective: 'string' },
    ...{ start: 'i64', rate: 'string', origin: 'i64' },
  },
  close: fieldsOfEntry(FluxTag.CLOS),
  current: fieldsOfEntry(FluxTag.CURR),
  enumeration: fieldsOfEntry(FluxTag.ENMD),
  member: fieldsOfEntry(FluxTag.MEMD),
  relation: fieldsOfEntry(FluxTag.ATRE, true),
  label: fieldsOfEntry(FluxTag.ATLA, true),
  control: { trace: 'u32', kind: 'u8', control: 'u32', message: 'u32', tag: 'u8', hex: 'string' },
  /** Position of the next value of an item's group, when its time does not give it exactly. */
  position: { trace: 'u32', id: 'u32', position: 'i64' },
  sample: { trace: 'u32', item: 'u32', tag: 'u8', format: 'u8', hex: 'string' },
} as const satisfies Record<string, Fields>;
export type MetaEvent = keyof typeof META_EVENTS;

/** Entries whose event has their fields, and nothing else. */
export const ENTRY_EVENTS: ReadonlyMap<number, MetaEvent> = new Map<number, MetaEvent>([
  ...ITEM_TAGS.map((tag) => [tag, 'item'] as const),
  [FluxTag.DOMD, 'domain'],
  [FluxTag.CLOS, 'close'],
  [FluxTag.CURR, 'current'],
  [FluxTag.ENMD, 'enumeration'],
  [FluxTag.MEMD, 'member'],
  [FluxTag.ATRE, 'relation'],
  [FluxTag.ATLA, 'label'],
]);
const TAG_OF_EVENT = new Map([...ENTRY_EVENTS].map(([tag, event]) => [event, tag]));

/** Names and types of an event's fields after the trace. An item has the fields of all kinds of items. */
const fieldsAfterTrace = (event: MetaEvent): readonly (readonly [name: string, type: unknown])[] =>
  Object.entries(META_EVENTS[event]).slice(1);
/** Names that the event and the entry do not share. */
const ENTRY_NAMES: Readonly<Record<string, string>> = { kind: 'tag', id_to: 'idTo' };

/** What the event of an entry holds after the trace; 0 or '' for what this kind of entry lacks. */
export function valuesOf(event: MetaEvent, entry: Readonly<Record<string, PackedValue>>): PackedValue[] {
  return fieldsAfterTrace(event).map(([name, type]) => {
    const value = entry[ENTRY_NAMES[name] ?? name];
    return type === 'string' ? String(value ?? '') : (value ?? 0);
  });
}

/** The entry of an event that has its fields; null for an event that is none. */
export function entryOf(event: MetaEvent, fields: EventFields): FluxEntry | null {
  const tag = event === 'item' ? fields.number(1) : TAG_OF_EVENT.get(event);
  const layout = tag === undefined ? undefined : LAYOUT[tag];
  if (!layout) return null;
  const names = fieldsAfterTrace(event).map(([name]) => ENTRY_NAMES[name] ?? name);
  const values = layout.map(({ name, kind }) => {
    const field = names.indexOf(name) + 1;
    if (kind === 'text') return [name, fields.text(field)] as const;
    if (kind !== 'sint' && kind !== 'pint') return [name, fields.number(field)] as const;
    const isText = fields.typeOf(field) === FieldType.STRING_REF;
    return [name, isText ? BigInt(fields.text(field)) : fields.wide(field)] as const;
  });
  return { tag, ...Object.fromEntries(values) } as unknown as FluxEntry;
}

/** A member of a struct: its bytes are those of `form`, which is INTEGER, DECIMAL, FLOAT, TEXT or BYTES. */
export interface MappedMember {
  readonly member: number;
  readonly type: number;
  readonly form: Form;
}

/** Members have one bit each in `present`. */
export const MAX_MEMBERS = 64;
/** Bytes in one event of a value in hex. */
export const HEX_BYTES = 32_000;

// Domains of groups: which of them are time, and their unit in ps.

/** `num` / `den` ps are one unit. */
export interface DomainUnit {
  readonly isTime: boolean;
  readonly num: bigint;
  readonly den: bigint;
}

const PREFIXES = 'yzafpnum kMGTPEZY';
const PICO = PREFIXES.indexOf('p');

/** What is not a time counts as if a unit were a ps, on a separate clock. */
export function unitOf(domain: string): DomainUnit {
  const match = /^([yzafpnumkMGTPEZY]?)s(10{0,2})?$/.exec(domain);
  if (!match) return { isTime: false, num: 1n, den: 1n };
  const exponent = 3 * (PREFIXES.indexOf(match[1] || ' ') - PICO) + ((match[2]?.length ?? 1) - 1);
  return exponent >= 0
    ? { isTime: true, num: 10n ** BigInt(exponent), den: 1n }
    : { isTime: true, num: 1n, den: 10n ** BigInt(-exponent) };
}

/** Rounded down. */
export function toPs(position: bigint, { num, den }: DomainUnit): bigint {
  const product = position * num;
  if (den === 1n) return product;
  return product >= 0n ? product / den : -((-product + den - 1n) / den);
}
