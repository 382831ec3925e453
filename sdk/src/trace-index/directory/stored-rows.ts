/** Row levels and unions of a directory, read when they are needed. */
import { isUscopeError } from '../../base/errors.js';
import { BoundedCache } from '../containers/bounded-cache.js';
import { decodeRowCounts, decodeRowsChunk } from '../rows/row-chunk.js';
import { type RowLevel, rowsPerGroup } from '../rows/row-levels.js';
import { chunkOf, groupWidth, Place, type RowCountsChunk, type RowsChunk } from '../rows/row-table.js';
import type { LevelFile } from './directory.js';
import type { ChunkEntry, LevelEntry } from './format.js';

/**
 * What segments name is united over 16, 256, … of them: a search goes from the coarse to the fine and leaves out what cannot hold a match.
 * PCS and STRINGS have the same form: pairs that rise.
 */
export const SET_FAN_OUT = 16;
/** Chunks that follow each other are read together up to this number of bytes. */
const MAX_RUN_BYTES = 1024 * 1024;
const CACHE_BYTES = 16 * 1024 * 1024;

export class StoredRowLevel implements RowLevel {
  readonly rowsPerGroup: number;
  private readonly whole: ChunkCache<RowsChunk>;
  private readonly counts: ChunkCache<RowCountsChunk>;

  constructor(
    private readonly file: LevelFile,
    private readonly entry: LevelEntry,
    stages: number,
  ) {
    this.rowsPerGroup = rowsPerGroup(entry.level);
    this.whole = new ChunkCache(groupWidth(stages), stages, (bytes) => decodeRowsChunk(bytes, stages));
    this.counts = new ChunkCache(groupWidth(0), 0, (bytes) => decodeRowCounts(bytes, stages));
  }

  get length(): number {
    return this.entry.chunks.length;
  }

  firstRow(chunk: number): number {
    const { chunks, endBucket } = this.entry;
    return chunks[chunk]?.firstBucket ?? endBucket;
  }

  load(first: number, end: number): AsyncGenerator<RowsChunk> {
    return this.loadFrom(this.whole, first, end);
  }

  loadCounts(first: number, end: number): AsyncGenerator<RowCountsChunk> {
    return this.loadFrom(this.counts, first, end);
  }

  private async *loadFrom<T extends RowCountsChunk>(
    cache: ChunkCache<T>,
    first: number,
    end: number,
  ): AsyncGenerator<T> {
    const { chunks } = this.entry;
    for (let at = first; at < end; ) {
      const known = cache.known.get(at);
      if (known) {
        yield known;
        at++;
        continue;
      }
      let stop = at + 1;
      const start = chunks[at]!.offset;
      while (stop < end && chunks[stop]!.offset + chunks[stop]!.size - start <= MAX_RUN_BYTES) stop++;
      for (const bytes of await readRun(this.file, chunks.slice(at, stop))) {
        const chunk = this.decode(cache, at, bytes);
        cache.known.set(at++, chunk);
        yield chunk;
      }
    }
  }

  /** Of one that is damaged, that nothing is known. */
  private decode<T extends RowCountsChunk>(cache: ChunkCache<T>, at: number, bytes: Uint8Array): T {
    const [firstRow, endRow] = [this.firstRow(at), this.firstRow(at + 1)];
    const chunk = decoded(this.file, this.entry.chunks[at]!, bytes, cache.decode);
    const rows = chunk?.rows.reduce((sum, count) => sum + count, 0);
    if (chunk && chunk.firstRow === firstRow && rows === endRow - firstRow) return chunk;
    this.file.warn(`what the index says of rows ${firstRow} to ${endRow - 1} is damaged`);
    return cache.unknown(firstRow, endRow);
  }
}

/** Chunks that were read last, whole or without stages. */
class ChunkCache<T extends RowCountsChunk> {
  readonly known: BoundedCache<number, T>;

  /** @param width numbers of a group */
  constructor(
    width: number,
    private readonly stages: number,
    readonly decode: (bytes: Uint8Array) => T,
  ) {
    this.known = new BoundedCache(CACHE_BYTES / 2, ({ length }) => length * width * 8);
  }

  /** One group, of which nothing is known but its rows. */
  unknown(firstRow: number, endRow: number): T {
    const group = new Float64Array(groupWidth(this.stages));
    group[Place.ROWS] = group[Place.UNKNOWN] = endRow - firstRow;
    group[Place.LAST_END] = -1;
    // A whole chunk, which has all of either kind.
    return chunkOf([group], this.stages, firstRow, Number.NaN) as RowCountsChunk as T;
  }
}

/** Unions of one level. */
export interface Unions<T> {
  /** Segments of a union. */
  readonly segments: number;
  /** What the segments of the union with `segment` name; null: not known. */
  of(segment: number): Promise<T | null>;
}

export function storedUnions<T>(
  file: LevelFile,
  { level, chunks }: LevelEntry,
  decode: (bytes: Uint8Array) => T,
): Unions<T> {
  const segments = SET_FAN_OUT ** level;
  const byFirst = new Map(chunks.map((entry) => [entry.firstBucket, entry] as const));
  return {
    segments,
    of: async (segment) => {
      const entry = byFirst.get(Math.floor(segment / segments) * segments);
      if (!entry) return null;
      const [bytes] = await readRun(file, [entry]);
      return decoded(file, entry, bytes!, decode);
    },
  };
}

/** The bytes of chunks that follow each other, with one read. */
async function readRun(file: LevelFile, chunks: readonly ChunkEntry[]): Promise<Uint8Array[]> {
  const start = chunks[0]!.offset;
  const last = chunks.at(-1)!;
  const bytes = await file.read(file.start + start, last.offset + last.size - start);
  return chunks.map(({ offset, size }) => bytes.subarray(offset - start, offset - start + size));
}

function decoded<T>(
  file: LevelFile,
  { size, crc }: ChunkEntry,
  bytes: Uint8Array,
  decode: (bytes: Uint8Array) => T,
): T | null {
  try {
    return bytes.length === size && file.crc32(bytes, 0) === crc ? decode(bytes) : null;
  } catch (error) {
    if (isUscopeError(error)) return null;
    throw error;
  }
}
