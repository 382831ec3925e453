/**
 * The first pass over a log, in windows of instructions as they come: from when to when each reaches. So the second pass knows what is complete,
 * and how many are in flight. Memory is bounded: windows become longer when there are too many.
 */

const FIRST_SIZE = 64;
const MOST_WINDOWS = 262_144;

export class Windows {
  /** Instructions in a window. */
  size = FIRST_SIZE;
  private count = 0;
  private instructions = 0;
  private starts: Float64Array = new Float64Array(1024);
  private ends: Float64Array = new Float64Array(1024);

  /** Those that were gathered elsewhere. @param starts by window, as `ends`: not copied */
  static of(size: number, instructions: number, starts: Float64Array, ends: Float64Array): Windows {
    const windows = new Windows();
    windows.size = size;
    windows.count = starts.length;
    windows.instructions = instructions;
    windows.starts = starts;
    windows.ends = ends;
    return windows;
  }

  add(start: number, end: number): void {
    if (this.instructions++ % this.size === 0) this.begin(start, end);
    const last = this.count - 1;
    if (start < this.starts[last]) this.starts[last] = start;
    if (end > this.ends[last]) this.ends[last] = end;
  }

  /** At a tick at most; all of a window count while one of it may be in flight. */
  get mostInFlight(): number {
    const starts = this.starts.slice(0, this.count).sort();
    const ends = this.ends.slice(0, this.count).sort();
    let most = 0;
    for (let started = 0, ended = 0; started < this.count; started++) {
      while (ends[ended] < starts[started]) ended++;
      most = Math.max(most, started + 1 - ended);
    }
    return Math.min(most * this.size, this.instructions);
  }

  /** By window: the least start of it and of all after it. */
  get leastFrom(): Float64Array {
    const least = this.starts.slice(0, this.count);
    for (let at = least.length - 2; at >= 0; at--) least[at] = Math.min(least[at], least[at + 1]);
    return least;
  }

  private begin(start: number, end: number): void {
    if (this.count === MOST_WINDOWS) this.merge();
    if (this.count === this.starts.length) {
      this.starts = grown(this.starts);
      this.ends = grown(this.ends);
    }
    this.starts[this.count] = start;
    this.ends[this.count++] = end;
  }

  /** Two windows become one. */
  private merge(): void {
    this.count /= 2;
    this.size *= 2;
    for (let at = 0; at < this.count; at++) {
      this.starts[at] = Math.min(this.starts[2 * at], this.starts[2 * at + 1]);
      this.ends[at] = Math.max(this.ends[2 * at], this.ends[2 * at + 1]);
    }
  }
}

function grown(values: Float64Array): Float64Array<ArrayBuffer> {
  const more = new Float64Array(2 * values.length);
  more.set(values);
  return more;
}
