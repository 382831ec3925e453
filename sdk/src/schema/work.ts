/**
 * What reading one schema costs, counted in things that are the same on every machine, and what it may cost. A few bytes of text can ask for
 * very much work: an alias repeats what it names, a variable repeats its value wherever it is used.
 */
import { type ErrorPlace, UscopeError } from '../base/errors.js';
import { MAX_STRING_CHARS } from './limits.js';

export interface WorkLimits {
  /** Lexical tokens of the text. */
  readonly tokens: number;
  /** Aliases (`*name`) in the text. */
  readonly aliases: number;
  /** Entries read, those after aliases counted every time. */
  readonly entries: number;
  /** Characters of names and values, those after aliases and variables counted every time. */
  readonly chars: number;
}

/** Far above any schema that the format can hold. */
export const WORK_LIMITS: WorkLimits = {
  tokens: 400_000,
  aliases: 16_384,
  entries: 200_000,
  chars: 16 * 1024 * 1024,
};

export class SchemaWork {
  tokens = 0;
  aliases = 0;
  entries = 0;
  chars = 0;
  /** A limit was reached: whatever was reported besides that may be a consequence. */
  isExceeded = false;

  constructor(readonly limits: WorkLimits = WORK_LIMITS) {}

  /** @param placeAt computes the place, for the error only. @throws UscopeError SCHEMA_LIMIT */
  takeToken(token: string, placeAt: () => ErrorPlace): void {
    if (++this.tokens > this.limits.tokens)
      throw this.exceeded(
        `the schema text has more than ${this.limits.tokens} tokens; use fewer entries`,
        placeAt(),
      );
    if (token.charCodeAt(0) === ALIAS && ++this.aliases > this.limits.aliases)
      throw this.exceeded(
        `the schema has more than ${this.limits.aliases} aliases; write the entries out, or use fewer of them`,
        placeAt(),
      );
  }

  /** @throws UscopeError SCHEMA_LIMIT */
  takeEntry(placeAt: () => ErrorPlace): void {
    if (++this.entries <= this.limits.entries) return;
    throw this.exceeded(
      `the schema has more than ${this.limits.entries} entries, aliases expanded; use fewer aliases`,
      placeAt(),
    );
  }

  /** @throws UscopeError SCHEMA_LIMIT */
  takeChars(count: number, placeAt: () => ErrorPlace): void {
    this.chars += count;
    if (this.chars <= this.limits.chars) return;
    throw this.exceeded(
      `names and values of the schema take more than ${this.limits.chars} characters, aliases and variables expanded; use shorter or fewer values`,
      placeAt(),
    );
  }

  private exceeded(detail: string, place: ErrorPlace): UscopeError {
    this.isExceeded = true;
    return new UscopeError('SCHEMA_LIMIT', detail, place);
  }
}

/** One name or value that no file could hold. */
export function tooLong(length: number, place: ErrorPlace): UscopeError {
  const detail = `a text of ${length} characters; the format holds ${MAX_STRING_CHARS} for all names and values together: shorten it`;
  return new UscopeError('SCHEMA_LIMIT', detail, place);
}

const ALIAS = '*'.charCodeAt(0);
