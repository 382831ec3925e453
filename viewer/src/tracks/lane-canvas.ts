/** What lanes are drawn with: boxes as pixels, text above them. */
import { Raster } from '../drawing/raster.js';
import type { Paint } from '../drawing/surface.js';
import { pixelOf, type Theme } from '../model/palette.js';
import { type Columns, columnFrom, columnOf } from '../model/window.js';

interface LaneView {
  /** Cycle at the left edge. */
  readonly x: number;
  /** Device pixels per cycle. */
  readonly scale: number;
  /** Device pixels per CSS pixel. */
  readonly ratio: number;
}

/** Where a lane is, in device pixels. */
export interface LaneBox {
  readonly top: number;
  readonly height: number;
}

export const LANE_FONT = '11px system-ui, "DejaVu Sans", sans-serif';

/** Of the page, or of a picture that is drawn without one. */
type LaneContext = Paint & Pick<OffscreenCanvasRenderingContext2D, 'setTransform' | 'putImageData'>;

interface Text {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly colour: string;
}

export class LaneCanvas {
  readonly raster: Raster;
  /** Of the line below each lane, as a pixel. */
  readonly grid: number;
  private readonly texts: Text[] = [];

  constructor(
    readonly width: number,
    readonly height: number,
    readonly view: LaneView,
    readonly theme: Theme,
    /** Of a picture drawn before: it is used again if it has this size. */
    kept: Raster | null = null,
  ) {
    const isOfSize = kept !== null && kept.width === width && kept.height === height;
    this.raster = isOfSize ? kept : new Raster(width, height);
    this.raster.clear(theme.background);
    this.grid = pixelOf(theme.grid);
  }

  /** Device pixel of a cycle. */
  xOf(cycle: number): number {
    return Math.round((cycle - this.view.x) * this.view.scale);
  }

  /** Text in the middle of a lane; it is cut at `width` device pixels. */
  text(text: string, x: number, { top, height }: LaneBox, width: number, colour: string): void {
    if (width > 6 * this.view.ratio) this.texts.push({ text, x, y: top + height / 2, width, colour });
  }

  paint(context: LaneContext): void {
    const { ratio } = this.view;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.putImageData(this.raster.image, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = LANE_FONT;
    context.textBaseline = 'middle';
    for (const { text, x, y, width, colour } of this.texts) {
      const room = width / ratio;
      const shown = cut(text, room, context);
      if (shown === '') continue;
      context.fillStyle = colour;
      context.fillText(shown, x / ratio, y / ratio + 0.5);
    }
  }
}

const widths = new Map<string, number>();

function widthOf(text: string, context: LaneContext): number {
  let width = widths.get(text);
  if (width === undefined) {
    width = context.measureText(text).width;
    if (widths.size > 8192) widths.clear();
    widths.set(text, width);
  }
  return width;
}

/** Fewer than three characters say nothing. */
function cut(text: string, room: number, context: LaneContext): string {
  const width = widthOf(text, context);
  if (width <= room) return text;
  const kept = Math.floor((text.length * room) / width) - 1;
  return kept >= 3 ? `${text.slice(0, kept)}…` : '';
}

/**
 * The columns of each pixel, `begin[x]` to `begin[x + 1]`: every column belongs to exactly one pixel, that of its start. Where columns are wider than
 * pixels some pixels have none; `columnOf` finds the one that they lie in.
 */
export function columnsOfPixels(columns: Columns, { x, scale }: LaneView, width: number): Int32Array {
  const begin = new Int32Array(width + 1);
  for (let pixel = 0; pixel <= width; pixel++) begin[pixel] = columnFrom(columns, x + pixel / scale);
  return begin;
}

/** How many there are per cycle in each pixel: over its columns, or in the one that it lies in. */
export function ratesOfPixels(
  columns: Columns,
  values: Float64Array,
  view: LaneView,
  width: number,
): Float64Array {
  const begin = columnsOfPixels(columns, view, width);
  const rates = new Float64Array(width);
  for (let pixel = 0; pixel < width; pixel++) {
    let from = begin[pixel]!;
    let to = begin[pixel + 1]!;
    if (to <= from) {
      from = columnOf(columns, view.x + pixel / view.scale);
      if (from < 0) continue;
      to = from + 1;
    }
    let sum = 0;
    for (let column = from; column < to; column++) sum += values[column]!;
    rates[pixel] = sum / ((to - from) * columns.step);
  }
  return rates;
}
