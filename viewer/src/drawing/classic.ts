/** One row per instruction, one column per cycle. */
import { shownCore } from '../data/shown-core.js';
import { NO_STAGE, type RowBlock, RowFlag, UNKNOWN } from '../model/blocks.js';
import { pixelOf } from '../model/palette.js';
import { dependenciesOf, pcOf, stageSpans } from '../model/row.js';
import { shortNames } from '../model/stage-letters.js';
import { grouped } from '../model/ticks.js';
import { rowHeight, xOfCycle, yOfRow } from '../model/view.js';
import { BOX_FONT, fitted, TEXT_FONT } from './canvas.js';
import type { Frame } from './frame.js';
import { MIN_BOX_HEIGHT, MIN_TEXT_HEIGHT } from './settings.js';

/** The rows on the screen, `to` exclusive. */
export function visibleRows({ view, plot, store }: Frame): { from: number; to: number } {
  const from = Math.max(0, Math.floor(view.y));
  const to = Math.min(store.rows, Math.ceil(view.y + plot.height / rowHeight(view)));
  return { from, to: Math.max(from, to) };
}

/** Boxes, as pixels. */
export function rasterRows(frame: Frame): void {
  const { raster, ratio, left, top } = frame;
  raster.clip(Math.round(left * ratio), Math.round(top * ratio));
  rasterBackground(frame);
  const { from, to } = visibleRows(frame);
  for (let row = from; row < to; ) {
    const place = frame.store.locate(row);
    if (!place) {
      row = rasterMissing(frame, row, to);
      continue;
    }
    const end = Math.min(place.block.count, place.index + to - row);
    for (let index = place.index; index < end; index++) rasterRow(frame, place.block, index);
    row += end - place.index;
  }
}

/** Stripes, grid and selection. */
function rasterBackground(frame: Frame): void {
  const { raster, ratio, top, left, plot, theme, view, selected } = frame;
  const height = rowHeight(view);
  const right = Math.round((left + plot.width) * ratio);
  const stripe = pixelOf(theme.stripe);
  const { from, to } = visibleRows(frame);
  raster.clip(0, Math.round(top * ratio));
  const band = (row: number, pixel: number, x0: number): void => {
    const [y0, y1] = rowEdges(frame, row);
    raster.fill(x0, y0, right, y1, pixel);
  };
  const plotLeft = Math.round(left * ratio);
  if (height >= MIN_TEXT_HEIGHT)
    for (let row = from + (from % 2); row < to; row += 2) band(row, stripe, plotLeft);
  if (view.scale >= 8) rasterGrid(frame, 1, pixelOf(theme.grid));
  if (view.scale >= 1.2) rasterGrid(frame, 10, pixelOf(theme.gridStrong));
  if (selected !== null && selected >= from && selected < to) band(selected, pixelOf(theme.selection), 0);
  raster.clip(plotLeft, Math.round(top * ratio));
}

function rasterGrid({ raster, ratio, left, top, plot, view }: Frame, step: number, pixel: number): void {
  const [y0, y1] = [Math.round(top * ratio), Math.round((top + plot.height) * ratio)];
  const last = view.x + plot.width / view.scale;
  for (let cycle = Math.ceil(view.x / step) * step; cycle <= last; cycle += step) {
    const x = Math.round((left + xOfCycle(view, cycle)) * ratio);
    raster.fill(x, y0, x + 1, y1, pixel);
  }
}

/** Rows that are on their way. @returns the row behind them */
function rasterMissing(frame: Frame, row: number, to: number): number {
  const { raster, theme, store } = frame;
  let end = row + 1;
  while (end < to && !store.locate(end)) end++;
  const [y0] = rowEdges(frame, row);
  const [, y1] = rowEdges(frame, end - 1);
  raster.fill(0, y0, raster.width, y1, pixelOf(theme.pending));
  return end;
}

/** Upper and lower edge of a row, device pixels; at least one pixel. */
function rowEdges({ view, top, ratio }: Frame, row: number): [number, number] {
  const y0 = Math.round((top + yOfRow(view, row)) * ratio);
  const y1 = Math.round((top + yOfRow(view, row + 1)) * ratio);
  return [y0, Math.max(y1, y0 + 1)];
}

