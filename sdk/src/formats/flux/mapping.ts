/** How values of flux are in a µScope trace: the forms, and the events that keep what is not a value. Both directions use these tables. */
import type { Fields } from '../../schema/index.js';

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

/** Events of the scope `flux`, in the order of their ids. */
export const META_EVENTS = {
  mapping: { trace: 'u32', item: 'u32', form: 'u8', event: 'string', members: 'string' },
  head: {
    trace: 'u32',
    version: 'u8',
    mode: 'u8',
    name: 'string',
    description: 'string',
    max_item: 'u32',
    max_entry: 'u32',
  },
  item: {
    trace: 'u32',
    kind: 'u8',
    id: 'u32',
    id_to: 'u32',
    parent: 'u32',
    name: 'string',
    description: 'string',
    type: 'u8',
    descriptor: 'string',
    from: 'u32',
    to: 'u32',
  },
  domain: { trace: 'u32', domain: 'string' },
  /** `origin`: ps, or units of what is not a time, that are at time 0 of this trace. `effective`: the domain with the default put in. */
  open: {
    trace: 'u32',
    id: 'u32',
    domain: 'string',
    effective: 'string',
    start: 'i64',
    rate: 'string',
    origin: 'i64',
  },
  close: { trace: 'u32', id: 'u32', end: 'i64' },
  current: { trace: 'u32', id: 'u32', position: 'i64' },
  enumeration: { trace: 'u32', id: 'u32', enumeration: 'u32', label: 'string', value: 'u64' },
  member: {
    trace: 'u32',
    id: 'u32',
    member: 'u32',
    parent: 'u32',
    label: 'string',
    type: 'u8',
    descriptor: 'string',
  },
  relation: {
    trace: 'u32',
    id: 'u32',
    type: 'u8',
    target: 'u32',
    style: 'u32',
    delta: 'string',
    base: 'u32',
  },
  label: { trace: 'u32', id: 'u32', style: 'u32', x: 'string', y: 'string' },
  control: { trace: 'u32', kind: 'u8', control: 'u32', message: 'u32', tag: 'u8', hex: 'string' },
  /** Position of the next value of an item's group, when its time does not give it exactly. */
  position: { trace: 'u32', id: 'u32', position: 'i64' },
  sample: { trace: 'u32', item: 'u32', tag: 'u8', format: 'u8', hex: 'string' },
} as const satisfies Record<string, Fields>;
export type MetaEvent = keyof typeof META_EVENTS;

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
