/** Trace summary (docs/reference/format.md#trace-summary): instruction density and counters as pyramids, level 0 finest. TSUM is read and written, the older CSUM read. */
import { ByteReader, ByteWriter } from '../base/bytes.js';
import { UscopeError } from '../base/errors.js';
import { decodeUtf8, encodeUtf8 } from '../base/utf8.js';

const TSUM_MAGIC = 0x4d555354; // "TSUM"
export const CSUM_MAGIC = 0x4d555343; // "CSUM"
const MIPMAP_ENTRY_SIZE = 24;

/** One level of a counter: per bucket the least, greatest and total per-cycle delta. A bucket without a non-zero cycle is all zeros. */
export interface MipmapLevel {
  readonly min: BigUint64Array;
  readonly max: BigUint64Array;
  readonly sum: BigUint64Array;
}

export interface CounterSummary {
  readonly name: string;
  readonly storageId: number;
  readonly levels: readonly MipmapLevel[];
}

export interface TraceSummary {
  /** Cycles per bucket of level 0. */
  readonly baseIntervalCycles: number;
  /** Buckets that one bucket of the next level represents. */
  readonly fanOut: number;
  readonly totalInstructions: bigint;
  /** Instructions per bucket, by level. */
  readonly density: readonly Uint32Array[];
  readonly counters: readonly CounterSummary[];
}

/** The summary with buckets `fanOut` times as long: without its finest levels. Where one bucket is all there is, it stays. */
export function coarserSummary(summary: TraceSummary): TraceSummary {
  const { baseIntervalCycles, fanOut, density, counters } = summary;
  return {
    ...summary,
    baseIntervalCycles: baseIntervalCycles * fanOut,
    density: density.length > 1 ? density.slice(1) : density,
    counters: counters.map((counter) =>
      counter.levels.length > 1 ? { ...counter, levels: counter.levels.slice(1) } : counter,
    ),
  };
}

/** The finest form of the summary that takes at most this number of bytes, but for one bucket of each counter. */
export function fitSummary(summary: TraceSummary, maxBytes: number): TraceSummary {
  const isCoarsest = ({ density, counters }: TraceSummary): boolean =>
    density.length <= 1 && counters.every(({ levels }) => levels.length <= 1);
  let fitted = summary;
  while (sizeOfBuckets(fitted) > maxBytes && !isCoarsest(fitted)) fitted = coarserSummary(fitted);
  return fitted;
}

/** Bytes of all buckets of all levels. */
function sizeOfBuckets({ density, counters }: TraceSummary): number {
  const entries = counters.flatMap(({ levels }) => levels).reduce((sum, level) => sum + level.sum.length, 0);
  return density.reduce((sum, { length }) => sum + length * 4, 0) + entries * MIPMAP_ENTRY_SIZE;
}

/** A level of `length` buckets, all zero. */
export function createMipmapLevel(length: number): MipmapLevel {
  return {
    min: new BigUint64Array(length),
    max: new BigUint64Array(length),
    sum: new BigUint64Array(length),
  };
}

/** Level 0 and the levels above it, each summing up to `fanOut` buckets, until one has length 1. No levels for an empty level 0. */
export function buildDensityLevels(level0: Uint32Array, fanOut: number): Uint32Array[] {
  return buildLevels(level0, level0.length, fanOut, (below, length) => {
    const level = new Uint32Array(length);
    for (let i = 0; i < below.length; i++) {
      const bucket = Math.floor(i / fanOut);
      level[bucket] = Math.min(level[bucket] + below[i], 0xffff_ffff);
    }
    return level;
  });
}

/** As `buildDensityLevels`, for a counter. Empty buckets (max 0) take no part in the minimum above them. */
export function buildMipmap(level0: MipmapLevel, fanOut: number): MipmapLevel[] {
  return buildLevels(level0, level0.max.length, fanOut, (below, length) => {
    const level = createMipmapLevel(length);
    for (let i = 0; i < below.max.length; i++) {
      if (below.max[i] !== 0n) mergeBucket(level, Math.floor(i / fanOut), below, i);
    }
    return level;
  });
}

function mergeBucket(level: MipmapLevel, bucket: number, below: MipmapLevel, i: number): void {
  const isFirst = level.max[bucket] === 0n;
  if (isFirst || below.min[i] < level.min[bucket]) level.min[bucket] = below.min[i];
  if (below.max[i] > level.max[bucket]) level.max[bucket] = below.max[i];
  level.sum[bucket] += below.sum[i];
}

function buildLevels<T>(
  level0: T,
  length0: number,
  fanOut: number,
  above: (below: T, length: number) => T,
): T[] {
  if (!(Number.isInteger(fanOut) && fanOut >= 2)) {
    throw new UscopeError('FORMAT_VALUE', `a summary needs a fan-out of at least 2, not ${fanOut}`);
  }
  const levels: T[] = [];
  let level = level0;
  let length = length0;
  while (length > 0) {
    levels.push(level);
    if (length === 1) break;
    length = Math.ceil(length / fanOut);
    level = above(level, length);
  }
  return levels;
}

