/** The part of a trace that a question about one core is about. */
import { UscopeError } from '../../base/errors.js';
import { rangeBounds, requireOneOf } from '../../reader/arguments.js';
import type { TimePs } from '../../reader/index.js';
import { requirePeriod } from './cores.js';

/** Start inclusive, end exclusive; by default the whole trace. */
export interface CoreRange {
  readonly from?: TimePs | undefined;
  readonly to?: TimePs | undefined;
  /** What `from` and `to` count: picoseconds (default) or cycles of the core's clock. */
  readonly unit?: 'ps' | 'cycles' | undefined;
}

/** Range in ps; `to` undefined: to the end. */
export function rangeInPs(
  core: Parameters<typeof requirePeriod>[0],
  range: CoreRange,
): { from: bigint; to: bigint | undefined } {
  if (range.unit !== undefined) requireOneOf(range.unit, ['ps', 'cycles'], 'the unit of a range');
  const scale = range.unit === 'cycles' ? requirePeriod(core) : 1n;
  const bounds = rangeBounds(range);
  const from = bounds.from * scale;
  const to = bounds.to === null ? undefined : bounds.to * scale;
  if (to !== undefined && to < from) {
    throw new UscopeError('READER_RANGE', `the range ends at ${to} ps, before it begins at ${from} ps`);
  }
  return { from: from < 0n ? 0n : from, to: to !== undefined && to < 0n ? 0n : to };
}
