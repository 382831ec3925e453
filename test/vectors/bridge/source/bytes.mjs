// @ts-check
/** Bytes by hand. */

/** @param {number | bigint} value @param {number} size */
export function le(value, size) {
  const out = [];
  let rest = BigInt(value);
  for (let i = 0; i < size; i++, rest >>= 8n) out.push(Number(rest & 0xffn));
  return out;
}

/** @param {number | bigint} value @param {number} size */
export const be = (value, size) => le(value, size).reverse();
/** @param {string} text */
export const utf8 = (text) => [...Buffer.from(text, 'utf8')];
/** @param {string} text */
export const hex = (text) => [...Buffer.from(text, 'hex')];
