/** Cycles, time, and the stalls of the core in every cycle. */
import { shownCore } from '../data/shown-core.js';
import { lowerBound } from '../model/blocks.js';
import { pixelOf, reasonColour, reasonPlace } from '../model/palette.js';
import { grouped, tickStep, ticks, timeText } from '../model/ticks.js';
import { AXIS_FONT } from './canvas.js';
import type { Frame } from './frame.js';
import { AXIS_HEIGHT } from './settings.js';

const STALL_LANE = 5;
const MIN_LABEL_DISTANCE = 90;

/** The lane of stalls at the lower edge of the axis; where a pixel holds many cycles it is left out. */
export function rasterAxis(frame: Frame): void {
  const { raster, theme, ratio, left, plot, view, axis } = frame;
  const bottom = Math.round(AXIS_HEIGHT * ratio);
  raster.clip(0, 0);
  raster.fill(0, 0, raster.width, bottom, pixelOf(theme.gutter));
  raster.clip(Math.round(left * ratio), 0);
  if (axis.origin === 'trace' && view.scale >= 0.5)
    rasterStalls(frame, bottom - Math.round(STALL_LANE * ratio), bottom - 1);
  raster.clip(0, 0);
  raster.fill(0, bottom - 1, raster.width, bottom, pixelOf(theme.gridStrong));
  // The labels are part of the frame around the plot.
  const plotBottom = Math.round((AXIS_HEIGHT + plot.height) * ratio);
  raster.fill(
    Math.round(left * ratio) - 1,
    0,
    Math.round(left * ratio),
    plotBottom,
    pixelOf(theme.gridStrong),
  );
}

function rasterStalls(
  { raster, theme, ratio, left, plot, view, axis, store, info }: Frame,
  y0: number,
  y1: number,
): void {
  const scale = view.scale * ratio;
  const last = axis.from + plot.width / view.scale;
  for (const segment of store.segmentsOfCycles(axis.from, last)) {
    const block = store.block(segment);
    if (!block) continue;
    const { cycle, reason } = block.stalls;
    const colours = block.names.map((name) => pixelOf(reasonColour(theme, reasonPlace(info.reasons, name))));
    for (let i = lowerBound(cycle, axis.from - block.baseCycle - 1); i < cycle.length; i++) {
      const at = cycle[i]! + block.baseCycle;
      if (at > last) break;
      const x0 = Math.round(left * ratio + (at - axis.from) * scale);
      const x1 = Math.max(x0 + 1, Math.round(left * ratio + (at + 1 - axis.from) * scale));
      raster.fill(x0, y0, x1, y1, colours[reason[i]!]!);
    }
  }
}

export function paintAxis(frame: Frame): void {
  const { context, theme, view, axis, left, plot, info } = frame;
  const isSinceFetch = axis.origin === 'fetch';
  const { periodPs } = shownCore(info);
  const hasTime = periodPs > 0 && !isSinceFetch;
  const step = tickStep(view.scale, MIN_LABEL_DISTANCE);
  const last = axis.from + plot.width / view.scale;
  context.save();
  context.font = AXIS_FONT;
  context.textBaseline = 'alphabetic';
  context.fillStyle = theme.dim;
  context.textAlign = 'right';
  const title = isSinceFetch ? 'cycles since fetch' : periodPs > 0 ? 'cycle' : 'time';
  context.fillText(title, left - 12, 15);
  if (hasTime) context.fillText('time', left - 12, 29);
  context.beginPath();
  context.rect(left, 0, plot.width, AXIS_HEIGHT);
  context.clip();
  context.textAlign = 'left';
  for (const cycle of ticks(axis.from, last, step)) {
    const x = Math.round(left + (cycle - axis.from) * view.scale);
    context.fillStyle = theme.gridStrong;
    context.fillRect(x, 4, 1, AXIS_HEIGHT - 4);
    context.fillStyle = theme.text;
    const isCycle = isSinceFetch || periodPs > 0;
    context.fillText(isCycle ? grouped(cycle) : timeText(cycle, step, last), x + 5, 15);
    context.fillStyle = theme.dim;
    if (hasTime) context.fillText(timeText(cycle * periodPs, step * periodPs, last * periodPs), x + 5, 29);
  }
  context.restore();
}

/** Where the pointer is. */
export function paintCursor(frame: Frame): void {
  const { view, axis, left, plot, pointer } = frame;
  if (!pointer || pointer.x < left || pointer.x >= left + plot.width || pointer.y < 0) return;
  paintCycle(frame, Math.floor(axis.from + (pointer.x - left) / view.scale));
}

/** Where the hit is that the search went to last. */
export function paintHit(frame: Frame): void {
  const { axis, view, plot, hit } = frame;
  if (hit === null || axis.origin !== 'trace') return;
  if (hit + 1 > axis.from && hit < axis.from + plot.width / view.scale) paintCycle(frame, hit);
}

/** A cycle, as a line and a number on the axis. */
function paintCycle({ context, theme, view, axis, left, plot, widths }: Frame, cycle: number): void {
  const x = Math.round(left + (cycle - axis.from) * view.scale);
  const width = Math.max(1, Math.min(view.scale, plot.width));
  context.save();
  context.globalAlpha = view.scale >= 3 ? 0.08 : 0.5;
  context.fillStyle = theme.accent;
  context.fillRect(x, AXIS_HEIGHT, view.scale >= 3 ? width : 1, plot.height);
  context.globalAlpha = 1;
  const text = grouped(cycle);
  const box = widths.axis.of(text) + 12;
  const at = Math.min(x, left + plot.width - box);
  context.fillRect(at, 2, box, 17);
  context.fillStyle = theme.background;
  context.font = AXIS_FONT;
  context.fillText(text, at + 6, 15);
  context.restore();
}
