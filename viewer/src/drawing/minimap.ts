/** The whole run in a narrow strip: retired per cycle, stalls by reason, flushes. */

import type { TraceInfo } from '../data/protocol.js';
import { type Aggregates, Column } from '../model/aggregates.js';
import { mix, pixelOf, reasonColour, type Theme } from '../model/palette.js';
import { Raster } from './raster.js';

const STALL_PART = 0.3;
const FLUSH_PIXELS = 3;

export function drawMinimap(
  info: TraceInfo,
  aggregates: Aggregates,
  theme: Theme,
  width: number,
  height: number,
): ImageData {
  const raster = new Raster(width, height);
  raster.clear(theme.gutter);
  const { bucketCycles, stages } = info.aggregates;
  const first = info.segmentCycles[0] ?? 0;
  const cycles = (info.segmentCycles.at(-1) ?? 1) - first;
  const bucketOf = (x: number): number => Math.floor((first + (x / width) * cycles) / bucketCycles);
  const range = (x: number): [number, number] => [bucketOf(x), Math.max(bucketOf(x + 1), bucketOf(x) + 1)];
  const stallTop = Math.round(height * (1 - STALL_PART));
  const ipcMax = largestRate(aggregates, width, range, bucketCycles);
  const ipc = pixelOf(mix(theme.ipc, theme.gutter, 0.25));
  const pending = pixelOf(theme.pending);
  for (let x = 0; x < width; x++) {
    const [from, to] = range(x);
    if (from >= aggregates.known) {
      raster.fill(x, 0, x + 1, height, pending);
      continue;
    }
    const span = (to - from) * bucketCycles;
    const retired = aggregates.sum(Column.RETIRED, from, to) / span;
    raster.fill(x, Math.round(stallTop * (1 - retired / ipcMax)), x + 1, stallTop, ipc);
    let y = height;
    let share = 0;
    for (const [index] of info.reasons.entries()) {
      share += aggregates.sum(Column.STAGES + stages + index, from, to) / span;
      const next = Math.round(height - (height - stallTop - 1) * Math.min(1, share));
      raster.fill(x, next, x + 1, y, pixelOf(reasonColour(theme, index)));
      y = next;
    }
    if (aggregates.sum(Column.SQUASHED, from, to) > 0)
      raster.fill(x, 0, x + 1, FLUSH_PIXELS, pixelOf(theme.flush));
  }
  return raster.image;
}

function largestRate(
  aggregates: Aggregates,
  width: number,
  range: (x: number) => [number, number],
  bucketCycles: number,
): number {
  let max = 0;
  for (let x = 0; x < width; x++) {
    const [from, to] = range(x);
    max = Math.max(max, aggregates.sum(Column.RETIRED, from, to) / ((to - from) * bucketCycles));
  }
  return max || 1;
}
