/** Lanes as pixels, and their titles, scales and legends with the values at the pointer. */
import { mix, pixelOf } from '../../model/palette.js';
import { Column } from '../../model/sums.js';
import { AXIS_FONT, clipTo, fitted } from '../canvas.js';
import type { Frame } from '../frame.js';
import type { PixelColumns } from './columns.js';
import { type Lane, partsAt } from './lanes.js';

export function rasterLanes(frame: Frame, lanes: readonly Lane[], columns: PixelColumns): void {
  const { raster, ratio, left, top, theme } = frame;
  raster.clip(Math.round(left * ratio), Math.round(top * ratio));
  for (const lane of lanes) {
    const [y0, y1] = [Math.round(lane.y0 * ratio), Math.round(lane.y1 * ratio)];
    raster.fill(0, y0, raster.width, y1, pixelOf(theme.stripe));
    rasterLane(frame, lane, columns, y0, y1);
  }
  rasterMarks(frame, columns);
}

function rasterLane(frame: Frame, lane: Lane, columns: PixelColumns, y0: number, y1: number): void {
  const { raster, ratio, left, theme, store } = frame;
  const x0 = Math.round(left * ratio);
  const pixels = new Map([...lane.parts, ...(lane.coarse ?? [])].map((part) => [part, pixelOf(part.colour)]));
  const pending = pixelOf(mix(theme.stripe, theme.dim, 0.12));
  const { firstCycle, lastCycle } = store.extent;
  const scale = frame.view.scale * ratio;
  for (let index = 0; index < columns.count; index++) {
    const x = x0 + index;
    if (!columns.layers[index]) {
      const cycle = frame.view.x + index / scale;
      if (cycle >= firstCycle && cycle < lastCycle) raster.fill(x, y0, x + 1, y1, pending);
      continue;
    }
    let sum = 0;
    let y = y1;
    for (const part of partsAt(lane, columns, index)) {
      const value = columns.rate(index, part.column);
      if (value === 0) continue;
      sum += value;
      // What happened at all stays visible, however small its share is.
      const next = Math.min(y - 1, Math.round(y1 - ((y1 - y0) * sum) / lane.max));
      raster.fill(x, Math.max(y0, next), x + 1, y, pixels.get(part)!);
      y = Math.max(y0, next);
    }
  }
}

/** Flushes and what the search found, along the upper edge. */
function rasterMarks({ raster, ratio, left, top, theme, hits }: Frame, columns: PixelColumns): void {
  const x0 = Math.round(left * ratio);
  const [y0, height] = [Math.round(top * ratio), Math.round(4 * ratio)];
  const [flush, hit] = [pixelOf(theme.flush), pixelOf(theme.accent)];
  for (let index = 0; index < columns.count; index++) {
    if (!columns.layers[index]) continue;
    const x = x0 + index;
    if (columns.sum(index, Column.FLUSHES) > 0) raster.fill(x, y0, x + 1, y0 + height, flush);
    if (hits?.between(columns.from[index]!, columns.to[index]!)) {
      raster.fill(x, y0 + height, x + 1, y0 + 2 * height, hit);
    }
  }
}

export function paintLanes(frame: Frame, lanes: readonly Lane[], columns: PixelColumns): void {
  const { context, theme, left, top, plot } = frame;
  context.save();
  clipTo(context, 0, top, left, plot.height);
  context.font = AXIS_FONT;
  context.textBaseline = 'alphabetic';
  for (const lane of lanes) {
    context.fillStyle = theme.text;
    context.textAlign = 'left';
    context.font = `600 ${AXIS_FONT}`;
    context.fillText(lane.title, 14, lane.y0 + 13);
    context.font = AXIS_FONT;
    context.fillStyle = theme.dim;
    context.textAlign = 'right';
    context.fillText(shown(lane.max, lane.unit), left - 10, lane.y0 + 10);
    context.fillText('0', left - 10, lane.y1 - 1);
    paintLegend(frame, lane, columns);
  }
  context.restore();
}

function shown(value: number, unit: Lane['unit']): string {
  if (unit === '%') return `${(value * 100).toFixed(value > 0 && value < 0.1 ? 1 : 0)} %`;
  if (value >= 100) return value.toFixed(0);
  if (value >= 10) return value.toFixed(1);
  return value
    .toFixed(value < 1 ? 3 : 2)
    .replace(/0+$/, '')
    .replace(/\.$/, '');
}

/** The column of pixels at the pointer; -1: it is elsewhere. */
function columnAtPointer({ pointer, left, ratio }: Frame, columns: PixelColumns): number {
  const x = pointer ? Math.floor((pointer.x - left) * ratio) : -1;
  return x >= 0 && x < columns.count && columns.layers[x] ? x : -1;
}

/** By cycle: at a column of pixels, or over all of them. */
function meanOf(columns: PixelColumns, column: number, at: number): number {
  if (at >= 0) return columns.rate(at, column);
  let [sum, cycles] = [0, 0];
  for (let x = 0; x < columns.count; x++) {
    sum += columns.sum(x, column);
    cycles += columns.cycles[x]!;
  }
  return cycles > 0 ? sum / cycles : 0;
}

function paintLegend(frame: Frame, lane: Lane, columns: PixelColumns): void {
  const { context, theme, left, widths } = frame;
  const at = columnAtPointer(frame, columns);
  const middle = columns.count >> 1;
  // The topmost part of the stack comes first.
  const entries = partsAt(lane, columns, at >= 0 ? at : middle)
    .map((part) => ({ ...part, value: meanOf(columns, part.column, at) }))
    .reverse();
  const lineHeight = 16;
  const lines = Math.max(1, Math.floor((lane.y1 - lane.y0 - 18) / lineHeight));
  const perLine = entries.length > lines && left > 300 ? 2 : 1;
  const width = Math.min(240, (left - 60) / perLine);
  entries.slice(0, lines * perLine).forEach((entry, index) => {
    const x = 14 + Math.floor(index / lines) * width;
    const y = lane.y0 + 30 + (index % lines) * lineHeight;
    context.textAlign = 'left';
    context.fillStyle = entry.colour;
    context.fillRect(x, y - 9, 10, 10);
    context.fillStyle = theme.text;
    const value = shown(entry.value, lane.unit);
    context.fillText(fitted(entry.name, width - 36 - widths.axis.of(value), widths.axis), x + 16, y);
    context.fillStyle = theme.dim;
    context.textAlign = 'right';
    context.fillText(value, x + width - 14, y);
  });
}
