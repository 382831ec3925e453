/**
 * x = cycles since fetch: what takes long is a long row. Rows in the order of fetch, or sorted within pages. The upper row lies where it lies in
 * the classic form; the others are aligned to it.
 */
import type { Command } from '../../model/commands.js';
import { clamp, fitScale, MAX_SCALE, rowHeight, type View, zoomAbout } from '../../model/view.js';
import type { Frame } from '../frame.js';
import type { RowLayout, RowPlace } from '../rows/layout.js';
import { latencyOf, PAGE_ROWS, SortedPages } from '../rows/sorted-pages.js';
import { MIN_TEXT_HEIGHT, THIN_STEP_PIXELS } from '../settings.js';
import type { AxisSpec, Hit, Moved, Moves, Needs, Point } from './form.js';
import { NOTHING_ELSE } from './form.js';
import type { Ground } from './ground.js';
import { notHere, RowForm } from './row-form.js';

/** Part of the screen on which rows stay, however far they are moved. */
const KEPT = 0.1;

export class Straight extends RowForm {
  readonly name = 'straight';
  private readonly pages = new SortedPages();

  axis(ground: Ground): AxisSpec {
    return { from: offsetOf(ground), origin: 'fetch' };
  }

  needs(frame: Frame): Needs {
    const { store, view, plot, sort } = frame;
    const rows = plot.height / rowHeight(view);
    const page = sort === 'fetch' ? 1 : PAGE_ROWS;
    const from = Math.floor(Math.max(0, view.y) / page) * page;
    const to = Math.min(store.rows, Math.ceil((view.y + rows) / page) * page);
    const missing = notHere(store, store.segmentsOfRows(from, Math.max(from + 1, to)));
    const soon = notHere(store, store.segmentsOfRows(view.y - rows, view.y + 2 * rows));
    return { missing, soon, ...NOTHING_ELSE };
  }

  hit(frame: Frame, at: Point): Hit {
    const { view, store, lines } = frame;
    const line = Math.floor(lines.below(view.y, at.y / rowHeight(view)));
    const row = line >= 0 && line < store.rows ? this.rowOf(frame, line) : null;
    const since = offsetOf(frame) + at.x / view.scale;
    return { row, cycle: Math.floor((row === null ? 0 : store.cycleOf(row)) + since) };
  }

  place(frame: Frame, row: number): RowPlace {
    const { view, store, lines } = frame;
    const top = lines.between(view.y, this.lineOf(frame, row)) * rowHeight(view);
    return { top, origin: store.cycleOf(row) + offsetOf(frame) };
  }

  readonly moves: Moves = {
    rows: (ground, count) => {
      const height = rowHeight(ground.view);
      const lines = height >= MIN_TEXT_HEIGHT ? count : (count * THIN_STEP_PIXELS) / height;
      return kept(ground, ground.lines.below(ground.view.y, lines));
    },
    drag: (ground, dx, dy) => {
      const { view, lines } = ground;
      return kept(ground, lines.below(view.y, -dy / rowHeight(view)), offsetOf(ground) - dx / view.scale);
    },
    zoom: (ground, { factor, axis }: Command & { do: 'zoom' }, at) => {
      const { view, plot, store, lines } = ground;
      const next = zoomAbout(view, factor, at, plot, store.whole, axis, lines);
      const offset = offsetOf(ground) + at.x / view.scale - at.x / next.scale;
      return kept({ ...ground, view: next }, next.y, offset);
    },
    goCycle: (ground, cycle) => {
      const above = ground.plot.height / rowHeight(ground.view) / 4;
      return kept(ground, ground.lines.below(ground.store.rowAt(cycle), -above));
    },
    goRow: (ground, row) => {
      const above = Math.floor(ground.plot.height / rowHeight(ground.view) / 3);
      return kept(ground, ground.lines.below(this.lineOf(ground, row), -above), 'fetch');
    },
    reveal: (ground, row) => {
      const { view, plot, lines } = ground;
      const line = this.lineOf(ground, row);
      const y = clamp(view.y, lines.below(line, 1 - plot.height / rowHeight(view)), line);
      return kept(ground, y, offsetOf(ground) > 0 ? 'fetch' : undefined);
    },
    last: (ground) => {
      const { view, plot, store, lines } = ground;
      return kept(ground, Math.max(0, lines.below(store.rows, (-0.9 * plot.height) / rowHeight(view))));
    },
    clamp: (ground) => this.clamped(ground),
  };

  protected heightOf({ view }: Frame): number {
    return rowHeight(view);
  }

  protected fill(frame: Frame, layout: RowLayout): void {
    const { view, plot, store, lines } = frame;
    const offset = offsetOf(frame);
    let line = Math.max(0, Math.floor(lines.below(view.y, 0)));
    let top = lines.between(view.y, line) * layout.height;
    while (top < plot.height && line < store.rows) {
      const row = this.rowOf(frame, line);
      const place = row === null ? null : store.locate(row);
      const origin = place ? place.block.baseCycle + place.block.birth[place.index]! + offset : 0;
      layout.add(row ?? line, place?.block ?? null, place?.index ?? 0, top, origin);
      line = Math.max(line + 1, Math.floor(lines.below(line, 1)));
      top += layout.height;
    }
  }

  private rowOf({ sort, store, colouring }: Ground, line: number): number | null {
    return this.pages.rowOf(line, sort, store, colouring);
  }

  private lineOf({ sort, store, colouring }: Ground, row: number): number {
    return this.pages.lineOf(row, sort, store, colouring);
  }

  /** Lines within those there are; of the longest row in sight a part stays on the screen. */
  private clamped(ground: Ground): View {
    const { view, plot, store, lines } = ground;
    const scale = clamp(view.scale, fitScale(plot, store.whole), MAX_SCALE);
    const height = rowHeight({ ...view, scale });
    const rows = plot.height / height;
    const y = clamp(view.y, Math.min(0, 1 - rows * KEPT), Math.max(0, store.rows - 1));
    const offset = offsetOf(ground);
    const cycles = plot.width / scale;
    let longest = 1;
    let line = Math.max(0, Math.floor(y));
    for (let count = 0; count < rows && line < store.rows; count++) {
      const row = this.rowOf(ground, line);
      const place = row === null ? null : store.locate(row);
      if (place) longest = Math.max(longest, latencyOf(place.block, place.index, store.extent.lastCycle));
      line = Math.max(line + 1, Math.floor(lines.below(line, 1)));
    }
    const bounded = clamp(offset, -cycles * (1 - KEPT), Math.max(0, longest - cycles * KEPT));
    if (y === view.y && bounded === offset && scale === view.scale) return view;
    return { ...view, scale, y, x: store.cycleOf(Math.max(0, y)) + bounded };
  }
}

/** Cycles since fetch at the left edge: where the view cuts the upper row. */
function offsetOf({ view, store }: Ground): number {
  return view.x - store.cycleOf(Math.max(0, view.y));
}

/** The view at another row, with the same cycles since fetch, or with others. */
function kept(ground: Ground, y: number, offset: number | 'fetch' = offsetOf(ground)): Moved {
  const { view, store } = ground;
  const from = offset === 'fetch' ? -Math.min(1, 8 / view.scale) : offset;
  return [{ ...view, y, x: store.cycleOf(Math.max(0, y)) + from }, 'x'];
}
