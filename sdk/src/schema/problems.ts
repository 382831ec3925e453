import type { ErrorCode } from '../base/codes.js';
import { type ErrorPlace, isUscopeError, UscopeError } from '../base/errors.js';

/** After this many problems of one schema the rest is not looked for: it keeps the time spent on hostile text short. */
const MAX_PROBLEMS = 100;
/** Characters of one problem's text: names in it may be long. */
const MAX_DETAIL_CHARS = 2000;

/** Thrown when a schema has too many problems to continue. */
class TooManyProblems extends Error {}

/** Collects what is wrong with a schema, so that an author sees every problem at once. */
export class Problems {
  private readonly kept: UscopeError[] = [];

  add(code: ErrorCode, detail: string, place: ErrorPlace = {}): void {
    const clipped = detail.length <= MAX_DETAIL_CHARS ? detail : `${detail.slice(0, MAX_DETAIL_CHARS)}...`;
    this.push(new UscopeError(code, clipped, place));
  }

  push(error: UscopeError): void {
    this.kept.push(error);
    if (this.kept.length >= MAX_PROBLEMS) throw new TooManyProblems();
  }

  get count(): number {
    return this.kept.length;
  }

  /** Runs a search for problems; one that gave up, or that threw its last problem, has found what there is. */
  collect<T>(search: () => T): T | undefined {
    try {
      return search();
    } catch (error) {
      if (isUscopeError(error)) this.kept.push(error);
      else if (!(error instanceof TooManyProblems)) throw error;
      return undefined;
    }
  }

  /** The problems in the order of their places. */
  list(): UscopeError[] {
    const position = (e: UscopeError): number =>
      (e.place.line ?? 0) * 1e6 + Math.min(e.place.column ?? 0, 999_999);
    return this.kept
      .map((error, index) => ({ error, index }))
      .sort((a, b) => position(a.error) - position(b.error) || a.index - b.index)
      .map(({ error }) => error);
  }

  /** Throws one error with the code and place of the first problem; its message lists them all, one per line. */
  throwIfAny(): void {
    const [first, ...others] = this.list();
    if (!first) return;
    const lines = [first.detail, ...others.map((error) => error.message)];
    if (this.kept.length >= MAX_PROBLEMS) lines.push('... further problems are not listed');
    throw new UscopeError(first.code, lines.join('\n'), first.place);
  }
}

/** Remembers where in a text the parts of a schema were defined. Parts are known by identity. */
export class Places {
  private readonly byPart = new Map<object, Map<string, ErrorPlace>>();

  /** @param start place of problems that concern the whole text */
  constructor(readonly start: ErrorPlace = {}) {}

  /** `key` names one property of the part (`slots`, `clock`, ...); '' is the part's name. */
  set(part: object, place: ErrorPlace, key = ''): void {
    let keys = this.byPart.get(part);
    if (!keys) {
      keys = new Map();
      this.byPart.set(part, keys);
    }
    keys.set(key, place);
  }

  of(part: object | undefined, key = ''): ErrorPlace {
    const keys = part ? this.byPart.get(part) : undefined;
    return keys?.get(key) ?? keys?.get('') ?? this.start;
  }

  /** `copy` is where `part` stood. */
  move(part: object, copy: object): void {
    const keys = this.byPart.get(part);
    if (keys) this.byPart.set(copy, keys);
  }
}
