/** Rows of a level in chunks: each is a TIME part of its level, so that any few of them can be read without the others. */

import { BUCKET_CYCLES, ChannelKind, type ClockGroup } from '../channels.js';
import { type Column, MAX_SMALL, MAX_U64, smallZigzag, zigzag } from '../columns.js';
import { encodeTimePart, MAX_CELLS, type PartTimes } from '../time-part.js';
import { type LevelRow, occupancyColumns } from './coarsener.js';

const CHUNK_ROWS = 256;
/** Buckets of a level that one of the next covers. */
export const FAN_OUT = 4;
/** Level 16 has buckets of 10^12 cycles. */
export const MAX_LEVEL = 16;

export function bucketCyclesOf(level: number): number {
  return BUCKET_CYCLES * FAN_OUT ** level;
}

/** Rows of one chunk. */
export function chunkRows({ columns }: ClockGroup): number {
  return Math.max(1, Math.min(CHUNK_ROWS, Math.floor(MAX_CELLS / Math.max(1, columns))));
}

/** A TIME part of these rows, which follow each other: of whole buckets. */
export function encodeLevelChunk(group: ClockGroup, level: number, rows: readonly LevelRow[]): Uint8Array {
  const bucketPs = BigInt(group.periodPs) * BigInt(bucketCyclesOf(level));
  const last = rows[rows.length - 1]!;
  return encodeLevelRows(group, level, rows, {
    fromPs: BigInt(rows[0]!.bucket) * bucketPs,
    toPs: earlier(BigInt(last.bucket + last.span) * bucketPs, END_OF_TIME),
    isExact: !rows.some(({ lacks }) => lacks),
  });
}

/** A TIME part of these rows, which follow each other, for a time that begins in the first and ends in the last. */
export function encodeLevelRows(
  group: ClockGroup,
  level: number,
  rows: readonly LevelRow[],
  times: Omit<PartTimes, 'unitPs'>,
): Uint8Array {
  const sums = occupancyColumns(group);
  const isAligned = rows.every(({ values }) =>
    sums.every((column) => values[column]! % group.periodPs === 0),
  );
  const unitPs = isAligned ? group.periodPs : 1;
  const isSum = new Set(sums);
  const isSigned = new Set(
    group.channels.filter(({ kind }) => kind === ChannelKind.DELTA).map(({ column }) => column),
  );
  return encodeTimePart(
    {
      ...times,
      unitPs,
      spans: rows.map(({ span }) => BigInt(span)),
      columns: Array.from({ length: group.columns }, (_, column) => {
        const unit = isSum.has(column) ? unitPs : 1;
        return columnOf(
          rows.map(({ values }) => Math.round(values[column]! / unit)),
          isSigned.has(column),
        );
      }),
    },
    level,
  );
}

const END_OF_TIME = (1n << 64n) - 1n;

function earlier(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** Numbers of 64 bits only where some are too large. */
function columnOf(values: readonly number[], isSigned: boolean): Column {
  if (values.every((value) => Math.abs(value) < MAX_SMALL / 2)) {
    return isSigned ? values.map(smallZigzag) : values;
  }
  return values.map((value) =>
    isSigned ? zigzag(BigInt.asUintN(64, BigInt(value))) : BigInt(Math.min(value, MAX_U64)),
  );
}
