/** What the column of the page shows, as one picture: overview, pipeline and tracks. */
import { SvgPaint } from '../drawing/svg/svg-paint.js';
import { currentEngine } from './current-engine.js';

export type PictureKind = 'png' | 'svg';

interface Part {
  readonly canvas: HTMLCanvasElement;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** @throws Error where there is nothing to see */
export async function takePicture(kind: PictureKind): Promise<Blob> {
  const column = document.querySelector<HTMLElement>('.column:not(.splitter)');
  const pipeline = column?.querySelector<HTMLCanvasElement>('canvas.rows');
  const engine = currentEngine();
  if (!column || !pipeline || !engine) throw new Error('there is no picture');
  const box = column.getBoundingClientRect();
  const parts = [...column.querySelectorAll('canvas')].flatMap((canvas) => partOf(canvas, box));
  return kind === 'png' ? asPng(parts, pipeline, column, box) : asSvg(parts, pipeline, column, box);
}

function partOf(canvas: HTMLCanvasElement, column: DOMRect): Part[] {
  const { left, top, width, height } = canvas.getBoundingClientRect();
  return width > 0 && height > 0
    ? [{ canvas, x: left - column.left, y: top - column.top, width, height }]
    : [];
}

async function asPng(
  parts: readonly Part[],
  pipeline: HTMLCanvasElement,
  column: HTMLElement,
  box: DOMRect,
): Promise<Blob> {
  const made = await currentEngine()!.picture('png');
  const rows = await createImageBitmap(made as Blob);
  const ratio = devicePixelRatio;
  const canvas = new OffscreenCanvas(Math.round(box.width * ratio), Math.round(box.height * ratio));
  const context = canvas.getContext('2d')!;
  context.scale(ratio, ratio);
  context.fillStyle = getComputedStyle(document.body).backgroundColor;
  context.fillRect(0, 0, box.width, box.height);
  for (const { canvas: part, x, y, width, height } of parts)
    context.drawImage(part === pipeline ? rows : part, x, y, width, height);
  paintTexts(column, box, context);
  return canvas.convertToBlob({ type: 'image/png' });
}

async function asSvg(
  parts: readonly Part[],
  pipeline: HTMLCanvasElement,
  column: HTMLElement,
  box: DOMRect,
): Promise<Blob> {
  const rows = (await currentEngine()!.picture('svg')) as string;
  const content = parts.map(({ canvas, x, y, width, height }) =>
    canvas === pipeline
      ? `<g transform="translate(${x} ${y})">${rows}</g>`
      : `<image x="${x}" y="${y}" width="${width}" height="${height}" href="${dataUrl(canvas)}"/>`,
  );
  const measure = new OffscreenCanvas(1, 1).getContext('2d')!;
  const texts = new SvgPaint(measure, 't');
  paintTexts(column, box, texts);
  const background = getComputedStyle(document.body).backgroundColor;
  const head = `<svg xmlns="http://www.w3.org/2000/svg" width="${box.width}" height="${box.height}" viewBox="0 0 ${box.width} ${box.height}">`;
  const ground = `<rect width="100%" height="100%" fill="${background}"/>`;
  return new Blob([head, ground, ...content, texts.finish(), '</svg>\n'], { type: 'image/svg+xml' });
}

/** Of a canvas that belongs to a worker only a copy can be read. */
function dataUrl(canvas: HTMLCanvasElement): string {
  const copy = document.createElement('canvas');
  copy.width = canvas.width;
  copy.height = canvas.height;
  copy.getContext('2d')!.drawImage(canvas, 0, 0);
  return copy.toDataURL('image/png');
}

type TextPaint =
  | Pick<SvgPaint, 'fillStyle' | 'font' | 'fillText' | 'textBaseline'>
  | OffscreenCanvasRenderingContext2D;

/** Texts of tracks that are elements of the page. */
function paintTexts(column: HTMLElement, box: DOMRect, paint: TextPaint): void {
  for (const track of column.querySelectorAll('.track')) {
    const texts = document.createTreeWalker(track, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      const text = node.textContent?.trim() ?? '';
      const element = node.parentElement;
      if (text === '' || !element || element.closest('select, option, button, [aria-hidden="true"]'))
        continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const { left, top, width, height } = range.getBoundingClientRect();
      if (width === 0 || height === 0) continue;
      const { color, fontWeight, fontSize, fontFamily } = getComputedStyle(element);
      paint.font = `${fontWeight} ${fontSize} ${fontFamily}`;
      paint.fillStyle = color;
      paint.textBaseline = 'middle';
      paint.fillText(text, left - box.left, top - box.top + height / 2);
    }
  }
}
