/** Where to begin so that the instructions in flight at a time are known from their birth on. */
import { type Catalogue, type SegmentAccess, SlotWalk } from './segments.js';

/**
 * Index of the segment to begin with: at or before the one that holds `from`, and at most `lookback` segments earlier. Segments are
 * gone through backward until every slot taken at `from` has been seen being taken.
 */
export async function segmentToBeginWith(
  access: SegmentAccess,
  entities: Catalogue,
  from: bigint,
  lookback: number,
): Promise<number> {
  const holding = await access.firstReaching(from);
  const earliest = Math.max(0, holding - lookback);
  /** Slots taken at `from` whose birth has not been found yet; null before the first round. */
  let wanted: Set<number> | null = null;
  let needsPredecessor = false;
  for (let index = holding; ; index--) {
    const segment = await access.load(index);
    const walk = new SlotWalk(entities, await access.stateBefore(segment));
    // Taken at the segment's start, and still by the same instruction where the walk stands.
    const inherited = new Set(walk.taken);
    const forget = (slot: number): void => {
      inherited.delete(slot);
    };
    walk.walk(segment, index === holding ? from : null, forget, forget);
    wanted = wanted === null ? inherited : intersection(wanted, inherited);
    // Of slots beyond the catalogue no checkpoint tells who is in flight: one more segment finds most births.
    if (index === holding) needsPredecessor = walk.sawOutside;
    const isEnough = wanted.size === 0 && !(needsPredecessor && index === holding);
    if (isEnough || index <= earliest) return index;
  }
}

function intersection(a: ReadonlySet<number>, b: ReadonlySet<number>): Set<number> {
  return new Set([...a].filter((slot) => b.has(slot)));
}
