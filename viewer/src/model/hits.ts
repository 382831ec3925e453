/** What a search has found so far, in the page. */

/** Hits of which more than row and cycle are kept. */
export const MAX_LISTED_HITS = 10_000;
/** Hits that are kept at all; the others are counted. */
const MAX_HITS = 2_000_000;

/** Some hits, in order of time. */
export interface HitBatch {
  /** Row of the instruction, or of the one that an event names; -1: none, or its number is not known. */
  readonly rows: Float64Array;
  /** Cycle of the fetch, or of the event. */
  readonly cycles: Float64Array;
  /** Id of the instruction; -1: none. */
  readonly ids: Float64Array;
  /** What is listed of each of the first `MAX_LISTED_HITS`. */
  readonly texts: readonly string[];
}

export interface Hits {
  readonly rows: Float64Array;
  readonly cycles: Float64Array;
  readonly ids: Float64Array;
  readonly texts: readonly string[];
  /** All that were found, also those not kept. */
  readonly count: number;
}

const NONE = new Float64Array();
export const NO_HITS: Hits = { rows: NONE, cycles: NONE, ids: NONE, texts: [], count: 0 };

/** Collects batches; arrays grow by half. */
export class HitList {
  private rows = new Float64Array(256);
  private cycles = new Float64Array(256);
  private ids = new Float64Array(256);
  private readonly texts: string[] = [];
  private kept = 0;
  private count = 0;

  add({ rows, cycles, ids, texts }: HitBatch): void {
    const added = Math.min(rows.length, MAX_HITS - this.kept);
    if (this.kept + added > this.rows.length) this.grow(this.kept + added);
    this.rows.set(rows.subarray(0, added), this.kept);
    this.cycles.set(cycles.subarray(0, added), this.kept);
    this.ids.set(ids.subarray(0, added), this.kept);
    this.kept += added;
    this.count += rows.length;
    for (const text of texts) if (this.texts.length < MAX_LISTED_HITS) this.texts.push(text);
  }

  /** Views that later batches do not change. */
  get hits(): Hits {
    const { kept, texts, count } = this;
    const [rows, cycles, ids] = [this.rows, this.cycles, this.ids].map((one) => one.subarray(0, kept));
    return { rows: rows!, cycles: cycles!, ids: ids!, texts, count };
  }

  private grow(least: number): void {
    const size = Math.min(MAX_HITS, Math.max(least, Math.ceil(this.rows.length * 1.5)));
    const grown = (values: Float64Array): Float64Array<ArrayBuffer> => {
      const larger = new Float64Array(size);
      larger.set(values);
      return larger;
    };
    [this.rows, this.cycles, this.ids] = [grown(this.rows), grown(this.cycles), grown(this.ids)];
  }
}

/** Index of the hit after (1) or before (-1) a place in time, around the end; -1: there are none. */
export function nextHit({ cycles }: Hits, current: number | null, cycle: number, direction: 1 | -1): number {
  const count = cycles.length;
  if (count === 0) return -1;
  if (current !== null) return (current + direction + count) % count;
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (cycles[middle]! < cycle) low = middle + 1;
    else high = middle;
  }
  return direction > 0 ? low % count : (low - 1 + count) % count;
}
