/**
 * The parts PCS and STRINGS of a container (docs/reference/format.md#index-texts): which instructions (address and machine code) and which strings occur in
 * a segment, so that a search reads only segments that may hold what it looks for.
 */
import { ByteReader } from '../../base/bytes.js';
import { readLeb128, readLeb128Number, writeLeb128 } from '../../base/leb128.js';
import { partWriter } from '../columns.js';

/** Entries of a part; a segment with more has no such part. */
export const MAX_SET = 8192;
const LEAST_SET = 1024;
const BYTES_PER_ENTRY = 512;

/** Entries of a part at most, of a segment with this number of bytes of frames: more would be left out for their size. */
export function mostEntries(frameBytes: number): number {
  return Math.min(MAX_SET, Math.max(LEAST_SET, Math.floor(frameBytes / BYTES_PER_ENTRY)));
}

/** Distinct instructions by address, then machine code, rising. */
export interface StaticSet {
  readonly length: number;
  readonly pcLo: Uint32Array;
  readonly pcHi: Uint32Array;
  /** 0 where the trace has none. */
  readonly bits: Uint32Array;
}

/** @param entries address and machine code; any order, distinct */
export function encodeStatics(entries: readonly (readonly [pc: bigint, bits: number])[]): Uint8Array {
  const sorted = [...entries].sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x - y));
  const writer = partWriter(sorted.length);
  let before = 0n;
  for (const [pc] of sorted) {
    writeLeb128(writer, pc - before);
    before = pc;
  }
  for (const [, bits] of sorted) writer.u32(bits);
  return writer.finish();
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

/** @param strings indices of the string table; any order, distinct */
export function encodeStrings(strings: Iterable<number>): Uint8Array {
  const sorted = [...strings].sort((a, b) => a - b);
  const writer = partWriter(sorted.length);
  let before = 0;
  for (const index of sorted) {
    writeLeb128(writer, index - before);
    before = index;
  }
  return writer.finish();
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
