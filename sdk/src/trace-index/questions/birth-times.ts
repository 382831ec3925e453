/** When which slots of a storage were taken, segment by segment: to find a place within the 256 cycles of a bucket. */
import { Action, type StorageDef } from '../../format/types.js';
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
    const { numSlots } = def;
    const taken = new Uint8Array(numSlots);
    const births = new GrowingBirths();
    const checkpoints = this.checkpointsOf(def);
    await trace.scanSegment(
      segment,
      {},
      {
        segment: async (loaded) => {
          const state =
            checkpoints?.at(loaded) ?? catalogIn((await trace.stateBefore(segment)).raw, storageId);
          for (let slot = 0; slot < numSlots; slot++) taken[slot] = state.isTaken(slot) ? 1 : 0;
        },
        op: (cursor) => {
          if (cursor.storageId !== storageId) return;
          const { action, slot } = cursor;
          if (action === Action.PROP_SET || slot >= numSlots) return;
          const isTaken = action === Action.CLEAR ? 0 : 1;
          if (isTaken && !taken[slot]) births.add(cursor.timeHi * 2 ** 32 + cursor.timeLo, slot);
          taken[slot] = isTaken;
        },
      },
    );
    return births.finish();
  }

  private checkpointsOf(def: StorageDef): CatalogCheckpoints | null {
    const known = this.checkpoints.get(def.storageId);
    if (known !== undefined) return known;
    const made = CatalogCheckpoints.of(this.trace, def);
    this.checkpoints.set(def.storageId, made);
    return made;
  }
}

class GrowingBirths {
  private times = new Float64Array(1024);
  private slots = new Uint16Array(1024);
  private count = 0;

  add(time: number, slot: number): void {
    if (this.count === this.times.length) this.grow();
    this.times[this.count] = time;
    this.slots[this.count++] = slot;
  }

  finish(): SegmentBirths {
    return { times: this.times.slice(0, this.count), slots: this.slots.slice(0, this.count) };
  }

  private grow(): void {
    const [times, slots] = [new Float64Array(2 * this.count), new Uint16Array(2 * this.count)];
    times.set(this.times);
    slots.set(this.slots);
    [this.times, this.slots] = [times, slots];
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
