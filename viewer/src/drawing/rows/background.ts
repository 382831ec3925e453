/** Stripes, grid and selection below the boxes. */
import { pixelOf } from '../../model/palette.js';
import type { Frame } from '../frame.js';
import { MIN_TEXT_HEIGHT } from '../settings.js';
import { rowEdges } from './boxes.js';
import type { RowLayout } from './layout.js';

/** @param from cycle at the left edge of the plot */
export function rasterBackground(frame: Frame, layout: RowLayout, from: number): void {
  const { raster, ratio, top, left, plot, theme, selected } = frame;
  const right = Math.round((left + plot.width) * ratio);
  const plotLeft = Math.round(left * ratio);
  raster.clip(0, Math.round(top * ratio));
  if (layout.height >= MIN_TEXT_HEIGHT) {
    const stripe = pixelOf(theme.stripe);
    for (let at = 0; at < layout.count; at++) {
      if (layout.rows[at]! % 2 === 0) raster.fill(plotLeft, ...edges(frame, layout, at, right), stripe);
    }
  }
  rasterGridOf(frame, from);
  const chosen = selected === null ? -1 : indexOfRow(layout, selected);
  if (chosen >= 0) raster.fill(0, ...edges(frame, layout, chosen, right), pixelOf(theme.selection));
}

/** Lines of cycles, where they are wide enough. */
export function rasterGridOf(frame: Frame, from: number): void {
  const { view, theme } = frame;
  if (view.scale >= 8) rasterGrid(frame, from, 1, pixelOf(theme.grid));
  if (view.scale >= 1.2) rasterGrid(frame, from, 10, pixelOf(theme.gridStrong));
}

function edges(frame: Frame, layout: RowLayout, at: number, right: number): [number, number, number] {
  const [y0, y1] = rowEdges(frame, layout, at);
  return [y0, right, y1];
}

function indexOfRow({ rows, count }: RowLayout, row: number): number {
  for (let at = 0; at < count; at++) if (rows[at] === row) return at;
  return -1;
}

function rasterGrid(
  { raster, ratio, left, top, plot, view }: Frame,
  from: number,
  step: number,
  pixel: number,
): void {
  const [y0, y1] = [Math.round(top * ratio), Math.round((top + plot.height) * ratio)];
  const last = from + plot.width / view.scale;
  for (let cycle = Math.ceil(from / step) * step; cycle <= last; cycle += step) {
    const x = Math.round((left + (cycle - from) * view.scale) * ratio);
    raster.fill(x, y0, x + 1, y1, pixel);
  }
}
