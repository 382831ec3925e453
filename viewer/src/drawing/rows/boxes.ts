/** The boxes of instructions, as pixels. */
import { NOWHERE, type RowBlock, RowFlag, UNKNOWN } from '../../model/blocks.js';
import { pixelOf } from '../../model/palette.js';
import type { Frame } from '../frame.js';
import { MIN_BOX_HEIGHT } from '../settings.js';
import type { RowLayout } from './layout.js';

export function rasterBoxes(frame: Frame, layout: RowLayout): void {
  const { raster, ratio, left, top } = frame;
  raster.clip(Math.round(left * ratio), Math.round(top * ratio));
  for (let at = 0; at < layout.count; at++) {
    const block = layout.blocks[at]!;
    if (block) rasterRow(frame, layout, at, block, layout.indices[at]!);
    else rasterMissing(frame, layout, at);
  }
}

/** Upper and lower edge of a row, device pixels; at least one pixel. */
export function rowEdges({ top, ratio }: Frame, { tops, height }: RowLayout, at: number): [number, number] {
  const y0 = Math.round((top + tops[at]!) * ratio);
  const y1 = Math.round((top + tops[at]! + height) * ratio);
  return [y0, Math.max(y1, y0 + 1)];
}

function rasterMissing(frame: Frame, layout: RowLayout, at: number): void {
  const { raster, theme } = frame;
  const [y0, y1] = rowEdges(frame, layout, at);
  raster.fill(0, y0, raster.width, y1, pixelOf(theme.pending));
}

function rasterRow(frame: Frame, layout: RowLayout, at: number, block: RowBlock, index: number): void {
  const { view, ratio, left, raster, colouring, settings, plot } = frame;
  const { baseCycle, birth, stage, stageCycle, stageStart } = block;
  const isSquashed = (block.flags[index]! & RowFlag.SQUASHED) !== 0;
  if (isSquashed && (settings.squashed === 'blank' || (settings.squashed === 'collapse' && !isSorted(frame))))
    return;
  const { height } = layout;
  const y0 = Math.round((frame.top + layout.tops[at]!) * ratio);
  const bottom = Math.max(y0 + 1, Math.round((frame.top + layout.tops[at]! + height) * ratio));
  const hasBorders = height >= MIN_BOX_HEIGHT;
  const y1 = hasBorders ? bottom - Math.max(1, Math.round(height * ratio * 0.08)) : bottom;
  const isDim = isSquashed && settings.squashed === 'dim';
  const scale = view.scale * ratio;
  const origin = left * ratio + (baseCycle - layout.origins[at]!) * scale;
  const end = block.end[index] === UNKNOWN ? frame.store.extent.lastCycle - baseCycle : block.end[index]!;
  const right = Math.round((left + plot.width) * ratio);
  const born = Math.round(origin + birth[index]! * scale);
  if (born >= right || origin + end * scale < left * ratio) return;
  const first = stageStart[index]!;
  const last = stageStart[index + 1]!;
  const ofRow = colouring.isByRow ? colouring.ofRow(block, index) : -1;
  // Fetched, but in no stage yet, or in none any more.
  const { body: line } = colouring.fill(256, isDim);
  const middle = (y0 + y1) >> 1;
  const entered = first < last ? stageCycle[first]! : end;
  if (entered > birth[index]!)
    raster.fill(born, middle, Math.round(origin + entered * scale), middle + 1, line);
  for (let i = first; i < last; i++) {
    const from = stageCycle[i]!;
    const to = i + 1 < last ? stageCycle[i + 1]! : end;
    if (to <= from) continue;
    const x0 = Math.round(origin + from * scale);
    const x1 = Math.max(Math.round(origin + to * scale), x0 + 1);
    if (x0 >= right) break;
    if (x1 < left * ratio) continue;
    if (stage[i] === NOWHERE) {
      raster.fill(x0, middle, x1, middle + 1, line);
      continue;
    }
    const colour = ofRow >= 0 ? ofRow : colouring.ofBox(block, stage[i]!, from, to);
    const { body, edge } = colouring.fill(colour, isDim);
    raster.fill(x0, y0, x1, y1, body);
    if (hasBorders && x1 - x0 >= 3) raster.fill(x1 - 1, y0, x1, y1, edge);
  }
  if (isSquashed) {
    const width = Math.max(1, Math.round(ratio * (hasBorders ? 2 : 1)));
    const x = Math.round(origin + end * scale);
    raster.fill(x, y0, x + width, y1, pixelOf(frame.theme.flush));
  }
}

/** Rows in another order than that of fetch keep their lines. */
function isSorted({ axis, sort }: Frame): boolean {
  return axis.origin === 'fetch' && sort !== 'fetch';
}
