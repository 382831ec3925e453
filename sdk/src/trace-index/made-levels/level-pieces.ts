/** What the levels of a directory are made of, in memory until it is known which of them are written. */
import { FAN_OUT } from '../levels/level-chunk.js';

/** What a level may be: a larger one is left out. */
const MAX_LEVEL_BYTES = 32 * 1024 * 1024;
/** A level of more pieces is not written: their entries are held in memory. */
const MAX_PIECES = 1 << 16;

/** A chunk or a union. */
export interface Piece {
  readonly level: number;
  /** Buckets, rows or segments. */
  readonly first: number;
  readonly end: number;
  /** Rows or groups in it. */
  readonly rows: number;
  readonly bytes: Uint8Array;
}

interface PieceLevel {
  pieces: Piece[];
  bytes: number;
  rows: number;
  isTooLarge: boolean;
}

/** Of one list of levels. */
export class LevelPieces {
  private readonly levels = new Map<number, PieceLevel>();

  add(piece: Piece): void {
    const level = this.levels.get(piece.level) ?? { pieces: [], bytes: 0, rows: 0, isTooLarge: false };
    this.levels.set(piece.level, level);
    level.bytes += piece.bytes.length;
    level.rows += piece.rows;
    level.isTooLarge ||= level.bytes > MAX_LEVEL_BYTES || level.pieces.length === MAX_PIECES;
    if (level.isTooLarge) level.pieces = [];
    else level.pieces.push(piece);
  }

  clear(): void {
    this.levels.clear();
  }

  /** Levels beyond the first one that has a single piece of at most `FAN_OUT` rows say nothing new. */
  endAtTop(): void {
    const numbers = [...this.levels.keys()].sort((a, b) => a - b);
    const top = numbers.find((number) => {
      const { pieces, rows } = this.levels.get(number)!;
      return pieces.length === 1 && rows <= FAN_OUT;
    });
    for (const number of numbers) if (top !== undefined && number > top) this.levels.delete(number);
  }

  /** From the finest to the coarsest; the finest are left out while all take too much. */
  within(maxBytes: number): [level: number, pieces: readonly Piece[]][] {
    let sum = 0;
    const kept: [number, readonly Piece[]][] = [];
    for (const [level, { pieces, bytes, isTooLarge }] of [...this.levels].sort(([a], [b]) => b - a)) {
      sum += bytes;
      if (sum > maxBytes || isTooLarge) break;
      kept.unshift([level, pieces]);
    }
    return kept;
  }

  /** From a level on. */
  from(finest: number): [level: number, pieces: readonly Piece[]][] {
    return this.within(Number.POSITIVE_INFINITY).filter(([level]) => level >= finest);
  }
}
