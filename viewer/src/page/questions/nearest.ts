/** Goes to the next flush, long stall or gap in retirement, or to the one before. */
import { signal } from '@preact/signals';
import { AskError } from '../../data/asker.js';
import type { NearestArgs } from '../../data/questions/nearest.js';
import { grouped } from '../../model/ticks.js';
import { pictureSize, settings, state, tell } from '../store.js';
import { currentEngine } from '../threads/current-engine.js';
import { pointedAt } from './inspection.js';

type Incident = NearestArgs['what'];

/** Cycles that a stall or gap must exceed: as it was asked for last. */
export const limits = signal<Readonly<Record<'stall' | 'gap', number>>>({ stall: 20, gap: 50 });

const NAMES = { flush: 'flush', stall: 'stall', gap: 'gap in retirement' } as const;

let controller: AbortController | null = null;
/** Where the last one led. */
let last: number | null = null;

export async function goToNearest(what: Incident, direction: 1 | -1): Promise<void> {
  const engine = currentEngine();
  if (!engine || !state.value) return;
  stopNearest();
  const own = new AbortController();
  controller = own;
  const longer = what === 'flush' ? 0 : limits.value[what];
  const where = what === 'flush' ? '' : ` longer than ${grouped(longer)} cycles`;
  const waiting = setTimeout(() => tell(`looking for a ${NAMES[what]}${where}; Esc stops`), 300);
  try {
    const found = await engine.ask('nearest', { what, direction, cycle: start(), longer }, own.signal);
    if (!found) {
      tell(`no ${NAMES[what]}${where} ${direction > 0 ? 'after' : 'before'} this`);
      return;
    }
    last = found.from;
    pointedAt(found.from);
    engine.run({ do: 'goCycle', cycle: found.from });
    const length = what === 'flush' ? '' : ` of ${grouped(found.to - found.from)} cycles`;
    tell(`${NAMES[what]}${length} at ${grouped(found.from)}`);
  } catch (error) {
    if (!own.signal.aborted) tell(error instanceof AskError ? error.message : String(error));
  } finally {
    clearTimeout(waiting);
    if (controller === own) controller = null;
  }
}

/** @returns false: nothing was looked for */
export function stopNearest(): boolean {
  const isRunning = controller !== null;
  controller?.abort(new Error('stopped'));
  controller = null;
  return isRunning;
}

/** The one gone to last while it is in sight, else the place where one is shown after a jump. */
function start(): number {
  const { view } = state.value!;
  const cycles = (pictureSize.value.width - settings.value.gutter) / view.scale;
  if (last !== null && last >= view.x && last < view.x + cycles) return last;
  return Math.floor(view.x + cycles / 4);
}
