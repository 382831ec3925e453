/** Cursors, ranges, bookmarks, and undoing their changes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changed, redone, type Undoable, undoable, undone } from './history.js';
import {
  addCursor,
  type Bookmark,
  freeBookmarkId,
  MAX_BOOKMARKS,
  MAX_CURSORS,
  moveCursor,
  NO_PLACES,
  neighbourCursor,
  type Places,
  putBookmark,
  rangeBetween,
  rangeOfCursors,
  removeBookmark,
  removeCursor,
} from './places.js';

const at = (...cycles: number[]): Places => cycles.reduce(addCursor, NO_PLACES);
const cycles = ({ cursors }: Places): number[] => cursors.map(({ cycle }) => cycle);
const chosenCycle = ({ cursors, chosen }: Places): number | undefined =>
  cursors.find(({ id }) => id === chosen)?.cycle;

describe('cursors', () => {
  it('lie in the order of cycles, each cycle once, and the last one added is chosen', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { maxLength: 40 }), (all) => {
        const places = at(...all);
        expect(cycles(places)).toEqual([...new Set(all)].sort((a, b) => a - b));
        expect(chosenCycle(places)).toBe(all.at(-1));
        expect(new Set(places.cursors.map(({ id }) => id)).size).toBe(places.cursors.length);
      }),
    );
  });

  it('keep their number when they are moved past others, and take whole cycles', () => {
    const places = at(10, 20, 30);
    const moved = moveCursor(places, places.cursors[0]!.id, 25.7);
    expect(cycles(moved)).toEqual([20, 25, 30]);
    expect(moved.cursors[1]!.id).toBe(places.cursors[0]!.id);
    expect(cycles(moveCursor(places, places.cursors[2]!.id, -5))).toEqual([0, 10, 20]);
    expect(cycles(moveCursor(places, places.cursors[2]!.id, Number.NaN))).toEqual([0, 10, 20]);
  });

  it('leave the choice to the next one when they are removed', () => {
    let places = at(10, 30, 20);
    expect(chosenCycle(places)).toBe(20);
    places = removeCursor(places, places.chosen!);
    expect([cycles(places), chosenCycle(places)]).toEqual([[10, 30], 30]);
    places = removeCursor(places, places.chosen!);
    expect(chosenCycle(places)).toBe(10);
    places = removeCursor(places, places.chosen!);
    expect([places.cursors.length, places.chosen]).toEqual([0, null]);
    expect(removeCursor(places, 7)).toBe(places);
  });

  it('are reached one after the other, round the ends', () => {
    const places = at(10, 20, 30);
    const visit = (start: Places, direction: 1 | -1): number[] => {
      const visited: number[] = [];
      let now = start;
      for (let i = 0; i < 4; i++) {
        const next = neighbourCursor(now, direction, 0)!;
        visited.push(next.cycle);
        now = { ...now, chosen: next.id };
      }
      return visited;
    };
    expect(visit(places, 1)).toEqual([10, 20, 30, 10]);
    expect(visit(places, -1)).toEqual([20, 10, 30, 20]);
    const none = { ...places, chosen: null };
    expect(neighbourCursor(none, 1, 15)!.cycle).toBe(20);
    expect(neighbourCursor(none, -1, 15)!.cycle).toBe(10);
    expect(neighbourCursor(none, 1, 99)!.cycle).toBe(10);
    expect(neighbourCursor(none, -1, 5)!.cycle).toBe(30);
    expect(neighbourCursor(NO_PLACES, 1, 0)).toBeNull();
  });

  it(`are at most ${MAX_CURSORS}`, () => {
    const places = at(...Array.from({ length: MAX_CURSORS + 5 }, (_, index) => index));
    expect(places.cursors.length).toBe(MAX_CURSORS);
  });
});

describe('a range', () => {
  it('has both cycles in it, whichever is given first', () => {
    expect(rangeBetween(20, 10)).toEqual({ from: 10, to: 21 });
    expect(rangeBetween(5.9, 5.1)).toEqual({ from: 5, to: 6 });
    expect(rangeBetween(-3, 4)).toEqual({ from: 0, to: 5 });
  });

  it('is between the chosen cursor and the one before it; without a choice between the outer ones', () => {
    const places = at(10, 30, 20);
    expect(rangeOfCursors(places)).toEqual({ from: 10, to: 21 });
    expect(rangeOfCursors({ ...places, chosen: places.cursors[0]!.id })).toEqual({ from: 10, to: 21 });
    expect(rangeOfCursors({ ...places, chosen: null })).toEqual({ from: 10, to: 31 });
    expect(rangeOfCursors(at(10))).toBeNull();
  });
});

describe('bookmarks', () => {
  const view = { x: 0, y: 0, scale: 1, aspect: 1 };
  const make = (id: string, cycle = 0, name = ''): Bookmark => ({
    id,
    cycle,
    name,
    note: '',
    view,
    selected: null,
  });

  it('lie in the order of cycles; one of the same key is replaced', () => {
    const places = [make('3', 50), make('1', 20), make('3', 10, 'other')].reduce(putBookmark, NO_PLACES);
    expect(places.bookmarks.map(({ id, cycle, name }) => [id, cycle, name])).toEqual([
      ['3', 10, 'other'],
      ['1', 20, ''],
    ]);
    expect(removeBookmark(places, '3').bookmarks.map(({ id }) => id)).toEqual(['1']);
  });

  it('without a key get a number that keys do not have, and are bounded', () => {
    let places = NO_PLACES;
    for (let i = 0; i < MAX_BOOKMARKS + 3; i++) places = putBookmark(places, make(freeBookmarkId(places), i));
    expect(places.bookmarks.length).toBe(MAX_BOOKMARKS);
    expect(places.bookmarks.every(({ id }) => Number(id) >= 10)).toBe(true);
    const long = putBookmark(NO_PLACES, { ...make('1'), name: 'x'.repeat(5000), note: 'y'.repeat(5000) });
    expect(long.bookmarks[0]!.name.length + long.bookmarks[0]!.note.length).toBe(1100);
  });
});

describe('undo', () => {
  it('returns through everything that was, and forward again', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 1, maxLength: 50 }), (values) => {
        const distinct = values.filter((value, index) => value !== (index === 0 ? -1 : values[index - 1]));
        let history: Undoable<number> = undoable(-1);
        for (const value of values) history = changed(history, value);
        const seen: number[] = [];
        for (let before = undone(history); before; before = undone(history)) {
          history = before;
          seen.push(history.now);
        }
        expect(seen).toEqual([-1, ...distinct.slice(0, -1)].reverse());
        for (let next = redone(history); next; next = redone(history)) history = next;
        expect(history.now).toBe(values.at(-1));
      }),
    );
  });

  it('takes the steps of one drag as one, and forgets what was undone after a new change', () => {
    let history = changed(undoable(1), 2);
    history = changed(history, 3, true);
    history = changed(history, 4, true);
    expect(undone(history)!.now).toBe(1);
    const other = changed(undone(history)!, 9);
    expect(redone(other)).toBeNull();
    expect(undone(undoable(1))).toBeNull();
  });
});
