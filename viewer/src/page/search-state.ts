/** What is searched, and what was found so far: part of the store. `search.ts`, which searches, comes later. */
import { signal } from '@preact/signals';
import type { Problem } from '../data/protocol.js';
import type { Hits } from '../model/hits.js';
import { loadPanels } from '../panels/later.js';
import { registerLink } from './link-state.js';

export interface SearchState {
  readonly pattern: string;
  /** `stopped`: by the user, the hits so far remain. */
  readonly status: 'searching' | 'done' | 'stopped' | 'bad';
  /** Part of the trace looked through, 0 to 1. */
  readonly progress: number;
  readonly problem: Problem | null;
  readonly hits: Hits;
  /** Index of the hit gone to; null: none yet. */
  readonly current: number | null;
}

export const search = signal<SearchState | null>(null);
/** Upper and lower case are the same. */
export const ignoresCase = signal(true);

/** A linked search begins once the trace is here. */
export const linkedSearch = registerLink<string>(
  { key: 'find', format: (pattern) => [pattern], parse: ([pattern]) => pattern ?? null },
  {
    get: () => search.value?.pattern ?? null,
    set: (pattern) => {
      if (pattern !== (search.value?.pattern ?? null)) void searchAsLinked(pattern ?? '');
    },
  },
);

/** Without going to what it finds. @param pattern '': nothing is searched any more */
export async function searchAsLinked(pattern: string): Promise<void> {
  (await loadPanels()).beginSearch(pattern, false);
}
