/** Values of samples and members: bytes to what they mean and back. */
import { UscopeError } from '../../base/errors.js';
import { MemberCursor } from './member-cursor.js';
import { bigIntToSint, sintToBigInt } from './numbers.js';
import { type FluxMember, FluxType, MemberType, STATES } from './types.js';

/** Formats of values (`df`). Logic counts its bits per state in it; what can be a list has a fixed or a dynamic one. */
export const Format = { NONE: 0, PLAIN: 1, EVENT: 2, DYNAMIC: 3 } as const;

export type FluxValue =
  | { readonly kind: 'none' }
  | { readonly kind: 'event' | 'integer'; readonly value: bigint }
  | { readonly kind: 'float'; readonly bits: 32 | 64; readonly value: number }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'binary'; readonly value: Uint8Array }
  | FluxLogic
  | { readonly kind: 'struct'; readonly members: readonly FluxMember[] }
  | { readonly kind: 'events' | 'integers'; readonly values: readonly bigint[]; readonly list: FluxList }
  | { readonly kind: 'floats'; readonly values: readonly number[]; readonly list: FluxList }
  | { readonly kind: 'texts'; readonly values: readonly string[]; readonly list: FluxList };

/** Dynamic lists carry their length. `width` (xdf): 1 for 32, 2 for 64 bits, 3 for integers of any size; 0 where it means nothing. */
export interface FluxList {
  readonly dynamic: boolean;
  readonly width: number;
}

/** The leftmost state represents all positions to its left. */
export interface FluxLogic {
  readonly kind: 'logic';
  /** Bits per state: 1 (01), 2 (01zx) or 4 (all sixteen). */
  readonly bits: 1 | 2 | 4;
  /** States from the left; one alone where all are the same. */
  readonly states: string;
  /** All states are the same, 0 or 1, and no byte says so. */
  readonly uniform: boolean;
}

/**
 * @param type a `FluxType`
 * @throws UscopeError CONVERT_FORMAT for bytes that are not a value of the type
 */
export function decodeValue(type: number, df: number, xdf: number, data: Uint8Array): FluxValue {
  if (df === Format.NONE) {
    if (data.length > 0 || xdf !== 0) throw broken('no value has bytes');
    return { kind: 'none' };
  }
  if (type === FluxType.LOGIC) return logicOf(df, xdf, data);
  if (type >= FluxType.EVENTS) return listOf(type, df, xdf, data);
  if (df !== (type === FluxType.EVENT ? Format.EVENT : Format.PLAIN)) {
    throw broken(`a value of type ${type} has format ${df}`);
  }
  switch (type) {
    case FluxType.EVENT:
    case FluxType.INTEGER:
      return {
        kind: type === FluxType.EVENT ? 'event' : 'integer',
        value: sintToBigInt(data, 0, data.length),
      };
    case FluxType.FLOAT: {
      const view = new DataView(data.buffer, data.byteOffset, data.length);
      if (xdf === 1 && data.length === 4) return { kind: 'float', bits: 32, value: view.getFloat32(0, true) };
      if (xdf === 2 && data.length === 8) return { kind: 'float', bits: 64, value: view.getFloat64(0, true) };
      throw broken(`a float of variant ${xdf} has ${data.length} bytes`);
    }
    case FluxType.TEXT:
      return { kind: 'text', value: decoder.decode(data) };
    case FluxType.BINARY:
      return { kind: 'binary', value: data };
    case FluxType.STRUCT:
      return { kind: 'struct', members: membersOf(data) };
  }
  throw broken(`type ${type} has no values`);
}

