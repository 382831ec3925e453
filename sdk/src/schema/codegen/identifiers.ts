/** Names of a schema -> identifiers of a programming language: without variables, legal, unique. */

/** `$${` is a literal `${` and no variable (docs/reference/schema.md). */
const PLACEHOLDER = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Names of the variables in a text, in order of appearance. */
export function variablesIn(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].flatMap(([, name]) => (name === undefined ? [] : [name]));
}

/**
 * The part of identifiers a name becomes: `core${core}` -> `core`, `a.b-c` -> `a_b_c`. Letters keep their case. Never empty, begins with a
 * letter, no two `_` in a row and none at the ends (C++ reserves such names).
 */
export function wordOf(name: string): string {
  const word = tidy(name.replace(PLACEHOLDER, '_')) || tidy(variablesIn(name).join('_')) || 'x';
  return /^[0-9]/.test(word) ? `n${word}` : word;
}

function tidy(text: string): string {
  return text
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+/, '')
    .replace(/_+$/, '');
}

/** `stage_transition` -> `stageTransition`. A `_` in front of a digit stays: `r1_0` and `r10` are two names. */
export function camel(word: string): string {
  const joined = word.replace(/_([A-Za-z])/g, (_, letter: string) => letter.toUpperCase());
  return joined.charAt(0).toLowerCase() + joined.slice(1);
}

/** `stage_transition` -> `StageTransition`. */
export function pascal(word: string): string {
  const joined = camel(word);
  return joined.charAt(0).toUpperCase() + joined.slice(1);
}

/** One name space of generated code. The order of claims decides who gets a number, so the same schema always gives the same names. */
export class Names {
  private readonly taken = new Set<string>();
  private readonly next = new Map<string, number>();

  /**
   * @param isReserved single names, which get a `_` after them, or all that begin alike, which get an `x_` in front
   * @param fold names equal after it are the same name
   */
  constructor(
    private readonly isReserved: (name: string) => boolean = () => false,
    private readonly fold: (name: string) => string = (name) => name,
  ) {}

  /** `wanted`, or the nearest name that is free: `class_` for a keyword, `rob_2` for the second `rob`. */
  claim(wanted: string): string {
    const stem = this.isReserved(`${wanted}_`) ? `x_${wanted}` : wanted;
    let name = this.isReserved(stem) ? `${stem}_` : stem;
    for (let n = this.next.get(stem) ?? 2; this.has(name) || this.isReserved(name); n++) {
      name = `${stem}_${n}`;
      this.next.set(stem, n + 1);
    }
    this.taken.add(this.fold(name));
    return name;
  }

  has(name: string): boolean {
    return this.taken.has(this.fold(name));
  }
}

/** Words that stay different when a language writes them in capitals. */
export function uniqueWords(words: readonly string[]): string[] {
  const names = new Names(undefined, (word) => word.toLowerCase());
  return words.map((word) => names.claim(word));
}
