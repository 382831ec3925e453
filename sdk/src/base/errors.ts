/**
 * Every failure the product reports carries a stable code, the place where it was found and a sentence that says what to do.
 * The registry of codes is `codes.ts`; `docs/reference/errors.md` is checked against it.
 */
import type { ErrorCode } from './codes.js';

export interface ErrorPlace {
  /** File, trace, message or argument the error is about. */
  readonly file?: string | undefined;
  /** 1-based line and column, for text inputs. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** Byte offset, for binary inputs. */
  readonly offset?: number | bigint | undefined;
}

export class UscopeError extends Error {
  override readonly name = 'UscopeError';

  constructor(
    readonly code: ErrorCode,
    /** What is wrong, with names and numbers, and what to do about it. No place: that is `place`. */
    readonly detail: string,
    readonly place: ErrorPlace = {},
    options?: { cause?: unknown },
  ) {
    super(formatMessage(code, detail, place), options);
  }

  /** The same error with a more exact place: parsers know the offset, their callers the file. */
  at(place: ErrorPlace): UscopeError {
    return new UscopeError(
      this.code,
      this.detail,
      { ...place, ...definedOnly(this.place) },
      { cause: this.cause },
    );
  }
}

/** Name of the process's warnings that tell what a caller should know and need not act on. */
export const NOTE = 'UscopeNote';

export function isUscopeError(error: unknown): error is UscopeError {
  // Compares by name: a page may hold two copies of this module, in scripts that it loads one by one.
  return error instanceof UscopeError || (error instanceof Error && error.name === 'UscopeError');
}

/** What a file's bytes are to blame for. */
export function isDamage(error: unknown): error is UscopeError {
  return isUscopeError(error) && error.code.startsWith('FORMAT_');
}

function definedOnly(place: ErrorPlace): ErrorPlace {
  return Object.fromEntries(Object.entries(place).filter(([, value]) => value !== undefined));
}

/** `file:line:column: CODE: detail` for text, `file at offset 123: CODE: detail` for bytes. */
function formatMessage(code: string, detail: string, place: ErrorPlace): string {
  let where = place.file ?? '';
  if (place.line !== undefined) {
    where += `${where ? ':' : 'line '}${place.line}${place.column !== undefined ? `:${place.column}` : ''}`;
  } else if (place.offset !== undefined) {
    where += `${where ? ' ' : ''}at offset ${place.offset}`;
  }
  return where ? `${where}: ${code}: ${detail}` : `${code}: ${detail}`;
}
