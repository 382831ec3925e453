/**
 * The part ROWS of a container (docs/reference/format.md#index-rows): the instructions of one core in groups of 64 - 256, 1,024 or more where the index has no room
 * for them -, counted from the first one born in the segment, and what became in this segment of instructions born earlier. `RowMerger` puts both together.
 */
import { ByteReader } from '../../base/bytes.js';
import { readLeb128, readLeb128Number, writeLeb128 } from '../../base/leb128.js';
import { type Column, decodeColumns, encodeColumns, partWriter } from '../columns.js';
import { FAN_OUT } from '../levels/level-chunk.js';
import { MAX_CELLS, MAX_ROWS } from '../time-part.js';

/** Groups of a part; a segment with more has none. */
export const MAX_GROUPS = 2048;
/** Instructions of a group of level 0; the last group of a segment has fewer. */
export const GROUP_ROWS = 64;
/** Of a part: its groups have 64 · 4^level instructions. */
export const MAX_GROUP_LEVEL = 5;
/** Columns before those of the stages. */
export const OWN_COLUMNS = 7;
export const LATE_COLUMNS = 6;

const Flag = { UNKNOWN_BEFORE: 1 } as const;
const LEVEL_SHIFT = 1n;
const LEVEL_MASK = 7n;

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
  /** 0, where it is not said. */
  readonly level?: number;
  readonly own: readonly Column[];
  readonly late: readonly Column[];
}

export function encodeRowsPart({ isExact, births, level = 0, own, late }: StoredRows): Uint8Array {
  const writer = partWriter((isExact ? 0 : Flag.UNKNOWN_BEFORE) | (level << Number(LEVEL_SHIFT)), births);
  if (births > 0) encodeColumns(writer, own);
  const length = late[0]?.length ?? 0;
  writeLeb128(writer, length);
  if (length > 0) encodeColumns(writer, late);
  return writer.finish();
}

/** The columns as they are stored. @param stages as `stageColumns` @throws UscopeError FORMAT_* where it is malformed */
export function readRowsPart(reader: ByteReader, stages: number) {
  const flags = readLeb128(reader);
  const births = readLeb128Number(reader);
  const level = Number((flags >> LEVEL_SHIFT) & LEVEL_MASK);
  if (level > MAX_GROUP_LEVEL) throw reader.error('FORMAT_VALUE', `an index with rows of level ${level}`);
  if (!(births <= MAX_GROUPS * GROUP_ROWS)) {
    throw reader.error('FORMAT_LENGTH', `an index of ${births} rows in a segment`);
  }
  const own = readTable(reader, Math.ceil(births / groupRows(level)), OWN_COLUMNS + 2 * stages);
  const late = readTable(reader, readLeb128Number(reader), LATE_COLUMNS + 2 * stages);
  return { isExact: (flags & BigInt(Flag.UNKNOWN_BEFORE)) === 0n, births, level, own, late };
}

function groupRows(level: number): number {
  return GROUP_ROWS * FAN_OUT ** level;
}

/** @param stages as `stageColumns` @throws UscopeError FORMAT_* where it is malformed: it is then to be ignored */
export function decodeRowsPart(bytes: Uint8Array, stages: number): RowsPart {
  const { isExact, births, level, own, late } = readRowsPart(new ByteReader(bytes), stages);
  const [first, span, end] = own as [Float64Array, Float64Array, Float64Array];
  const groups = first.length;
  const rows = new Float64Array(groups).fill(groupRows(level));
  if (groups > 0) rows[groups - 1] = births - (groups - 1) * groupRows(level);
  const [distance, lateEnd] = late as [Float64Array, Float64Array];
  return {
    isExact,
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
  const ofStages = table.slice(at + 4, at + 4 + 2 * stages);
  const stageTime = ofStages.filter((_, column) => column % 2 === 0);
  const longest = ofStages.filter((_, column) => column % 2 === 1);
  return { retired, flushed, ended, stalls, stageTime, longest };
}
