/** What each part of a link means. */
import { joinFields, type LinkPart, splitFields } from './link.js';
import {
  type Bookmark,
  type Cursor,
  type CycleRange,
  MAX_BOOKMARKS,
  MAX_CURSORS,
  MAX_CYCLE,
  NO_PLACES,
  putBookmark,
} from './places.js';
import { MAX_SCALE, type View } from './view.js';

/** Where people write numbers, they write `20,608`. */
function cycleOf(text: string): number | null {
  if (!/^\d[\d,_]{0,20}$/.test(text)) return null;
  const value = Number(text.replace(/[,_]/g, ''));
  return value < MAX_CYCLE ? value : null;
}

function finite(text: string): number | null {
  const value = Number(text);
  return /^-?[\d.]+(e[+-]?\d+)?$/i.test(text) && Number.isFinite(value) ? value : null;
}

/** All digits: the same view must give the same pixels. */
const viewText = ({ x, y, scale, aspect }: View): string => [x, y, scale, aspect].join(',');

function viewOf(text: string): View | null {
  const parts = text.split(',', 5).map(finite);
  const [x, y, scale, aspect] = parts;
  if (parts.length !== 4 || x == null || y == null || scale == null || aspect == null) return null;
  return scale > 0 && scale <= MAX_SCALE && aspect > 0 && aspect <= 1e6 ? { x, y, scale, aspect } : null;
}

export const viewPart: LinkPart<View> = {
  key: 'view',
  format: (view) => [viewText(view)],
  parse: ([text]) => viewOf(text!),
};

export const countPart = (key: string): LinkPart<number> => ({
  key,
  format: (value) => [String(value)],
  parse: ([text]) => cycleOf(text!),
});

/** A text of a few words. */
export const textPart = (key: string, maxLength: number): LinkPart<string> => ({
  key,
  format: (text) => (text === '' ? [] : [text]),
  parse: ([text]) => (text !== '' && text!.length <= maxLength ? text! : null),
});

export const choicePart = <T extends string>(key: string, choices: readonly T[]): LinkPart<T> => ({
  key,
  format: (value) => [value],
  parse: ([text]) => choices.find((choice) => choice === text) ?? null,
});

export const numberPart = (key: string, low: number, high: number): LinkPart<number> => ({
  key,
  format: (value) => [String(value)],
  parse: ([text]) => {
    const value = finite(text!);
    return value !== null && value >= low && value <= high ? value : null;
  },
});

interface CursorsLinked {
  readonly cursors: readonly Cursor[];
  readonly chosen: number | null;
}

/** `100,250.3*`: one in cycle 100, and number 3 in cycle 250, which is chosen. The first has number 1, and so on, where none is given. */
export const cursorsPart: LinkPart<CursorsLinked> = {
  key: 'c',
  format: ({ cursors, chosen }) => {
    const one = ({ id, cycle }: Cursor, index: number): string =>
      `${cycle}${id === index + 1 ? '' : `.${id}`}${id === chosen ? '*' : ''}`;
    return cursors.length === 0 ? [] : [cursors.map(one).join(',')];
  },
  parse: ([text]) => {
    const found = new Map<number, Cursor>();
    let chosen: number | null = null;
    for (const [index, one] of text!.split(',', MAX_CURSORS).entries()) {
      const [, cycle, id = String(index + 1), star] = /^(\d{1,16})(?:\.(\d{1,4}))?(\*)?$/.exec(one) ?? [];
      if (cycle === undefined || Number(cycle) >= MAX_CYCLE) continue;
      const cursor = { id: Number(id), cycle: Number(cycle) };
      if (cursor.id === 0 || found.has(cursor.id)) continue;
      found.set(cursor.id, cursor);
      if (star) chosen = cursor.id;
    }
    const cursors = [...found.values()].sort((a, b) => a.cycle - b.cycle || a.id - b.id);
    return cursors.length === 0 ? null : { cursors, chosen };
  },
};

/** `100-250`, the last cycle included. */
export const rangePart: LinkPart<CycleRange> = {
  key: 'range',
  format: ({ from, to }) => [`${from}-${to - 1}`],
  parse: ([text]) => {
    const [first, last, ...more] = text!.split('-', 3).map(cycleOf);
    return more.length === 0 && first != null && last != null && first <= last
      ? { from: first, to: last + 1 }
      : null;
  },
};

/** `3;x,y,scale,aspect;cycle;row;name;note`, once for each. */
export const bookmarksPart: LinkPart<readonly Bookmark[]> = {
  key: 'b',
  format: (bookmarks) =>
    bookmarks.map(({ id, view, cycle, selected, name, note }) => {
      const fields = [
        id,
        viewText(view),
        String(cycle),
        selected === null ? '' : String(selected),
        name,
        note,
      ];
      while (fields.at(-1) === '') fields.pop();
      return joinFields(fields);
    }),
  parse: (texts) => {
    let places = NO_PLACES;
    for (const text of texts.slice(0, MAX_BOOKMARKS)) {
      const [id = '', view = '', cycle = '', row = '', name = '', note = ''] = splitFields(text);
      const [seen, at] = [viewOf(view), cycleOf(cycle)];
      if (!/^\d{1,4}$/.test(id) || !seen || at === null) continue;
      const bookmark = { id: String(Number(id)), view: seen, cycle: at, selected: cycleOf(row), name, note };
      places = putBookmark(places, bookmark);
    }
    return places.bookmarks.length === 0 ? null : places.bookmarks;
  },
};
