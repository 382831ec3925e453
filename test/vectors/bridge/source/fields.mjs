// @ts-check
/** Values of control messages, each as the description says it and as it is on the wire. */
import { bin, map, str, uint } from './msgpack.mjs';

/** @typedef {{ readonly json: unknown, readonly bytes: number[] }} Value */

/** @param {number} value @param {number[]} [bytes] another form than the smallest @returns {Value} */
export const num = (value, bytes = uint(value)) => ({ json: value, bytes });
/** A 64-bit quantity. @param {number | bigint} value @param {number[]} [bytes] @returns {Value} */
export const wide = (value, bytes = uint(value)) => ({ json: String(value), bytes });
/** @param {string} value @returns {Value} */
export const text = (value) => ({ json: value, bytes: str(value) });
/** @param {string} digits @returns {Value} */
export const blob = (digits) => ({ json: { hex: digits }, bytes: bin(digits) });
/** @type {Value} */
export const yes = { json: true, bytes: [0xc3] };

/** @param {Record<string, Value>} fields in the order in which they are written @returns {Value} */
export function object(fields) {
  const pairs = Object.entries(fields);
  return {
    json: Object.fromEntries(pairs.map(([key, { json }]) => [key, json])),
    bytes: map(Object.fromEntries(pairs.map(([key, { bytes }]) => [key, bytes]))),
  };
}
