/** The whole run of a trace without cores: how many events there are, over time, by type. */
import { fillOf, pixelOf } from '../model/palette.js';
import { type EventColumns, MAX_COLUMNS, type WindowArgs } from '../model/window.js';
import { type LaneCanvas, ratesOfPixels } from './lane-canvas.js';

/** Left free above, CSS pixels. */
const TOP = 4;

/** What to ask the trace for it; null: there are no events. @param pixels device pixels of the overview */
export function overviewWindow(
  events: readonly number[],
  first: number,
  last: number,
  pixels: number,
): WindowArgs | null {
  const [from, to] = [Math.floor(first), Math.ceil(last)];
  if (to <= from || events.length === 0) return null;
  const step = Math.max(1, Math.ceil((to - from) / Math.min(MAX_COLUMNS, pixels)));
  return { from, to, step, events, counters: [], buffers: [], values: [] };
}

/** Stacked; what is rare has a pixel all the same. */
export function drawEventOverview(canvas: LaneCanvas, found: readonly EventColumns[]): void {
  const { width, height, view, theme, raster } = canvas;
  const rates = found.map((events) => ratesOfPixels(events, events.counts, view, width));
  let most = 0;
  for (let x = 0; x < width; x++)
    most = Math.max(
      most,
      rates.reduce((sum, one) => sum + one[x]!, 0),
    );
  const room = height - found.length - Math.round(TOP * view.ratio);
  const pixels = found.map((_, index) => pixelOf(fillOf(theme, index)));
  for (let x = 0; x < width && most > 0; x++) {
    let bottom = height;
    rates.forEach((rate, index) => {
      if (rate[x]! === 0) return;
      const part = Math.max(1, Math.round((room * rate[x]!) / most));
      raster.fill(x, bottom - part, x + 1, bottom, pixels[index]!);
      bottom -= part;
    });
  }
}
