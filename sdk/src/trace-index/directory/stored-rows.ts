/** Row levels and unions of a directory, read when they are needed. */
import { isUscopeError } from '../../base/errors.js';
import { BoundedCache } from '../containers/bounded-cache.js';
import { decodeRowsChunk } from '../rows/row-chunk.js';
import { type RowLevel, rowsPerGroup } from '../rows/row-levels.js';
import { chunkOf, groupWidth, Place, type RowsChunk } from '../rows/row-table.js';
import { SET_FAN_OUT, type SetKind } from '../texts/set-union.js';
import type { LevelFile } from './directory.js';
import type { ChunkEntry, LevelEntry } from './format.js';

/** Chunks that follow each other are read together up to this number of bytes. */
const MAX_RUN_BYTES = 1024 * 1024;
const CACHE_BYTES = 16 * 1024 * 1024;

export class StoredRowLevel implements RowLevel {
  readonly rowsPerGroup: number;
  private readonly known = new BoundedCache<number, RowsChunk>(
    CACHE_BYTES,
    ({ length }) => length * this.width,
  );
  private readonly width: number;

  constructor(
    private readonly file: LevelFile,
    private readonly entry: LevelEntry,
    private readonly stages: number,
  ) {
    this.rowsPerGroup = rowsPerGroup(entry.level);
    this.width = groupWidth(stages) * 8;
  }

  get length(): number {
    return this.entry.chunks.length;
  }

  firstRow(chunk: number): number {
    const { chunks, endBucket } = this.entry;
    return chunks[chunk]?.firstBucket ?? endBucket;
  }

  async *load(first: number, end: number): AsyncGenerator<RowsChunk> {
    const { chunks } = this.entry;
    for (let at = first; at < end; ) {
      const known = this.known.get(at);
      if (known) {
        yield known;
        at++;
        continue;
      }
      let stop = at + 1;
      const start = chunks[at]!.offset;
      while (stop < end && chunks[stop]!.offset + chunks[stop]!.size - start <= MAX_RUN_BYTES) stop++;
      for (const bytes of await readRun(this.file, chunks.slice(at, stop))) {
        const chunk = this.decode(at, bytes);
        this.known.set(at++, chunk);
        yield chunk;
      }
    }
  }

  /** Of one that is damaged, that nothing is known. */
  private decode(at: number, bytes: Uint8Array): RowsChunk {
    const [firstRow, endRow] = [this.firstRow(at), this.firstRow(at + 1)];
    const chunk = decoded(this.file, this.entry.chunks[at]!, bytes, (whole) =>
      decodeRowsChunk(whole, this.stages),
    );
    const rows = chunk?.rows.reduce((sum, count) => sum + count, 0);
    if (chunk && chunk.firstRow === firstRow && rows === endRow - firstRow) return chunk;
    this.file.warn(`what the index says of rows ${firstRow} to ${endRow - 1} is damaged`);
    const group = new Float64Array(groupWidth(this.stages));
    group[Place.ROWS] = group[Place.UNKNOWN] = endRow - firstRow;
    group[Place.LAST_END] = -1;
    return chunkOf([group], this.stages, firstRow, 0);
  }
}

/** Unions of one level. */
export interface Unions<T> {
  /** Segments of a union. */
  readonly segments: number;
  /** What the segments of the union with `segment` name; null: not known. */
  of(segment: number): Promise<T | null>;
}

export function storedUnions<T>(file: LevelFile, { level, chunks }: LevelEntry, kind: SetKind<T>): Unions<T> {
  const segments = SET_FAN_OUT ** level;
  const byFirst = new Map(chunks.map((entry) => [entry.firstBucket, entry] as const));
  return {
    segments,
    of: async (segment) => {
      const entry = byFirst.get(Math.floor(segment / segments) * segments);
      if (!entry) return null;
      const [bytes] = await readRun(file, [entry]);
      return decoded(file, entry, bytes!, (whole) => kind.decode(whole));
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
