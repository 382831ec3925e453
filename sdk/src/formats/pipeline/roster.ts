/** Which instructions of a log are in flight. */

/** Instructions that are found without the map: nearly always all of them. */
const FEW_RECENT = 1024;
const NOBODY = -1;

/**
 * Logs number their instructions upwards, and some say something of one before they introduce it: a number above all so far is one that
 * begins there, another one that is not in flight has ended.
 */
export class Roster<T> {
  /** Those whose place among the recent ones another one has taken. */
  private readonly others = new Map<number, T>();
  private readonly recentIds: Float64Array;
  private readonly recent: (T | undefined)[];
  private highest = -1;
  private count = 0;

  /** @param places for recent ones, more than are usually in flight */
  constructor(private readonly places = FEW_RECENT) {
    this.recentIds = new Float64Array(places).fill(NOBODY);
    this.recent = new Array(places).fill(undefined);
  }

  /** Number of those in flight. */
  get size(): number {
    return this.count;
  }

  /** Undefined: it is not in flight. */
  get(id: number): T | undefined {
    const place = id % this.places;
    if (this.recentIds[place] === id) return this.recent[place];
    return this.others.size === 0 ? undefined : this.others.get(id);
  }

  /** Of one that is not in flight: whether its number is above all so far. */
  isNew(id: number): boolean {
    return id > this.highest;
  }

  /** It is not in flight yet. */
  add(id: number, value: T): void {
    const place = id % this.places;
    const before = this.recent[place];
    if (before !== undefined) this.others.set(this.recentIds[place], before);
    this.recentIds[place] = id;
    this.recent[place] = value;
    this.count++;
    if (id > this.highest) this.highest = id;
  }

  remove(id: number): void {
    const place = id % this.places;
    if (this.recentIds[place] === id) {
      this.recentIds[place] = NOBODY;
      this.recent[place] = undefined;
      this.count--;
    } else if (this.others.delete(id)) this.count--;
  }
}
