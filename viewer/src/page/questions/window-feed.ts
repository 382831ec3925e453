/**
 * What the tracks show, kept up to date with the view: one question at a time for all of them, for what is on the screen and half of
 * that on both sides. While it is answered, what is known moves with the view.
 */
import { computed, effect, signal } from '@preact/signals';
import { AskError } from '../../data/asker.js';
import type { Problem } from '../../data/protocol.js';
import { endOf, stepOf, type TimeView, windowFor } from '../../model/time-view.js';
import { catalogsOf } from '../../model/trace-panels.js';
import type { Described } from '../../model/track-lists.js';
import type { Wanted, WindowAnswer, WindowArgs } from '../../model/window.js';
import { isShown } from '../layout.js';
import { currentEngine } from '../perform.js';
import { info } from '../store.js';
import { timeView } from '../time.js';
import { described, shown, shownValues } from './track-choices.js';

export const answer = signal<WindowAnswer | null>(null);
/** A question has been open for some time: what is shown is of another time. */
export const isFeedLate = signal(false);
export const feedProblem = signal<Problem | null>(null);

const idsOf = (names: readonly string[], all: readonly string[]): number[] =>
  names.map((name) => all.indexOf(name)).filter((id) => id >= 0);

const LATE_MS = 300;

const NOTHING: Wanted = { counters: [], buffers: [], events: [], values: [] };

let lastWanted = NOTHING;

/** What the tracks that are shown need; the same object as long as that stays the same. */
const wanted = computed<Wanted>(() => {
  const next = wantedNow();
  if (JSON.stringify(next) !== JSON.stringify(lastWanted)) lastWanted = next;
  return lastWanted;
});

const buffersShown = ({ storageNames }: Described): number[] =>
  isShown('occupancy') ? idsOf(shown.buffers.value, storageNames) : [];

function wantedNow(): Wanted {
  const trace = described.value;
  if (!trace) return NOTHING;
  return {
    counters: isShown('counters') ? idsOf(shown.counters.value, trace.storageNames) : [],
    buffers: [...new Set([...buffersShown(trace), ...(isShown('transactions') ? catalogsOf(trace) : [])])],
    events: isShown('events') ? idsOf(shown.events.value, trace.eventNames) : [],
    values: isShown('values') ? shownValues.value : [],
  };
}

/** Whether an answer has what a view needs. */
function covers(
  { args, source }: WindowAnswer,
  view: TimeView,
  what: Wanted,
  first: number,
  last: number,
): boolean {
  if (args.counters !== what.counters || args.events !== what.events) return false;
  const isInside = args.from <= Math.max(first, view.x) && args.to >= Math.min(last, endOf(view));
  return isInside && (args.step === stepOf(view) || source === 'none');
}

let asking: { readonly args: WindowArgs; readonly controller: AbortController } | null = null;

function follow(): void {
  const view = timeView.value;
  const trace = info.value;
  const what = wanted.value;
  if (!view || !trace) return;
  const [first, last] = [trace.segmentCycles[0] ?? 0, trace.segmentCycles.at(-1) ?? 1];
  const args = windowFor(view, what, first, last);
  const known = answer.peek();
  if (!args || (known && covers(known, view, what, first, last))) return;
  if (asking) {
    // It is still of use while it reaches into the view; else it gives way.
    const isOfUse =
      asking.args.step === args.step && asking.args.from < args.to && asking.args.to > args.from;
    if (isOfUse) return;
    asking.controller.abort();
  }
  void ask(args);
}

async function ask(args: WindowArgs): Promise<void> {
  const engine = currentEngine();
  if (!engine) return;
  const mine = { args, controller: new AbortController() };
  asking = mine;
  const late = setTimeout(() => {
    isFeedLate.value = true;
  }, LATE_MS);
  try {
    // Ids are compared by identity: the answer holds a copy.
    const use = (found: WindowAnswer): void => {
      answer.value = { ...found, args };
    };
    const { signal } = mine.controller;
    const quick = await engine.ask('window', { ...args, isQuick: true }, signal);
    use(quick);
    if (quick.source === 'index') use(await engine.ask('window', args, signal));
    feedProblem.value = null;
  } catch (error) {
    if (error instanceof AskError) feedProblem.value = error.problem;
  } finally {
    clearTimeout(late);
    if (asking === mine) {
      asking = null;
      isFeedLate.value = false;
      if (!feedProblem.value) follow();
    }
  }
}

/** @returns stops */
export function startFeed(): () => void {
  answer.value = null;
  feedProblem.value = null;
  const stop = effect(follow);
  return () => {
    stop();
    asking?.controller.abort();
    asking = null;
  };
}
