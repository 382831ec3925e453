/** For how long the buffers of a group held how many, added up segment by segment. */
import type { ClockGroup } from '../channels.js';
import { decodeOccupancyPart } from '../time-part.js';

export class HeldTimes {
  /** Time of the last frame, up to which it goes. */
  endPs: bigint | null = null;
  /** Every time is a multiple of the period. */
  isAligned = true;

  /** @param times by storage that is wanted: ps by number of slots */
  constructor(
    private readonly group: ClockGroup,
    private readonly times: ReadonlyMap<number, Float64Array>,
  ) {}

  /** Adds the part OCCUPANCY of the next segment. False: not everything is known. @throws UscopeError FORMAT_* where it is malformed */
  add(bytes: Uint8Array | null): boolean {
    if (!bytes) return false;
    const { fromPs, toPs, isExact, unitPs, histograms } = decodeOccupancyPart(bytes, this.group);
    if (!isExact || (this.endPs !== null && fromPs !== this.endPs)) return false;
    this.endPs = toPs;
    this.isAligned &&= unitPs === this.group.periodPs;
    for (const { storageId, counts, times: lasted } of histograms) {
      const sums = this.times.get(storageId);
      if (!sums) continue;
      for (let entry = 0; entry < counts.length; entry++) {
        const count = counts[entry]!;
        if (count >= sums.length) return false;
        sums[count] = sums[count]! + lasted[entry]! * unitPs;
      }
    }
    return true;
  }
}
