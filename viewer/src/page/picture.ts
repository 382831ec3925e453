/** What the column of the page shows, as one picture: overview, pipeline and tracks, with what lies above them. */
import { SvgPaint } from '../drawing/svg/svg-paint.js';
import { currentEngine } from './threads/current-engine.js';

type PictureKind = 'png' | 'svg';

type Context = OffscreenCanvasRenderingContext2D;

/** Where the parts of the picture go: a canvas, or an SVG. Lengths are CSS pixels of the column. */
interface Brush {
  readonly paint:
    | Pick<SvgPaint, 'fillStyle' | 'globalAlpha' | 'font' | 'textBaseline' | 'fillRect' | 'fillText'>
    | Context;
  canvas(canvas: HTMLCanvasElement, box: DOMRect): void;
  /** The pipeline. */
  rows(box: DOMRect): void;
}

/** @throws Error where there is nothing to see */
export async function takePicture(kind: PictureKind): Promise<Blob> {
  const column = document.querySelector<HTMLElement>('.column:not(.splitter)');
  const engine = currentEngine();
  if (!column?.querySelector('canvas.rows') || !engine) throw new Error('there is no picture');
  const rows = await engine.picture(kind);
  return kind === 'png' ? asPng(column, rows as Blob) : asSvg(column, rows as string);
}

async function asPng(column: HTMLElement, rows: Blob): Promise<Blob> {
  const { width, height } = column.getBoundingClientRect();
  const pipeline = await createImageBitmap(rows);
  const canvas = new OffscreenCanvas(
    Math.round(width * devicePixelRatio),
    Math.round(height * devicePixelRatio),
  );
  const paint = canvas.getContext('2d')!;
  paint.scale(devicePixelRatio, devicePixelRatio);
  paintColumn(column, {
    paint,
    canvas: (part, box) => paint.drawImage(part, box.x, box.y, box.width, box.height),
    rows: (box) => paint.drawImage(pipeline, box.x, box.y, box.width, box.height),
  });
  return canvas.convertToBlob({ type: 'image/png' });
}

