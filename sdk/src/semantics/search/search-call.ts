/** What every search gets. */

import type { SearchIndex } from './search-index.js';

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
  /** Awaited between slices of work: see `StretchCall`. */
  readonly pause?: (() => Promise<void>) | undefined;
}
