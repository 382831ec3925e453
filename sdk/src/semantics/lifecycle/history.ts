/** Finds the segment to begin with so that the instructions in flight at a time are known from their birth on. */
import type { SegmentWindow } from '../../reader/segment-window.js';
import type { ClearWitness } from './clear-witness.js';
import { type Catalog, type SegmentAccess, takenSlots } from './segments.js';

/**
 * Index of the segment to begin with: at or before the one that holds `from`, and at most `lookback` segments earlier. Segments are
 * gone through backward until every slot taken at `from` has been seen being taken.
 */
export async function segmentToBeginWith(
  access: SegmentAccess,
  entities: Catalog,
  from: bigint,
  lookback: number,
): Promise<number> {
  const witness = access.witnessOf(entities);
  const window = await access.window(witness.space);
  try {
    return await lookBack(access, window, entities, witness, from, lookback);
  } finally {
    window.close();
  }
}

async function lookBack(
  access: SegmentAccess,
  window: SegmentWindow,
  entities: Catalog,
  witness: ClearWitness,
  from: bigint,
  lookback: number,
): Promise<number> {
  const holding = await access.firstReaching(from);
  const earliest = Math.max(0, holding - lookback);
  const checkpoints = access.checkpointsOf(entities);
  /** Slots taken at `from` by whom was there already where the walk is; null before the first round. */
  let wanted: ReadonlySet<number> | null = null;
  for (let index = holding; ; index--) {
    const segment = await window.load(index);
    const state = await access.catalogBefore(segment, entities, checkpoints);
    const taken: number[] = takenSlots(state, entities).filter((slot) => wanted?.has(slot) ?? true);
    wanted = new Set(witness.untouched(segment, taken, index === holding ? from : null, window.kernel));
    // Of slots beyond the catalog no checkpoint says who is in flight: one more segment finds most births.
    const isEnough = wanted.size === 0 && !(index === holding && witness.sawOutside);
    if (isEnough || index <= earliest) return index;
  }
}
