/** What every search gets. */

/** What a search asks of an index, so that it reads only segments in which something may be found. */
export interface SearchIndex {
  /** The first segment from `segment` on that may hold an event of a type; null: none does. */
  segmentWithEvent(eventType: number, segment: number): Promise<number | null>;
}

/** In ps, start inclusive, end exclusive; `to` null: to the end. */
export interface SearchRange {
  readonly from: bigint;
  readonly to: bigint | null;
}

export interface SearchCall {
  /** Segments without what is searched are not read: `searchIndex` of `uscope/trace-index`. */
  readonly index?: SearchIndex | undefined;
  /** Told how much is done, 0 to 1, now and then. */
  readonly progress?: ((fraction: number) => void) | undefined;
  /** Ends the search: it then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Awaited between slices of work, so that a thread can take messages. */
  readonly pause?: (() => Promise<void>) | undefined;
}
