/** Moves of forms that lie along time only: rows become cycles. */
import { clampView, goToCycle, moveCycles, zoomAbout } from '../../model/view.js';
import { THIN_STEP_PIXELS } from '../settings.js';
import type { Moves } from './form.js';
import type { Ground } from './ground.js';

/** A row's fetch at a tenth of the width, unless it is on the screen. */
function showRow({ view, plot, store }: Ground, row: number, always: boolean): Ground['view'] {
  const cycle = store.cycleOf(row);
  const cycles = plot.width / view.scale;
  const isVisible = cycle >= view.x && cycle < view.x + cycles * 0.9;
  return isVisible && !always ? view : { ...view, x: cycle - cycles / 10 };
}

export const timeMoves: Moves = {
  rows({ view }, count) {
    return [moveCycles(view, (count * THIN_STEP_PIXELS) / view.scale), 'y'];
  },
  drag({ view }, dx) {
    return [moveCycles(view, -dx / view.scale), 'y'];
  },
  zoom({ view, plot, store }, { factor, axis }, at) {
    return [zoomAbout(view, factor, at, plot, store.whole, axis), 'y'];
  },
  goCycle({ view, plot, store }, cycle) {
    return [goToCycle(view, cycle, plot, store), 'y'];
  },
  goRow(ground, row) {
    return [showRow(ground, row, true), 'y'];
  },
  reveal(ground, row) {
    return [showRow(ground, row, false), 'y'];
  },
  last({ view, plot, store }) {
    return [{ ...view, x: store.extent.lastCycle - (plot.width / view.scale) * 0.9 }, 'y'];
  },
  clamp({ view, plot, store }, yielding) {
    return clampView(view, plot, store.whole, store, yielding, false);
  },
};
