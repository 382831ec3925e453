/** Level 0 of the rows of a core: groups of 64, segment by segment, with what later segments say of them. */

import { isUscopeError } from '../../base/errors.js';
import { IndexPart } from '../../format/index-container.js';
import { BoundedCache } from '../containers/bounded-cache.js';
import type { SegmentParts } from '../containers/segment-parts.js';
import { decodeRowCounts, decodeRowsChunk } from '../rows/row-chunk.js';
import { type MadeChunk, type RowLevel, RowLevelBuilder, rowsPerGroup } from '../rows/row-levels.js';
import {
  chunkOf,
  groupWidth,
  isOver,
  markUnfollowed,
  Place,
  type RowCountsChunk,
  type RowGroup,
  RowMerger,
  type RowsChunk,
} from '../rows/row-table.js';
import { decodeRowsPart, GROUP_ROWS, type RowsPart } from '../rows/rows-part.js';

/** Segments looked at for the ends of a segment's instructions: how those end that are longer in flight is not known here. */
const LOOKAHEAD = 256;

/** Groups of segments, kept for the next picture of the same place. */
const CACHE_BYTES = 8 * 1024 * 1024;
/** Of an entry, besides its numbers: an array for each. */
const ENTRY_BYTES = 4096;

/** What both kinds of levels need of a core. */
export interface RowSourceOf {
  readonly parts: SegmentParts;
  readonly core: number;
  readonly stages: number;
  /** Rows born before a segment; of the number of segments: all. */
  birthsBefore(segment: number): Promise<number>;
}

/** The part of a segment; null: it has none. */
export async function rowsPartOf(
  { parts, core, stages }: Pick<RowSourceOf, 'parts' | 'core' | 'stages'>,
  segment: number,
): Promise<RowsPart | null> {
  const bytes = await parts.part(segment, IndexPart.ROWS, core);
  try {
    return bytes && decodeRowsPart(bytes, stages);
  } catch (error) {
    if (!isUscopeError(error)) throw error;
    parts.trace.warn(
      'index-damaged',
      `the rows in the index of segment ${segment} are damaged: ${error.detail}`,
    );
    return null;
  }
}

/** The groups of one segment. @param stages those that are wanted, from the first on */
export async function segmentRows(
  source: RowSourceOf,
  segment: number,
  stages = source.stages,
): Promise<RowsChunk | null> {
  const { parts } = source;
  const own = await rowsPartOf(source, segment);
  const firstRow = await source.birthsBefore(segment);
  if (!own)
    return unknownRows(stages, firstRow, (await source.birthsBefore(segment + 1)) - firstRow, segment);
  if (own.births === 0) return null;
  const merger = new RowMerger(stages, () => undefined, firstRow);
  merger.addOwn(own.groups, segment);
  const { segmentCount } = parts.trace;
  let next = segment + 1;
  for (; next < segmentCount && next <= segment + LOOKAHEAD && !merger.isOver; next++) {
    const later = await rowsPartOf(source, next);
    if (!later) break;
    merger.addLate(later.late);
    merger.skip(later.births);
  }
  if (next > segment + LOOKAHEAD && next < segmentCount)
    for (const group of merger.unfinished) if (!isOver(group)) markUnfollowed(group);
  return chunkOf(merger.unfinished, stages, firstRow, Number.NaN);
}

function unknownRows(stages: number, firstRow: number, births: number, segment: number): RowsChunk | null {
  if (births <= 0) return null;
  const group: RowGroup = new Float64Array(groupWidth(stages));
  group[Place.ROWS] = group[Place.UNKNOWN] = births;
  group[Place.SEGMENT] = segment;
  group[Place.LAST_END] = -1;
  return chunkOf([group], stages, firstRow, Number.NaN);
}

/** One chunk for each segment. `retiredBefore` is not known here. */
export class SegmentRowLevel implements RowLevel {
  readonly rowsPerGroup = GROUP_ROWS;

  /** Segments of a trace that grows: those that there were when the coarser levels were made. */
  private readonly segments: number;
  private readonly known = new BoundedCache<number, { readonly chunk: RowsChunk | null }>(
    CACHE_BYTES,
    ({ chunk }) => (chunk?.length ?? 0) * this.width + ENTRY_BYTES,
  );
  /** Bytes of a group. */
  private readonly width: number;

  constructor(private readonly source: RowSourceOf) {
    this.segments = source.parts.trace.segmentCount;
    this.width = groupWidth(source.stages) * 8;
  }

  get length(): number {
    return Math.min(this.segments, this.source.parts.trace.segmentCount);
  }

  firstRow(chunk: number): Promise<number> {
    return this.source.birthsBefore(chunk);
  }

  async *load(first: number, end: number): AsyncGenerator<RowsChunk> {
    for (let segment = first; segment < end; segment++) {
      const known = this.known.get(segment) ?? { chunk: await segmentRows(this.source, segment) };
      this.known.set(segment, known);
      if (known.chunk) yield known.chunk;
    }
  }

  async *loadCounts(first: number, end: number): AsyncGenerator<RowCountsChunk> {
    for (let segment = first; segment < end; segment++) {
      const known = this.known.get(segment);
      const chunk = known ? known.chunk : await segmentRows(this.source, segment, 0);
      if (chunk) yield chunk;
    }
  }
}

/** Levels from 1 on, made in memory from the containers; encoded, as a directory has them. */
export async function memoryRowLevels(source: RowSourceOf): Promise<RowLevel[]> {
  const { parts, stages } = source;
  const levels: MadeChunk[][] = [];
  const builder = new RowLevelBuilder(stages, (chunk) => {
    const chunks = levels[chunk.level - 1] ?? [];
    levels[chunk.level - 1] = chunks;
    chunks.push(chunk);
  });
  for (let segment = 0; segment < parts.trace.segmentCount; segment++) {
    const part = await rowsPartOf(source, segment);
    const births = part
      ? part.births
      : (await source.birthsBefore(segment + 1)) - (await source.birthsBefore(segment));
    builder.add(part, segment, births);
  }
  builder.finish();
  return levels.map((chunks, index) => new MemoryRowLevel(chunks, index + 1, stages));
}

class MemoryRowLevel implements RowLevel {
  readonly rowsPerGroup: number;

  constructor(
    private readonly chunks: readonly MadeChunk[],
    level: number,
    private readonly stages: number,
  ) {
    this.rowsPerGroup = rowsPerGroup(level);
  }

  get length(): number {
    return this.chunks.length;
  }

  firstRow(chunk: number): number {
    return this.chunks[chunk]?.firstRow ?? this.chunks.at(-1)?.endRow ?? 0;
  }

  async *load(first: number, end: number): AsyncGenerator<RowsChunk> {
    for (const { bytes } of this.chunks.slice(first, end)) yield decodeRowsChunk(bytes, this.stages);
  }

  async *loadCounts(first: number, end: number): AsyncGenerator<RowCountsChunk> {
    for (const { bytes } of this.chunks.slice(first, end)) yield decodeRowCounts(bytes, this.stages);
  }
}