/** The bytes of a value. @throws UscopeError CONVERT_SOURCE for what a value cannot be */
export function encodeValue(value: FluxValue): { df: number; xdf: number; data: Uint8Array } {
  switch (value.kind) {
    case 'none':
      return { df: 0, xdf: 0, data: EMPTY };
    case 'event':
      return { df: Format.EVENT, xdf: 0, data: bigIntToSint(value.value) };
    case 'integer':
      return { df: Format.PLAIN, xdf: 0, data: bigIntToSint(value.value) };
    case 'float':
      return { df: Format.PLAIN, xdf: value.bits / 32, data: floatBytes(value.value, value.bits / 8) };
    case 'text':
      return { df: Format.PLAIN, xdf: 0, data: encoder.encode(value.value) };
    case 'binary':
      return { df: Format.PLAIN, xdf: 0, data: value.value };
    case 'struct':
      return { df: Format.PLAIN, xdf: 0, data: memberBytes(value.members) };
    case 'logic':
      return logicBytes(value);
    default:
      return listBytes(value);
  }
}

const EMPTY = new Uint8Array(0);
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

function logicOf(df: number, xdf: number, data: Uint8Array): FluxLogic {
  const bits = (1 << (df - 1)) as 1 | 2 | 4;
  if (xdf < 2) {
    if (data.length > 0) throw broken('logic of one state has bytes');
    return { kind: 'logic', bits, states: STATES[xdf], uniform: true };
  }
  if (xdf !== 2 || data.length === 0) throw broken(`logic of variant ${xdf} has ${data.length} bytes`);
  let states = '';
  for (const byte of data) {
    for (let shift = 8 - bits; shift >= 0; shift -= bits)
      states += STATES[(byte >> shift) & ((1 << bits) - 1)];
  }
  return { kind: 'logic', bits, states, uniform: false };
}

function logicBytes({ bits, states, uniform }: FluxLogic) {
  const df = bits === 4 ? 3 : bits;
  if (uniform) {
    const xdf = STATES.indexOf(states);
    if (xdf > 1) throw source(`logic of nothing but "${states}"`);
    return { df, xdf, data: EMPTY };
  }
  const perByte = 8 / bits;
  const size = Math.ceil(states.length / perByte);
  const padded = states.padStart(size * perByte, states[0] ?? '0');
  const data = new Uint8Array(Math.max(1, size));
  for (let i = 0; i < padded.length; i++) {
    const code = STATES.indexOf(padded[i]);
    if (code < 0 || code >= 1 << bits) throw source(`"${padded[i]}" as one of ${1 << bits} states`);
    data[Math.floor(i / perByte)] |= code << (8 - bits * ((i % perByte) + 1));
  }
  return { df, xdf: 2, data };
}

/** Logic in the fewest bits per state, leading states that repeat left out. */
export function logic(states: string): FluxLogic {
  const four = /^[01zx]*$/.test(states);
  const bits = /^[01]*$/.test(states) ? 1 : four ? 2 : 4;
  let from = 0;
  while (from < states.length - 1 && states[from] === states[from + 1]) from++;
  const short = states.slice(from);
  const uniform = short.length <= 1 && (short === '0' || short === '1' || short === '');
  return { kind: 'logic', bits, states: short || '0', uniform };
}

const LISTS = ['events', 'integers', 'floats', 'texts'] as const;

function listOf(type: number, df: number, xdf: number, data: Uint8Array): FluxValue {
  const kind = LISTS[type - FluxType.EVENTS];
  if (!kind) throw broken(`type ${type} has no values`);
  const fixed = kind === 'events' ? Format.EVENT : Format.PLAIN;
  if (df !== fixed && df !== Format.DYNAMIC) throw broken(`a list has format ${df}`);
  const list = { dynamic: df === Format.DYNAMIC, width: xdf };
  const bytes = new Bytes(data);
  const count = list.dynamic ? bytes.pint() : -1;
  if (kind === 'floats') return { kind, list, values: floats(bytes, count, xdf) };
  const items = elements(bytes, count);
  if (kind === 'texts') return { kind, list, values: items.map((item) => decoder.decode(item)) };
  return { kind, list, values: items.map((item) => sintToBigInt(item, 0, item.length)) };
}