async function asSvg(column: HTMLElement, rows: string): Promise<Blob> {
  const { width, height } = column.getBoundingClientRect();
  const paint = new SvgPaint(new OffscreenCanvas(1, 1).getContext('2d')!, 't');
  paintColumn(column, {
    paint,
    canvas: (part, box) =>
      paint.element(
        `<image x="${box.x}" y="${box.y}" width="${box.width}" height="${box.height}" href="${dataUrl(part)}"/>`,
      ),
    rows: (box) => paint.element(`<g transform="translate(${box.x} ${box.y})">${rows}</g>`),
  });
  const head = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`;
  return new Blob([head, paint.finish(), '</svg>\n'], { type: 'image/svg+xml' });
}

/** Of a canvas that belongs to a worker only a copy can be read. */
function dataUrl(canvas: HTMLCanvasElement): string {
  const copy = document.createElement('canvas');
  copy.width = canvas.width;
  copy.height = canvas.height;
  copy.getContext('2d')!.drawImage(canvas, 0, 0);
  return copy.toDataURL('image/png');
}

/** What lies above the pipeline is not part of it, and controls are not part of a picture. */
const LEFT_OUT = '.picture > :not(canvas), button, select, label, input, [role="separator"]';

/** Element by element, in the order in which the browser paints them. */
function paintColumn(column: HTMLElement, brush: Brush): void {
  const origin = column.getBoundingClientRect();
  fill(
    brush,
    new DOMRect(0, 0, origin.width, origin.height),
    getComputedStyle(document.body).backgroundColor,
  );
  const visit = (node: Node, clip: DOMRect): void => {
    if (node instanceof Text) paintText(node, origin, clip, brush);
    if (!(node instanceof HTMLElement) || node.matches(LEFT_OUT)) return;
    const box = within(node.getBoundingClientRect(), origin);
    if (node instanceof HTMLCanvasElement) {
      if (box.width > 0 && box.height > 0) {
        if (node.classList.contains('rows')) brush.rows(box);
        else brush.canvas(node, box);
      }
      return;
    }
    paintBox(node, box, clip, brush);
    const inner = getComputedStyle(node).overflow === 'visible' ? clip : intersection(box, clip);
    for (const child of node.childNodes) visit(child, inner);
  };
  for (const child of column.childNodes) visit(child, new DOMRect(0, 0, origin.width, origin.height));
}

const within = (box: DOMRect, origin: DOMRect): DOMRect =>
  new DOMRect(box.x - origin.x, box.y - origin.y, box.width, box.height);

function intersection(a: DOMRect, b: DOMRect): DOMRect {
  const [x, y] = [Math.max(a.x, b.x), Math.max(a.y, b.y)];
  const [right, bottom] = [Math.min(a.right, b.right), Math.min(a.bottom, b.bottom)];
  return new DOMRect(x, y, Math.max(0, right - x), Math.max(0, bottom - y));
}

const SIDES = ['Top', 'Right', 'Bottom', 'Left'] as const;

/** Background and straight borders. */
function paintBox(element: HTMLElement, box: DOMRect, clip: DOMRect, brush: Brush): void {
  const style = getComputedStyle(element);
  if (style.visibility === 'hidden' || style.display === 'none') return;
  const opacity = Number(style.opacity);
  fill(brush, intersection(box, clip), style.backgroundColor, opacity);
  for (const side of SIDES) {
    const width = Number.parseFloat(style[`border${side}Width`]);
    if (!(width > 0) || style[`border${side}Style`] !== 'solid') continue;
    // Triangles are made of borders of elements without a size.
    if (element.clientWidth + element.clientHeight === 0) continue;
    const edge = new DOMRect(
      side === 'Right' ? box.right - width : box.x,
      side === 'Bottom' ? box.bottom - width : box.y,
      side === 'Left' || side === 'Right' ? width : box.width,
      side === 'Top' || side === 'Bottom' ? width : box.height,
    );
    fill(brush, intersection(edge, clip), style[`border${side}Color`], opacity);
  }
}

function fill({ paint }: Brush, { x, y, width, height }: DOMRect, colour: string, opacity = 1): void {
  const { text, alpha } = colourOf(colour);
  if (alpha * opacity === 0 || width === 0 || height === 0) return;
  paint.fillStyle = text;
  paint.globalAlpha = alpha * opacity;
  paint.fillRect(x, y, width, height);
  paint.globalAlpha = 1;
}

function paintText(node: Text, origin: DOMRect, clip: DOMRect, { paint }: Brush): void {
  const text = node.data.trim();
  const element = node.parentElement;
  if (text === '' || !element) return;
  const range = document.createRange();
  range.selectNodeContents(node);
  const box = within(range.getBoundingClientRect(), origin);
  const shown = intersection(box, clip);
  if (shown.width === 0 || shown.height === 0) return;
  const { color, fontWeight, fontSize, fontFamily } = getComputedStyle(element);
  paint.font = `${fontWeight} ${fontSize} ${fontFamily}`;
  paint.fillStyle = colourOf(color).text;
  paint.textBaseline = 'middle';
  paint.fillText(text, box.x, box.y + box.height / 2);
}

/** Colours as browsers compute them: `rgb(…)`, or `color(srgb …)` where colours were mixed. */
function colourOf(computed: string): { readonly text: string; readonly alpha: number } {
  const numbers = (computed.match(/[\d.]+(?:e-?\d+)?/g) ?? []).map(Number);
  const [red = 0, green = 0, blue = 0, alpha = 1] = numbers;
  const scale = computed.startsWith('color(') ? 255 : 1;
  const text = `rgb(${[red, green, blue].map((part) => Math.round(part * scale)).join(',')})`;
  return { text, alpha: computed === 'transparent' ? 0 : alpha };
}
