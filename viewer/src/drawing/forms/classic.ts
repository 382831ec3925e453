/** One row per instruction, one column per cycle. */
import { rowAtY, rowHeight, yOfRow } from '../../model/view.js';
import type { Frame } from '../frame.js';
import type { RowLayout, RowPlace } from '../rows/layout.js';
import { type AxisSpec, type Hit, type Needs, NOTHING_ELSE, type Point } from './form.js';
import type { Ground } from './ground.js';
import { notHere, RowForm } from './row-form.js';
import { rowMoves } from './row-moves.js';

export class Classic extends RowForm {
  readonly name = 'classic';
  readonly moves = rowMoves;

  axis({ view }: Ground): AxisSpec {
    return { from: view.x, origin: 'trace' };
  }

  needs(frame: Frame): Needs {
    const { store, view, plot } = frame;
    const { from, to } = rowsInSight(frame);
    const inSight = store.segmentsOfRows(from, to);
    const inTime = store.segmentsOfCycles(view.x, view.x + plot.width / view.scale);
    const missing = notHere(store, [...inSight, ...inTime]);
    const soon = notHere(store, store.segmentsOfRows(2 * from - to, 2 * to - from));
    return { missing, soon, ...NOTHING_ELSE };
  }

  hit({ view, store, lines }: Frame, at: Point): Hit {
    const row = Math.floor(rowAtY(view, at.y, lines));
    const isRow = row >= 0 && row < store.rows;
    return { row: isRow ? row : null, cycle: Math.floor(view.x + at.x / view.scale) };
  }

  place({ view, lines }: Frame, row: number): RowPlace {
    return { top: yOfRow(view, row, lines), origin: view.x };
  }

  protected heightOf({ view }: Frame): number {
    return rowHeight(view);
  }

  protected fill(frame: Frame, layout: RowLayout): void {
    const { view, plot, store, lines } = frame;
    addLines(frame, layout, () => view.x, { view, plot, store, lines });
  }
}

/** The rows on the screen, `to` exclusive. */
function rowsInSight({ view, plot, store, lines }: Frame): { from: number; to: number } {
  const from = Math.max(0, Math.floor(view.y));
  const to = Math.min(store.rows, Math.ceil(rowAtY(view, plot.height, lines)));
  return { from, to: Math.max(from, to) };
}

/** @param originOf the cycle at the left edge, of a row that is here */
function addLines(
  frame: Frame,
  layout: RowLayout,
  originOf: (row: number) => number,
  { view, plot, store, lines }: Pick<Frame, 'view' | 'plot' | 'store' | 'lines'>,
): void {
  const height = layout.height;
  let row = Math.max(0, Math.floor(view.y));
  let top = yOfRow(view, row, lines);
  while (top < plot.height && row < frame.store.rows) {
    const place = store.locate(row);
    layout.add(row, place?.block ?? null, place?.index ?? 0, top, originOf(row));
    const next = lines.below(row, 1);
    row = Math.max(row + 1, Math.floor(next));
    top += height;
  }
}