function elements(bytes: Bytes, count: number): Uint8Array[] {
  const items: Uint8Array[] = [];
  while (!bytes.isAtEnd) items.push(bytes.take(bytes.pint()));
  if (count >= 0 && items.length !== count) throw broken(`a list of ${count} elements holds ${items.length}`);
  return items;
}

function floats(bytes: Bytes, count: number, xdf: number): number[] {
  const width = xdf === 1 ? 4 : 8;
  const data = bytes.take(bytes.left);
  const size = data.length / width;
  if ((xdf !== 1 && xdf !== 2) || !Number.isInteger(size) || (count >= 0 && size !== count)) {
    throw broken(`${data.length} bytes are not floats of variant ${xdf}`);
  }
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  return Array.from({ length: size }, (_, i) =>
    width === 4 ? view.getFloat32(4 * i, true) : view.getFloat64(8 * i, true),
  );
}

function listBytes(value: Extract<FluxValue, { readonly list: FluxList }>) {
  const { dynamic, width } = value.list;
  const df = dynamic ? Format.DYNAMIC : value.kind === 'events' ? Format.EVENT : Format.PLAIN;
  const parts: Uint8Array[] = dynamic ? [pintBytes(value.values.length)] : [];
  if (value.kind === 'floats') {
    for (const one of value.values) parts.push(floatBytes(one, width === 1 ? 4 : 8));
  } else {
    for (const one of value.values) {
      const bytes = typeof one === 'string' ? encoder.encode(one) : bigIntToSint(one as bigint);
      parts.push(pintBytes(bytes.length), bytes);
    }
  }
  return { df, xdf: width, data: joined(parts) };
}

/** Members of a struct value or of a control entry. @throws UscopeError CONVERT_FORMAT */
export function membersOf(data: Uint8Array): FluxMember[] {
  const cursor = new MemberCursor();
  const members: FluxMember[] = [];
  cursor.open(data, 0, data.length);
  while (cursor.advance()) members.push({ member: cursor.member, type: cursor.type, data: cursor.value });
  return members;
}

export function memberBytes(members: readonly FluxMember[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const { member, type, data } of members) {
    parts.push(pintBytes(member), Uint8Array.of(type), pintBytes(data.length), data);
  }
  return joined(parts);
}

/** What a member's bytes mean: enums, integers and floats are numbers, text is text, the rest stays bytes. */
export function memberValue({ type, data }: FluxMember): bigint | number | string | Uint8Array {
  switch (type & 0x0f) {
    case MemberType.TEXT:
      return decoder.decode(data);
    case MemberType.GLOBAL_ENUM:
    case MemberType.LOCAL_ENUM:
    case MemberType.MERGE_ENUM:
    case MemberType.INTEGER:
      return sintToBigInt(data, 0, data.length);
    case MemberType.FLOAT: {
      const view = new DataView(data.buffer, data.byteOffset, data.length);
      if (data.length === 4) return view.getFloat32(0, true);
      return data.length === 8 ? view.getFloat64(0, true) : data;
    }
    default:
      return data;
  }
}

function floatBytes(value: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  if (size === 4) view.setFloat32(0, value, true);
  else view.setFloat64(0, value, true);
  return bytes;
}

function pintBytes(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

class Bytes {
  private at = 0;

  constructor(private readonly data: Uint8Array) {}

  get isAtEnd(): boolean {
    return this.at === this.data.length;
  }

  get left(): number {
    return this.data.length - this.at;
  }

  pint(): number {
    let value = 0;
    for (let factor = 1; factor < 2 ** 50; factor *= 128) {
      const [byte] = this.take(1);
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    throw broken('a number in a value is too large');
  }

  take(size: number): Uint8Array {
    if (size > this.left) throw broken('a value ends inside one of its parts');
    this.at += size;
    return this.data.subarray(this.at - size, this.at);
  }
}

function broken(what: string): UscopeError {
  return new UscopeError('CONVERT_FORMAT', what);
}

function source(what: string): UscopeError {
  return new UscopeError('CONVERT_SOURCE', `flux cannot hold ${what}`);
}
