/**
 * The msgpack of control messages, by msgpackr. Bytes from a peer are checked (msgpack-check.ts) before it sees them.
 *
 * The subpath `msgpackr/pack` is plain JavaScript: it does not load the native string decoder of the package's main entry.
 */
import { Packr, Unpackr } from 'msgpackr/pack';
import { UscopeError } from '../../base/errors.js';
import { checkControlMap, malformed } from './msgpack-check.js';

/** A value as decoded. Arrays, nil and floats (NaN, whatever they were) belong to keys that are not known here. */
export type WireValue =
  | number
  | bigint
  | string
  | boolean
  | null
  | Uint8Array
  | WireMap
  | readonly WireValue[];
export type WireMap = ReadonlyMap<string, WireValue>;

/** What is encoded. Integers must not be negative and at most 2^64 - 1. */
export type Packable = boolean | number | bigint | string | Uint8Array | ReadonlyMap<string, Packable>;

const OPTIONS = { useRecords: false, mapsAsObjects: false, moreTypes: false } as const;
const packr = new Packr(OPTIONS);
const unpackr = new Unpackr({ ...OPTIONS, int64AsType: 'bigint' });

const FLOAT_32 = 0xca;
const FLOAT_64 = 0xcb;
const UINT_64 = 0xcf;
const INT_64 = 0xd3;
const MAX_U32 = 0xffff_ffff;

/** Every value in its smallest form. @throws UscopeError FORMAT_UTF8 for a text with a lone surrogate */
export function packMap(map: ReadonlyMap<string, Packable>): Uint8Array {
  const bytes = new Uint8Array(packr.pack(toPack(map))); // a copy: msgpackr's is part of a larger buffer
  // msgpackr writes a bigint below 2^63 as a signed integer: the same eight bytes, after another tag.
  checkControlMap(bytes, (tag, at) => {
    if (tag === INT_64) bytes[at] = UINT_64;
  });
  return bytes;
}

/** msgpackr writes a number above 2^32 as a float, a bigint in eight bytes, and a lone surrogate as it is. */
function toPack(value: Packable): unknown {
  switch (typeof value) {
    case 'number':
      return value > MAX_U32 ? BigInt(value) : value;
    case 'bigint':
      return value > MAX_U32 ? value : Number(value);
    case 'string':
      return checkText(value);
    case 'boolean':
      return value;
    default:
      return value instanceof Uint8Array
        ? value
        : new Map([...value].map(([key, entry]) => [checkText(key), toPack(entry)]));
  }
}

const LONE_SURROGATE = /\p{Surrogate}/u;

function checkText(text: string): string {
  if (!LONE_SURROGATE.test(text)) return text;
  throw new UscopeError(
    'FORMAT_UTF8',
    `${JSON.stringify(text)} holds a lone surrogate, which has no UTF-8 form`,
  );
}

/**
 * The map that is the whole of `bytes`. (msgpackr leaves out a byte order mark at the start of a string of more than 64 bytes.)
 * @throws UscopeError BRIDGE_MESSAGE with the offset inside the message
 */
export function unpackMap(bytes: Uint8Array): WireMap {
  let hasFloats = false;
  const entries = checkControlMap(bytes, (tag) => {
    hasFloats ||= tag === FLOAT_32 || tag === FLOAT_64;
  });
  let map: WireMap;
  try {
    map = unpackr.unpack(hasFloats ? withoutFloats(bytes) : bytes);
  } catch (cause) {
    throw malformed(`msgpack that cannot be decoded (${String(cause)})`);
  }
  if (countEntries(map) !== entries) throw malformed('a map has the same key twice');
  return map;
}

/** With all floats NaN: no key of the protocol is one, and 1.0 must not be taken for the integer 1. */
function withoutFloats(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes);
  const view = new DataView(copy.buffer);
  checkControlMap(copy, (tag, at) => {
    if (tag === FLOAT_32) view.setFloat32(at + 1, Number.NaN);
    else if (tag === FLOAT_64) view.setFloat64(at + 1, Number.NaN);
  });
  return copy;
}

/** Of a map and of all maps in it: of two entries with the same key one is left. */
function countEntries(value: WireValue): number {
  if (Array.isArray(value)) return value.reduce((sum, each) => sum + countEntries(each), 0);
  if (!(value instanceof Map)) return 0;
  let count = value.size;
  for (const each of value.values()) count += countEntries(each);
  return count;
}
