/**
 * Geometry of the pipeline: which cycle and which row a pixel shows, and how panning and zooming change that. Pure; lengths are CSS pixels.
 * Rows are instructions in the order of fetch, counted from 0; cycles are counted from the beginning of the trace. Both may be fractions.
 */

/** What of the trace is on screen. */
export interface View {
  /** Cycle at the left edge of the plot. */
  readonly x: number;
  /** Row at the upper edge of the plot. */
  readonly y: number;
  /** Pixels per cycle. */
  readonly scale: number;
  /** Height of a row divided by the width of a cycle, before the height is bounded. */
  readonly aspect: number;
}

/** Size of the plot: the picture without labels and axis. */
export interface PlotSize {
  readonly width: number;
  readonly height: number;
}

/** What there is to see. */
export interface Extent {
  readonly firstCycle: number;
  /** Exclusive. */
  readonly lastCycle: number;
  readonly rows: number;
}

/** Which rows follow each other on the screen: all of them, or those that are not hidden. */
export interface RowLines {
  /** The row this number of lines below a row; both may be fractions. */
  below(row: number, lines: number): number;
  /** Lines from one row down to another. */
  between(from: number, to: number): number;
}

export const EVERY_ROW: RowLines = {
  below: (row, lines) => row + lines,
  between: (from, to) => to - from,
};

/** Where the instructions are: born in the order of rows. Between what is known exactly, both functions interpolate. */
export interface Diagonal {
  /** Cycle in which a row is born. */
  cycleOf(row: number): number;
  /** The row born at a cycle, or the next one. */
  rowAt(cycle: number): number;
}

export const MAX_SCALE = 256;
export const MAX_ROW_HEIGHT = 28;
/** The view as it is opened: 24 px per cycle, rows of 20 px. */
export const DEFAULT_SCALE = 24;
export const DEFAULT_ASPECT = 20 / 24;
const MIN_ASPECT = 1 / 64;
const MAX_ASPECT = 64;
/** Part of the plot in which something of the trace stays, however far it is dragged. */
const KEPT = 0.1;
/** Empty space left and right of the trace when all of it is shown. */
const FIT_MARGIN = 0.01;

/** Height of a row in pixels. */
export const rowHeight = (view: View): number => Math.min(MAX_ROW_HEIGHT, view.scale * view.aspect);

export const cycleAtX = (view: View, x: number): number => view.x + x / view.scale;
export const yOfRow = (view: View, row: number, lines: RowLines = EVERY_ROW): number =>
  lines.between(view.y, row) * rowHeight(view);
export const rowAtY = (view: View, y: number, lines: RowLines = EVERY_ROW): number =>
  lines.below(view.y, y / rowHeight(view));

/** The smallest scale: the whole trace fits. */
export function fitScale(size: PlotSize, extent: Extent): number {
  const cycles = Math.max(1, extent.lastCycle - extent.firstCycle) * (1 + 2 * FIT_MARGIN);
  return Math.min(MAX_SCALE, Math.max(1, size.width) / cycles);
}

/** The whole trace. */
export function fit(view: View, size: PlotSize, extent: Extent): View {
  const scale = fitScale(size, extent);
  const empty = size.width / scale - (extent.lastCycle - extent.firstCycle);
  return { ...view, scale, x: extent.firstCycle - empty / 2, y: 0 };
}

/** These cycles, the last one exclusive, fill the width. */
export function showing(view: View, from: number, to: number, width: number): View {
  return { ...view, x: from, scale: Math.min(MAX_SCALE, width / (to - from)) };
}

/** What may change in a zoom. */
export type ZoomAxis = 'both' | 'time';

/**
 * Enlarges by a factor; cycle and row at a point of the plot stay where they are.
 * @param at pixel of the plot
 */
export function zoomAbout(
  view: View,
  factor: number,
  at: { readonly x: number; readonly y: number },
  size: PlotSize,
  extent: Extent,
  axis: ZoomAxis = 'both',
  lines: RowLines = EVERY_ROW,
): View {
  const scale = clamp(view.scale * factor, fitScale(size, extent), MAX_SCALE);
  const height = rowHeight(view);
  const aspect =
    axis === 'time' ? clamp((view.aspect * view.scale) / scale, MIN_ASPECT, MAX_ASPECT) : view.aspect;
  const next = { ...view, scale, aspect };
  return {
    ...next,
    x: view.x + at.x / view.scale - at.x / scale,
    y: lines.below(view.y, at.y / height - at.y / rowHeight(next)),
  };
}

