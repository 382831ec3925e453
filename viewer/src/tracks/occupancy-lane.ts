/** How full a buffer is: least to greatest as a band, the mean as a line, and the capacity. */
import { mix, pixelOf } from '../model/palette.js';
import { columnOf, type OccupancyColumns } from '../model/window.js';
import { columnsOfPixels, type LaneBox, type LaneCanvas } from './lane-canvas.js';

interface Band {
  readonly min: number;
  readonly mean: number;
  readonly max: number;
}

/** Over columns `from` to `to`; null: no time passed there. */
export function bandOf({ min, mean, max }: OccupancyColumns, from: number, to: number): Band | null {
  if (to === from + 1) {
    return Number.isNaN(mean[from]!) ? null : { min: min[from]!, mean: mean[from]!, max: max[from]! };
  }
  let [least, most, sum, count] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0];
  for (let column = from; column < to; column++) {
    if (Number.isNaN(mean[column]!)) continue;
    least = Math.min(least, min[column]!);
    most = Math.max(most, max[column]!);
    sum += mean[column]!;
    count++;
  }
  return count === 0 ? null : { min: least, mean: sum / count, max: most };
}

/** What the top of a lane means: the capacity, or less where it is far from being reached. */
export function scaleOf({ max }: OccupancyColumns, slots: number): number {
  let most = 1;
  for (const value of max) if (value > most) most = value;
  if (most * 4 >= slots) return slots;
  return 2 ** Math.ceil(Math.log2(most * 1.25));
}

const TOP = 4;

export function drawOccupancy(
  canvas: LaneCanvas,
  box: LaneBox,
  columns: OccupancyColumns,
  slots: number,
  colour: string,
): void {
  const { view, raster, width, theme } = canvas;
  const { ratio } = view;
  const scale = scaleOf(columns, slots);
  const top = box.top + Math.round(TOP * ratio);
  const bottom = box.top + box.height - 1;
  const yOf = (value: number): number =>
    Math.round(bottom - ((bottom - top) * Math.min(value, scale)) / scale);
  const below = pixelOf(mix(colour, theme.background, 0.78));
  const band = pixelOf(mix(colour, theme.background, 0.42));
  const line = pixelOf(colour);
  const thick = Math.max(1, Math.round(ratio));
  const begin = columnsOfPixels(columns, view, width);
  let last: number | null = null;
  for (let x = 0; x < width; x++) {
    let [from, to] = [begin[x]!, begin[x + 1]!];
    if (to <= from) {
      from = columnOf(columns, view.x + x / view.scale);
      to = from + 1;
    }
    const found = from < 0 ? null : bandOf(columns, from, to);
    if (!found) {
      last = null;
      continue;
    }
    const mean = yOf(found.mean);
    raster.fill(x, yOf(found.min), x + 1, bottom, below);
    raster.fill(x, yOf(found.max), x + 1, yOf(found.min), band);
    // The line is not interrupted where it steps.
    const from2 = last === null ? mean : Math.min(mean, last);
    const to2 = last === null ? mean : Math.max(mean, last);
    raster.fill(x, from2, x + 1, to2 + thick, line);
    last = mean;
  }
  if (scale === slots) {
    const dash = Math.round(4 * ratio);
    const edge = pixelOf(theme.flush);
    for (let x = 0; x < width; x += 2 * dash) raster.fill(x, top - thick, x + dash, top, edge);
  }
}
