/** What every part of a picture is drawn with. */
import type { TraceInfo } from '../data/protocol.js';
import type { Theme } from '../model/palette.js';
import type { Places } from '../model/places.js';
import type { PlotSize, RowLines, View } from '../model/view.js';
import type { Context, TextWidths } from './canvas.js';
import type { Colouring } from './colouring.js';
import type { AxisSpec } from './forms/form.js';
import type { Hits } from './hits.js';
import type { Disassembly } from './labels.js';
import type { Raster } from './raster.js';
import type { RowStore } from './row-store.js';
import type { Settings, Sort } from './settings.js';
import type { SourceNotes } from './source-notes.js';
import type { SumsSources } from './strip/sources.js';

export interface Pointer {
  /** Of the canvas, CSS pixels. */
  readonly x: number;
  readonly y: number;
}

export interface Frame {
  readonly info: TraceInfo;
  readonly store: RowStore;
  readonly view: View;
  /** Which rows follow each other. */
  readonly lines: RowLines;
  readonly sort: Sort;
  /** Cycles at the upper edge, as the form has them. */
  readonly axis: AxisSpec;
  readonly sums: SumsSources;
  readonly settings: Settings;
  readonly theme: Theme;
  readonly colouring: Colouring;
  readonly disassembly: Disassembly;
  readonly sources: SourceNotes;
  /** The plot: without labels and axis. CSS pixels. */
  readonly plot: PlotSize;
  /** Its upper left corner on the canvas. */
  readonly left: number;
  readonly top: number;
  /** Device pixels per CSS pixel. */
  readonly ratio: number;
  readonly pointer: Pointer | null;
  readonly selected: number | null;
  /** Its matches are marked. */
  readonly hits: Hits | null;
  /** Cycle of the hit that the search went to last. */
  readonly hit: number | null;
  /** What the user marked. */
  readonly places: Places;
  readonly raster: Raster;
  readonly context: Context;
  readonly widths: { readonly text: TextWidths; readonly box: TextWidths; readonly axis: TextWidths };
}
