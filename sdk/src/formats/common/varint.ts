/** LEB128 of numbers, as flux and protobuf have it. */
import { ByteWriter } from '../../base/bytes.js';
import { putLeb128, writeLeb128 } from '../../base/leb128.js';

const TWO_32 = 2 ** 32;

/** Writes a safe integer, not negative; returns the index after it. */
export function putVarint(bytes: Uint8Array, at: number, value: number): number {
  return putLeb128(bytes, at, value, value < TWO_32 ? 0 : Math.floor(value / TWO_32));
}

/** @param value not negative */
export function varintBytes(value: number | bigint): Uint8Array {
  const writer = new ByteWriter(16);
  writeLeb128(writer, value);
  return writer.finish();
}