/** TSUM bytes. The levels are written as given: see `buildDensityLevels` and `buildMipmap`. */
export function encodeTraceSummary(summary: TraceSummary): Uint8Array {
  // Megabytes: growing by doubling would take them several times.
  const writer = new ByteWriter(sizeOfBuckets(summary) + 4096)
    .u32(TSUM_MAGIC)
    .u32(summary.baseIntervalCycles)
    .u32(summary.fanOut)
    .u64(summary.totalInstructions)
    .u32(summary.density.length);
  for (const level of summary.density) {
    writer.u32(level.length);
    for (const count of level) writer.u32(count);
  }
  writer.u32(summary.counters.length);
  for (const counter of summary.counters) writeCounter(writer, counter);
  return writer.finish();
}

function writeCounter(writer: ByteWriter, counter: CounterSummary): void {
  const name = encodeUtf8(counter.name);
  writer.u32(name.length).bytes(name).u16(counter.storageId).u32(counter.levels.length);
  for (const { min, max, sum } of counter.levels) {
    writer.u32(sum.length);
    for (let i = 0; i < sum.length; i++) writer.u64(min[i]).u64(max[i]).u64(sum[i]);
  }
}

/**
 * TSUM or CSUM bytes; a CSUM has no density and totalInstructions 0. Bytes after the summary are ignored.
 * Errors: FORMAT_MAGIC, FORMAT_TRUNCATED (also when a count promises more than is there), FORMAT_UTF8.
 */
export function decodeTraceSummary(bytes: Uint8Array, baseOffset = 0): TraceSummary {
  const reader = new ByteReader(bytes, 0, bytes.length, baseOffset);
  const isTsum = readMagic(reader) === TSUM_MAGIC;
  const baseIntervalCycles = reader.u32();
  const fanOut = reader.u32();
  const totalInstructions = isTsum ? reader.u64() : 0n;
  const density: Uint32Array[] = [];
  for (let levels = isTsum ? reader.u32() : 0; levels > 0; levels--) density.push(readDensityLevel(reader));
  const counters: CounterSummary[] = [];
  for (let count = reader.u32(); count > 0; count--) counters.push(readCounter(reader));
  return { baseIntervalCycles, fanOut, totalInstructions, density, counters };
}

/** Bytes in front of the finest level of density, at most. */
export const DENSITY_HEAD_SIZE = 28;

/** Where the finest level of density begins, from the first bytes of a summary: `DENSITY_HEAD_SIZE`, or all it has. */
export interface DensityHead {
  /** Cycles per bucket. */
  readonly baseIntervalCycles: number;
  /** Buckets; they follow as u32 each. */
  readonly length: number;
}

/** @throws UscopeError FORMAT_MAGIC, FORMAT_TRUNCATED */
export function decodeDensityHead(bytes: Uint8Array, baseOffset = 0): DensityHead {
  const reader = new ByteReader(bytes, 0, bytes.length, baseOffset);
  const isTsum = readMagic(reader) === TSUM_MAGIC;
  const baseIntervalCycles = reader.u32();
  if (!isTsum) return { baseIntervalCycles, length: 0 };
  reader.skip(12);
  return { baseIntervalCycles, length: reader.u32() === 0 ? 0 : reader.u32() };
}

function readMagic(reader: ByteReader): number {
  const magic = reader.u32();
  if (magic === TSUM_MAGIC || magic === CSUM_MAGIC) return magic;
  throw reader.error('FORMAT_MAGIC', 'no trace summary here: it starts with neither "TSUM" nor "CSUM"', 0);
}

function readDensityLevel(reader: ByteReader): Uint32Array {
  const length = reader.u32();
  reader.need(length * 4, `density level with ${length} entries`);
  return decodeDensityLevel(reader.bytes(length * 4));
}

/** The buckets of one level, each 4 bytes. */
export function decodeDensityLevel(bytes: Uint8Array): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const level = new Uint32Array(bytes.length / 4);
  for (let i = 0; i < level.length; i++) level[i] = view.getUint32(i * 4, true);
  return level;
}

function readCounter(reader: ByteReader): CounterSummary {
  const nameSize = reader.u32();
  const nameAt = reader.fileOffset;
  const name = decodeUtf8(reader.bytes(nameSize), { offset: nameAt });
  const storageId = reader.u16();
  const levels: MipmapLevel[] = [];
  for (let count = reader.u32(); count > 0; count--) levels.push(readMipmapLevel(reader));
  return { name, storageId, levels };
}

function readMipmapLevel(reader: ByteReader): MipmapLevel {
  const length = reader.u32();
  reader.need(length * MIPMAP_ENTRY_SIZE, `mipmap level with ${length} entries`);
  const level = createMipmapLevel(length);
  for (let i = 0; i < length; i++) {
    level.min[i] = reader.u64();
    level.max[i] = reader.u64();
    level.sum[i] = reader.u64();
  }
  return level;
}
