/**
 * The parts PCS and STRINGS of a container (docs/reference/format.md#index-texts): which instructions (address and machine code) and which strings occur in
 * a segment, so that a search reads only segments that may hold what it looks for.
 */
import { ByteReader } from '../../base/bytes.js';
import { readLeb128, readLeb128Number } from '../../base/leb128.js';

/** Distinct instructions by address, then machine code, rising. */
export interface StaticSet {
  readonly length: number;
  readonly pcLo: Uint32Array;
  readonly pcHi: Uint32Array;
  /** 0 where the trace has none. */
  readonly bits: Uint32Array;
}

/** @throws UscopeError FORMAT_* where it is malformed: what the segment holds is then not known */
export function decodeStatics(bytes: Uint8Array): StaticSet {
  const reader = new ByteReader(bytes);
  const length = readLength(reader, 5);
  const set = {
    length,
    pcLo: new Uint32Array(length),
    pcHi: new Uint32Array(length),
    bits: new Uint32Array(length),
  };
  let lo = 0;
  let hi = 0;
  for (let index = 0; index < length; index++) {
    const start = reader.offset;
    const by = readLeb128Number(reader);
    if (by < 2 ** 31) {
      const sum = lo + by;
      lo = sum >>> 0;
      hi += sum > 0xffff_ffff ? 1 : 0;
    } else {
      reader.offset = start;
      const pc = ((BigInt(hi) << 32n) | BigInt(lo)) + readLeb128(reader);
      if (pc >= 1n << 64n)
        throw reader.error('FORMAT_VALUE', 'an address in an index is beyond 64 bits', start);
      lo = Number(pc & 0xffff_ffffn);
      hi = Number(pc >> 32n);
    }
    if (hi > 0xffff_ffff)
      throw reader.error('FORMAT_VALUE', 'an address in an index is beyond 64 bits', start);
    set.pcLo[index] = lo;
    set.pcHi[index] = hi;
  }
  reader.need(length * 4, 'machine code in an index');
  for (let index = 0; index < length; index++) set.bits[index] = reader.u32();
  return set;
}

/** Rising. @throws UscopeError FORMAT_* */
export function decodeStrings(bytes: Uint8Array): Uint32Array {
  const reader = new ByteReader(bytes);
  const found = new Uint32Array(readLength(reader, 1));
  let index = 0;
  for (let at = 0; at < found.length; at++) {
    index += readLeb128Number(reader);
    if (index > 0xffff_ffff) throw reader.error('FORMAT_VALUE', `there is no string ${index}`);
    found[at] = index;
  }
  return found;
}

function readLength(reader: ByteReader, bytesEach: number): number {
  const length = readLeb128Number(reader);
  if (length * bytesEach > reader.remaining) {
    throw reader.error('FORMAT_LENGTH', `${length} entries in ${reader.remaining} bytes of an index`);
  }
  return length;
}
