/** What keys and commands do with cursors, ranges and bookmarks. */
import { AXIS_HEIGHT } from '../../drawing/settings.js';
import { CURSOR_STEP, type PlaceAction } from '../../input/actions.js';
import {
  bookmarkTitle,
  freeBookmarkId,
  neighbourCursor,
  rangeBetween,
  rangeOfCursors,
} from '../../model/places.js';
import { reveal } from '../layout.js';
import { cycleAt, pictureSize, pointer, settings, state, tell } from '../store.js';
import { currentEngine } from '../threads/current-engine.js';
import {
  addCursor,
  bookmarks,
  chooseCursor,
  chosenCycle,
  cursors,
  moveCursor,
  places,
  putBookmark,
  redo,
  removeCursor,
  removeCursors,
  setRange,
  undo,
} from './places.js';

const middle = (): number => {
  const { gutter } = settings.value;
  return cycleAt(gutter + (pictureSize.value.width - gutter) / 2);
};

/** The cycle under the pointer if it is over the plot, else that in the middle. */
function pointedCycle(): number {
  const at = pointer.value;
  const hover = state.value?.hover;
  if (!at || at.x < settings.value.gutter || at.x >= pictureSize.value.width) return middle();
  return at.y >= AXIS_HEIGHT && hover ? hover.cycle : cycleAt(at.x);
}

export function addCursorHere(): void {
  if (state.value) addCursor(pointedCycle());
}

/** Chooses the next cursor and shows it. */
function stepCursor(direction: 1 | -1): void {
  const next = neighbourCursor(places.value, direction, middle());
  if (!next) {
    tell('there is no cursor; m adds one');
    return;
  }
  chooseCursor(next.id);
  showCycle(next.cycle);
}

/** Goes to a cycle, unless it is in sight. */
export function showCycle(cycle: number): void {
  const view = state.value?.view;
  if (!view) return;
  const cycles = (pictureSize.value.width - settings.value.gutter) / view.scale;
  if (cycle < view.x || cycle >= view.x + cycles) currentEngine()?.run({ do: 'goCycle', cycle });
}

function nudgeCursor(cycles: number): void {
  const { chosen } = places.value;
  const cycle = chosenCycle.value;
  if (chosen === null || cycle === null) return;
  moveCursor(chosen, cycle + cycles);
  showCycle(Math.max(0, cycle + cycles));
}

function removeChosenCursor(): void {
  const { chosen } = places.value;
  if (chosen !== null) removeCursor(chosen);
  else if (cursors.value.length > 0) tell('no cursor is chosen: [ and ] choose one');
}

function removeAllCursors(): void {
  if (cursors.value.length > 0) removeCursors();
}

function rangeFromCursors(): void {
  const next = rangeOfCursors(places.value);
  if (next) setRange(next);
  else tell('a range needs two cursors; m adds one');
}

function rangeOnScreen(): void {
  const view = state.value?.view;
  if (!view) return;
  const cycles = (pictureSize.value.width - settings.value.gutter) / view.scale;
  setRange(rangeBetween(view.x, Math.max(view.x, view.x + cycles - 1)));
}

export const clearRange = (): void => setRange(null);

/** Brings a range onto the screen. */
export function zoomToRange(): void {
  const { range } = places.value;
  const view = state.value?.view;
  if (!range || !view) {
    tell('there is no range: Shift and drag on the axis makes one');
    return;
  }
  const width = pictureSize.value.width - settings.value.gutter;
  const scale = Math.min(256, (width * 0.9) / (range.to - range.from));
  const x = range.from - (width / scale - (range.to - range.from)) / 2;
  currentEngine()?.run({ do: 'view', view: { ...view, x, scale }, selected: state.value!.selectedRow });
  currentEngine()?.run({ do: 'return' });
}

/** @param id of a key; null: one without */
export function setBookmark(id: string | null): void {
  const shown = state.value;
  if (!shown) return;
  const before = bookmarks.value.find((one) => one.id === id);
  const bookmark = {
    id: id ?? freeBookmarkId(places.value),
    name: before?.name ?? '',
    note: before?.note ?? '',
    cycle: pointedCycle(),
    view: shown.view,
    selected: shown.selectedRow,
  };
  putBookmark(bookmark);
  tell(`${bookmarkTitle(bookmark)} set`);
}

export function goBookmark(id: string): void {
  const bookmark = bookmarks.value.find((one) => one.id === id);
  if (!bookmark) {
    tell(`there is no bookmark ${id}; set one with b ${id}`);
    return;
  }
  currentEngine()?.run({ do: 'view', view: bookmark.view, selected: bookmark.selected });
}

/** Sets one and asks for its name. */
function nameBookmark(): void {
  const id = freeBookmarkId(places.value);
  setBookmark(id);
  reveal('places');
  requestAnimationFrame(() => document.getElementById(`bookmark-${id}`)?.focus());
}

export const PLACE_ACTIONS: Readonly<Record<PlaceAction, () => void>> = {
  addCursor: addCursorHere,
  nextCursor: () => stepCursor(1),
  previousCursor: () => stepCursor(-1),
  cursorLeft: () => nudgeCursor(-1),
  cursorRight: () => nudgeCursor(1),
  cursorFarLeft: () => nudgeCursor(-CURSOR_STEP),
  cursorFarRight: () => nudgeCursor(CURSOR_STEP),
  removeCursor: removeChosenCursor,
  removeCursors: removeAllCursors,
  rangeOfCursors: rangeFromCursors,
  rangeOnScreen,
  clearRange,
  zoomToRange,
  newBookmark: nameBookmark,
  undo: () => {
    if (!undo()) tell('nothing to undo');
  },
  redo: () => {
    if (!redo()) tell('nothing to do again');
  },
};
