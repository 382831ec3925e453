/** What callers give: types do not reach callers in JavaScript, and a wrong value would come back as an answer about something else. */
import { UscopeError } from '../base/errors.js';

/**
 * A time, cycle or number as a bigint.
 * @param what its name for the caller, as in "a time"
 * @throws UscopeError READER_RANGE when it is neither a bigint nor a whole number
 */
export function wholeNumber(value: unknown, what: string): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  throw new UscopeError('READER_RANGE', `${what} is a bigint or a whole number, not ${shown(value)}`);
}

/**
 * A number that may have 64 bits, where a number would have been rounded before it came here.
 * @throws UscopeError READER_RANGE when it is not a bigint
 */
export function requireBigint(value: unknown, what: string): bigint {
  if (typeof value === 'bigint') return value;
  const hint = typeof value === 'number' && Number.isInteger(value) ? `; write ${value}n or BigInt(…)` : '';
  throw new UscopeError('READER_RANGE', `${what} is a bigint, not ${shown(value)}${hint}`);
}

/** A count that is 0 or more. @throws UscopeError READER_RANGE */
export function requireCount(value: unknown, what: string): number {
  if (
    typeof value === 'number' &&
    value >= 0 &&
    (Number.isInteger(value) || value === Number.POSITIVE_INFINITY)
  )
    return value;
  throw new UscopeError('READER_RANGE', `${what} is a whole number from 0 on, not ${shown(value)}`);
}

/** One of a few words. @throws UscopeError READER_RANGE */
export function requireOneOf<T extends string>(value: T, words: readonly T[], what: string): T {
  if (words.includes(value)) return value;
  throw new UscopeError(
    'READER_RANGE',
    `${what} is ${words.map((word) => `"${word}"`).join(' or ')}, not ${shown(value)}`,
  );
}

/** Start inclusive, `to` null where none is given. @throws UscopeError READER_RANGE */
export function rangeBounds({ from, to }: { readonly from?: unknown; readonly to?: unknown }): {
  from: bigint;
  to: bigint | null;
} {
  return {
    from: from === undefined ? 0n : wholeNumber(from, 'the start of a range'),
    to: to === undefined ? null : wholeNumber(to, 'the end of a range'),
  };
}

function shown(value: unknown): string {
  if (typeof value === 'string') return `the string ${JSON.stringify(value.slice(0, 40))}`;
  if (typeof value === 'number') return `the number ${value}`;
  if (value === null || value === undefined) return String(value);
  return typeof value === 'bigint' ? `the bigint ${value}n` : `a value of type ${typeof value}`;
}
