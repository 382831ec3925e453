/** Where a form moves: the view, the size of the plot, and where the instructions are. */
import type { PlotSize, RowLines, View } from '../../model/view.js';
import type { RowStore } from '../row-store.js';

export interface Ground {
  readonly view: View;
  readonly plot: PlotSize;
  readonly store: RowStore;
  readonly lines: RowLines;
}
