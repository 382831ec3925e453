/** How far the frames of a trace have been taken. Times in ps are two u32 halves, because they are compared once per frame. */
export class StreamPosition {
  /** Time of the last frame; before the first one, the earliest time that it may have. */
  lastLo: number;
  lastHi: number;
  /** There is a last frame. */
  hasLast: boolean;

  /**
   * @param frames ordinal of the next frame
   * @param items in the frames before it
   * @param lastTimePs of the frame before it; null: there is none
   * @param startPs the earliest time of a first frame
   */
  constructor(
    public frames: number,
    public items: number,
    lastTimePs: bigint | null,
    startPs: bigint,
  ) {
    const notBefore = lastTimePs ?? startPs;
    this.lastLo = lowHalf(notBefore);
    this.lastHi = highHalf(notBefore);
    this.hasLast = lastTimePs !== null;
  }

  /** Whether a frame at this time is later than the last one, or is the first. */
  isLater(lo: number, hi: number): boolean {
    return !this.hasLast || hi > this.lastHi || (hi === this.lastHi && lo > this.lastLo);
  }

  /** Whether a frame at this time goes back in time. */
  isEarlier(lo: number, hi: number): boolean {
    return hi < this.lastHi || (hi === this.lastHi && lo < this.lastLo);
  }

  get lastTimePs(): bigint {
    return timeOf(this.lastLo, this.lastHi);
  }

  /** Time of the last frame; 0: there is none. */
  get totalTimePs(): bigint {
    return this.hasLast ? this.lastTimePs : 0n;
  }

  /** A frame at this time has been taken. */
  advance(lo: number, hi: number, items: number): void {
    this.lastLo = lo;
    this.lastHi = hi;
    this.hasLast = true;
    this.items += items;
    this.frames++;
  }
}

export function timeOf(lo: number, hi: number): bigint {
  return (BigInt(hi) << 32n) | BigInt(lo);
}

export const lowHalf = (timePs: bigint): number => Number(timePs & 0xffff_ffffn);
export const highHalf = (timePs: bigint): number => Number(timePs >> 32n);
