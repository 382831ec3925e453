/** Which instructions of a log are in flight. */

/** Instructions that are found without the map: the youngest. */
const RECENT = 1024;
const NOBODY = -1;

/**
 * Logs number their instructions upwards, and some say something of one before they introduce it: a number above all so far is one that
 * begins there, another one that is not in flight has ended.
 */
export class Roster<T> {
  private readonly live = new Map<number, T>();
  private readonly recentIds = new Float64Array(RECENT).fill(NOBODY);
  private readonly recent: (T | undefined)[] = new Array(RECENT).fill(undefined);
  private highest = -1;

  /** Number of those in flight. */
  get size(): number {
    return this.live.size;
  }

  /** Undefined: it is not in flight. */
  get(id: number): T | undefined {
    const place = id % RECENT;
    return this.recentIds[place] === id ? this.recent[place] : this.live.get(id);
  }

  /** Of one that is not in flight: whether its number is above all so far. */
  isNew(id: number): boolean {
    return id > this.highest;
  }

  add(id: number, value: T): void {
    const place = id % RECENT;
    this.recentIds[place] = id;
    this.recent[place] = value;
    this.live.set(id, value);
    if (id > this.highest) this.highest = id;
  }

  remove(id: number): void {
    this.live.delete(id);
    const place = id % RECENT;
    if (this.recentIds[place] !== id) return;
    this.recentIds[place] = NOBODY;
    this.recent[place] = undefined;
  }
}
