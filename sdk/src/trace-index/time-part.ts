/**
 * The parts TIME and OCCUPANCY of a container (docs/reference/format.md#index-containers): what happened in a segment per 256 cycles, and for how long
 * each buffer held how many.
 *
 * A segment answers for the time from the last frame of the segment before (`fromPs`; for the first its start) to its last frame (`toPs`),
 * and for what its frames hold: so segments add up, and a state between the frames of one instant lasts no time. What the last frame of a
 * trace has left lasts until the end of the trace.
 */
import { ByteReader } from '../base/bytes.js';
import { UscopeError } from '../base/errors.js';
import { readLeb128, writeLeb128 } from '../base/leb128.js';
import { BUCKET_CYCLES, ChannelKind, type ClockGroup } from './channels.js';
import { type Column, decodeColumns, encodeColumns, partWriter } from './columns.js';

/** Numbers of one part at most, rows times columns: a segment that needs more has no such part. */
export const MAX_CELLS = 1 << 18;
export const MAX_ROWS = 1 << 16;

const Flag = {
  /** What went before was not known: `fromPs` is the segment's start, and instructions squashed earlier may count as retired. */
  UNKNOWN_BEFORE: 1,
  /** Every time is a multiple of the clock's period: times count in periods, else in ps. */
  ALIGNED: 2,
} as const;

export interface PartTimes {
  /** Start inclusive, end exclusive as far as states last; frames at `toPs` are counted. */
  readonly fromPs: bigint;
  readonly toPs: bigint;
  /** False: the numbers at the start may be wrong, as what went before was not known. */
  readonly isExact: boolean;
  /** In which times are counted, in ps: the clock's period, or 1 where frames lie within cycles. */
  readonly unitPs: number;
}

/** Rows follow each other without gap. */
export interface TimePart extends PartTimes {
  /** The first row's bucket begins at this multiple of `bucketCycles`. */
  readonly firstBucket: number;
  readonly bucketCycles: number;
  readonly rows: number;
  /** Buckets of each row: more than 1 where no frame is, and the row is the same all along. */
  readonly spans: Float64Array;
  /** By column of the group, a number for each row. */
  readonly columns: readonly Float64Array[];
}

/** What makes a TIME part: unsigned numbers. */
export interface TimeRows extends PartTimes {
  readonly spans: readonly bigint[];
  readonly columns: readonly Column[];
}

/** @param level each row's buckets are of 256 · 4^level cycles */
export function encodeTimePart(rows: TimeRows, level = 0): Uint8Array {
  const writer = timesWriter(rows);
  writeLeb128(writer, level);
  writeLeb128(writer, rows.spans.length);
  encodeColumns(writer, [rows.spans.map((span) => span - 1n), ...rows.columns]);
  return writer.finish();
}

/** @throws UscopeError FORMAT_* where it is malformed: it is then to be ignored */
export function decodeTimePart(bytes: Uint8Array, group: ClockGroup): TimePart {
  const reader = new ByteReader(bytes);
  const times = readTimes(reader, group);
  const level = readLeb128(reader);
  const rows = readLeb128(reader);
  if (level > 16n) throw reader.error('FORMAT_VALUE', `level ${level} of an index does not exist`);
  if (rows < 1n || rows > BigInt(MAX_ROWS) || rows * BigInt(group.columns) > BigInt(MAX_CELLS)) {
    throw reader.error('FORMAT_LENGTH', `an index of ${rows} rows by ${group.columns} columns`);
  }
  const signed = new Set(
    group.channels.filter(({ kind }) => kind === ChannelKind.DELTA).map(({ column }) => column),
  );
  const [spans, ...columns] = decodeColumns(reader, group.columns + 1, Number(rows), (column) =>
    signed.has(column - 1),
  );
  const bucketCycles = BUCKET_CYCLES * 4 ** Number(level);
  return {
    ...times,
    firstBucket: Number(times.fromPs / BigInt(group.periodPs * bucketCycles)),
    bucketCycles,
    rows: Number(rows),
    spans: spans!.map((more) => more + 1),
    columns,
  };
}

/** Of one storage: for how long it held how many. */
export interface OccupancyHistogram {
  readonly storageId: number;
  /** Slots taken, ascending, and for how long each, in `unitPs`. */
  readonly counts: Float64Array;
  readonly times: Float64Array;
}

export interface OccupancyPart extends PartTimes {
  /** In the order of the group's channels. */
  readonly histograms: readonly OccupancyHistogram[];
}

/** @throws UscopeError FORMAT_* where it is malformed: it is then to be ignored */
export function decodeOccupancyPart(bytes: Uint8Array, group: ClockGroup): OccupancyPart {
  const reader = new ByteReader(bytes);
  const times = readTimes(reader, group);
  const storages = group.channels.filter(({ kind }) => kind === ChannelKind.OCCUPANCY);
  const histograms = storages.map(({ subject }) => readHistogram(reader, subject));
  return { ...times, histograms };
}

function readHistogram(reader: ByteReader, storageId: number): OccupancyHistogram {
  const length = readLeb128(reader);
  if (length * 2n > BigInt(reader.remaining)) {
    throw reader.error('FORMAT_LENGTH', `a histogram of ${length} entries in ${reader.remaining} bytes`);
  }
  const counts = new Float64Array(Number(length));
  const times = new Float64Array(Number(length));
  let next = 0n;
  for (let index = 0; index < counts.length; index++) {
    const count = next + readLeb128(reader);
    if (count > 0xffffn) throw reader.error('FORMAT_VALUE', `${count} slots are more than a storage has`);
    counts[index] = Number(count);
    times[index] = Number(readLeb128(reader));
    next = count + 1n;
  }
  return { storageId, counts, times };
}

export function timesWriter({ fromPs, toPs, isExact, unitPs }: PartTimes) {
  const flags = (isExact ? 0 : Flag.UNKNOWN_BEFORE) | (unitPs === 1 ? 0 : Flag.ALIGNED);
  return partWriter(flags, fromPs, toPs - fromPs);
}

function readTimes(reader: ByteReader, { periodPs }: ClockGroup): PartTimes {
  const flags = readLeb128(reader);
  const fromPs = readLeb128(reader);
  const toPs = fromPs + readLeb128(reader);
  if (toPs >= 1n << 64n) throw new UscopeError('FORMAT_VALUE', 'an index reaches beyond the end of time');
  return {
    fromPs,
    toPs,
    isExact: (flags & BigInt(Flag.UNKNOWN_BEFORE)) === 0n,
    unitPs: (flags & BigInt(Flag.ALIGNED)) === 0n ? 1 : periodPs,
  };
}
