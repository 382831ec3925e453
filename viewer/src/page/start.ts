/** The beginning of a picture: where the link leads, or what the user chose; and where one is, as links say it. */
import { effect, signal } from '@preact/signals';
import { readPart } from '../model/link.js';
import { countPart, rangePart, textPart, viewPart } from '../model/link-parts.js';
import type { CycleRange } from '../model/places.js';
import { showing, type View } from '../model/view.js';
import { registerLink } from './link-state.js';
import { ofPage, problems } from './problems.js';
import { core, info, pictureSize, settings, state } from './store.js';
import { currentEngine } from './threads/current-engine.js';

interface Start {
  /** A canvas can be given to a worker only once: every start gets new ones. */
  readonly generation: number;
  readonly core: string | null;
  /** Of the axis, of a trace without cores. */
  readonly clock: string | null;
  /** null: the beginning. */
  readonly view: View | null;
  readonly selected: number | null;
  readonly at: number | null;
}

const rowPart = countPart('row');
const atPart = countPart('at');

const hasSeveralCores = (): boolean => (info.value?.cores.length ?? 0) > 1;

const linkedCore = registerLink(textPart('core', 500), {
  get: () => (hasSeveralCores() ? (core.value?.name ?? null) : null),
  isWhere: true,
  set: (name, content) => {
    if (name === null || !core.value || name === core.value.name) return;
    restart(name, null, { view: readPart(content, viewPart), selected: readPart(content, rowPart) });
  },
});
const linkedView = registerLink(viewPart, {
  get: () => state.value?.view ?? null,
  isWhere: true,
  set: (view, content) => {
    const at = readPart(content, atPart);
    if (view) currentEngine()?.run({ do: 'view', view, selected: readPart(content, rowPart) });
    else if (at !== null) currentEngine()?.run({ do: 'goCycle', cycle: at });
  },
});
const linkedRow = registerLink(rowPart, {
  get: () => state.value?.selectedRow ?? null,
  isWhere: true,
  set: () => undefined,
});
/** Only read: for links that people or `uscope view --at` write. */
const linkedAt = registerLink(atPart, { get: () => null, set: () => undefined });

const cyclesPart = { ...rangePart, key: 'cycles' };

/** Only of links that people write: these cycles fill the width. */
const linkedCycles = registerLink(cyclesPart, {
  get: () => null,
  set: (cycles) => {
    if (cycles) showCycles(cycles);
  },
});

/** Brings a range of cycles onto the screen, with the instructions fetched then. */
function showCycles({ from, to }: CycleRange): void {
  const view = state.value?.view;
  const width = pictureSize.value.width - settings.value.gutter;
  if (!view || width <= 0) return;
  const selected = state.value!.selectedRow;
  currentEngine()?.run({ do: 'view', view: showing(view, from, to, width), selected });
  currentEngine()?.run({ do: 'return' });
}

/** The cycles of the link, once there is a picture. */
export function beginAtCycles(): void {
  const cycles = linkedCycles;
  if (!cycles) return;
  const stop = effect(() => {
    if (!state.value || pictureSize.value.width === 0) return;
    queueMicrotask(() => {
      stop();
      showCycles(cycles);
    });
  });
}

export const start = signal<Start>({
  generation: 0,
  core: linkedCore,
  clock: null,
  view: linkedView,
  selected: linkedRow,
  at: linkedAt,
});

/** Opens the trace again, or another one. */
export function restart(
  coreName: string | null,
  clock: string | null = null,
  place: Partial<Pick<Start, 'view' | 'selected'>> = {},
): void {
  const generation = start.value.generation + 1;
  info.value = null;
  state.value = null;
  problems.value = problems.value.filter(ofPage);
  start.value = { generation, core: coreName, clock, view: null, selected: null, at: null, ...place };
}
