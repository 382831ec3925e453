/** Transactions of one port: a box each, its stages in colours. */
import { fillOf, mix, pixelOf } from '../model/palette.js';
import type { TransactionLane, TransactionList } from '../model/transactions.js';
import type { LaneBox, LaneCanvas } from './lane-canvas.js';

/** Of a row, CSS pixels. */
export const ROW_HEIGHT = 16;
const NO_STAGE = 255;

export function drawTransactions(
  canvas: LaneCanvas,
  box: LaneBox,
  list: TransactionList,
  lane: TransactionLane,
): void {
  const { ratio } = canvas.view;
  lane.rows.forEach((items, row) => {
    const top = box.top + Math.round(row * ROW_HEIGHT * ratio);
    const height = Math.round(ROW_HEIGHT * ratio);
    for (const index of items) drawOne(canvas, { top, height }, list, index);
  });
}

function drawOne(canvas: LaneCanvas, box: LaneBox, list: TransactionList, index: number): void {
  const { raster, view, width, theme } = canvas;
  const { ratio } = view;
  const [top, bottom] = [box.top + Math.round(2 * ratio), box.top + box.height - Math.round(2 * ratio)];
  const born = list.birth[index]!;
  const ended = list.end[index]!;
  const from = Number.isNaN(born) ? 0 : canvas.xOf(born);
  const to = Number.isNaN(ended) ? width : Math.max(from + 1, canvas.xOf(ended));
  if (to < 0 || from > width) return;
  const plain = pixelOf(theme.plain);
  raster.fill(from, top, to, bottom, plain);
  const [first, last] = [list.stageStart[index]!, list.stageStart[index + 1]!];
  for (let at = first; at < last; at++) {
    const stage = list.stage[at]!;
    const begin = canvas.xOf(list.stageCycle[at]!);
    const end = at + 1 < last ? canvas.xOf(list.stageCycle[at + 1]!) : to;
    const colour = stage === NO_STAGE ? theme.plain : fillOf(theme, stage);
    raster.fill(begin, top, Math.max(end, begin + 1), bottom, pixelOf(colour));
  }
  // Borders distinguish neighbours.
  if (to - from > 4 * ratio) {
    const edge = pixelOf(mix(theme.plain, theme.background, 0.5));
    const line = Math.max(1, Math.round(ratio));
    raster.fill(from, top, from + line, bottom, edge);
    if (list.isLost[index] === 1) raster.fill(to - line * 2, top, to, bottom, pixelOf(theme.flush));
  }
  const left = Math.max(0, from);
  const room = Math.min(to, width) - left - Math.round(8 * ratio);
  canvas.text(list.labels[index]!, left + Math.round(4 * ratio), box, room, theme.inBox);
}

/** The transaction at a place of a lane; null: none. @param y CSS pixels from the top of the lane */
export function transactionAt(
  list: TransactionList,
  lane: TransactionLane,
  cycle: number,
  slack: number,
  y: number,
): number | null {
  const items = lane.rows[Math.floor(y / ROW_HEIGHT)] ?? [];
  let nearest: number | null = null;
  for (const index of items) {
    const born = list.birth[index]!;
    const ended = list.end[index]!;
    if (born > cycle + slack || ended + slack < cycle) continue;
    nearest = index;
    // NaN compares false: open ends hold the cycle.
    if (!(born > cycle) && !(ended <= cycle)) return index;
  }
  return nearest;
}
