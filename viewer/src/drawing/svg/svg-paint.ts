/** Texts and lines as elements of an SVG: text remains text. */
import { wellFormed } from '../../model/link.js';
import type { Paint } from '../surface.js';

interface Box {
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

interface State {
  fillStyle: string;
  strokeStyle: string;
  lineWidth: number;
  globalAlpha: number;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;
  dash: readonly number[];
  /** null: all is seen. */
  clip: Box | null;
}

const START: State = {
  fillStyle: 'black',
  strokeStyle: 'black',
  lineWidth: 1,
  globalAlpha: 1,
  font: '10px sans-serif',
  textAlign: 'start',
  textBaseline: 'alphabetic',
  dash: [],
  clip: null,
};

/** What a canvas's baselines lie above the alphabetic one is known only to a canvas. */
export type Measure = Pick<Paint, 'font' | 'textBaseline' | 'measureText'>;

export class SvgPaint implements Paint {
  fillStyle = START.fillStyle;
  strokeStyle = START.strokeStyle;
  lineWidth = START.lineWidth;
  globalAlpha = START.globalAlpha;
  font = START.font;
  textAlign = START.textAlign;
  textBaseline = START.textBaseline;
  private dash = START.dash;
  private clipBox = START.clip;
  private readonly saved: State[] = [];
  private readonly elements: string[] = [];
  private readonly clips = new Map<string, string>();
  private readonly baselines = new Map<string, number>();
  private path = '';
  /** The path if it is one rectangle. */
  private pathBox: Box | null = null;

  /** @param idPrefix of the ids in it: several may be in one file */
  constructor(
    private readonly measure: Measure,
    private readonly idPrefix = 'c',
  ) {}

  /** All that was painted, and the definitions it needs. */
  finish(): string {
    const clips = [...this.clips].map(([box, id]) => `<clipPath id="${id}"><rect ${box}/></clipPath>`);
    return `<defs>${clips.join('')}</defs>${this.elements.join('')}`;
  }

  /** Something made elsewhere, above what was painted so far. */
  element(markup: string): void {
    this.elements.push(markup);
  }

  save(): void {
    const { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, dash } = this;
    const style = { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline };
    this.saved.push({ ...style, dash, clip: this.clipBox });
  }

  restore(): void {
    const state = this.saved.pop();
    if (!state) return;
    const { clip, ...style } = state;
    Object.assign(this, style);
    this.clipBox = clip;
  }

  setLineDash(dash: Iterable<number>): void {
    this.dash = [...dash];
  }

  beginPath(): void {
    this.path = '';
    this.pathBox = null;
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.pathBox = this.path === '' ? { x0: x, y0: y, x1: x + width, y1: y + height } : null;
    this.path += `M${n(x)} ${n(y)}h${n(width)}v${n(height)}h${n(-width)}z`;
  }

  clip(): void {
    const box = this.pathBox;
    if (!box) throw new Error('a picture may be clipped to a rectangle only');
    const outer = this.clipBox;
    this.clipBox = outer
      ? {
          x0: Math.max(box.x0, outer.x0),
          y0: Math.max(box.y0, outer.y0),
          x1: Math.min(box.x1, outer.x1),
          y1: Math.min(box.y1, outer.y1),
        }
      : box;
  }

  moveTo(x: number, y: number): void {
    this.add(`M${n(x)} ${n(y)}`);
  }

  lineTo(x: number, y: number): void {
    this.add(`L${n(x)} ${n(y)}`);
  }

  bezierCurveTo(x1: number, y1: number, x2: number, y2: number, x: number, y: number): void {
    this.add(`C${n(x1)} ${n(y1)} ${n(x2)} ${n(y2)} ${n(x)} ${n(y)}`);
  }

  arc(x: number, y: number, radius: number, from: number, to: number): void {
    const at = (angle: number): string =>
      `${n(x + radius * Math.cos(angle))} ${n(y + radius * Math.sin(angle))}`;
    // As a canvas does it: a line leads to its beginning. Of a whole circle both ends are the same: it is drawn in halves.
    const middle = (from + to) / 2;
    const large = Math.abs(to - from) / 2 > Math.PI ? 1 : 0;
    const sweep = to > from ? 1 : 0;
    const arc = (angle: number): string => `A${n(radius)} ${n(radius)} 0 ${large} ${sweep} ${at(angle)}`;
    this.add(`${this.path === '' ? 'M' : 'L'}${at(from)}${arc(middle)}${arc(to)}`);
  }

