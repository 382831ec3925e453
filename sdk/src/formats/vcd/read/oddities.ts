/** What a waveform has that the standard does not allow, or that has no place in a trace, and that is read all the same: counted, with the first place of each kind. */
import type { ConversionReport, Fate } from '../../common/report.js';

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
