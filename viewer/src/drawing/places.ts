/** Cursors, the range and bookmarks, above the picture: lines over the plot, flags on the axis. */
import { bookmarkTitle } from '../model/places.js';
import { grouped } from '../model/ticks.js';
import { AXIS_FONT, clipTo, fitted } from './canvas.js';
import type { Frame } from './frame.js';
import { AXIS_HEIGHT } from './settings.js';

/** Of the flag of a cursor, which is also where it is taken to be moved. */
const FLAG_HEIGHT = 14;
const FLAG_TOP = AXIS_HEIGHT - FLAG_HEIGHT - 6;
const MAX_BOOKMARK_TEXT = 90;

/** x of the beginning of a cycle, on the canvas. */
const xOf = ({ axis, left, view }: Frame, cycle: number): number =>
  Math.round(left + (cycle - axis.from) * view.scale);

/** Where time is not one axis for all rows, there is no place for marks of time. */
const hasPlace = ({ axis }: Frame): boolean => axis.origin === 'trace';

const isInSight = ({ left, plot }: Frame, x: number): boolean => x >= left - 1 && x <= left + plot.width;

/** Below the axis and its numbers. */
export function paintRange(frame: Frame): void {
  const { range } = frame.places;
  if (!range || !hasPlace(frame)) return;
  const { context, theme, left, plot } = frame;
  const x0 = Math.max(left, xOf(frame, range.from));
  const x1 = Math.min(left + plot.width, Math.max(x0 + 1, xOf(frame, range.to)));
  if (x1 <= x0 || xOf(frame, range.to) < left) return;
  context.save();
  context.fillStyle = theme.accent;
  context.globalAlpha = 0.1;
  context.fillRect(x0, AXIS_HEIGHT, x1 - x0, plot.height);
  context.globalAlpha = 0.3;
  context.fillRect(x0, 0, x1 - x0, AXIS_HEIGHT - 1);
  context.restore();
}

export function paintPlaces(frame: Frame): void {
  if (!hasPlace(frame)) return;
  const { context, left, plot } = frame;
  context.save();
  clipTo(context, left, 0, plot.width, AXIS_HEIGHT + plot.height);
  context.font = AXIS_FONT;
  context.textBaseline = 'alphabetic';
  context.textAlign = 'left';
  for (const bookmark of frame.places.bookmarks)
    paintBookmark(frame, bookmark.cycle, bookmark.name === '' ? bookmark.id : bookmarkTitle(bookmark));
  const { cursors, chosen } = frame.places;
  for (const { id, cycle } of cursors) if (id !== chosen) paintCursor(frame, id, cycle, false);
  const last = cursors.find(({ id }) => id === chosen);
  if (last) paintCursor(frame, last.id, last.cycle, true);
  context.restore();
}

function paintCursor(frame: Frame, id: number, cycle: number, isChosen: boolean): void {
  const { context, theme, plot, widths } = frame;
  const x = xOf(frame, cycle);
  const text = isChosen ? `${id}  ${grouped(cycle)}` : String(id);
  const width = widths.axis.of(text) + 8;
  if (!isInSight(frame, x) && !isInSight(frame, x + width)) return;
  context.fillStyle = theme.cursor;
  context.globalAlpha = isChosen ? 1 : 0.7;
  context.fillRect(x, FLAG_TOP, isChosen ? 2 : 1, AXIS_HEIGHT - FLAG_TOP + plot.height);
  context.globalAlpha = 1;
  context.fillRect(x, FLAG_TOP, width, FLAG_HEIGHT);
  context.fillStyle = theme.background;
  context.fillText(text, x + 4, FLAG_TOP + 11);
}

function paintBookmark(frame: Frame, cycle: number, title: string): void {
  const { context, theme, widths } = frame;
  const x = xOf(frame, cycle);
  if (!isInSight(frame, x) && !isInSight(frame, x + MAX_BOOKMARK_TEXT)) return;
  const text = fitted(title, MAX_BOOKMARK_TEXT, widths.axis);
  context.fillStyle = theme.bookmark;
  context.fillRect(x, 0, 1, AXIS_HEIGHT - 1);
  context.fillRect(x, 0, widths.axis.of(text) + 8, 13);
  context.fillStyle = theme.background;
  context.fillText(text, x + 4, 10);
}
