/** The target of the parts of a picture: a canvas, or an SVG in which text remains text. */
import type { Paint } from '../drawing/surface.js';
import { SvgPaint } from '../drawing/svg/svg-paint.js';
import type { CanvasPackage, HeadlessCanvas } from './surroundings.js';

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Brush {
  readonly paint: Paint;
  canvas(part: HeadlessCanvas, at: Box): void;
  /** The pipeline, which has its own form of a picture. */
  rows(part: HeadlessCanvas, at: Box): Promise<void>;
  finish(): Promise<Uint8Array>;
}

export function pngBrush({ createCanvas }: CanvasPackage, width: number, height: number): Brush {
  const all = createCanvas(width, height);
  const paint = all.getContext('2d', { alpha: false });
  const canvas = (part: HeadlessCanvas, { x, y }: Box): void =>
    paint.drawImage(part as unknown as OffscreenCanvas, x, y);
  return {
    paint,
    canvas,
    rows: async (part, at) => canvas(part, at),
    finish: () => all.encode('png'),
  };
}

/** @param rows what the pipeline is in an SVG */
export function svgBrush(
  { createCanvas }: CanvasPackage,
  width: number,
  height: number,
  rows: () => Promise<string>,
): Brush {
  const paint = new SvgPaint(createCanvas(1, 1).getContext('2d'), 't');
  return {
    paint,
    canvas: (part, { x, y }) =>
      paint.element(
        `<image x="${x}" y="${y}" width="${part.width}" height="${part.height}" href="${part.toDataURL('image/png')}"/>`,
      ),
    rows: async (_, { x, y }) => paint.element(`<g transform="translate(${x} ${y})">${await rows()}</g>`),
    finish: async () => {
      const head = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`;
      return new TextEncoder().encode(`${head}${paint.finish()}</svg>\n`);
    },
  };
}

export function fillBox({ paint }: Brush, colour: string, { x, y, width, height }: Box): void {
  paint.fillStyle = colour;
  paint.fillRect(x, y, width, height);
}
