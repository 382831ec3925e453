import { BUILTIN_TYPES } from './types.js';

/** Words compared with a mistyped one: a schema may have a hundred of them, and names by the thousand. */
const MAX_COMPARED = 1000;

/** The candidate a mistyped word most likely meant, or undefined when none is close. */
function closest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > 64) return undefined;
  const wanted = word.toLowerCase();
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  let compared = 0;
  for (const candidate of candidates) {
    if (++compared > MAX_COMPARED) break;
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** ` Did you mean "slots"?`, or nothing. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const best = closest(word, candidates);
  return best === undefined ? '' : ` Did you mean "${best}"?`;
}

/** As `didYouMean`, for a type: knows what other languages call ours. */
export function didYouMeanType(word: string, enumNames: Iterable<string>): string {
  const integer = /^(u?)(?:int|logic|bit)?_?(8|16|32|64)(?:_t)?$/i.exec(word);
  if (integer) return ` Did you mean "${integer[1] ? 'u' : 'i'}${integer[2]}"?`;
  const foreign = FOREIGN_TYPES.get(word.toLowerCase());
  return foreign ? ` Did you mean "${foreign}"?` : didYouMean(word, [...BUILTIN_TYPES.keys(), ...enumNames]);
}

const FOREIGN_TYPES: ReadonlyMap<string, string> = new Map([
  ['boolean', 'bool'],
  ['bit', 'bool'],
  ['logic', 'bool'],
  ['byte', 'u8'],
  ['char', 'u8'],
  ['short', 'i16'],
  ['int', 'i32'],
  ['uint', 'u32'],
  ['long', 'i64'],
  ['longint', 'i64'],
  ['str', 'string'],
  ['text', 'string'],
  ['string_ref', 'string'],
]);

/** `a, b, c`, cut after a dozen. */
export function listed(names: readonly string[]): string {
  const first = names.slice(0, 12).map(clipped).join(', ');
  return names.length <= 12 ? first : `${first}, ... (${names.length} in all)`;
}

/** A name as messages quote it: some schemas have names of thousands of characters. */
function clipped(name: string): string {
  return name.length <= 80 ? name : `${name.slice(0, 80)}...`;
}

/** Edits (insert, delete, replace, swap of neighbours) that turn one word into the other. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min(row[j - 1]! + 1, previous[j]! + 1, previous[j - 1]! + change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, before[j - 2]! + 1);
      row.push(cost);
    }
    before = previous;
    previous = row;
  }
  return previous[b.length]!;
}