  closePath(): void {
    this.add('Z');
  }

  fill(): void {
    this.put(`<path d="${this.path}"${this.filled()}`);
  }

  stroke(): void {
    const dash = this.dash.length > 0 ? ` stroke-dasharray="${this.dash.map(n).join(' ')}"` : '';
    const alpha = this.globalAlpha < 1 ? ` stroke-opacity="${n(this.globalAlpha)}"` : '';
    const line = ` fill="none" stroke="${escaped(this.strokeStyle)}" stroke-width="${n(this.lineWidth)}"`;
    this.put(`<path d="${this.path}"${line}${dash}${alpha}`);
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    if (width <= 0 || height <= 0) return;
    this.put(`<rect ${boxText(x, y, width, height)}${this.filled()}`);
  }

  fillText(text: string, x: number, y: number): void {
    const shown = printable(text);
    if (shown.trim() === '') return;
    const anchor = { center: 'middle', right: 'end', end: 'end' }[this.textAlign as string];
    const place = `x="${n(x)}" y="${n(y + this.baseline())}"${anchor ? ` text-anchor="${anchor}"` : ''}`;
    this.put(`<text ${place}${fontAttributes(this.font)}${this.filled()}`, `>${escaped(shown)}</text>`);
  }

  measureText(text: string): TextMetrics {
    this.measure.font = this.font;
    return this.measure.measureText(text);
  }

  private add(command: string): void {
    this.path += command;
    this.pathBox = null;
  }

  /** How far the alphabetic baseline lies below the one that is set. */
  private baseline(): number {
    if (this.textBaseline === 'alphabetic') return 0;
    const key = `${this.textBaseline} ${this.font}`;
    let below = this.baselines.get(key);
    if (below === undefined) {
      const ascent = (baseline: CanvasTextBaseline): number => {
        this.measure.font = this.font;
        this.measure.textBaseline = baseline;
        return this.measure.measureText('x').fontBoundingBoxAscent;
      };
      below = ascent('alphabetic') - ascent(this.textBaseline);
      this.measure.textBaseline = 'alphabetic';
      this.baselines.set(key, below);
    }
    return below;
  }

  private filled(): string {
    const alpha = this.globalAlpha < 1 ? ` fill-opacity="${n(this.globalAlpha)}"` : '';
    return ` fill="${escaped(this.fillStyle)}"${alpha}`;
  }

  private put(open: string, close = '/>'): void {
    const { clipBox } = this;
    if (clipBox && (clipBox.x1 <= clipBox.x0 || clipBox.y1 <= clipBox.y0)) return;
    const clip = clipBox ? ` clip-path="url(#${this.clipId(clipBox)})"` : '';
    this.elements.push(open + clip + close);
  }

  private clipId({ x0, y0, x1, y1 }: Box): string {
    const box = boxText(x0, y0, x1 - x0, y1 - y0);
    const known = this.clips.get(box) ?? `${this.idPrefix}${this.clips.size}`;
    this.clips.set(box, known);
    return known;
  }
}

const boxText = (x: number, y: number, width: number, height: number): string =>
  `x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}"`;

/** Thousandths of a pixel are enough. */
function n(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}

/** `600 11px system-ui, sans-serif` as attributes. */
function fontAttributes(font: string): string {
  const [, weight, size = '10', family = 'sans-serif'] =
    /^(?:(\d+|bold)\s+)?([\d.]+)px\s+(.*)$/.exec(font) ?? [];
  return `${weight ? ` font-weight="${weight}"` : ''} font-size="${size}" font-family="${escaped(family)}"`;
}

/** Without what XML forbids. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must go
  return wellFormed(text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd');
}

function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
  };
  return text.replace(/[&<>"]/g, (character) => entities[character]!);
}
