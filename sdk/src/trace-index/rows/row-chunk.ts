/** Chunks of row levels, as the directory has them (docs/reference/format.md#index-directory). */
import { ByteReader } from '../../base/bytes.js';
import { readLeb128Number } from '../../base/leb128.js';
import { type Column, decodeColumns, encodeColumns, MAX_SMALL, MAX_U64, partWriter } from '../columns.js';
import { groupWidth, Place, type RowCountsChunk, type RowGroup, type RowsChunk } from './row-table.js';

/** Groups of a chunk. */
export const CHUNK_GROUPS = 256;

/** @param groups that follow each other; at least one */
export function encodeRowsChunk(
  groups: readonly RowGroup[],
  firstRow: number,
  retiredBefore: number,
): Uint8Array {
  const writer = partWriter(firstRow, retiredBefore, groups.length);
  const columns = Array.from({ length: groups[0]!.length }, (_, place) =>
    columnOf(groups.map((group) => stored(group, place))),
  );
  encodeColumns(writer, columns);
  return writer.finish();
}

/** Of numbers of 64 bits where sums of cycles are large; beyond 2^53 they are rounded. */
function columnOf(values: readonly number[]): Column {
  return values.every((value) => value < MAX_SMALL)
    ? values
    : values.map((value) => BigInt(Math.min(value, MAX_U64)));
}

/** Not below 0, as it would be where a part lies. */
function stored(group: RowGroup, place: number): number {
  const [value, first] = [group[place]!, group[Place.FIRST_BIRTH]!];
  if (place === Place.LAST_BIRTH) return Math.max(0, value - first);
  if (place === Place.LAST_END) return value < 0 ? 0 : Math.max(0, value - first + 1);
  return value;
}

/** @param stages as `stageColumns` @throws UscopeError FORMAT_* where it is malformed */
export function decodeRowsChunk(bytes: Uint8Array, stages: number): RowsChunk {
  const { columns, counts } = decodeFirst(bytes, stages, groupWidth(stages));
  const range = (from: number) => columns.slice(from, from + stages);
  return { ...counts, stageTime: range(Place.STAGES), longest: range(Place.STAGES + stages) };
}

/** The same without what follows the counts, which is not looked at. */
export function decodeRowCounts(bytes: Uint8Array, stages: number): RowCountsChunk {
  return decodeFirst(bytes, stages, Place.STAGES).counts;
}

function decodeFirst(bytes: Uint8Array, stages: number, wanted: number) {
  const reader = new ByteReader(bytes);
  const [firstRow, retiredBefore] = [readLeb128Number(reader), readLeb128Number(reader)];
  const length = readLeb128Number(reader);
  if (length < 1 || length > CHUNK_GROUPS) {
    throw reader.error('FORMAT_LENGTH', `a chunk of an index has ${length} groups of rows`);
  }
  const columns = decodeColumns(reader, groupWidth(stages), length, () => false, wanted);
  const at = (place: number): Float64Array => columns[place]!;
  const firstBirth = at(Place.FIRST_BIRTH);
  const counts: RowCountsChunk = {
    length,
    firstRow,
    retiredBefore,
    rows: at(Place.ROWS),
    unknown: at(Place.UNKNOWN),
    segment: at(Place.SEGMENT),
    firstBirth,
    lastBirth: at(Place.LAST_BIRTH).map((span, index) => firstBirth[index]! + span),
    lastEnd: at(Place.LAST_END).map((span, index) => (span === 0 ? -1 : firstBirth[index]! + span - 1)),
    retired: at(Place.RETIRED),
    flushed: at(Place.FLUSHED),
    ended: at(Place.ENDED),
    stalls: at(Place.STALLS),
  };
  return { columns, counts };
}
