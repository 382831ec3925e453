/** Makes the directory of a trace that is being closed, from its containers, which are read once, one after the other. */
import { ByteWriter } from '../../base/bytes.js';
import type { Crc32 } from '../../format/commit-record.js';
import type { IndexPartBytes } from '../../format/index-container.js';
import { kernelLevels } from '../kernel/directory-kernel.js';
import { type LevelInput, listCount } from '../made-levels/level-maker.js';
import { LevelPieces, type Piece } from '../made-levels/level-pieces.js';
import type { IndexPlan } from '../plan.js';
import { BLOCK_ENTRIES, type ChunkEntry, encodeHead, type LevelEntry } from './format.js';
import { Places } from './places.js';

/** A container as it is in the file. */
export interface PlacedContainer {
  /** From the start of the file that it is in. */
  readonly offset: number;
  readonly size: number;
  readonly parts: readonly IndexPartBytes[];
}

/** What is written besides what the containers say. */
export interface DirectoryTarget extends LevelInput {
  readonly segments: number;
  /** What the levels may take next to containers of this number of bytes; the finest are left out before they take more. */
  maxBytes(containers: number): number;
  /** The finest level of each list, null: it has none; default: as `maxBytes` allows. */
  readonly finest?: readonly (number | null)[] | undefined;
  readonly crc32: Crc32;
}

export interface DirectoryInput extends DirectoryTarget {
  /** null: the segment has none that can be used. Segments are asked for in order. */
  container(segment: number): Promise<PlacedContainer | null>;
}

/** The end of the file, as the directory is appended to it. */
export interface DirectoryOutput {
  /** File offset of the next byte. */
  readonly position: number;
  append(bytes: Uint8Array): Promise<void>;
}

/** Appends the directory. @throws UscopeError WRITER_* from `output` */
export async function writeDirectory(input: DirectoryInput, output: DirectoryOutput): Promise<void> {
  await writeMade(input, await madeOf(input), output);
}

/** The same of what has been made of the containers. */
export async function writeMade(
  target: DirectoryTarget,
  { places, lists }: MadeDirectory,
  output: DirectoryOutput,
): Promise<void> {
  const { plan, segments, startPs, crc32 } = target;
  const start = output.position;
  const written = await new ListWriter(target, output, start).write(lists, places.bytes);
  const blocksOffset = output.position - start;
  const blockCrcs = await writeBlocks(places, target, output);
  const [groups, cores] = [plan.groups.length, plan.cores.length];
  const head = {
    planCrc: plan.crc,
    segments,
    cores,
    startPs,
    blocksOffset,
    blockCrcs,
    levels: written.slice(0, groups),
    rows: written.slice(groups, groups + cores),
    sets: written.slice(groups + cores),
  };
  await output.append(encodeHead(head, crc32));
}

export interface MadeDirectory {
  readonly places: Places;
  readonly lists: readonly LevelPieces[];
}

/** Without levels where the kernel has no room for those of the schema, or for what a segment adds. */
async function madeOf(input: DirectoryInput): Promise<MadeDirectory> {
  const { plan, segments } = input;
  const cores = plan.cores.length;
  const maker = kernelLevels(input);
  const places = new Places(cores, segments);
  const unknown = plan.cores.map(() => null);
  let isMade = maker !== null;
  for (let segment = 0; segment < segments; segment++) {
    const container = await input.container(segment);
    const births = isMade ? maker!.add(container?.parts ?? null) : null;
    isMade = births !== null;
    places.add(segment, container, births ?? unknown);
  }
  const lists = isMade ? maker!.finish() : null;
  if (lists) return { places, lists: endedAtTop(lists, plan) };
  return { places, lists: Array.from({ length: listCount(plan) }, () => new LevelPieces()) };
}

/** Levels of time beyond the coarsest that says something are left out. */
export function endedAtTop(
  lists: readonly LevelPieces[],
  { groups }: Pick<IndexPlan, 'groups'>,
): readonly LevelPieces[] {
  for (const list of lists.slice(0, groups.length)) list.endAtTop();
  return lists;
}

/** Of what the levels may take, for those of time: rows and texts get what is left. */
const TIME_SHARE = 0.6;

class ListWriter {
  constructor(
    private readonly input: DirectoryTarget,
    private readonly output: DirectoryOutput,
    private readonly start: number,
  ) {}

  async write(lists: readonly LevelPieces[], containers: number): Promise<LevelEntry[][]> {
    const { plan, finest, maxBytes } = this.input;
    const groups = plan.groups.length;
    const most = maxBytes(containers);
    const written: LevelEntry[][] = [];
    for (const [index, list] of lists.entries()) {
      const left = most - (this.output.position - this.start);
      const share = index < groups ? (most * TIME_SHARE) / groups : left;
      const kept = finest ? list.from(finest[index] ?? Number.POSITIVE_INFINITY) : list.within(share);
      const levels: LevelEntry[] = [];
      for (const [level, pieces] of kept) levels.push(await this.level(level, pieces));
      written.push(levels);
    }
    return written;
  }

  private async level(level: number, pieces: readonly Piece[]): Promise<LevelEntry> {
    const chunks: ChunkEntry[] = [];
    for (const { first, bytes } of pieces) {
      const offset = this.output.position - this.start;
      chunks.push({ offset, firstBucket: first, size: bytes.length, crc: this.input.crc32(bytes, 0) });
      await this.output.append(bytes);
    }
    return { level, endBucket: pieces.at(-1)!.end, chunks };
  }
}

async function writeBlocks(
  places: Places,
  { segments, crc32 }: DirectoryTarget,
  output: DirectoryOutput,
): Promise<number[]> {
  const crcs: number[] = [];
  for (let first = 0; first < segments; first += BLOCK_ENTRIES) {
    const block = new ByteWriter();
    const end = Math.min(segments, first + BLOCK_ENTRIES);
    for (let segment = first; segment < end; segment++) places.encode(block, segment);
    const bytes = block.finish();
    crcs.push(crc32(bytes, 0));
    await output.append(bytes);
  }
  return crcs;
}
