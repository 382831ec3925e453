/** When which slots of a storage were taken, segment by segment: to find a place within the 256 cycles of a bucket. */
import type { StorageDef } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import { CatalogCheckpoints, catalogIn } from '../../semantics/common/catalog-checkpoint.js';
import { BoundedCache } from '../containers/bounded-cache.js';

const CACHE_BYTES = 16 * 1024 * 1024;

/** Times in ps, rising, and the slots that were taken. */
export interface SegmentBirths {
  readonly times: Float64Array;
  readonly slots: Uint16Array;
}

export class BirthTimes {
  private readonly known = new BoundedCache<string, SegmentBirths>(
    CACHE_BYTES,
    ({ times, slots }) => times.byteLength + slots.byteLength + 64,
  );

  private readonly checkpoints = new Map<number, CatalogCheckpoints | null>();

  constructor(private readonly trace: Trace) {}

  /** In the order of the file. @throws UscopeError FORMAT_* for damage */
  async ofSegment(segment: number, storageId: number): Promise<SegmentBirths> {
    const key = `${segment}/${storageId}`;
    const known = this.known.get(key);
    if (known) return known;
    const births = await this.read(segment, storageId);
    this.known.set(key, births);
    return births;
  }

  private async read(segment: number, storageId: number): Promise<SegmentBirths> {
    const { trace } = this;
    const def = trace.schema.storages[storageId]!;
    const checkpoints = this.checkpointsOf(def);
    return trace.watchSegment(segment, async (loaded) => {
      const state = checkpoints?.at(loaded) ?? catalogIn((await trace.stateBefore(segment)).raw, storageId);
      const taken = new Uint8Array(def.numSlots);
      for (let slot = 0; slot < taken.length; slot++) taken[slot] = state.isTaken(slot) ? 1 : 0;
      return { storageId, taken };
    });
  }

  private checkpointsOf(def: StorageDef): CatalogCheckpoints | null {
    const known = this.checkpoints.get(def.storageId);
    if (known !== undefined) return known;
    const made = CatalogCheckpoints.of(this.trace, def);
    this.checkpoints.set(def.storageId, made);
    return made;
  }
}

/** The first index whose time is not below a time. */
export function lowerBound(times: Float64Array, time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! >= time) high = middle;
    else low = middle + 1;
  }
  return low;
}
