/** Fields of control messages: how a value on the wire is checked on its way in, and what goes out. */
import { UscopeError } from '../../base/errors.js';
import type { Packable, WireMap, WireValue } from './msgpack.js';

/** A key of a message. `read` throws UscopeError BRIDGE_MESSAGE naming `where`; `write` yields what is to be encoded. */
export interface Field<T, Optional extends boolean = false> {
  readonly optional: Optional;
  read(value: WireValue, where: string): T;
  write(value: T): Packable;
}
export type Fields = Readonly<Record<string, Field<unknown, boolean>>>;

type ValueOf<F> = F extends Field<infer T, boolean> ? T : never;
type RequiredKeys<S> = { [K in keyof S]: S[K] extends { readonly optional: false } ? K : never }[keyof S];

/** The message that a table of fields describes. */
export type MessageOf<S> = {
  readonly [K in RequiredKeys<S>]: ValueOf<S[K]>;
} & {
  readonly [K in Exclude<keyof S, RequiredKeys<S>>]?: ValueOf<S[K]> | undefined;
};

const MAX_U32 = 0xffff_ffff;
const MAX_U64 = 0xffff_ffff_ffff_ffffn;
const ID_BYTES = 16;

export function messageError(where: string, detail: string): UscopeError {
  return new UscopeError('BRIDGE_MESSAGE', detail, { file: where });
}

function describe(value: WireValue): string {
  if (value === null || Array.isArray(value) || Number.isNaN(value)) return 'another type';
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (value instanceof Map) return 'a map';
  if (typeof value === 'string') return `the string ${JSON.stringify(value.slice(0, 40))}`;
  return String(value);
}

function readUint(value: WireValue, where: string, max: bigint): bigint {
  if ((typeof value !== 'number' && typeof value !== 'bigint') || Number.isNaN(value)) {
    throw messageError(where, `an unsigned integer is needed, not ${describe(value)}`);
  }
  if (value < 0 || value > max) throw messageError(where, `${value} is not within 0..${max}`);
  return BigInt(value);
}

/** uint up to 2^32 - 1. */
export const u32: Field<number> = {
  optional: false,
  read: (value, where) => Number(readUint(value, where, BigInt(MAX_U32))),
  write: (value) => value,
};

/** uint of any width. */
export const u64: Field<bigint> = {
  optional: false,
  read: (value, where) => readUint(value, where, MAX_U64),
  write: (value) => value,
};

/** uint that counts bytes in memory. */
export const size: Field<number> = {
  optional: false,
  read: (value, where) => Number(readUint(value, where, BigInt(Number.MAX_SAFE_INTEGER))),
  write: (value) => value,
};

export const flag: Field<boolean> = {
  optional: false,
  read: (value, where) => {
    if (typeof value !== 'boolean')
      throw messageError(where, `true or false is needed, not ${describe(value)}`);
    return value;
  },
  write: (value) => value,
};

/** str of at most `maxBytes` bytes of UTF-8. */
export function text(maxBytes: number): Field<string> {
  return {
    optional: false,
    read: (value, where) => {
      if (typeof value !== 'string') throw messageError(where, `a string is needed, not ${describe(value)}`);
      const bytes = Buffer.byteLength(value);
      if (bytes > maxBytes)
        throw messageError(where, `a string of ${bytes} bytes; at most ${maxBytes} are allowed`);
      return value;
    },
    write: (value) => value,
  };
}

/** bin. */
export function bytes(exactly?: number): Field<Uint8Array> {
  return {
    optional: false,
    read: (value, where) => {
      if (!(value instanceof Uint8Array))
        throw messageError(where, `bytes are needed, not ${describe(value)}`);
      if (exactly !== undefined && value.length !== exactly) {
        throw messageError(where, `${value.length} bytes; exactly ${exactly} are needed`);
      }
      return new Uint8Array(value); // a copy: what it is part of is the peer's whole message
    },
    write: (value) => value,
  };
}

/** bin of 16 bytes. */
export const id = bytes(ID_BYTES);

/** map str -> `field`, as entries in their order. */
export function entries<T>(field: Field<T>): Field<readonly (readonly [string, T])[]> {
  return {
    optional: false,
    read: (value, where) => {
      if (!(value instanceof Map))
        throw messageError(where, `a map is needed, not ${describe(value as WireValue)}`);
      return [...(value as WireMap)].map(
        ([key, entry]) => [key, field.read(entry, `${where}.${key.slice(0, 40)}`)] as const,
      );
    },
    write: (value) => new Map(value.map(([key, entry]) => [key, field.write(entry)])),
  };
}

/** A map with these fields. */
export function group<S extends Fields>(fields: S): Field<MessageOf<S>> {
  return {
    optional: false,
    read: (value, where) => {
      if (!(value instanceof Map))
        throw messageError(where, `a map is needed, not ${describe(value as WireValue)}`);
      return readFields(fields, value as WireMap, where);
    },
    write: (value) => writeFields(fields, value),
  };
}

export function optional<T>(field: Field<T>): Field<T, true> {
  return { ...field, optional: true };
}

/** Checks every key of `fields`; others are ignored. @throws UscopeError BRIDGE_MESSAGE */
export function readFields<S extends Fields>(fields: S, map: WireMap, where: string): MessageOf<S> {
  const message: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(fields)) {
    const value = map.get(key);
    if (value !== undefined) message[key] = field.read(value, `${where}.${key}`);
    else if (!field.optional) throw messageError(where, `the key ${key} is missing`);
  }
  return message as MessageOf<S>;
}

/** Keys in the order of `fields`, absent ones left out. */
export function writeFields<S extends Fields>(fields: S, message: MessageOf<S>): Map<string, Packable> {
  const map = new Map<string, Packable>();
  for (const [key, field] of Object.entries(fields)) {
    const value = (message as Record<string, unknown>)[key];
    if (value !== undefined) map.set(key, field.write(value));
  }
  return map;
}
