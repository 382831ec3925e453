/** SInt: signed numbers in as few bytes as they need, least significant first; none for 0. */

const MASK = 0xffn;

export function sintToBigInt(bytes: Uint8Array, from: number, size: number): bigint {
  if (size === 0) return 0n;
  let value = 0n;
  for (let at = from + size - 1; at >= from; at--) value = (value << 8n) | BigInt(bytes[at]);
  return BigInt.asIntN(size * 8, value);
}

export function bigIntToSint(value: bigint): Uint8Array {
  if (value === 0n) return new Uint8Array(0);
  const bytes: number[] = [];
  const end = value < 0n ? -1n : 0n;
  let rest = value;
  for (;;) {
    bytes.push(Number(rest & MASK));
    rest >>= 8n;
    // The sign is that of the top bit.
    if (rest === end && bytes[bytes.length - 1] >> 7 === (value < 0n ? 1 : 0)) return Uint8Array.from(bytes);
  }
}
