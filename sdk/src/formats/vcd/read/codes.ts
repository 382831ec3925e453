/** Identifier codes of VCD as numbers, and what each is to the reader. */
import type { ConversionReport, Fate } from '../../common/report.js';

const MAX_CODE_LENGTH = 8;
/** Tables up to this size are arrays: codes of up to three characters, which tools count upwards, and more. */
const MAX_DENSE = 16 * 1024 * 1024;

/** Digits 1 to 94, so that `!` and `!!` differ. -1: too long, or not printable. */
export function codeNumber(code: string): number {
  if (code.length === 0 || code.length > MAX_CODE_LENGTH) return -1;
  let number = 0;
  for (let i = 0; i < code.length; i++) {
    const digit = code.charCodeAt(i) - 32;
    if (digit < 1 || digit > 94) return -1;
    number = number * 94 + digit;
  }
  return number;
}

/** What a code is: a signal that is followed, one that is declared and not followed, or nothing. */
export const NOT_FOLLOWED = -1;
export const NOT_DECLARED = -2;

export class CodeTable {
  readonly dense: Int32Array;
  readonly sparse: ReadonlyMap<number, number>;

  /** @param entries code and signal (or NOT_FOLLOWED) */
  constructor(entries: readonly (readonly [code: number, signal: number])[]) {
    let highest = 0;
    for (const [code] of entries) if (code < MAX_DENSE && code > highest) highest = code;
    this.dense = new Int32Array(highest + 1).fill(NOT_DECLARED);
    const sparse = new Map<number, number>();
    for (const [code, signal] of entries) {
      if (code < MAX_DENSE) this.dense[code] = Math.max(this.dense[code], signal);
      else sparse.set(code, Math.max(sparse.get(code) ?? NOT_DECLARED, signal));
    }
    this.sparse = sparse;
  }

  lookUp(code: number): number {
    return code < this.dense.length ? this.dense[code] : (this.sparse.get(code) ?? NOT_DECLARED);
  }
}

// What a waveform has that the standard does not allow, or that has no place in a trace, and that is read all the same: counted, with the first place of each kind.

const KINDS = {
  undeclared: ['dropped', 'changes of a code that no $var declares', 'left out'],
  otherKind: ['dropped', 'texts and reals on signals of bits', 'the value is 0 until the next change'],
  keyword: ['dropped', 'keywords that are unknown', 'left out up to $end'],
  fraction: ['approximated', 'times between two units', 'the unit before'],
  prefix: ['approximated', 'vectors that begin with 0b', 'the digits after it'],
  lastLine: ['approximated', 'a last change without an end of line', 'as it is; more may have followed'],
  timescale: ['approximated', 'a time scale other than 1, 10 or 100', 'as it is'],
  scope: ['approximated', 'scopes without a name', 'their signals are in the scope around'],
  upscope: ['approximated', '$upscope without $scope', 'left out'],
} as const satisfies Record<string, readonly [Fate, string, string]>;
export type OddKind = keyof typeof KINDS;

export class Oddities {
  private readonly found = new Map<OddKind, { count: number; readonly first: string }>();

  count(kind: OddKind, text: string, offset: number): void {
    const known = this.found.get(kind);
    if (known) known.count++;
    else
      this.found.set(kind, { count: 1, first: `${JSON.stringify(text.slice(0, 40))} at offset ${offset}` });
  }

  countOf(kind: OddKind): number {
    return this.found.get(kind)?.count ?? 0;
  }

  addTo(report: ConversionReport): void {
    for (const [kind, { count, first }] of this.found) {
      const [fate, what, how] = KINDS[kind];
      report.tally(fate, what, `${how}; the first is ${first}`).count += count;
    }
  }
}