function rasterRow(frame: Frame, block: RowBlock, index: number): void {
  const { view, ratio, left, raster, colouring, settings, plot } = frame;
  const { baseCycle, birth, stage, stageCycle, stageStart } = block;
  const [y0, bottom] = rowEdges(frame, block.firstRow + index);
  const height = rowHeight(view);
  const hasBorders = height >= MIN_BOX_HEIGHT;
  const y1 = hasBorders ? bottom - Math.max(1, Math.round(height * ratio * 0.08)) : bottom;
  const isSquashed = (block.flags[index]! & RowFlag.SQUASHED) !== 0;
  if (isSquashed && settings.squashed === 'blank') return;
  const isDim = isSquashed && settings.squashed === 'dim';
  const scale = view.scale * ratio;
  const origin = left * ratio - view.x * scale;
  const end = block.end[index] === UNKNOWN ? frame.store.extent.lastCycle - baseCycle : block.end[index]!;
  const edgeX = (cycle: number): number => Math.round(origin + (cycle + baseCycle) * scale);
  const right = Math.round((left + plot.width) * ratio);
  const first = stageStart[index]!;
  const last = stageStart[index + 1]!;
  if (edgeX(birth[index]!) >= right || edgeX(end) < left * ratio) return;
  const ofRow = colouring.isByRow ? colouring.ofRow(block, index) : -1;
  // Fetched, but in no stage yet.
  const entered = first < last ? stageCycle[first]! : end;
  if (entered > birth[index]!) {
    const middle = (y0 + y1) >> 1;
    raster.fill(edgeX(birth[index]!), middle, edgeX(entered), middle + 1, colouring.fill(256, isDim).body);
  }
  for (let i = first; i < last; i++) {
    const from = stageCycle[i]!;
    const to = i + 1 < last ? stageCycle[i + 1]! : end;
    if (to <= from) continue;
    const x0 = edgeX(from);
    const x1 = Math.max(edgeX(to), x0 + 1);
    if (x0 >= right) break;
    if (x1 < left * ratio) continue;
    const colour = ofRow >= 0 ? ofRow : colouring.ofBox(block, stage[i]!, from, to);
    const { body, edge } = colouring.fill(colour, isDim);
    raster.fill(x0, y0, x1, y1, body);
    if (hasBorders && x1 - x0 >= 3) raster.fill(x1 - 1, y0, x1, y1, edge);
  }
  if (isSquashed) {
    const width = Math.max(1, Math.round(ratio * (hasBorders ? 2 : 1)));
    raster.fill(edgeX(end), y0, edgeX(end) + width, y1, pixelOf(frame.theme.flush));
  }
}

/** Texts and arrows above the boxes. */
export function paintRows(frame: Frame): void {
  const { context, view, left, top, plot } = frame;
  if (rowHeight(view) >= MIN_TEXT_HEIGHT) {
    paintStageNames(frame);
    paintLabels(frame);
  } else {
    paintRowNumbers(frame);
  }
  context.save();
  context.beginPath();
  context.rect(left, top, plot.width, plot.height);
  context.clip();
  paintArrows(frame);
  context.restore();
}

function paintStageNames(frame: Frame): void {
  const { context, theme, info, view, left, top, plot, widths, store, settings } = frame;
  const stages = shownCore(info).stages;
  const short = shortNames(stages);
  const height = rowHeight(view);
  if (view.scale < 7) return;
  context.save();
  context.beginPath();
  context.rect(left, top, plot.width, plot.height);
  context.clip();
  context.font = BOX_FONT;
  context.textBaseline = 'middle';
  context.fillStyle = theme.inBox;
  const { from, to } = visibleRows(frame);
  const right = left + plot.width;
  for (let row = from; row < to; row++) {
    const place = store.locate(row);
    if (!place) continue;
    const isSquashed = (place.block.flags[place.index]! & RowFlag.SQUASHED) !== 0;
    if (isSquashed && settings.squashed === 'blank') continue;
    context.fillStyle = isSquashed && settings.squashed === 'dim' ? theme.dim : theme.inBox;
    const y = top + yOfRow(view, row) + height * 0.46;
    for (const span of stageSpans(place.block, place.index)) {
      const x0 = left + xOfCycle(view, span.from);
      const x1 = left + xOfCycle(view, span.to ?? store.extent.lastCycle);
      if (x0 >= right) break;
      if (x1 <= left || span.stage === NO_STAGE) continue;
      // Of a long box that begins outside the plot, the name stays in sight.
      const start = Math.max(x0, left);
      const room = Math.min(x1, right) - start - 6;
      const cycles = span.to === null ? 0 : span.to - span.from;
      const name = stages[span.stage]!;
      const candidates =
        cycles > 1 ? [`${name} ${cycles}`, name, short[span.stage]!] : [name, short[span.stage]!];
      const text = candidates.find((candidate) => widths.box.of(candidate) <= room);
      if (text === undefined) continue;
      const centred = cycles <= 1 ? (Math.min(x1, right) - start - 1 - widths.box.of(text)) / 2 : 4;
      context.fillText(text, start + centred, y);
    }
  }
  context.restore();
}

/** Where the columns of the labels begin, from the left edge. */
function labelColumns(frame: Frame): { number: number; pc: number; text: number; hasPc: boolean } {
  const { widths, store, settings } = frame;
  const digit = widths.text.of('0');
  const number = 10 + digit * Math.max(4, grouped(Math.max(1, store.rows)).length);
  const hasPc = settings.gutter >= 250;
  const pc = number + 12;
  return { number, pc, text: hasPc ? pc + digit * 8 + 12 : pc, hasPc };
}

