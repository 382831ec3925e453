/** What a golden vector is, and short forms for the JSON of schemas. 64-bit integers are decimal strings, bytes hex. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface Vector {
  name: string;
  bytes: Uint8Array;
  json: {
    /** Which decoder the bytes are for: see codec.ts. */
    structure: string;
    /** What is to be seen here. */
    about: string;
    /** What a decoder needs besides the bytes. */
    context?: { [key: string]: Json };
    /** The decoded value, unless decoding fails. */
    value?: Json;
    /** Code of the error that decoding ends with. */
    error?: string;
    /** Legal to read, but no writer of ours produces these bytes. */
    decodeOnly?: boolean;
  };
}

export function vector(
  name: string,
  structure: string,
  about: string,
  bytes: Uint8Array,
  rest: Omit<Vector['json'], 'structure' | 'about'>,
): Vector {
  return { name, bytes, json: { structure, about, ...rest } };
}

export const field = (name: string, type: number, enumId = 0, role = 0, pairId = 0) => ({
  name,
  type,
  enumId,
  role,
  pairId,
});

export const CLOCK = { name: 'clk', clockId: 0, periodPs: 1000 };
export const ROOT = { name: '/', scopeId: 0, parentId: 0xffff, protocol: null, clockId: 0xff };

/** A schema with one clock and the root scope, and what is given. */
export function schema(parts: { [key: string]: Json } = {}): { [key: string]: Json } {
  return {
    clocks: [CLOCK],
    scopes: [ROOT],
    enums: [],
    storages: [],
    events: [],
    summaryFields: [],
    ...parts,
  };
}

export const U8 = 1;
export const U16 = 2;
export const U32 = 3;
export const U64 = 4;
export const BOOL = 9;
export const STRING_REF = 10;
export const ENUM = 11;
