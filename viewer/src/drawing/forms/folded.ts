/**
 * Rows by instruction number modulo the rows on the screen: the diagonal wraps and fills the page, time stays the x axis. There are as many rows
 * as instructions were ever in flight, where the screen has room for them: then none lies on another.
 */
import { pixelOf } from '../../model/palette.js';
import { grouped } from '../../model/ticks.js';
import { clamp } from '../../model/view.js';
import { clipTo, TEXT_FONT } from '../canvas.js';
import type { Frame } from '../frame.js';
import { rasterGridOf } from '../rows/background.js';
import type { RowLayout, RowPlace } from '../rows/layout.js';
import type { AxisSpec, Hit, Needs, Point } from './form.js';
import { NOTHING_ELSE } from './form.js';
import type { Ground } from './ground.js';
import { isInFlight, notHere, RowForm } from './row-form.js';
import { timeMoves } from './time-moves.js';

const MAX_HEIGHT = 40;
const MIN_ROWS = 8;
/** Rows looked through before the first one in sight, in numbers of instructions in flight: an old one may wait for long. */
const LOOK_BACK = 4;

export class Folded extends RowForm {
  readonly name = 'folded';
  readonly moves = timeMoves;

  axis({ view }: Ground): AxisSpec {
    return { from: view.x, origin: 'trace' };
  }

  needs({ store, view, plot }: Frame): Needs {
    const cycles = plot.width / view.scale;
    const missing = notHere(store, store.segmentsOfCycles(view.x, view.x + cycles));
    const soon = notHere(store, store.segmentsOfCycles(view.x - cycles / 2, view.x + 1.5 * cycles));
    return { missing, soon, ...NOTHING_ELSE };
  }

  hit(frame: Frame, at: Point): Hit {
    const { view, store } = frame;
    const cycle = Math.floor(view.x + at.x / view.scale);
    const lines = this.lines(frame);
    const line = Math.floor(at.y / this.heightOf(frame));
    const last = Math.floor(store.rowAt(cycle + 1)) - 1;
    // The youngest lies above the others.
    for (
      let row = last - ((((last - line) % lines) + lines) % lines);
      row >= this.oldest(frame, cycle);
      row -= lines
    ) {
      if (row < store.rows && isInFlight(store, row, cycle)) return { row, cycle };
    }
    return { row: null, cycle };
  }

  place(frame: Frame, row: number): RowPlace {
    return { top: (row % this.lines(frame)) * this.heightOf(frame), origin: frame.view.x };
  }

  protected heightOf({ plot, store }: Frame): number {
    return clamp(plot.height / Math.max(MIN_ROWS, store.mostInFlight), 1, MAX_HEIGHT);
  }

  protected fill(frame: Frame, layout: RowLayout): void {
    const { view, plot, store } = frame;
    const lines = this.lines(frame);
    const from = this.oldest(frame, view.x);
    const to = Math.min(store.rows, Math.ceil(store.rowAt(view.x + plot.width / view.scale)) + 1);
    for (let row = from; row < to; row++) {
      const place = store.locate(row);
      if (place) layout.add(row, place.block, place.index, (row % lines) * layout.height, view.x);
    }
  }

  /** Many rows share a line: stripes and selection are those of lines. */
  protected override rasterBelow(frame: Frame): void {
    const { raster, ratio, left, top, plot, theme, view, store } = frame;
    raster.clip(Math.round(left * ratio), Math.round(top * ratio));
    rasterGridOf(frame, view.x);
    const right = Math.round((left + plot.width) * ratio);
    const [y0, y1] = [Math.round(top * ratio), Math.round((top + plot.height) * ratio)];
    const from = view.x;
    const to = view.x + plot.width / view.scale;
    for (const segment of store.segmentsOfCycles(from, to)) {
      if (store.has(segment)) continue;
      const [start, end] = store.cyclesOf(segment);
      if (end <= from || start >= to) continue;
      const x0 = Math.round((left + Math.max(0, (start - view.x) * view.scale)) * ratio);
      const x1 = Math.min(right, Math.round((left + (end - view.x) * view.scale) * ratio));
      raster.fill(x0, y0, x1, y1, pixelOf(theme.pending));
    }
  }

  /** The selected row, and what the search found. */
  protected override rasterAbove(frame: Frame, layout: RowLayout): void {
    const { raster, ratio, left, top, theme, view, selected, hits } = frame;
    if (selected === null && !hits) return;
    const line = Math.max(1, Math.round(ratio));
    for (let at = 0; at < layout.count; at++) {
      const row = layout.rows[at]!;
      const isSelected = row === selected;
      if (!isSelected && !hits?.has(row)) continue;
      const block = layout.blocks[at]!;
      const index = layout.indices[at]!;
      const [born, end] = frame.store.lifeOf(block, index);
      const xOf = (cycle: number): number => Math.round((left + (cycle - view.x) * view.scale) * ratio);
      const [x0, x1] = [xOf(born) - line, Math.max(xOf(end), xOf(born) + line) + line];
      const y0 = Math.round((top + layout.tops[at]!) * ratio) - line;
      const y1 = Math.max(y0 + 3 * line, Math.round((top + layout.tops[at]! + layout.height) * ratio) + line);
      const pixel = pixelOf(isSelected ? theme.text : theme.accent);
      raster.fill(x0, y0, x1, y0 + line, pixel);
      raster.fill(x0, y1 - line, x1, y1, pixel);
      raster.fill(x0, y0, x0 + line, y1, pixel);
      raster.fill(x1 - line, y0, x1, y1, pixel);
    }
  }

  protected override paintMargin(frame: Frame, layout: RowLayout): void {
    const { context, theme, top, left, plot, store } = frame;
    const lines = this.lines(frame);
    const rows = [
      'folded',
      `row = number modulo ${grouped(lines)}`,
      store.mostInFlight > 0 ? `most in flight: ${grouped(store.mostInFlight)}` : '',
      store.mostInFlight > lines ? 'rows lie on each other' : '',
    ];
    context.save();
    clipTo(context, 0, top, left, plot.height);
    context.font = TEXT_FONT;
    context.textBaseline = 'alphabetic';
    context.textAlign = 'left';
    rows.forEach((text, index) => {
      context.fillStyle = index === 0 ? theme.text : theme.dim;
      context.fillText(text, 14, top + 22 + index * 18);
    });
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    context.fillStyle = theme.dim;
    const step = Math.max(1, Math.ceil(40 / layout.height / 8) * 8);
    for (let line = step; line < lines; line += step) {
      const y = Math.round(top + (line + 0.5) * layout.height);
      context.fillText(grouped(line), left - 14, y);
      context.fillRect(left - 8, y, 6, 1);
    }
    context.restore();
  }

  private lines(frame: Frame): number {
    return Math.max(1, Math.floor(frame.plot.height / this.heightOf(frame)));
  }

  private oldest({ store }: Frame, cycle: number): number {
    return Math.max(0, Math.floor(store.rowAt(cycle)) - LOOK_BACK * Math.max(MIN_ROWS, store.mostInFlight));
  }
}
