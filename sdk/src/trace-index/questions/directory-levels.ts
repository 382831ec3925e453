/** Coarser levels from the directory; those that it lacks, or that are damaged, from the containers. */
import type { SegmentParts } from '../containers/segment-parts.js';
import type { Directory } from '../directory/directory.js';
import { Coarsener, type LevelRow, occupancyColumns } from '../levels/coarsener.js';
import { type ChunkPlace, chunkAt, chunkBehind, type Level, type LevelPart } from '../levels/level.js';
import { sourceOf } from '../levels/level-chain.js';
import { bucketCyclesOf, FAN_OUT } from '../levels/level-chunk.js';
import { type CoarseLevels, PyramidLevels, segmentParts } from './level-set.js';

export class DirectoryLevels implements CoarseLevels {
  private readonly known: (ReadonlyMap<number, Level> | null)[];
  private readonly others: PyramidLevels;

  constructor(
    private readonly parts: SegmentParts,
    private readonly directory: Directory,
  ) {
    const repair = (group: number, level: number, place: ChunkPlace) => this.repair(group, level, place);
    this.known = parts.plan.groups.map((group) => directory.levels(group, repair));
    this.others = new PyramidLevels(parts);
  }

  async levels(group: number): Promise<ReadonlyMap<number, Level>> {
    return this.known[group] ?? this.others.levels(group);
  }

  async birthsBefore(core: number, segment: number): Promise<number> {
    const known = await this.directory.birthsBefore(core, segment);
    return known ?? this.others.birthsBefore(core, segment);
  }

  /** The rows of a chunk, from those of the next finer level. */
  private async repair(index: number, level: number, place: ChunkPlace): Promise<LevelPart> {
    const group = this.parts.plan.groups[index]!;
    const rows: LevelRow[] = [];
    const sums = occupancyColumns(group);
    const coarsener = new Coarsener(group, bucketCyclesOf(level), (row) => {
      const part = clipped(row, place, sums);
      if (part) rows.push(part);
    });
    let isExact = true;
    for await (const part of this.finerParts(index, level, place)) {
      isExact &&= part.isExact;
      coarsener.add(part);
    }
    coarsener.finish();
    return { ...sourceOf(group, bucketCyclesOf(level), rows), firstBucket: place.firstBucket, isExact };
  }

  private finerParts(group: number, level: number, place: ChunkPlace): AsyncIterable<LevelPart> {
    const finer = this.known[group]?.get(level - 1);
    if (finer) {
      const [from, to] = [place.firstBucket * FAN_OUT, place.endBucket * FAN_OUT];
      return finer.load(chunkAt(finer, from), chunkBehind(finer, to));
    }
    const ratio = FAN_OUT ** level;
    return segmentParts(this.parts, group, place.firstBucket * ratio, place.endBucket * ratio, 1);
  }
}

/** The part of a row that lies in a chunk. */
function clipped(row: LevelRow, place: ChunkPlace, sums: readonly number[]): LevelRow | null {
  const bucket = Math.max(row.bucket, place.firstBucket);
  const span = Math.min(row.bucket + row.span, place.endBucket) - bucket;
  if (span <= 0) return null;
  if (span === row.span) return row;
  const values = row.values.slice();
  for (const column of sums) values[column] = (values[column]! * span) / row.span;
  return { ...row, bucket, span, values };
}
