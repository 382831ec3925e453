/** The places of the committed segments: 32 bytes each in growing typed arrays, the source of the segment table at close (docs/reference/format.md#segment-table). */
export class SegmentList {
  length = 0;
  private places = new Float64Array(2 * 1024); // offset, size in bytes
  private times = new BigUint64Array(2 * 1024); // start, end in ps

  push(offset: number, size: number, timeStartPs: bigint, timeEndPs: bigint): void {
    const at = this.length * 2;
    if (at === this.places.length) this.grow();
    this.places[at] = offset;
    this.places[at + 1] = size;
    this.times[at] = timeStartPs;
    this.times[at + 1] = timeEndPs;
    this.length++;
  }

  /** Offset of the last segment; 0 when there is none (docs/reference/format.md#segment-chain). */
  get lastOffset(): number {
    return this.length === 0 ? 0 : this.offset(this.length - 1);
  }

  offset(index: number): number {
    return this.places[index * 2];
  }

  size(index: number): number {
    return this.places[index * 2 + 1];
  }

  timeStartPs(index: number): bigint {
    return this.times[index * 2];
  }

  timeEndPs(index: number): bigint {
    return this.times[index * 2 + 1];
  }

  private grow(): void {
    const places = new Float64Array(this.places.length * 2);
    places.set(this.places);
    this.places = places;
    const times = new BigUint64Array(this.times.length * 2);
    times.set(this.times);
    this.times = times;
  }
}
