/** Retired instructions before the cycles that the user marked: asked of the trace when these change. */
import { effect, signal } from '@preact/signals';
import { info } from '../store.js';
import { currentEngine } from '../threads/current-engine.js';
import { places } from './places.js';

/** By cycle; what is not in it is not known yet, or the trace has no core. */
export const retiredBefore = signal<ReadonlyMap<number, number>>(new Map());

/** While a cursor is dragged, the trace is not asked for every place on the way. */
const DELAY_MS = 40;

/** @returns stops it */
export function followRetired(): () => void {
  let controller = new AbortController();
  let timer = 0;
  let of: unknown = null;
  const stop = effect(() => {
    const trace = info.value;
    const { cursors, range } = places.value;
    if (of !== trace) retiredBefore.value = new Map();
    of = trace;
    const wanted = new Set([...cursors.map(({ cycle }) => cycle), ...(range ? [range.from, range.to] : [])]);
    const missing = [...wanted].filter((cycle) => !retiredBefore.peek().has(cycle));
    clearTimeout(timer);
    controller.abort();
    if (!trace || trace.core < 0 || missing.length === 0) return;
    controller = new AbortController();
    const { signal: over } = controller;
    timer = setTimeout(() => void ask(missing, over), DELAY_MS) as unknown as number;
  });
  return () => {
    stop();
    clearTimeout(timer);
    controller.abort();
  };
}

const MAX_KEPT = 4096;

async function ask(cycles: readonly number[], over: AbortSignal): Promise<void> {
  try {
    const counts = await currentEngine()?.ask('retired', { cycles }, over);
    if (!counts || over.aborted) return;
    const known = retiredBefore.peek().size > MAX_KEPT ? [] : retiredBefore.peek();
    retiredBefore.value = new Map([
      ...known,
      ...cycles.map((cycle, index) => [cycle, counts[index]!] as const),
    ]);
  } catch {
    // The page says what is wrong with the trace elsewhere; the columns stay empty.
  }
}
