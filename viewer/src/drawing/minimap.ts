/** The whole run in a narrow strip: retired per cycle, stalls by reason, flushes, and what the search found. */
import type { TraceInfo } from '../data/protocol.js';
import { mix, pixelOf, reasonColour, type Theme } from '../model/palette.js';
import { Column, reasonColumn, type Sums } from '../model/sums.js';
import type { Hits } from './hits.js';
import { Raster } from './raster.js';
import { PixelColumns } from './strip/columns.js';

const STALL_PART = 0.3;
const FLUSH_PIXELS = 3;

export function drawMinimap(
  info: TraceInfo,
  overview: Sums | null,
  hits: Hits | null,
  theme: Theme,
  width: number,
  height: number,
): ImageData {
  const raster = new Raster(width, height);
  raster.clear(theme.gutter);
  const firstCycle = info.segmentCycles[0] ?? 0;
  const lastCycle = info.segmentCycles.at(-1) ?? 1;
  const scale = width / Math.max(1, lastCycle - firstCycle);
  const columns = new PixelColumns();
  columns.fill(width, firstCycle, scale, overview ? [overview] : [], { firstCycle, lastCycle });
  const stallTop = Math.round(height * (1 - STALL_PART));
  const ipcMax = largestRate(columns);
  const ipc = pixelOf(mix(theme.ipc, theme.gutter, 0.25));
  const reasons = info.reasons.map((_, index) => pixelOf(reasonColour(theme, index)));
  for (let x = 0; x < width; x++) {
    if (!columns.layers[x]) {
      raster.fill(x, 0, x + 1, height, pixelOf(theme.pending));
      continue;
    }
    const retired = columns.rate(x, Column.RETIRED);
    raster.fill(x, Math.round(stallTop * (1 - retired / ipcMax)), x + 1, stallTop, ipc);
    let y = height;
    let share = 0;
    for (let reason = 0; reason < reasons.length; reason++) {
      share += columns.rate(x, reasonColumn(info.sums, reason));
      const next = Math.round(height - (height - stallTop - 1) * Math.min(1, share));
      raster.fill(x, next, x + 1, y, reasons[reason]!);
      y = next;
    }
    // What happened once in the run stays visible.
    if (columns.sum(x, Column.SQUASHED) > 0 || columns.sum(x, Column.FLUSHES) > 0) {
      raster.fill(x, 0, x + 1, FLUSH_PIXELS, pixelOf(theme.flush));
    }
    if (hits?.between(firstCycle + x / scale, firstCycle + (x + 1) / scale)) {
      raster.fill(x, height - FLUSH_PIXELS, x + 1, height, pixelOf(theme.accent));
    }
  }
  return raster.image;
}

function largestRate(columns: PixelColumns): number {
  let max = 0;
  for (let x = 0; x < columns.count; x++) max = Math.max(max, columns.rate(x, Column.RETIRED));
  return max || 1;
}
