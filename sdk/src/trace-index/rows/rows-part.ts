/**
 * The part ROWS of a container (docs/format.md#index-rows): the instructions of one core in groups of 64, counted from the first one born in the
 * segment, and what became in this segment of instructions born earlier. `RowMerger` puts both together.
 */
import { ByteReader } from '../../base/bytes.js';
import { readLeb128, readLeb128Number, writeLeb128 } from '../../base/leb128.js';
import { type Column, decodeColumns, encodeColumns, partWriter } from '../columns.js';
import { MAX_CELLS, MAX_ROWS } from '../time-part.js';

/** Groups of a part; a segment with more has none. */
export const MAX_GROUPS = 2048;
/** Instructions of a group; the last group of a segment has fewer. */
export const GROUP_ROWS = 64;
/** Columns before those of the stages. */
export const OWN_COLUMNS = 7;
export const LATE_COLUMNS = 6;

const Flag = { UNKNOWN_BEFORE: 1 } as const;

/** What was counted of groups of instructions, one number for each group. Cycles are those of the core's clock. */
interface RowCounts {
  readonly length: number;
  /** Cycle in which the last one ended; -1: none has. */
  readonly lastEnd: Float64Array;
  readonly retired: Float64Array;
  /** Those that a flush names. */
  readonly flushed: Float64Array;
  /** Those that ended, however. */
  readonly ended: Float64Array;
  /** Stall events that name one of them. */
  readonly stalls: Float64Array;
  /**
   * By stage as in `CpuCore.stages`, the last one for all others: cycles in it together, and the longest stay. A stay ends with the next stage, a
   * flush, or the instruction; it counts when it has ended.
   */
  readonly stageTime: readonly Float64Array[];
  readonly longest: readonly Float64Array[];
}

/** Groups of rows that follow each other. */
export interface RowGroups extends RowCounts {
  readonly rows: Float64Array;
  /** Cycles of the births. */
  readonly firstBirth: Float64Array;
  readonly lastBirth: Float64Array;
}

/** What became of earlier groups, in order of their rows. */
export interface LateGroups extends RowCounts {
  /** The first row of the group is this many rows before the segment's first. */
  readonly distance: Float64Array;
}

export interface RowsPart {
  /** False: `late` lacks instructions that were in flight when the segment began. */
  readonly isExact: boolean;
  /** Instructions born in the segment. */
  readonly births: number;
  readonly groups: RowGroups;
  readonly late: LateGroups;
}

/** Numbers as they are stored: by column, a number for each group. */
export interface StoredRows {
  readonly isExact: boolean;
  readonly births: number;
  readonly own: readonly Column[];
  readonly late: readonly Column[];
}

export function encodeRowsPart({ isExact, births, own, late }: StoredRows): Uint8Array {
  const writer = partWriter(isExact ? 0 : Flag.UNKNOWN_BEFORE, births);
  if (births > 0) encodeColumns(writer, own);
  const length = late[0]?.length ?? 0;
  writeLeb128(writer, length);
  if (length > 0) encodeColumns(writer, late);
  return writer.finish();
}

/** @param stages as `stageColumns` @throws UscopeError FORMAT_* where it is malformed: it is then to be ignored */
export function decodeRowsPart(bytes: Uint8Array, stages: number): RowsPart {
  const reader = new ByteReader(bytes);
  const flags = readLeb128(reader);
  const births = readLeb128Number(reader);
  const groups = Math.ceil(births / GROUP_ROWS);
  if (!(groups <= MAX_GROUPS)) throw reader.error('FORMAT_LENGTH', `an index of ${births} rows in a segment`);
  const own = readTable(reader, groups, OWN_COLUMNS + 2 * stages);
  const [first, span, end] = own as [Float64Array, Float64Array, Float64Array];
  const rows = new Float64Array(groups).fill(GROUP_ROWS);
  if (groups > 0) rows[groups - 1] = births - (groups - 1) * GROUP_ROWS;
  const late = readTable(reader, readLeb128Number(reader), LATE_COLUMNS + 2 * stages);
  const [distance, lateEnd] = late as [Float64Array, Float64Array];
  return {
    isExact: (flags & BigInt(Flag.UNKNOWN_BEFORE)) === 0n,
    births,
    groups: {
      ...counts(own, OWN_COLUMNS - 4, stages),
      length: groups,
      rows,
      firstBirth: first,
      lastBirth: span.map((cycles, index) => first[index]! + cycles),
      lastEnd: end.map((cycles, index) => (cycles === 0 ? -1 : first[index]! + cycles - 1)),
    },
    late: {
      ...counts(late, LATE_COLUMNS - 4, stages),
      length: distance.length,
      distance,
      lastEnd: lateEnd.map((cycle) => cycle - 1),
    },
  };
}

function readTable(reader: ByteReader, length: number, columns: number): Float64Array[] {
  if (length === 0) return Array.from({ length: columns }, () => new Float64Array(0));
  if (!(length <= MAX_ROWS && length * columns <= MAX_CELLS)) {
    throw reader.error('FORMAT_LENGTH', `an index of ${length} groups by ${columns} columns`);
  }
  return decodeColumns(reader, columns, length, () => false);
}

function counts(table: readonly Float64Array[], at: number, stages: number) {
  const [retired, flushed, ended, stalls] = table.slice(at, at + 4) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  const stageTime = table.slice(at + 4, at + 4 + stages);
  const longest = table.slice(at + 4 + stages);
  return { retired, flushed, ended, stalls, stageTime, longest };
}
