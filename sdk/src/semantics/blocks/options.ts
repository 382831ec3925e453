/** What can be asked of blocks of instructions. */
import { requireCount, requireOneOf } from '../../reader/arguments.js';
import type { Numbering } from '../cpu/numbering.js';

export interface BlockOptions {
  /** Ends the work soon after it is aborted: the call then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Segments read before to find the birth of those in flight at the start: producers of dependencies then have numbers. Default 16. */
  readonly lookback?: number | undefined;
  /** Segments read after the range to find the end of those in flight at its end. Default 16. */
  readonly lookahead?: number | undefined;
  /** Whether `firstRow` is found out: always, where it is quick (default), or never. */
  readonly numbering?: Numbering | undefined;
  /** Instructions born before a segment, where that is known already: `TraceIndex.birthsBefore`. Without it they are counted. */
  readonly birthsBefore?: ((segment: number) => Promise<number>) | undefined;
}

export const DEFAULT_SEGMENTS = 16;
/** As `lookahead`: as far as something is in flight. For what counts how instructions ended. */
export const ALL_SEGMENTS = Number.MAX_SAFE_INTEGER;

export interface RangeBlockOptions extends BlockOptions {
  /** Which stages are listed: all of an instruction's life (default), or those of the range, the last one before it and the last one after it. */
  readonly stages?: 'all' | 'range' | undefined;
}

/** @throws UscopeError READER_RANGE for values of the wrong type */
export function checkOptions({ lookback, lookahead, numbering, stages }: RangeBlockOptions): void {
  if (lookback !== undefined) requireCount(lookback, 'lookback');
  if (lookahead !== undefined) requireCount(lookahead, 'lookahead');
  if (numbering !== undefined) requireOneOf(numbering, ['always', 'cheap', 'never'], 'numbering');
  if (stages !== undefined) requireOneOf(stages, ['all', 'range'], 'stages');
}

/** Ended instructions that may wait for an older one in flight. */
export const MAX_HELD = 65_536;
