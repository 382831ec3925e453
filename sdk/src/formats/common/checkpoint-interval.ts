/** How far apart the checkpoints of an imported trace are: foreign times may be of any scale, so the distance follows the data. */
import { DEFAULT_CHECKPOINT_INTERVAL_PS } from '../../writer/index.js';

/** A segment holds at least about this number of items, where the default interval would hold fewer. */
const ITEMS_PER_CHECKPOINT = 20_000n;
const MAX_INTERVAL_PS = (1n << 63n) - 1n;

/**
 * The default interval, or a longer one in which the trace has enough items on the average.
 * @param spanPs length of the trace in ps
 * @param items about how many items it gets
 */
export function checkpointIntervalFor(spanPs: bigint, items: number): bigint {
  const sparse = (spanPs * ITEMS_PER_CHECKPOINT) / BigInt(Math.max(1, Math.floor(items)));
  if (sparse < DEFAULT_CHECKPOINT_INTERVAL_PS) return DEFAULT_CHECKPOINT_INTERVAL_PS;
  return sparse < MAX_INTERVAL_PS ? sparse : MAX_INTERVAL_PS;
}
