/** Answers of tools: JSON of a bounded length that says when something was left out and how to get it. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { UscopeError } from '../../../base/errors.js';
import { bigintAsString, describeError } from '../../common/io.js';

/** Characters of JSON that the lists of an answer may take together. */
const LIST_CHARACTERS = 40_000;
/** A text longer than this, an annotation for instance, is cut. */
const MAX_TEXT = 1000;
/** No answer is longer, whatever is in it. */
const MAX_CHARACTERS = 100_000;

/** What an answer may still hold: items, and characters of them. The first item always fits. */
export class Budget {
  private characters = LIST_CHARACTERS;
  private isFresh = true;

  constructor(private items: number) {}

  /** Takes an item's place; false: there is none left, and the answer is cut here. */
  take(item: unknown): boolean {
    if (this.items <= 0) return false;
    const size = toJson(item).length;
    if (size > this.characters && !this.isFresh) return false;
    this.isFresh = false;
    this.items--;
    this.characters -= size;
    return true;
  }
}

/** What is at the end of an answer: where the next one continues, or that this is all. */
export function ending(next: string | null): { more: boolean; cursor?: string } {
  return next === null ? { more: false } : { more: true, cursor: next };
}

/** A part of a list, from `offset` on. */
export function page<T>(
  items: readonly T[],
  offset: number,
  limit: number,
): { shown: T[]; next: string | null } {
  const budget = new Budget(limit);
  let end = offset;
  while (end < items.length && budget.take(items[end])) end++;
  return { shown: items.slice(offset, end), next: end < items.length ? String(end) : null };
}

/** A cursor that is an index. @throws UscopeError CLI_USAGE */
export function offsetOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  return badCursor(cursor);
}

/** A cursor of two numbers. @throws UscopeError CLI_USAGE */
export function pairOf(cursor: string | undefined): [bigint, number] | null {
  if (cursor === undefined) return null;
  const match = /^(\d{1,20}):(\d{1,15})$/.exec(cursor);
  return match ? [BigInt(match[1]), Number(match[2])] : badCursor(cursor);
}

function badCursor(cursor: string): never {
  throw new UscopeError(
    'CLI_USAGE',
    `"${cursor}" is not a cursor of this tool; pass what the answer before gave, with the same arguments`,
  );
}

/** Plain data with no list longer than `limit`: the length of a truncated list is next to it (`stages`, `stagesCount`). */
export function shortLists<T>(value: T, limit = 50): T {
  if (Array.isArray(value)) return value.slice(0, limit).map((one) => shortLists(one, limit)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const short: Record<string, unknown> = {};
  for (const [key, one] of Object.entries(value)) {
    short[key] = shortLists(one, limit);
    if (Array.isArray(one) && one.length > limit) short[`${key}Count`] = one.length;
  }
  return short as T;
}

/** 64-bit integers as decimal strings, long texts cut, floating point numbers to 6 digits. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (key, one) => {
    if (typeof one === 'string' && one.length > MAX_TEXT) {
      return `${one.slice(0, MAX_TEXT)}… (${one.length - MAX_TEXT} more characters)`;
    }
    if (typeof one === 'number' && !Number.isInteger(one)) return Number(one.toPrecision(6));
    return bigintAsString(key, one);
  });
}

export function success(answer: object): CallToolResult {
  const text = toJson(answer);
  if (text.length <= MAX_CHARACTERS) return { content: [{ type: 'text', text }] };
  return failure(
    new UscopeError(
      'CLI_USAGE',
      `the answer would have ${text.length} characters; ask for less: a lower limit, fewer points, or names`,
    ),
  );
}

/** A tool error, which the model sees: code, what is wrong and what to do. */
export function failure(error: UscopeError): CallToolResult {
  const { code, detail, place } = error;
  const { file, offset } = place;
  return {
    isError: true,
    content: [{ type: 'text', text: describeError(error) }],
    structuredContent: {
      code,
      detail,
      ...(file === undefined ? {} : { file }),
      ...(offset === undefined ? {} : { offset: String(offset) }),
    },
  };
}
