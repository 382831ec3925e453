/** What the trace holds at the cursor: asked for when the cursor moves, and dropped when it moves on. */
import { computed, effect, signal } from '@preact/signals';
import type { InFlightAnswer } from '../../data/questions/in-flight.js';
import type { InspectAnswer } from '../../data/questions/inspect.js';
import type { TimeView } from '../../model/time-view.js';
import { isShown } from '../layout.js';
import { chosenCycle } from '../places/places.js';
import { info, state } from '../store.js';
import { currentEngine } from '../threads/current-engine.js';
import { timeView } from '../time.js';

/** Follows the pointer, also where a cursor is chosen. */
export const followsPointer = signal(false);
/** Storages of which all slots are listed. */
export const openStorages = signal<readonly number[]>([]);
export const inspection = signal<InspectAnswer | null>(null);
export const inFlight = signal<InFlightAnswer | null>(null);

/** While the pointer moves, no more than one question in this time. */
const INTERVAL_MS = 30;

/** Where the pointer was last; null: it was nowhere yet. */
const pointed = signal<number | null>(null);

export function pointedAt(cycle: number): void {
  pointed.value = cycle;
}

effect(() => {
  const hover = state.value?.hover?.cycle;
  if (hover !== undefined) pointed.value = hover;
});

/** Where the pointer was last, as long as that is on the screen; else the middle. */
function lookedAt(view: TimeView | null): number {
  const last = pointed.value;
  if (!view) return last ?? 0;
  const cycles = view.width / view.scale;
  return last !== null && last + 1 > view.x && last < view.x + cycles
    ? last
    : Math.floor(view.x + cycles / 2);
}

/** The cycle inspected: of the chosen cursor, else of the pointer, else in the middle of what is shown. */
export const inspectedCycle = computed(() => {
  const chosen = chosenCycle.value;
  const cycle = chosen !== null && !followsPointer.value ? chosen : lookedAt(timeView.value);
  const cycles = info.value?.segmentCycles;
  if (!cycles || cycles.length < 2) return null;
  return Math.max(cycles[0]!, Math.min(cycle, cycles.at(-1)! - 1));
});

let controller: AbortController | null = null;
let timer = 0;
let asked = 0;

effect(() => {
  const cycle = inspectedCycle.value;
  const open = openStorages.value;
  const trace = info.value;
  controller?.abort();
  clearTimeout(timer);
  if (cycle === null || !trace || !isShown('inspector')) return;
  const wait = Math.max(0, asked + INTERVAL_MS - performance.now());
  timer = setTimeout(() => void ask(cycle, open), wait) as unknown as number;
});

async function ask(cycle: number, open: readonly number[]): Promise<void> {
  asked = performance.now();
  const own = new AbortController();
  controller = own;
  const engine = currentEngine();
  if (!engine) return;
  try {
    inspection.value = await engine.ask('inspect', { cycle, open }, own.signal);
    inFlight.value = await engine.ask('inFlight', { cycle }, own.signal);
  } catch {
    // Superseded, or damage that the picture has reported: what was shown last is marked as of its cycle.
  }
}
