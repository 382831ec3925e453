/** Curves of counters over each other, with a scale. */
import { curveOf, marksBetween, rangeOf, shortNumber } from '../model/counter-series.js';
import { pixelOf } from '../model/palette.js';
import type { CounterColumns } from '../model/window.js';
import type { LaneCanvas } from './lane-canvas.js';

const PADDING = 6;
/** Distance of the marks of the scale, CSS pixels. */
const MARK_DISTANCE = 28;

export interface PlottedCounter {
  readonly columns: CounterColumns;
  readonly colour: string;
}

export function drawCounters(
  canvas: LaneCanvas,
  counters: readonly PlottedCounter[],
  asTotal: boolean,
): void {
  const { raster, view, width, height, theme } = canvas;
  const { ratio } = view;
  const curves = counters.map(({ columns }) => curveOf(columns, view, width, asTotal));
  const { low, high } = rangeOf(curves);
  const [top, bottom] = [Math.round(PADDING * ratio), height - Math.round(PADDING * ratio)];
  const yOf = (value: number): number =>
    Math.round(bottom - ((bottom - top) * (value - low)) / (high - low || 1));
  const grid = pixelOf(theme.grid);
  const count = (bottom - top) / (MARK_DISTANCE * ratio);
  for (const mark of marksBetween(low, high, count)) {
    const y = yOf(mark);
    raster.fill(0, y, width, y + 1, grid);
    const label = { top: Math.max(0, y - Math.round(7 * ratio)), height: Math.round(12 * ratio) };
    canvas.text(shortNumber(mark), 4 * ratio, label, 60 * ratio, theme.dim);
  }
  const thick = Math.max(1, Math.round(1.25 * ratio));
  curves.forEach((curve, index) => {
    const pixel = pixelOf(counters[index]!.colour);
    let last: number | null = null;
    for (let x = 0; x < width; x++) {
      const value = curve[x]!;
      if (Number.isNaN(value)) {
        last = null;
        continue;
      }
      const y = yOf(value);
      // The line is not interrupted where it steps.
      raster.fill(x, Math.min(y, last ?? y), x + 1, Math.max(y, last ?? y) + thick, pixel);
      last = y;
    }
  });
}
