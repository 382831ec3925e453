/** When slots of a storage were taken, segment by segment: to find a place within the 256 cycles of a bucket. */
import { CursorItem } from '../../format/frame.js';
import { Action } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import { BoundedCache } from '../containers/bounded-cache.js';

const CACHE_BYTES = 16 * 1024 * 1024;

export class BirthTimes {
  private readonly known = new BoundedCache<string, Float64Array>(
    CACHE_BYTES,
    ({ byteLength }) => byteLength,
  );

  constructor(private readonly trace: Trace) {}

  /** Times in ps, rising, of `[fromPs, toPs)`. */
  async between(storageId: number, fromPs: number, toPs: number): Promise<Float64Array> {
    const { trace } = this;
    const found: Float64Array[] = [];
    for (
      let segment = await trace.firstSegmentReaching(fromPs);
      segment < trace.segmentCount && Number((await trace.segment(segment)).timeStartPs) < toPs;
      segment++
    ) {
      const times = await this.ofSegment(segment, storageId);
      found.push(times.subarray(lowerBound(times, fromPs), lowerBound(times, toPs)));
    }
    return joined(found);
  }

  private async ofSegment(segment: number, storageId: number): Promise<Float64Array> {
    const key = `${segment}/${storageId}`;
    const known = this.known.get(key);
    if (known) return known;
    const times = await this.read(segment, storageId);
    this.known.set(key, times);
    return times;
  }

  private async read(segment: number, storageId: number): Promise<Float64Array> {
    const { trace } = this;
    const loaded = await trace.loadSegment(segment);
    const { raw } = await trace.stateBefore(segment);
    const { numSlots } = trace.schema.storages[storageId]!;
    const taken = Uint8Array.from({ length: numSlots }, (_, slot) =>
      Number(raw.slotOccupied(storageId, slot)),
    );
    const times: number[] = [];
    const cursor = loaded.cursor();
    let now = 0;
    while (cursor.next()) {
      if (cursor.kind === CursorItem.FRAME) now = cursor.timeHi * 2 ** 32 + cursor.timeLo;
      else if (cursor.kind === CursorItem.OP && cursor.storageId === storageId) {
        const { action, slot } = cursor;
        if (action === Action.PROP_SET || slot >= numSlots) continue;
        const isTaken = action === Action.CLEAR ? 0 : 1;
        if (isTaken && !taken[slot]) times.push(now);
        taken[slot] = isTaken;
      }
    }
    return Float64Array.from(times);
  }
}

function lowerBound(times: Float64Array, time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! >= time) high = middle;
    else low = middle + 1;
  }
  return low;
}

function joined(pieces: readonly Float64Array[]): Float64Array {
  if (pieces.length === 1) return pieces[0]!;
  const all = new Float64Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
