/** Makes the parts PCS and STRINGS, and the unions of what segments name (docs/reference/format.md#index-texts). */
import { writeLeb128 } from '../../../sdk/src/base/leb128.js';
import { partWriter } from '../../../sdk/src/trace-index/columns.js';
import { SET_FAN_OUT } from '../../../sdk/src/trace-index/directory/stored-rows.js';
import {
  decodeStatics,
  decodeStrings,
  type StaticSet,
} from '../../../sdk/src/trace-index/texts/static-set.js';

/** Entries of a part; a segment with more has no such part. */
export const MAX_SET = 8192;
const LEAST_SET = 1024;
const BYTES_PER_ENTRY = 512;

/** Entries of a part at most, of a segment with this number of bytes of frames: more would be left out for their size. */
export function mostEntries(frameBytes: number): number {
  return Math.min(MAX_SET, Math.max(LEAST_SET, Math.floor(frameBytes / BYTES_PER_ENTRY)));
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

/** Levels of unions: the last one covers 16^6 segments. */
export const MAX_SET_LEVEL = 6;
/** Entries of a union; one that would have more is not known. */
const MAX_UNION = 4 * MAX_SET;

/** What is known of some segments; null: not everything. */
export type NamedSet<T> = T | null;

export interface SetKind<T> {
  decode(bytes: Uint8Array): T;
  encode(set: T): Uint8Array;
  length(set: T): number;
  union(a: T, b: T): T;
}

export const STATIC_SETS: SetKind<StaticSet> = {
  decode: decodeStatics,
  encode: ({ length, pcLo, pcHi, bits }) =>
    encodeStatics(
      Array.from({ length }, (_, index) => {
        return [(BigInt(pcHi[index]!) << 32n) | BigInt(pcLo[index]!), bits[index]!] as const;
      }),
    ),
  length: ({ length }) => length,
  union: uniteStatics,
};

export const STRING_SETS: SetKind<Uint32Array> = {
  decode: decodeStrings,
  encode: (set) => encodeStrings(set),
  length: ({ length }) => length,
  union: uniteStrings,
};

function compareStatics(a: StaticSet, i: number, b: StaticSet, j: number): number {
  return a.pcHi[i]! - b.pcHi[j]! || a.pcLo[i]! - b.pcLo[j]! || a.bits[i]! - b.bits[j]!;
}

function uniteStatics(a: StaticSet, b: StaticSet): StaticSet {
  const most = a.length + b.length;
  const made = { pcLo: new Uint32Array(most), pcHi: new Uint32Array(most), bits: new Uint32Array(most) };
  let [i, j, length] = [0, 0, 0];
  while (i < a.length || j < b.length) {
    const order = i === a.length ? 1 : j === b.length ? -1 : compareStatics(a, i, b, j);
    const [from, at] = order <= 0 ? [a, i] : [b, j];
    made.pcLo[length] = from.pcLo[at]!;
    made.pcHi[length] = from.pcHi[at]!;
    made.bits[length++] = from.bits[at]!;
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
  return { length, ...made };
}

function uniteStrings(a: Uint32Array, b: Uint32Array): Uint32Array {
  const made = new Uint32Array(a.length + b.length);
  let [i, j, length] = [0, 0, 0];
  while (i < a.length || j < b.length) {
    const [x, y] = [a[i] ?? Number.POSITIVE_INFINITY, b[j] ?? Number.POSITIVE_INFINITY];
    made[length++] = Math.min(x, y);
    if (x <= y) i++;
    if (y <= x) j++;
  }
  return made.subarray(0, length);
}

export interface MadeUnion {
  readonly level: number;
  readonly firstSegment: number;
  readonly bytes: Uint8Array;
}

/** Makes the unions of one part, from those of the segments in their order. */
export class UnionBuilder<T> {
  private readonly open: { set: NamedSet<T>; count: number }[] = [];
  private segments = 0;

  constructor(
    private readonly kind: SetKind<T>,
    private readonly onUnion: (union: MadeUnion) => void,
  ) {}

  /** @param set null: it is not known what the segment names */
  add(set: NamedSet<T>): void {
    this.segments++;
    this.take(1, set);
  }

  finish(): void {
    for (let level = 1; level <= this.open.length; level++) {
      const { count } = this.open[level - 1]!;
      // One alone is not worth a union, but those above it are to have it.
      const isTop = this.open.slice(level).every((above) => above.count === 0);
      if (count > 1 || (count === 1 && !isTop)) this.close(level);
    }
  }

  private take(level: number, set: NamedSet<T>): void {
    const known = this.open[level - 1];
    if (known && known.count > 0) {
      known.set = known.set && set && this.united(known.set, set);
      known.count++;
    } else this.open[level - 1] = { set, count: 1 };
    if (this.open[level - 1]!.count === SET_FAN_OUT) this.close(level);
  }

  private united(a: T, b: T): NamedSet<T> {
    const union = this.kind.union(a, b);
    return this.kind.length(union) <= MAX_UNION ? union : null;
  }

  private close(level: number): void {
    const { set } = this.open[level - 1]!;
    this.open[level - 1] = { set: null, count: 0 };
    const firstSegment = Math.floor((this.segments - 1) / SET_FAN_OUT ** level) * SET_FAN_OUT ** level;
    if (set) this.onUnion({ level, firstSegment, bytes: this.kind.encode(set) });
    if (level < MAX_SET_LEVEL) this.take(level + 1, set);
  }
}
