/** What the user marks in a trace: cursors, a range of cycles, bookmarks. Pure: every change gives new places. */
import type { View } from './view.js';

export interface Cursor {
  /** Stays when it is moved; also its name for people. */
  readonly id: number;
  readonly cycle: number;
}

/** Whole cycles of the core shown. */
export interface CycleRange {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

export interface Bookmark {
  /** `0` to `9` for those of a key; longer for the others. */
  readonly id: string;
  readonly name: string;
  readonly note: string;
  /** Where its mark is. */
  readonly cycle: number;
  readonly view: View;
  readonly selected: number | null;
}

export interface Places {
  /** In the order of cycles. */
  readonly cursors: readonly Cursor[];
  /** Id of the chosen one. */
  readonly chosen: number | null;
  readonly range: CycleRange | null;
  readonly bookmarks: readonly Bookmark[];
}

export const NO_PLACES: Places = { cursors: [], chosen: null, range: null, bookmarks: [] };

/** More would neither be seen nor fit a link. */
export const MAX_CURSORS = 256;
export const MAX_BOOKMARKS = 256;
export const MAX_NAME = 100;
export const MAX_NOTE = 1000;
/** Cycles beyond are no longer exact. */
export const MAX_CYCLE = Number.MAX_SAFE_INTEGER;

const wholeCycle = (cycle: number): number =>
  Number.isFinite(cycle) ? Math.max(0, Math.min(MAX_CYCLE - 1, Math.floor(cycle))) : 0;

const byCycle = (a: Cursor, b: Cursor): number => a.cycle - b.cycle || a.id - b.id;

/** The smallest number that no cursor has. */
function freeId(cursors: readonly Cursor[]): number {
  const taken = new Set(cursors.map(({ id }) => id));
  let id = 1;
  while (taken.has(id)) id++;
  return id;
}

/** Adds one and chooses it; where there is one already, that is chosen. */
export function addCursor(places: Places, cycle: number): Places {
  const at = wholeCycle(cycle);
  const there = places.cursors.find((cursor) => cursor.cycle === at);
  if (there) return { ...places, chosen: there.id };
  if (places.cursors.length >= MAX_CURSORS) return places;
  const id = freeId(places.cursors);
  return { ...places, cursors: [...places.cursors, { id, cycle: at }].sort(byCycle), chosen: id };
}

export function moveCursor(places: Places, id: number, cycle: number): Places {
  const at = wholeCycle(cycle);
  const cursors = places.cursors.map((cursor) => (cursor.id === id ? { id, cycle: at } : cursor));
  return { ...places, cursors: cursors.sort(byCycle) };
}

/** Its neighbour is chosen next: the following one, else the one before. */
export function removeCursor(places: Places, id: number): Places {
  const index = places.cursors.findIndex((cursor) => cursor.id === id);
  if (index < 0) return places;
  const cursors = places.cursors.filter((cursor) => cursor.id !== id);
  const next = cursors[index] ?? cursors[index - 1];
  return { ...places, cursors, chosen: places.chosen === id ? (next?.id ?? null) : places.chosen };
}

/**
 * The cursor after the chosen one (1) or before it (-1), round the ends; none chosen: the next one seen from a cycle.
 * @param from cycle in the middle of the screen
 */
export function neighbourCursor(places: Places, direction: 1 | -1, from: number): Cursor | null {
  const { cursors, chosen } = places;
  if (cursors.length === 0) return null;
  const index = cursors.findIndex(({ id }) => id === chosen);
  if (index >= 0) return cursors[(index + direction + cursors.length) % cursors.length]!;
  const following = cursors.findIndex(({ cycle }) => cycle > from);
  if (direction === 1) return cursors[Math.max(0, following)]!;
  const before = following < 0 ? cursors.length - 1 : following - 1;
  return cursors[(before + cursors.length) % cursors.length]!;
}

/** Both cycles are in it; in either order. */
export function rangeBetween(a: number, b: number): CycleRange {
  const [from, last] = [wholeCycle(Math.min(a, b)), wholeCycle(Math.max(a, b))];
  return { from, to: last + 1 };
}

/** From the chosen cursor to the one before it, or to the next if it is the first; none chosen: from the first to the last. */
export function rangeOfCursors({ cursors, chosen }: Places): CycleRange | null {
  if (cursors.length < 2) return null;
  const index = cursors.findIndex(({ id }) => id === chosen);
  const [a, b] =
    index < 0 ? [cursors[0]!, cursors.at(-1)!] : [cursors[index]!, cursors[index === 0 ? 1 : index - 1]!];
  return rangeBetween(a.cycle, b.cycle);
}

/** Puts one in, in the order of cycles; that of the same id is replaced. */
export function putBookmark(places: Places, bookmark: Bookmark): Places {
  const others = places.bookmarks.filter(({ id }) => id !== bookmark.id);
  if (others.length >= MAX_BOOKMARKS) return places;
  const bounded = {
    ...bookmark,
    cycle: wholeCycle(bookmark.cycle),
    name: bookmark.name.slice(0, MAX_NAME),
    note: bookmark.note.slice(0, MAX_NOTE),
  };
  const bookmarks = [...others, bounded].sort((a, b) => a.cycle - b.cycle || (a.id < b.id ? -1 : 1));
  return { ...places, bookmarks };
}

export const removeBookmark = (places: Places, id: string): Places => ({
  ...places,
  bookmarks: places.bookmarks.filter((bookmark) => bookmark.id !== id),
});

/** For a bookmark without a separate key. */
export function freeBookmarkId({ bookmarks }: Places): string {
  const taken = new Set(bookmarks.map(({ id }) => id));
  let number = 10;
  while (taken.has(String(number))) number++;
  return String(number);
}

/** What people call it. */
export const bookmarkTitle = ({ id, name }: Bookmark): string => name || `bookmark ${id}`;
