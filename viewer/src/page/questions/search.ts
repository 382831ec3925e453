/** The search of the page: hits come in slices from a worker that only searches, and can be ended at any moment. */
import { effect, signal, untracked } from '@preact/signals';
import { AskError } from '../../data/asker.js';
import type { Problem } from '../../data/protocol.js';
import { HitList, type Hits, NO_HITS, nextHit } from '../../model/hits.js';
import { registerLink } from '../link-state.js';
import { showCycle } from '../places/place-actions.js';
import { info, pictureSize, settings, state, tell } from '../store.js';
import { currentEngine } from '../threads/current-engine.js';

interface SearchState {
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

const linkedSearch = registerLink<string>(
  { key: 'find', format: (pattern) => [pattern], parse: ([pattern]) => pattern ?? null },
  {
    get: () => search.value?.pattern ?? null,
    set: (pattern) => {
      if (pattern !== (search.value?.pattern ?? null)) beginSearch(pattern ?? '', false);
    },
  },
);

/** A linked search begins once the trace is here, and goes to none of its hits. */
export function beginLinkedSearch(): void {
  if (linkedSearch === null) return;
  const stop = effect(() => {
    if (!info.value) return;
    queueMicrotask(() => stop());
    untracked(() => beginSearch(linkedSearch, false));
  });
}

const SLICE_MS = 40;
const MARKS_INTERVAL_MS = 200;

let searches = 0;
let controller: AbortController | null = null;
let marked = 0;

/** @param goes whether it goes to the next hit from here on */
export function beginSearch(pattern: string, goes = true): void {
  stopSearch();
  clearMarks();
  if (pattern.trim() === '' || !currentEngine()) {
    search.value = null;
    return;
  }
  controller = new AbortController();
  search.value = {
    pattern,
    status: 'searching',
    progress: 0,
    problem: null,
    hits: NO_HITS,
    current: null,
  };
  void run(pattern, goes, controller.signal);
}

/** The hits so far remain. @returns false: there was nothing to stop */
export function stopSearch(): boolean {
  const isRunning = search.value?.status === 'searching';
  controller?.abort(new Error('the search was stopped'));
  controller = null;
  if (isRunning) change({ status: 'stopped' });
  return isRunning;
}

export function clearSearch(): void {
  stopSearch();
  search.value = null;
  clearMarks();
}

/** Goes to the next hit (1) or the one before (-1). */
export function stepSearch(direction: 1 | -1): void {
  const now = search.value;
  if (!now) return;
  const next = nextHit(now.hits, now.current, placeNow(), direction);
  if (next >= 0) goToHit(next);
  else if (now.status !== 'searching') tell('nothing was found');
}

export function goToHit(index: number): void {
  const now = search.value;
  if (!now) return;
  const row = now.hits.rows[index]!;
  const cycle = now.hits.cycles[index]!;
  const id = now.hits.ids[index]!;
  change({ current: index });
  currentEngine()?.post({ type: 'hit', cycle });
  // From far away it comes to the middle, not to the edge.
  if (row >= 0) currentEngine()?.run({ do: isInSight(cycle) ? 'reveal' : 'goRow', row });
  else {
    showCycle(cycle);
    if (id >= 0) currentEngine()?.run({ do: 'selectId', id, cycle });
  }
}

async function run(pattern: string, goes: boolean, stopped: AbortSignal): Promise<void> {
  const ask = currentEngine()!.questionThread('search').ask;
  const list = new HitList();
  const args = { search: ++searches, pattern, ignoreCase: ignoresCase.value, budgetMs: SLICE_MS };
  const start = placeNow();
  let mustGo = goes;
  try {
    for (let isDone = false; !isDone; ) {
      const answer = await ask('find', args, stopped);
      ({ isDone } = answer);
      list.add(answer);
      change({ hits: list.hits, progress: answer.progress, status: isDone ? 'done' : 'searching' });
      mark(isDone);
      if (mustGo && (isDone || answer.cycles.at(-1)! >= start)) {
        mustGo = false;
        stepSearch(1);
      }
    }
  } catch (error) {
    if (stopped.aborted) return;
    const problem = error instanceof AskError ? error.problem : null;
    change({ status: 'bad', problem });
  }
}

/** From where the next hit is looked for: the selected instruction, else the left edge. */
function placeNow(): number {
  const shown = state.value;
  return shown?.selected?.born ?? shown?.view.x ?? 0;
}

function isInSight(cycle: number): boolean {
  const view = state.value?.view;
  if (!view) return false;
  const cycles = (pictureSize.value.width - settings.value.gutter) / view.scale;
  return cycle >= view.x && cycle < view.x + cycles;
}

function change(part: Partial<SearchState>): void {
  if (search.value) search.value = { ...search.value, ...part };
}

/** Marks the hits in the picture and on the overview, now and then. */
function mark(isLast: boolean): void {
  const now = performance.now();
  const hits = search.value?.hits;
  if (!hits || (!isLast && now - marked < MARKS_INTERVAL_MS)) return;
  marked = now;
  const rows = rising(hits.rows.filter((row) => row >= 0));
  const cycles = rising(hits.cycles.slice());
  currentEngine()?.post({ type: 'hits', rows, cycles }, [rows.buffer, cycles.buffer]);
}

function clearMarks(): void {
  marked = 0;
  currentEngine()?.post({ type: 'hits', rows: new Float64Array(), cycles: new Float64Array() });
}

/** Most are in order already. */
function rising(values: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  for (let at = 1; at < values.length; at++) if (values[at]! < values[at - 1]!) return values.sort();
  return values;
}
