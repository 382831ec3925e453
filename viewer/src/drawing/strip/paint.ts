/** Lanes as pixels, and their titles, scales and legends with the values at the pointer. */

import { shownCore } from '../../data/shown-core.js';
import { mix, pixelOf } from '../../model/palette.js';
import { Column, whyNoSums } from '../../model/sums.js';
import { AXIS_FONT, clipTo, fitted } from '../canvas.js';
import type { Frame } from '../frame.js';
import type { PixelColumns } from './columns.js';
import { isShownAt, type Lane } from './lanes.js';

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
  const { raster, ratio, left, theme, store, view } = frame;
  const x0 = Math.round(left * ratio);
  const height = y1 - y0;
  const pending = pixelOf(mix(theme.stripe, theme.dim, 0.12));
  const { firstCycle, lastCycle } = store.extent;
  const tops = lane.parts.map(() => new Int32Array(columns.count));
  for (let x = 0; x < columns.count; x++) {
    let [sum, y] = [0, height];
    for (let part = 0; part < tops.length; part++) {
      const value = lane.values[part]![x]!;
      sum += value;
      // What happened at all stays visible, however small its share is.
      if (value > 0) y = Math.max(0, Math.min(y - 1, Math.round(height - (height * sum) / lane.max)));
      tops[part]![x] = y;
    }
    if (columns.layers[x]) continue;
    const cycle = view.x + x / (view.scale * ratio);
    if (cycle >= firstCycle && cycle < lastCycle) raster.fill(x0 + x, y0, x0 + x + 1, y1, pending);
  }
  raster.stack(
    x0,
    y0,
    y1,
    tops,
    lane.parts.map(({ colour }) => pixelOf(colour)),
  );
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
  const isKnown = columns.hasAny;
  if (!isKnown) paintPending(frame);
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
    if (isKnown) {
      context.fillText(shown(lane.max, lane.unit), left - 10, lane.y0 + 10);
      context.fillText('0', left - 10, lane.y1 - 1);
    }
    paintLegend(frame, lane, columns, isKnown);
  }
  context.restore();
}

/** Nothing is known: how far the trace has been read for it, or why it stays so. */
function paintPending({ context, theme, left, top, plot, store, sums, info }: Frame): void {
  if (store.isComplete && sums.overview) return;
  context.save();
  context.font = AXIS_FONT;
  context.fillStyle = theme.text;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  const text = store.isComplete
    ? `no sums: ${whyNoSums(shownCore(info).periodPs)}`
    : `reading the trace: ${Math.floor(store.progress * 100)} %`;
  context.fillText(text, left + plot.width / 2, top + plot.height / 2);
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
function meanOf(columns: PixelColumns, values: Float64Array, at: number): number {
  if (at >= 0) return values[at]!;
  let [sum, cycles] = [0, 0];
  for (let x = 0; x < columns.count; x++) {
    sum += values[x]! * columns.cycles[x]!;
    cycles += columns.cycles[x]!;
  }
  return cycles > 0 ? sum / cycles : 0;
}

function paintLegend(frame: Frame, lane: Lane, columns: PixelColumns, isKnown: boolean): void {
  const { context, theme, left, widths } = frame;
  const at = columnAtPointer(frame, columns);
  const shownAt = at >= 0 ? at : columns.count >> 1;
  // The topmost part of the stack comes first.
  const entries = lane.parts
    .map((part, index) => ({ ...part, value: meanOf(columns, lane.values[index]!, at) }))
    .filter((part) => isShownAt(part, columns, shownAt))
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
    const value = isKnown ? shown(entry.value, lane.unit) : '';
    context.fillText(fitted(entry.name, width - 36 - widths.axis.of(value), widths.axis), x + 16, y);
    context.fillStyle = theme.dim;
    context.textAlign = 'right';
    context.fillText(value, x + width - 14, y);
  });
}
