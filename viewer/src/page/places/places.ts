/** Cursors, range and bookmarks: part of the store. They are changed only here, so that every change can be undone. */
import { computed, signal } from '@preact/signals';
import { changed, redone, type Undoable, undoable, undone } from '../../model/history.js';
import { bookmarksPart, cursorsPart, rangePart } from '../../model/link-parts.js';
import {
  addCursor as added,
  type Bookmark,
  type CycleRange,
  moveCursor as moved,
  NO_PLACES,
  type Places,
  putBookmark as put,
  removeCursor as removed,
  removeBookmark as unmarked,
} from '../../model/places.js';
import { isComplete, registerLink } from '../link-state.js';

const history = signal<Undoable<Places>>(undoable(NO_PLACES));

export const places = computed(() => history.value.now);
/** In the order of cycles. */
export const cursors = computed(() => places.value.cursors);
/** Id of the chosen cursor. */
export const chosenCursor = computed(() => places.value.chosen);
/** Whole cycles of the core shown, `to` exclusive. */
export const range = computed(() => places.value.range);
export const bookmarks = computed(() => places.value.bookmarks);
/** Cycle of the chosen cursor. */
export const chosenCycle = computed(
  () => cursors.value.find(({ id }) => id === chosenCursor.value)?.cycle ?? null,
);

/** @param joins it continues the change before: both are undone together */
function change(next: Places, joins = false): void {
  history.value = changed(history.value, next, joins);
}

/** Choices are not changes: there is nothing to undo. */
export function chooseCursor(id: number | null): void {
  history.value = { ...history.value, now: { ...places.value, chosen: id } };
}

export const addCursor = (cycle: number): void => change(added(places.value, cycle));
export const removeCursor = (id: number): void => change(removed(places.value, id));
export const removeCursors = (): void => change({ ...places.value, cursors: [], chosen: null });

/** @param joins for all but the first step of a drag */
export function moveCursor(id: number, cycle: number, joins = false): void {
  change({ ...moved(places.value, id, cycle), chosen: id }, joins);
}

export function setRange(next: CycleRange | null, joins = false): void {
  change({ ...places.value, range: next }, joins);
}

export const putBookmark = (bookmark: Bookmark, joins = false): void =>
  change(put(places.value, bookmark), joins);
export const removeBookmark = (id: string): void => change(unmarked(places.value, id));

/** @returns false: there is nothing to undo */
export function undo(): boolean {
  const before = undone(history.value);
  if (before) history.value = before;
  return before !== null;
}

export function redo(): boolean {
  const next = redone(history.value);
  if (next) history.value = next;
  return next !== null;
}

/** What a link says replaces what is there; a link typed by hand that says nothing of it leaves it. */
const taken = <T>(value: T | null, hasAll: boolean, use: (value: T | null) => Places): void => {
  if (value !== null || hasAll) change(use(value));
};

const linkedCursors = registerLink(cursorsPart, {
  get: () => places.value,
  set: (value, content) =>
    taken(value, isComplete(content), (linked) => ({
      ...places.value,
      ...(linked ?? { cursors: [], chosen: null }),
    })),
});
const linkedRange = registerLink(rangePart, {
  get: () => range.value,
  set: (value, content) =>
    taken(value, isComplete(content), (linked) => ({ ...places.value, range: linked })),
});
const linkedBookmarks = registerLink(bookmarksPart, {
  get: () => bookmarks.value,
  set: (value, content) =>
    taken(value, isComplete(content), (linked) => ({ ...places.value, bookmarks: linked ?? [] })),
});

history.value = undoable({
  ...NO_PLACES,
  ...linkedCursors,
  range: linkedRange,
  bookmarks: linkedBookmarks ?? [],
});
