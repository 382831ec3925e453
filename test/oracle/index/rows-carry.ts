/** What a segment leaves to the next one for its part ROWS: a section of the part CARRY. */
import { ByteReader } from '../../../sdk/src/base/bytes.js';
import { readLeb128, writeLeb128 } from '../../../sdk/src/base/leb128.js';
import { partWriter, unzigzag, zigzag } from '../../../sdk/src/trace-index/columns.js';

/** Instructions of a core that are carried at most, and groups that they may be of; of more, none are. */
export const MAX_CARRIED = 4096;
export const MAX_LATE = 256;
/** The section takes at most this part of the bytes of the frames, or it is left out. */
export const CARRY_SHARE = 128;

/** An instruction in flight; cycles before that of the last frame. */
export interface CarriedRow {
  readonly slot: number;
  readonly id: number;
  /** From the first row of its group to the first row of the next segment. */
  readonly distance: bigint;
  /** Column of its stage; -1: none. */
  readonly stage: number;
  readonly sinceEntered: bigint;
  readonly sinceBirth: bigint;
}

/** By core; null: they are not known. */
export type RowsCarry = readonly (readonly CarriedRow[] | null)[];

export function encodeRowsCarry(cores: RowsCarry): Uint8Array {
  const writer = partWriter();
  for (const rows of cores) {
    writeLeb128(writer, rows ? rows.length + 1 : 0);
    let next = 0;
    for (const { slot, id, distance, stage, sinceEntered, sinceBirth } of rows ?? []) {
      writeLeb128(writer, slot - next);
      writeLeb128(writer, zigzag(BigInt.asUintN(64, BigInt(id - slot))));
      writeLeb128(writer, distance);
      writeLeb128(writer, stage + 1);
      if (stage >= 0) writeLeb128(writer, sinceEntered);
      writeLeb128(writer, BigInt.asUintN(64, sinceBirth - sinceEntered));
      next = slot + 1;
    }
  }
  return writer.finish();
}

/** @param stages columns of each core @throws UscopeError FORMAT_* where it is malformed: nothing is then known */
export function decodeRowsCarry(bytes: Uint8Array, stages: readonly number[]): RowsCarry {
  const reader = new ByteReader(bytes);
  return stages.map((columns) => {
    const length = readLeb128(reader);
    if (length === 0n) return null;
    if (length - 1n > BigInt(reader.remaining)) {
      throw reader.error('FORMAT_LENGTH', `${length} entries in ${reader.remaining} bytes`);
    }
    if (length - 1n > BigInt(MAX_CARRIED)) {
      throw reader.error('FORMAT_LENGTH', `${length} instructions in flight are too many for a carry`);
    }
    let next = 0n;
    const rows = Array.from({ length: Number(length) - 1 }, () => {
      const slot = next + readLeb128(reader);
      const id = slot + unzigzag(readLeb128(reader));
      const distance = readLeb128(reader);
      const stage = readLeb128(reader);
      if (slot > 0xffffn || id < 0n || id > 0xffff_ffffn || stage > BigInt(columns) || distance === 0n) {
        throw reader.error('FORMAT_VALUE', 'an instruction in a carry is malformed');
      }
      next = slot + 1n;
      const sinceEntered = stage > 0n ? readLeb128(reader) : 0n;
      const sinceBirth = BigInt.asUintN(64, sinceEntered + readLeb128(reader));
      return {
        slot: Number(slot),
        id: Number(id),
        distance,
        stage: Number(stage) - 1,
        sinceEntered,
        sinceBirth,
      };
    });
    if (countGroups(rows) > MAX_LATE) throw reader.error('FORMAT_VALUE', 'a carry names too many groups');
    return rows;
  });
}

/** Groups that instructions are of. */
export function countGroups(rows: readonly CarriedRow[]): number {
  return new Set(rows.map(({ distance }) => distance)).size;
}
