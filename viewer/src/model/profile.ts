/** A profile by function, by line of source or by address: lines of a table. */
import type { ProfileAnswer } from '../data/questions/profile.js';

export type Grouping = 'function' | 'line' | 'address';
export const GROUPINGS: readonly Grouping[] = ['function', 'line', 'address'];

/** What is known of an address. */
export interface Place {
  /** null: it is in none that has a name. */
  readonly function: string | null;
  /** `file.c:12`; null: not known. */
  readonly line: string | null;
}

export interface ProfileLine {
  readonly name: string;
  /** What is there, an instruction or a function; '': the name is one. */
  readonly of: string;
  readonly count: number;
  readonly cycles: number;
  /** Those with cycles, the most first. */
  readonly stalls: readonly { readonly reason: string; readonly cycles: number }[];
  /** Addresses, rising. */
  readonly pcs: readonly bigint[];
}

interface Sum {
  count: number;
  cycles: number;
  readonly stalls: Float64Array;
  readonly pcs: bigint[];
  readonly of: string;
}

const hex = (pc: bigint): string => `0x${pc.toString(16).padStart(8, '0')}`;
const NO_FUNCTION = 'no function';
const NO_LINE = 'no line';

/** The most cycles first. @param filter part of a function's name, or all of it; '': all */
export function profileLines(
  { pcs, texts, counts, cycles, reasons, stalls }: ProfileAnswer,
  placeOf: (pc: bigint) => Place,
  grouping: Grouping,
  filter = '',
): ProfileLine[] {
  const sums = new Map<string, Sum>();
  const wanted = filter.trim().toLowerCase();
  pcs.forEach((pc, index) => {
    const place = placeOf(pc);
    const of = place.function ?? NO_FUNCTION;
    if (!of.toLowerCase().includes(wanted)) return;
    const name = { function: of, line: place.line ?? `${NO_LINE}, ${of}`, address: hex(pc) }[grouping];
    let sum = sums.get(name);
    if (!sum) {
      sum = {
        count: 0,
        cycles: 0,
        stalls: new Float64Array(reasons.length),
        pcs: [],
        of: {
          function: '',
          line: of,
          address: [texts[index], place.function].filter(Boolean).join(' in ') || of,
        }[grouping],
      };
      sums.set(name, sum);
    }
    sum.count += counts[index]!;
    sum.cycles += cycles[index]!;
    sum.pcs.push(pc);
    for (let at = 0; at < reasons.length; at++) sum.stalls[at]! += stalls[index * reasons.length + at]!;
  });
  return [...sums].map(([name, sum]) => lineOf(name, sum, reasons)).sort((a, b) => b.cycles - a.cycles);
}

function lineOf(
  name: string,
  { count, cycles, stalls, pcs, of }: Sum,
  reasons: readonly string[],
): ProfileLine {
  const named = reasons.map((reason, at) => ({ reason, cycles: stalls[at]! }));
  return {
    ...{ name, of, count, cycles },
    stalls: named.filter((one) => one.cycles > 0).sort((a, b) => b.cycles - a.cycles),
    pcs: [...pcs].sort((a, b) => (a < b ? -1 : 1)),
  };
}

/** The longest that is searched for: a line whose code lies in more pieces is found in part. */
const MAX_PIECES = 150;
/** Between two instructions that follow each other, bytes. */
const NEXT = 4n;

/** What the search finds the instructions of a line with. */
export function patternOf({ pcs }: Pick<ProfileLine, 'pcs'>): string {
  const pieces: [bigint, bigint][] = [];
  for (const pc of pcs) {
    const last = pieces.at(-1);
    if (last && pc - last[1] <= NEXT) last[1] = pc;
    else pieces.push([pc, pc]);
  }
  const texts = pieces
    .slice(0, MAX_PIECES)
    .map(([first, last]) => (first === last ? hex(first) : `${hex(first)}-${hex(last)}`));
  return texts.length === 0 ? '' : `pc:${texts.join(',')}`;
}