function paintLabels(frame: Frame): void {
  const { context, theme, view, top, left, plot, store, disassembly, widths, selected } = frame;
  const height = rowHeight(view);
  const columns = labelColumns(frame);
  const room = left - columns.text - 8;
  context.save();
  context.beginPath();
  context.rect(0, top, left, plot.height);
  context.clip();
  context.font = TEXT_FONT;
  context.textBaseline = 'middle';
  const { from, to } = visibleRows(frame);
  for (let row = from; row < to; row++) {
    const place = store.locate(row);
    const y = Math.round(top + yOfRow(view, row) + height / 2);
    context.textAlign = 'right';
    context.fillStyle = theme.dim;
    context.fillText(grouped(row), columns.number, y);
    context.textAlign = 'left';
    if (!place) continue;
    const { block, index } = place;
    const isSquashed = (block.flags[index]! & RowFlag.SQUASHED) !== 0;
    if (columns.hasPc) {
      const pc = pcOf(block, index) ?? '';
      context.fillText(pc.length > 8 ? `…${pc.slice(-7)}` : pc, columns.pc, y);
    }
    context.fillStyle = row === selected ? theme.accent : isSquashed ? theme.dim : theme.text;
    const text = fitted(disassembly.of(block, index), room, widths.text);
    context.fillText(text, columns.text, y);
    context.fillStyle = theme.accent;
    if (frame.search?.matches(block, index))
      context.fillRect(columns.pc - 6, Math.round(y - height / 2) + 2, 3, height - 4);
    if (isSquashed) strike(frame, columns.text, y, widths.text.of(text));
  }
  context.restore();
}

/** Squashed instructions are told by more than their colour. */
function strike({ context, theme }: Frame, x: number, y: number, width: number): void {
  context.fillStyle = theme.dim;
  context.fillRect(x, y, width, 1);
}

/** Rows too thin for labels: the number of every row at a round number. */
function paintRowNumbers(frame: Frame): void {
  const { context, theme, view, top, left, plot } = frame;
  const height = rowHeight(view);
  const step = [10, 20, 50, 100, 200, 500, 1000].find((count) => count * height >= 40) ?? 2000;
  const { from, to } = visibleRows(frame);
  context.save();
  context.beginPath();
  context.rect(0, top, left, plot.height);
  context.clip();
  context.font = TEXT_FONT;
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  context.fillStyle = theme.dim;
  for (let row = Math.ceil(from / step) * step; row < to; row += step) {
    const y = Math.round(top + yOfRow(view, row) + height / 2);
    context.fillText(grouped(row), left - 14, y);
    context.fillRect(left - 8, y, 6, 1);
  }
  context.restore();
}

/** From the producer's row to the instruction that waited for it, in the cycle in which it had to. */
function paintArrows(frame: Frame): void {
  const { settings, selected, view } = frame;
  if (settings.arrows === 'off' || rowHeight(view) < MIN_BOX_HEIGHT) return;
  const { from, to } = visibleRows(frame);
  const all = settings.arrows === 'all';
  for (let row = from; row < to; row++) {
    const place = frame.store.locate(row);
    if (!place) continue;
    for (const { producer, cycle } of dependenciesOf(place.block, place.index)) {
      if (producer === null) continue;
      const isChosen = row === selected || producer === selected;
      if (all || isChosen) paintArrow(frame, producer, row, cycle, isChosen);
    }
  }
}

function paintArrow(frame: Frame, producer: number, row: number, cycle: number, isChosen: boolean): void {
  const { context, view, left, top, theme } = frame;
  const height = rowHeight(view);
  const x = left + xOfCycle(view, cycle) + Math.min(view.scale * 0.2, 8);
  const y0 = top + yOfRow(view, producer) + height / 2;
  const y1 = top + yOfRow(view, row) + height / 2 - Math.min(4, height / 4);
  const bow = Math.min(16, view.scale * 0.6);
  const line = new Path2D();
  line.moveTo(x - bow, y0);
  line.bezierCurveTo(x, y0, x, y0, x, y1 - 5);
  const ends = new Path2D();
  ends.arc(x - bow, y0, 2.5, 0, Math.PI * 2);
  ends.moveTo(x, y1);
  ends.lineTo(x - 4, y1 - 7);
  ends.lineTo(x + 4, y1 - 7);
  ends.closePath();
  const width = isChosen ? 2 : 1.25;
  // A border in the colour of the background sets it apart from the boxes below.
  context.strokeStyle = theme.background;
  context.lineWidth = width + 2;
  context.stroke(line);
  context.stroke(ends);
  context.strokeStyle = isChosen ? theme.accent : theme.arrow;
  context.fillStyle = context.strokeStyle;
  context.lineWidth = width;
  context.stroke(line);
  context.fill(ends);
}