/** Moves by rows, and sideways by as much as the pipeline does there, so that the upper row keeps its place on the screen. */
export function moveRows(
  view: View,
  rows: number,
  diagonal: Diagonal,
  follow: boolean,
  lines: RowLines = EVERY_ROW,
): View {
  const y = lines.below(view.y, rows);
  const x = follow ? view.x + diagonal.cycleOf(y) - diagonal.cycleOf(view.y) : view.x;
  return { ...view, x, y };
}

export const moveCycles = (view: View, cycles: number): View => ({ ...view, x: view.x + cycles });

/** Moves by pixels, as dragging does. */
export const drag = (view: View, dx: number, dy: number, lines: RowLines = EVERY_ROW): View => ({
  ...view,
  x: view.x - dx / view.scale,
  y: lines.below(view.y, -dy / rowHeight(view)),
});

/** A cycle at a quarter of the width, with the instructions fetched then in the upper part. */
export function goToCycle(view: View, cycle: number, size: PlotSize, diagonal: Diagonal): View {
  const x = cycle - size.width / view.scale / 4;
  const above = size.height / rowHeight(view) / 4;
  return { ...view, x, y: diagonal.rowAt(cycle) - Math.floor(above) };
}

/** A row in the upper third, with its fetch near the left edge. */
export function goToRow(
  view: View,
  row: number,
  size: PlotSize,
  diagonal: Diagonal,
  lines: RowLines = EVERY_ROW,
): View {
  const left = Math.min(4, size.width / view.scale / 8);
  const above = Math.floor(size.height / rowHeight(view) / 3);
  return { ...view, x: diagonal.cycleOf(row) - left, y: lines.below(row, -above) };
}

/** Moves as little as is needed for a row to be on the screen, its fetch included. */
export function reveal(
  view: View,
  row: number,
  size: PlotSize,
  diagonal: Diagonal,
  lines: RowLines = EVERY_ROW,
): View {
  const rows = size.height / rowHeight(view);
  const y = clamp(view.y, lines.below(row, 1 - rows), row);
  const cycle = diagonal.cycleOf(row);
  const cycles = size.width / view.scale;
  const isVisible = cycle >= view.x && cycle < view.x + cycles * 0.9;
  return { ...view, y, x: isVisible ? view.x : cycle - Math.min(4, cycles / 8) };
}

/** Which of the two gives way when the picture would lose the pipeline. */
export type Yielding = 'x' | 'y';

/**
 * Keeps the trace on the screen: time within the trace, rows within those there are, and the diagonal of instructions inside the plot.
 * @param hasRows false where the form has no rows (then only time is bounded)
 */
export function clampView(
  view: View,
  size: PlotSize,
  extent: Extent,
  diagonal: Diagonal,
  yielding: Yielding,
  hasRows: boolean,
  lines: RowLines = EVERY_ROW,
): View {
  const scale = clamp(view.scale, fitScale(size, extent), MAX_SCALE);
  const cycles = size.width / scale;
  const { firstCycle, lastCycle } = extent;
  const margin = cycles * KEPT;
  const inTime = (x: number): number =>
    clamp(x, firstCycle - margin, Math.max(firstCycle, lastCycle - margin));
  const scaled = { ...view, scale, x: inTime(view.x) };
  if (!hasRows || extent.rows === 0) return scaled;
  const rows = size.height / rowHeight(scaled);
  const inRows = (y: number): number => clamp(y, Math.min(0, 1 - rows * KEPT), Math.max(0, extent.rows - 1));
  const y = inRows(scaled.y);
  if (yielding === 'y') {
    const first = diagonal.rowAt(scaled.x + margin);
    const last = diagonal.rowAt(scaled.x + cycles - margin);
    const kept = rows * KEPT;
    return {
      ...scaled,
      y: inRows(clamp(y, first - rows + kept, Math.max(first - rows + kept, last - kept))),
    };
  }
  const first = diagonal.cycleOf(Math.max(0, y));
  const last = diagonal.cycleOf(Math.min(extent.rows - 1, Math.max(0, lines.below(y, rows))));
  const low = first - cycles + margin;
  return { ...scaled, y, x: inTime(clamp(scaled.x, low, Math.max(low, last - margin))) };
}

export function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}
