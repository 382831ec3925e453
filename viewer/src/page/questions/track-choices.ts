/** Which counters, buffers, events and slots the tracks show: by name, remembered in this browser. */
import { computed, signal } from '@preact/signals';
import {
  type Described,
  defaultChoice,
  namesOf,
  slotFieldOf,
  type TrackList,
} from '../../model/track-lists.js';
import type { SlotField } from '../../model/window.js';
import { info, remember, remembered } from '../store.js';

const CHOICES_KEY = 'uscope.view.tracks';

/** By list; absent: not chosen yet. */
type Choices = Readonly<Partial<Record<TrackList, readonly string[]>>> & {
  readonly showsTotals?: boolean;
};

function parseChoices(text: string | null): Choices {
  try {
    const value = JSON.parse(text ?? '{}') as Record<string, unknown>;
    const lists = (['counters', 'buffers', 'events', 'values'] as const).flatMap((list) => {
      const names = value?.[list];
      const isList =
        Array.isArray(names) && names.every((name) => typeof name === 'string' && name.length < 1000);
      return isList ? [[list, names.slice(0, 500)]] : [];
    });
    return { ...Object.fromEntries(lists), showsTotals: value?.showsTotals === true };
  } catch {
    return {};
  }
}

export const choices = signal<Choices>(parseChoices(remembered(CHOICES_KEY)));

export function choose(part: Partial<Choices>): void {
  choices.value = { ...choices.value, ...part };
  remember(CHOICES_KEY, choices.value);
}

/** What the lists are made from; null: no trace is open. */
export const described = computed<Described | null>(() => {
  const trace = info.value;
  if (!trace) return null;
  return { ...trace, core: trace.cores[trace.core]?.name ?? null };
});

/** Names shown now, those only that the trace has. */
function shownNames(list: TrackList): readonly string[] {
  const trace = described.value;
  if (!trace) return [];
  const chosen = choices.value[list];
  if (!chosen) return defaultChoice(list, trace);
  if (list === 'values') return chosen.filter((name) => slotFieldOf(name, trace) !== null);
  const known = new Set(namesOf(list, trace));
  const kept = chosen.filter((name) => known.has(name));
  // All of them are of another trace.
  return kept.length === 0 && chosen.length > 0 ? defaultChoice(list, trace) : kept;
}

export const shown = {
  counters: computed(() => shownNames('counters')),
  buffers: computed(() => shownNames('buffers')),
  events: computed(() => shownNames('events')),
  values: computed(() => shownNames('values')),
} as const;

export const shownValues = computed<readonly SlotField[]>(() => {
  const trace = described.value;
  return trace ? shown.values.value.flatMap((name) => slotFieldOf(name, trace) ?? []) : [];
});
