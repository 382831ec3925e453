/**
 * How a .ctrace file is in a µScope trace, for both directions: a scope per unit, an event type per pair of format and unit that occurs,
 * and next to them the scope `ctrace` with what the events do not say themselves.
 */
import { UscopeError } from '../../base/errors.js';
import { fromHex, toHex } from '../../base/hex.js';
import { MAX_STRING_BYTES } from '../../format/record.js';
import type { BuiltinTypeName, Fields } from '../../schema/index.js';
import { encodeText, isPlain } from './text.js';
import { ArgType, type CtraceFormat } from './types.js';

/** DUT property: the trace was made of .ctrace, by version 1 of this mapping. */
export const MAPPING_PROPERTY = 'ctrace.mapping';
export const MAPPING_VERSION = '1';
export const CREATED_PROPERTY = 'ctrace.created';
export const FLAGS_PROPERTY = 'ctrace.flags';
export const VERSION_PROPERTY = 'ctrace.version';
export const PERIOD_PROPERTY = 'ctrace.period_ps';
export const META_SCOPE = 'ctrace';

/** Arguments in hexadecimal digits: of formats that are not known, and of events that do not agree with their format. */
const HEX: Fields = { arg_count: 'u8', size: 'u16', part: 'u16', hex: 'string', category: 'u32' };

/** Events of the scope `ctrace`. All but `late` and `raw` are in the first frame. */
export const META_EVENTS = {
  file: { schema_version: 'u32', config_hash: 'u64', simulation: 'string' },
  format: {
    id: 'u32',
    line: 'u32',
    is_log: 'bool',
    log_level: 'u8',
    text: 'string',
    file: 'string',
    arg_types: 'string',
  },
  unit: { id: 'u16', name: 'string', type: 'string' },
  category: { mask: 'u64', name: 'string', description: 'string' },
  /** What an event type of a unit's scope represents. */
  event_type: { event: 'u16', format: 'u32', unit: 'u16', is_hex: 'bool' },
  /** The next event follows one of a later cycle: this is its own. */
  late: { cycle: 'u64' },
  raw: { format: 'u32', unit: 'u16', ...HEX },
} as const satisfies Record<string, Fields>;
export type MetaEvent = keyof typeof META_EVENTS;
export const META_NAMES = Object.keys(META_EVENTS) as readonly MetaEvent[];

/** Bytes of an event's arguments in one string. */
export const HEX_BYTES = 32_000;
export const HEX_FIELDS = HEX;
/** Bytes of the payload before `arg_count` in `raw`. */
export const RAW_PREFIX_BYTES = 6;

const FIELD_TYPES: Readonly<Record<number, BuiltinTypeName>> = {
  [ArgType.INT8]: 'i8',
  [ArgType.INT16]: 'i16',
  [ArgType.INT32]: 'i32',
  [ArgType.INT64]: 'i64',
  [ArgType.UINT8]: 'u8',
  [ArgType.UINT16]: 'u16',
  [ArgType.UINT32]: 'u32',
  [ArgType.UINT64]: 'u64',
  [ArgType.FLOAT]: 'u32',
  [ArgType.DOUBLE]: 'u64',
  [ArgType.POINTER]: 'u64',
  [ArgType.STRING]: 'string',
  [ArgType.BOOL]: 'bool',
};

/** The µScope type with the same bytes. */
export function fieldType(argType: number): BuiltinTypeName {
  return FIELD_TYPES[argType];
}

const TYPE_NAMES = Object.entries(ArgType).map(([name, type]) => [type, name.toLowerCase()] as const);
const NAME_OF_TYPE = new Map<number, string>(TYPE_NAMES);
const TYPE_OF_NAME = new Map<string, number>(TYPE_NAMES.map(([type, name]) => [name, type]));

/** `int8 string`; numbers that are not a type stay numbers. */
export function typesToText(types: readonly number[]): string {
  return types.map((type) => NAME_OF_TYPE.get(type) ?? String(type)).join(' ');
}

export function typesOfText(text: string): number[] {
  return text ? text.split(' ').map((name) => TYPE_OF_NAME.get(name) ?? (Number(name) << 24) >> 24) : [];
}

/** In front of the hexadecimal digits of a text that µScope cannot keep, and of one that begins like this. */
const ESCAPE = 'ctrace-bytes:';

/** @throws UscopeError CONVERT_LIMIT for a text longer than strings of µScope */
export function keepText(text: string): string {
  const kept = isPlain(text) && !text.startsWith(ESCAPE) ? text : ESCAPE + toHex(encodeText(text));
  const size = new TextEncoder().encode(kept).length;
  if (size <= MAX_STRING_BYTES) return kept;
  const detail = `a text of the schema takes ${size} bytes; strings have ${MAX_STRING_BYTES} at most`;
  throw new UscopeError('CONVERT_LIMIT', detail);
}

/** The bytes of a kept text. */
export function bytesOfKept(text: string): Uint8Array {
  return text.startsWith(ESCAPE) ? fromHex(text.slice(ESCAPE.length)) : encodeText(text);
}

// Names for events and their fields, taken from the text of a format: `Decode: pc=0x{:x} {}` is `Decode` with `pc` and `arg1`.

const MAX_NAME = 48;
/** The word in front of an argument, when `=` or `:` joins them. */
const LABEL = /([A-Za-z_][A-Za-z0-9_]*)\s*[=:]\s*(?:0x|[<("'[]*)$/;

/** The form of names in µScope: a letter or _ first, then letters, digits, _ . - */
export function cleanName(text: string, otherwise: string): string {
  const clean = text.replace(/[^A-Za-z0-9_.-]+/g, '_').replace(/^[_.-]+|[_.-]+$/g, '');
  if (!clean) return otherwise;
  return /^[A-Za-z]/.test(clean) ? clean : `_${clean}`;
}

/** The words before the first argument. */
export function messageName({ id, text }: CtraceFormat): string {
  const label = LABEL.exec(text.slice(0, Math.max(0, text.indexOf('{'))));
  const end = label ? label.index : text.search(/[{:]|$/);
  const words = cleanName(text.slice(0, end), '');
  return words.slice(0, MAX_NAME) || cleanName((label?.[1] ?? '').slice(0, MAX_NAME), `format_${id}`);
}

/** One name per argument type, each only once. Floating-point numbers say so: their bits are what is kept. */
export function argNames({ text, argTypes }: CtraceFormat): string[] {
  const taken = new Set<string>(['category']);
  let from = 0;
  return argTypes.map((type, i) => {
    const open = from < 0 ? -1 : text.indexOf('{', from);
    const close = open < 0 ? -1 : text.indexOf('}', open);
    const label = close < 0 ? null : LABEL.exec(text.slice(from, open));
    from = close < 0 ? -1 : close + 1;
    return unique(`${(label?.[1] ?? `arg${i}`).slice(0, MAX_NAME)}${suffixOf(type)}`, taken, i);
  });
}

function suffixOf(type: number): string {
  if (type === ArgType.FLOAT) return '_f32';
  return type === ArgType.DOUBLE ? '_f64' : '';
}

/** A name that is not taken yet, and is from now on. */
export function unique(wanted: string, taken: Set<string>, mark: number | string): string {
  let name = wanted;
  for (let i = 0; taken.has(name); i++) name = i === 0 ? `${wanted}_${mark}` : `${wanted}_${mark}_${i}`;
  taken.add(name);
  return name;
}
