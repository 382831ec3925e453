/** The levels of rows, and the unions of what segments name, of a directory that is being written: one walk over the containers. */
import { isUscopeError } from '../../base/errors.js';
import { IndexPart } from '../../format/index-container.js';
import type { IndexPlan } from '../plan.js';
import { type MadeChunk, RowLevelBuilder } from '../rows/row-levels.js';
import { decodeRowsPart } from '../rows/rows-part.js';
import { type MadeUnion, type SetKind, STATIC_SETS, STRING_SETS, UnionBuilder } from '../texts/set-union.js';
import type { ChunkEntry, LevelEntry } from './format.js';
import type { DirectoryInput, DirectoryOutput, PlacedContainer } from './write-directory.js';

/** What a level may be, in memory until it is written: a larger one is left out. */
const MAX_LEVEL_BYTES = 32 * 1024 * 1024;

/** What a level of the directory is made of, whatever its numbers count: buckets, rows or segments. */
interface Piece {
  readonly level: number;
  readonly first: number;
  readonly end: number;
  readonly bytes: Uint8Array;
}

/** By level. */
class Pieces {
  private readonly levels = new Map<number, { pieces: Piece[]; bytes: number }>();

  add(piece: Piece): void {
    const known = this.levels.get(piece.level) ?? { pieces: [], bytes: 0 };
    this.levels.set(piece.level, known);
    known.bytes += piece.bytes.length;
    if (known.bytes <= MAX_LEVEL_BYTES) known.pieces.push(piece);
    else known.pieces = [];
  }

  /** From the finest to the coarsest; the finest are left out while they take too much. */
  within(maxBytes: number): [level: number, pieces: readonly Piece[]][] {
    let sum = 0;
    const kept: [number, readonly Piece[]][] = [];
    for (const [level, { pieces, bytes }] of [...this.levels].sort(([a], [b]) => b - a)) {
      sum += bytes;
      if (sum > maxBytes || bytes > MAX_LEVEL_BYTES) break;
      kept.unshift([level, pieces]);
    }
    return kept;
  }
}

export interface RowsAndSets {
  /** By core. */
  readonly rows: readonly (readonly LevelEntry[])[];
  /** By core, and last for the strings. */
  readonly sets: readonly (readonly LevelEntry[])[];
}

/**
 * @param start where the directory begins @param birthsOf instructions of a core that were born in a segment; null: not known
 * @param maxBytes that they may take: what would take more is left out, from the finest on
 */
export async function writeRowsAndSets(
  { plan, segments, container, crc32 }: Pick<DirectoryInput, 'plan' | 'segments' | 'container' | 'crc32'>,
  output: DirectoryOutput,
  start: number,
  birthsOf: (core: number, segment: number) => number | null,
  maxBytes: number,
): Promise<RowsAndSets> {
  const makers = [...rowMakers(plan, birthsOf), ...setMakers(plan)];
  for (let segment = 0; segment < segments; segment++) {
    const found = await container(segment);
    for (const maker of makers) maker.add(found, segment);
  }
  let left = maxBytes;
  const lists: LevelEntry[][] = [];
  for (const maker of makers) {
    const kept = maker.finish().within(left);
    lists.push([]);
    for (const [level, pieces] of kept) {
      const chunks: ChunkEntry[] = [];
      for (const { first, bytes } of pieces) {
        chunks.push({
          offset: output.position - start,
          firstBucket: first,
          size: bytes.length,
          crc: crc32(bytes, 0),
        });
        await output.append(bytes);
        left -= bytes.length;
      }
      lists.at(-1)!.push({ level, endBucket: pieces.at(-1)!.end, chunks });
    }
  }
  const cores = plan.cores.length;
  return { rows: lists.slice(0, cores), sets: lists.slice(cores) };
}

interface Maker {
  add(container: PlacedContainer | null, segment: number): void;
  finish(): Pieces;
}

function rowMakers(plan: IndexPlan, birthsOf: (core: number, segment: number) => number | null): Maker[] {
  return plan.cores.map(({ rows, group }, core) => {
    if (!rows || group < 0) return NOTHING;
    const pieces = new Pieces();
    let isKnown = true;
    const builder = new RowLevelBuilder(rows.stages, ({ level, firstRow, endRow, bytes }: MadeChunk) => {
      pieces.add({ level, first: firstRow, end: endRow, bytes });
    });
    return {
      add: (container, segment) => {
        const part = partOf(container, IndexPart.ROWS, core, (bytes) => decodeRowsPart(bytes, rows.stages));
        const births = part ? part.births : birthsOf(core, segment);
        // Rows cannot be numbered behind an unknown number of them.
        isKnown &&= births !== null;
        if (isKnown) builder.add(part, segment, births ?? 0);
      },
      finish: () => {
        builder.finish();
        return isKnown ? pieces : new Pieces();
      },
    };
  });
}

function setMakers(plan: IndexPlan): Maker[] {
  const statics = plan.cores.map((_, core) => setMaker(STATIC_SETS, IndexPart.PCS, core));
  return [...statics, setMaker(STRING_SETS, IndexPart.STRINGS, 0)];
}

function setMaker<T>(kind: SetKind<T>, part: number, subject: number): Maker {
  const pieces = new Pieces();
  const builder = new UnionBuilder(kind, ({ level, firstSegment, bytes }: MadeUnion) => {
    pieces.add({ level, first: firstSegment, end: firstSegment + 1, bytes });
  });
  return {
    add: (container) => builder.add(partOf(container, part, subject, (bytes) => kind.decode(bytes))),
    finish: () => {
      builder.finish();
      return pieces;
    },
  };
}

const NOTHING: Maker = { add: () => undefined, finish: () => new Pieces() };

/** null: there is none, or it is malformed. */
function partOf<T>(
  container: PlacedContainer | null,
  kind: number,
  subject: number,
  decode: (bytes: Uint8Array) => T,
): T | null {
  const found = container?.parts.find((part) => part.kind === kind && part.subject === subject);
  if (!found) return null;
  try {
    return decode(found.bytes);
  } catch (error) {
    if (isUscopeError(error)) return null;
    throw error;
  }
}
