/** Moves of the form in which rows and cycles are both on the screen: along the diagonal of instructions. */
import {
  clampView,
  drag,
  goToCycle,
  goToRow,
  moveRows,
  reveal,
  rowHeight,
  zoomAbout,
} from '../../model/view.js';
import { MIN_TEXT_HEIGHT, THIN_STEP_PIXELS } from '../settings.js';
import type { Moves } from './form.js';

export const rowMoves: Moves = {
  rows({ view, store, lines }, count, follow) {
    const height = rowHeight(view);
    // Of thin rows, the number that makes the same way on the screen.
    const rows = height >= MIN_TEXT_HEIGHT ? count : (count * THIN_STEP_PIXELS) / height;
    return [moveRows(view, rows, store, follow, lines), 'x'];
  },
  drag({ view, lines }, dx, dy) {
    return [drag(view, dx, dy, lines), Math.abs(dy) > Math.abs(dx) ? 'x' : 'y'];
  },
  zoom({ view, plot, store, lines }, { factor, axis }, at) {
    return [zoomAbout(view, factor, at, plot, store.whole, axis, lines), 'y'];
  },
  goCycle({ view, plot, store }, cycle) {
    return [goToCycle(view, cycle, plot, store), 'y'];
  },
  goRow({ view, plot, store, lines }, row) {
    return [goToRow(view, row, plot, store, lines), 'x'];
  },
  reveal({ view, plot, store, lines }, row) {
    return [reveal(view, row, plot, store, lines), 'x'];
  },
  last({ view, plot, store, lines }) {
    const y = Math.max(0, lines.below(store.rows, (-0.9 * plot.height) / rowHeight(view)));
    const x = store.extent.lastCycle - (plot.width / view.scale) * 0.9;
    return [{ ...view, y, x: Math.max(x, store.cycleOf(y) - 2) }, 'x'];
  },
  clamp({ view, plot, store, lines }, yielding) {
    return clampView(view, plot, store.whole, store, yielding, true, lines);
  },
};
