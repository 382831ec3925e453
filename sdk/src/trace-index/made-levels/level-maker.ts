/** Makes the levels of a directory from the parts of the segments, which come in their order. */
import type { IndexPartBytes } from '../../format/index-container.js';
import type { IndexPlan } from '../plan.js';
import type { LevelPieces } from './level-pieces.js';

export interface LevelMaker {
  /**
   * @param parts of the next segment; null: it has none
   * @returns instructions born in it, by core, null: not known; null instead of all: it cannot be made this way
   */
  add(parts: readonly IndexPartBytes[] | null): readonly (number | null)[] | null;
  /** Levels of time by group, of rows by core, of what segments name by core, and of the strings; null: see `add`. */
  finish(): readonly LevelPieces[] | null;
}

export interface LevelInput {
  readonly plan: IndexPlan;
  /** Start of the first segment, end of the last one. */
  readonly startPs: bigint;
  readonly endPs: bigint;
}

/** Of time by group, of rows and of what segments name by core, and of the strings. */
export const listCount = ({ groups, cores }: Pick<IndexPlan, 'groups' | 'cores'>): number =>
  groups.length + 2 * cores.length + 1;

/** Of a later end the levels' buckets could not be counted exactly: nine years of a clock of 1 GHz. */
export const MAX_CYCLES = 1n << 58n;
