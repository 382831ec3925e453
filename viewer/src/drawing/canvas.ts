/** What is drawn above the boxes: text and lines, in CSS pixels. */
import type { Paint } from './surface.js';

export type Context = Paint;

export const TEXT_FONT = '12px "DejaVu Sans Mono", ui-monospace, "SF Mono", Menlo, Consolas, monospace';
export const BOX_FONT = '11px system-ui, "DejaVu Sans", sans-serif';
export const AXIS_FONT = '11px system-ui, "DejaVu Sans", sans-serif';

/** Widths of texts, measured once. */
export class TextWidths {
  private readonly widths = new Map<string, number>();

  constructor(
    private readonly context: Context,
    private readonly font: string,
  ) {}

  of(text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      this.context.font = this.font;
      width = this.context.measureText(text).width;
      if (this.widths.size > 4096) this.widths.clear();
      this.widths.set(text, width);
    }
    return width;
  }
}

/** Cuts a text to a width, with an ellipsis. */
export function fitted(text: string, width: number, widths: TextWidths): string {
  if (widths.of(text) <= width) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (widths.of(`${text.slice(0, middle)}…`) <= width) low = middle;
    else high = middle - 1;
  }
  return low === 0 ? '' : `${text.slice(0, low)}…`;
}

/** What is drawn from here to the next `restore` shows only inside of a box. */
export function clipTo(context: Context, x: number, y: number, width: number, height: number): void {
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
}

/** @throws Error where workers cannot draw */
export function contextOf(canvas: OffscreenCanvas): OffscreenCanvasRenderingContext2D {
  const context = canvas.getContext('2d', { alpha: false, willReadFrequently: true });
  if (!context) throw new Error('this browser has no 2D drawing in workers');
  return context;
}
