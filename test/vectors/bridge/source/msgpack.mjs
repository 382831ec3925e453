// @ts-check
/** msgpack by hand: written for these vectors, it shares nothing with the implementations under test. */
import { be, hex, utf8 } from './bytes.mjs';

/** @param {number | bigint} value smallest unsigned form */
export function uint(value) {
  const v = BigInt(value);
  if (v < 0x80n) return [Number(v)];
  if (v <= 0xffn) return [0xcc, ...be(v, 1)];
  if (v <= 0xffffn) return [0xcd, ...be(v, 2)];
  if (v <= 0xffff_ffffn) return [0xce, ...be(v, 4)];
  return [0xcf, ...be(v, 8)];
}

/** @param {string} text */
export function str(text) {
  const bytes = utf8(text);
  if (bytes.length < 32) return [0xa0 | bytes.length, ...bytes];
  if (bytes.length <= 0xff) return [0xd9, bytes.length, ...bytes];
  return [0xda, ...be(bytes.length, 2), ...bytes];
}

/** @param {string} digits */
export function bin(digits) {
  const bytes = hex(digits);
  return bytes.length <= 0xff ? [0xc4, bytes.length, ...bytes] : [0xc5, ...be(bytes.length, 2), ...bytes];
}

/** @param {Record<string, number[]>} entries in the order in which they are written */
export function map(entries) {
  const pairs = Object.entries(entries);
  const n = pairs.length;
  const head = n < 16 ? [0x80 | n] : [0xde, ...be(n, 2)];
  return [...head, ...pairs.flatMap(([key, value]) => [...str(key), ...value])];
}
