/** Arguments that several tools share. */
import * as z from 'zod';
import { UscopeError } from '../../../base/errors.js';
import type { Trace } from '../../../reader/index.js';
import { type AskedRange, rangeInTime, type TimeBounds } from '../../common/ranges.js';
import { parseTime } from '../../common/times.js';

export const file = z
  .string()
  .optional()
  .describe('Name of the trace (see file_info); may be left out when there is only one');

/** Numbers above 2^53 as decimal text. */
export const cycle = z.union([z.number().int().nonnegative(), z.string().regex(/^\d{1,20}$/)]);

const time = z
  .union([z.number().int().nonnegative(), z.string()])
  .describe('Picoseconds, or text with a unit: 4ns, 1.5us, 2ms');

export const clock = z
  .string()
  .optional()
  .describe('The clock whose cycles are meant; default: that of the core, or of the first protocol scope');

export const range = {
  from_cycle: cycle.optional().describe('First cycle, inclusive'),
  to_cycle: cycle.optional().describe('Last cycle, exclusive'),
  from_time: time.optional().describe('In place of from_cycle: picoseconds, or 4ns, 1.5us'),
  to_time: time.optional().describe('In place of to_cycle, exclusive'),
  clock,
};

export const core = z.string().optional().describe('Name of a core (see file_info); default: the first');

export const cursor = z
  .string()
  .optional()
  .describe('Goes on where the answer with this cursor was cut; all other arguments as before');

export const limit = (standard: number, most: number) =>
  z
    .number()
    .int()
    .min(1)
    .max(most)
    .default(standard)
    .describe(`Most items of the answer (default ${standard}, at most ${most})`);

export const points = (most: number) =>
  z
    .number()
    .int()
    .min(1)
    .max(most)
    .optional()
    .describe(`Also a series with at most this number of intervals, up to ${most}`);

export interface RangeInput {
  readonly from_cycle?: number | string | undefined;
  readonly to_cycle?: number | string | undefined;
  readonly from_time?: number | string | undefined;
  readonly to_time?: number | string | undefined;
  readonly clock?: string | undefined;
}

/** The range in ps. @throws UscopeError CLI_USAGE, READER_NAME, READER_NO_CYCLES */
export function boundsOf(input: RangeInput, trace: Trace, defaultClock?: string): TimeBounds {
  const { from_cycle, to_cycle, from_time, to_time } = input;
  const inCycles = from_cycle !== undefined || to_cycle !== undefined;
  if (inCycles && (from_time !== undefined || to_time !== undefined)) {
    throw new UscopeError('CLI_USAGE', 'give the range in cycles or in time, not in both');
  }
  const [from, to] = inCycles
    ? [BigInt(from_cycle ?? 0), to_cycle === undefined ? null : BigInt(to_cycle)]
    : [parseTime(String(from_time ?? 0)), to_time === undefined ? null : parseTime(String(to_time))];
  if (to !== null && to <= from) {
    throw new UscopeError(
      'CLI_USAGE',
      `the range is empty: its end (${to}) is exclusive and not after ${from}`,
    );
  }
  const asked: AskedRange = inCycles
    ? { unit: 'cycles', from, to, clock: input.clock ?? null }
    : { unit: 'ps', from, to };
  return rangeInTime(asked, trace, defaultClock);
}
