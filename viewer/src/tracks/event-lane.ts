/** A lane of one type of event: each as a mark where there is room, else how many there are in each pixel. */
import { pixelOf } from '../model/palette.js';
import type { EventColumns, EventMarks } from '../model/window.js';
import { type LaneBox, type LaneCanvas, ratesOfPixels } from './lane-canvas.js';

/** Of a mark, CSS pixels. */
const MARK_WIDTH = 3;
/** Cycles at least as wide show marks. */
const MARK_SCALE = 3;
const PADDING = 3;
/** The least that one event is high. */
const LEAST = 3;

export function drawEvents(
  canvas: LaneCanvas,
  box: LaneBox,
  events: EventColumns,
  marks: EventMarks | null,
  colour: string,
): void {
  const { scale, ratio } = canvas.view;
  if (marks && scale / ratio >= MARK_SCALE) drawMarks(canvas, box, events.id, marks, colour);
  else drawDensity(canvas, box, events, colour);
}

function drawMarks(canvas: LaneCanvas, box: LaneBox, id: number, marks: EventMarks, colour: string): void {
  const { view, raster, width, theme } = canvas;
  const { ratio } = view;
  const pixel = pixelOf(colour);
  const [top, bottom] = insets(box, ratio);
  const thick = Math.round(MARK_WIDTH * ratio);
  let previous: { x: number; text: string; count: number } | null = null;
  const label = (end: number): void => {
    // Of marks out of sight nothing is said.
    if (!previous || previous.x + thick <= 0) return;
    const x = previous.x + thick + Math.round(4 * ratio);
    const text = previous.count > 1 ? `${previous.count}× ${previous.text}` : previous.text;
    if (x < width) canvas.text(text, x, box, end - x - 4 * ratio, theme.dim);
  };
  marks.type.forEach((type, index) => {
    if (type !== id) return;
    const x = canvas.xOf(marks.cycle[index]!);
    if (previous?.x === x) {
      previous.count++;
      return;
    }
    label(Math.min(x, width));
    raster.fill(x, top, x + thick, bottom, pixel);
    previous = { x, text: marks.texts[index]!, count: 1 };
  });
  label(width);
}

function drawDensity(canvas: LaneCanvas, box: LaneBox, events: EventColumns, colour: string): void {
  const { view, raster, width } = canvas;
  const rates = ratesOfPixels(events, events.counts, view, width);
  let most = 0;
  for (const rate of rates) if (rate > most) most = rate;
  if (most === 0) return;
  const [top, bottom] = insets(box, view.ratio);
  const room = bottom - top;
  const least = Math.round(LEAST * view.ratio);
  const pixel = pixelOf(colour);
  for (let x = 0; x < width; x++) {
    if (rates[x]! === 0) continue;
    const height = Math.max(Math.min(least, room), Math.round((room * rates[x]!) / most));
    raster.fill(x, bottom - height, x + 1, bottom, pixel);
  }
}

export function insets({ top, height }: LaneBox, ratio: number): [top: number, bottom: number] {
  const pixels = Math.round(PADDING * ratio);
  return [top + pixels, top + height - pixels];
}
