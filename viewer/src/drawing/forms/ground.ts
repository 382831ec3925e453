/** The ground on which a form moves: the view, the size of the plot, and where the instructions are. */
import type { PlotSize, RowLines, View } from '../../model/view.js';
import type { Colouring } from '../colouring.js';
import type { RowStore } from '../row-store.js';
import type { Sort } from '../settings.js';

export interface Ground {
  readonly view: View;
  readonly plot: PlotSize;
  readonly store: RowStore;
  readonly lines: RowLines;
  /** Of forms in which rows need not be in the order of fetch. */
  readonly sort: Sort;
  readonly colouring: Colouring;
}
