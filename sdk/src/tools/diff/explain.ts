/** Looks at the place of a divergence again: the items themselves, everything before and after them. */
import type { TimeRange } from '../../reader/index.js';
import type { Found } from './by-time.js';
import { cycleIn, viewItem } from './describe.js';
import type { SchemaMatch } from './match.js';
import type { ItemView, TimeDivergence } from './report.js';
import { type DiffInput, Side, type SideName } from './side.js';

/** What one side has around the place. */
interface Surroundings {
  readonly before: readonly ItemView[];
  /** The items at and after the place. */
  readonly next: ItemView[];
  /** Target of the first of `next`. */
  readonly target: number | null;
}

/** Items of one path at one instant that are looked through. */
const MAX_OF_INSTANT = 100_000;

/** @param instants times of the last instants that were the same, rising */
export async function explainDivergence(
  a: DiffInput,
  b: DiffInput,
  match: SchemaMatch,
  found: Found,
  instants: readonly bigint[],
  context: number,
  range: TimeRange,
): Promise<TimeDivergence> {
  const from = instants[Math.max(0, instants.length - Math.max(1, context))] ?? found.timePs;
  const around = async (input: DiffInput, name: SideName): Promise<Surroundings> => {
    const side = new Side(input, match, name, { from, to: range.to }, true);
    try {
      return await surroundings(side, found, context);
    } finally {
      await side.close();
    }
  };
  const inA = await around(a, 'a');
  const inB = await around(b, 'b');
  if (found.target !== null) dropCommon(inA.next, inB.next);
  const [itemA, itemB] = [inA.next[0] ?? null, inB.next[0] ?? null];
  const { timePs } = found;
  const kind = kindOf(found, inA, inB);
  const concerned = kind === 'only_b' ? inB : inA;
  const names = [...match.storages, ...match.events];
  const pair = names[concerned.target ?? 0];
  const lastPs = instants.at(-1);
  const cycle = (time: bigint): bigint | null => cycleIn(a.trace, pair.a.scopeId, time);
  return {
    timePs,
    cycle: cycle(timePs),
    path: pair.path,
    kind,
    a: itemA,
    b: itemB,
    last: lastPs === undefined ? null : { timePs: lastPs, cycle: cycle(lastPs) },
    before: inA.before,
    nextA: inA.next.slice(0, context + 1),
    nextB: inB.next.slice(0, context + 1),
  };
}

/** Of two lists, what both begin with. */
function dropCommon(a: ItemView[], b: ItemView[]): void {
  const isSame = (x: ItemView, y: ItemView): boolean =>
    x.what === y.what &&
    x.slot === y.slot &&
    x.timePs === y.timePs &&
    JSON.stringify(x.fields) === JSON.stringify(y.fields);
  let count = 0;
  while (count < a.length && count < b.length && isSame(a[count], b[count])) count++;
  a.splice(0, count);
  b.splice(0, count);
}

function kindOf({ timePs, reordered }: Found, a: Surroundings, b: Surroundings): TimeDivergence['kind'] {
  const [itemA, itemB] = [a.next[0], b.next[0]];
  if (itemB?.timePs !== timePs) return 'only_a';
  if (itemA?.timePs !== timePs) return 'only_b';
  if (reordered) return 'order';
  const sameThing =
    a.target === b.target &&
    itemA.what === itemB.what &&
    itemA.slot === itemB.slot &&
    Object.keys(itemA.fields).join() === Object.keys(itemB.fields).join();
  return sameThing ? 'value' : 'item';
}

async function surroundings(side: Side, found: Found, context: number): Promise<Surroundings> {
  const before: ItemView[] = [];
  const next: ItemView[] = [];
  let target: number | null = null;
  let index = 0;
  await side.fill();
  while (!side.isDone) {
    const { timePs } = side;
    // Of one path alone the common beginning is not known yet: all of the instant is needed.
    const enough = found.target === null ? context : timePs > found.timePs ? context : MAX_OF_INSTANT;
    if (next.length > enough) break;
    const isMeant = found.target === null || found.target === side.target;
    const isAt = timePs === found.timePs && isMeant;
    const view = viewItem(side.input.trace, side.cursor);
    const isBefore = timePs < found.timePs || (isAt && found.target === null && index < found.index);
    if (isBefore) {
      before.push(view);
      if (before.length > context) before.shift();
    } else if (isMeant) {
      target ??= side.target;
      next.push(view);
    }
    if (isAt) index++;
    if (!side.advance()) await side.fill();
  }
  return { before, next, target };
}
