/**
 * The coarser levels of one clock group, made from the parts of segments as they come. What is finished is kept as encoded chunks, within a
 * bound: beyond it the finest level goes.
 */
import type { ClockGroup } from '../channels.js';
import { decodeTimePart } from '../time-part.js';
import { Coarsener, type LevelRow, type RowSource } from './coarsener.js';
import type { Level, LevelPart } from './level.js';
import { LevelChain, sourceOf } from './level-chain.js';
import { bucketCyclesOf, chunkRows, encodeLevelChunk, MAX_LEVEL } from './level-chunk.js';

interface Chunk {
  readonly firstBucket: number;
  readonly endBucket: number;
  readonly bytes: Uint8Array;
}

/** One level while it grows: encoded chunks, and rows not yet in one. */
class GrowingLevel {
  readonly chunks: Chunk[] = [];
  pending: LevelRow[] = [];
  bytes = 0;
  private readonly chunkRows: number;

  constructor(
    private readonly group: ClockGroup,
    readonly level: number,
  ) {
    this.chunkRows = chunkRows(group);
  }

  drop(): void {
    this.chunks.length = 0;
    this.pending = [];
    this.bytes = 0;
  }

  keep(row: LevelRow): void {
    this.pending.push(row);
    if (this.pending.length < this.chunkRows) return;
    const [first] = this.pending;
    const bytes = encodeLevelChunk(this.group, this.level, this.pending);
    this.chunks.push({ firstBucket: first!.bucket, endBucket: row.bucket + row.span, bytes });
    this.bytes += bytes.length;
    this.pending = [];
  }
}

/** Levels 1 and up, in memory. */
export class PyramidBuilder {
  private readonly levels: readonly GrowingLevel[];
  private readonly chain: LevelChain;
  private finest = 1;

  /** @param maxBytes that the encoded chunks may take */
  constructor(
    private readonly group: ClockGroup,
    private readonly maxBytes: number,
  ) {
    this.levels = Array.from({ length: MAX_LEVEL }, (_, index) => new GrowingLevel(group, index + 1));
    this.chain = new LevelChain(group, (level, row) => {
      if (level >= this.finest) this.levels[level - 1]!.keep(row);
    });
  }

  /** A part of the next segment. */
  add(part: RowSource): void {
    this.chain.add(part);
    while (this.bytes > this.maxBytes && this.finest < MAX_LEVEL) {
      this.levels[this.finest - 1]!.drop();
      this.finest++;
    }
  }

  get bytes(): number {
    return this.levels.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** The levels as they are now, by number; those that were given up, and those of one bucket, are not among them. */
  snapshot(): Map<number, Level> {
    const found = new Map<number, Level>();
    let open: LevelRow[] = [];
    for (const { level, chunks, pending } of this.levels) {
      open = joined(this.group, level, this.chain.unfinished(level), open);
      if (level < this.finest) continue;
      const level0 = new MemoryLevel(this.group, level, [...chunks], [...pending, ...open]);
      found.set(level, level0);
      if (level0.rowsInChunks === 0 && pending.length === 0 && open.length <= 1) break;
    }
    return found;
  }
}

/** The unfinished rows of a level: its own, with those of the finer level that it has not been given yet. */
function joined(
  group: ClockGroup,
  level: number,
  own: LevelRow | null,
  finer: readonly LevelRow[],
): LevelRow[] {
  const rows: LevelRow[] = [];
  const coarsener = new Coarsener(group, bucketCyclesOf(level), (row) => rows.push(row));
  if (own) coarsener.add(sourceOf(group, bucketCyclesOf(level), [own]));
  if (finer.length > 0) coarsener.add(sourceOf(group, bucketCyclesOf(level - 1), finer));
  coarsener.finish();
  return rows;
}

class MemoryLevel implements Level {
  readonly bucketCycles: number;
  private readonly tail: LevelPart | null;

  constructor(
    private readonly group: ClockGroup,
    level: number,
    private readonly chunks: readonly Chunk[],
    private readonly rows: readonly LevelRow[],
  ) {
    this.bucketCycles = bucketCyclesOf(level);
    this.tail = rows.length > 0 ? { ...sourceOf(group, this.bucketCycles, rows), isExact: true } : null;
  }

  get rowsInChunks(): number {
    return this.chunks.length;
  }

  get length(): number {
    return this.chunks.length + (this.tail ? 1 : 0);
  }

  place(chunk: number): { firstBucket: number; endBucket: number } {
    const known = this.chunks[chunk];
    if (known) return known;
    const last = this.rows[this.rows.length - 1]!;
    return { firstBucket: this.rows[0]!.bucket, endBucket: last.bucket + last.span };
  }

  async *load(first: number, end: number): AsyncGenerator<LevelPart> {
    for (let chunk = first; chunk < end; chunk++) {
      const known = this.chunks[chunk];
      yield known ? decodeTimePart(known.bytes, this.group) : this.tail!;
    }
  }
}
