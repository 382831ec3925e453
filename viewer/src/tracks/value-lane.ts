/** The values of a field of a slot through time, as a waveform viewer shows them. */
import { mix, pixelOf, type Theme } from '../model/palette.js';
import type { ValueChanges } from '../model/window.js';
import { insets } from './event-lane.js';
import type { LaneBox, LaneCanvas } from './lane-canvas.js';

/** Values narrower than this have no text, CSS pixels. */
const LEAST_TEXT = 14;

/** @param end cycle at which what is known ends */
export function drawValues(canvas: LaneCanvas, box: LaneBox, changes: ValueChanges, end: number): void {
  const { view, raster, width, theme } = canvas;
  const { ratio } = view;
  const [top, bottom] = insets(box, ratio);
  const line = Math.max(1, Math.round(ratio));
  const middle = Math.round((top + bottom) / 2);
  const edge = pixelOf(theme.dim);
  const busy = pixelOf(mix(theme.accent, theme.background, 0.45));
  const free = pixelOf(theme.gridStrong);
  const { cycle, texts, isBusy } = changes;
  const fills = new Map<string, number>();
  for (let index = 0; index < cycle.length; index++) {
    const from = canvas.xOf(cycle[index]!);
    const to = canvas.xOf(cycle[index + 1] ?? end);
    if (to < 0) continue;
    if (from > width) break;
    const text = texts[index]!;
    if (text === '') {
      raster.fill(Math.max(0, from), middle, to, middle + line, free);
      continue;
    }
    if (isBusy[index] === 1 || to - from < 3 * ratio) {
      raster.fill(from, top, Math.max(to, from + 1), bottom, busy);
      continue;
    }
    let fill = fills.get(text);
    if (fill === undefined) {
      fill = pixelOf(colourOf(text, theme));
      fills.set(text, fill);
    }
    raster.fill(from, top, to, bottom, fill);
    // Edges above and below, and where the value changes.
    raster.fill(from, top, to, top + line, edge);
    raster.fill(from, bottom - line, to, bottom, edge);
    raster.fill(from, top, from + line, bottom, edge);
    const [left, right] = [Math.max(from, 0), Math.min(to, width)];
    const room = right - left - 8 * ratio;
    if (room >= LEAST_TEXT * ratio) canvas.text(text, left + 5 * ratio, box, room, theme.text);
  }
}

/** Zero, idle and the like stay dark; other values differ by a tint. */
function colourOf(text: string, theme: Theme): string {
  if (/^(0|0x0|false|idle|none|free|empty|invalid)$/i.test(text)) return theme.background;
  let hash = 7;
  for (let index = 0; index < text.length; index++)
    hash = (Math.imul(hash, 31) + text.charCodeAt(index)) >>> 0;
  return mix(theme.fills[hash % theme.fills.length]!, theme.background, 0.72);
}

/** Index of the value at a cycle; -1: before what is known. */
export function valueAt({ cycle }: ValueChanges, at: number): number {
  let low = 0;
  let high = cycle.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (cycle[middle]! <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
