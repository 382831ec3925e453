/** How many cycles B is behind A along the program, with marks where they retire different instructions. */
import { useEffect, useRef } from 'preact/hooks';
import { grouped, tickStep, ticks } from '../model/ticks.js';
import type { Pairs } from './pairs.js';
import { differences, pairCount, pairs, place } from './store.js';

const LEFT = 76;
const BOTTOM = 18;
const TOP = 6;

interface Plot {
  readonly width: number;
  readonly height: number;
  /** Instructions retired in A at the right edge. */
  readonly last: number;
  readonly low: number;
  readonly high: number;
}

const xOf = ({ width, last }: Plot, retired: number): number => LEFT + (retired / last) * (width - LEFT);
const yOf = ({ height, low, high }: Plot, drift: number): number =>
  TOP + (1 - (drift - low) / (high - low)) * (height - BOTTOM - TOP);

/** Least and largest drift of each column of pixels. */
function columnsOf(data: Pairs, width: number): { low: Float64Array; high: Float64Array } {
  const columns = Math.max(1, Math.floor(width - LEFT));
  const low = new Float64Array(columns).fill(Number.POSITIVE_INFINITY);
  const high = new Float64Array(columns).fill(Number.NEGATIVE_INFINITY);
  const last = Math.max(1, data.value('retiredA', data.count - 1));
  for (let at = 0; at < data.count; at++) {
    const column = Math.min(columns - 1, Math.floor((data.value('retiredA', at) / last) * columns));
    const drift = data.drift(at);
    low[column] = Math.min(low[column]!, drift);
    high[column] = Math.max(high[column]!, drift);
  }
  return { low, high };
}

function draw(canvas: HTMLCanvasElement): void {
  const { width, height } = canvas.getBoundingClientRect();
  const ratio = devicePixelRatio;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d');
  if (!context || pairs.count === 0) return;
  context.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`);
  const { low, high } = columnsOf(pairs, width);
  const plot: Plot = {
    width,
    height,
    last: Math.max(1, pairs.value('retiredA', pairs.count - 1)),
    low: Math.min(0, ...low),
    high: Math.max(1, ...high),
  };
  context.font = `11px ${style.fontFamily}`;
  drawAxes(context, plot, colour);
  context.fillStyle = colour('flush');
  for (const { retiredA } of differences.value) context.fillRect(Math.round(xOf(plot, retiredA)), 0, 1, TOP - 1);
  context.fillStyle = colour('accent');
  low.forEach((value, column) => {
    if (!Number.isFinite(value)) return;
    const [top, bottom] = [yOf(plot, high[column]!), yOf(plot, value)];
    context.fillRect(LEFT + column, top - 0.75, 1, Math.max(1.5, bottom - top + 1.5));
  });
  if (place.value === null) return;
  context.fillStyle = colour('cursor');
  context.fillRect(Math.round(xOf(plot, place.value)), 0, 1, height - BOTTOM);
}

function drawAxes(context: CanvasRenderingContext2D, plot: Plot, colour: (name: string) => string): void {
  const { width, height, low, high, last } = plot;
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  const step = tickStep((height - BOTTOM - TOP) / (high - low), 22);
  for (const drift of ticks(low, high, step)) {
    const y = yOf(plot, drift);
    context.fillStyle = colour(drift === 0 ? 'line' : 'grid');
    context.fillRect(LEFT, Math.round(y), width - LEFT, 1);
    context.fillStyle = colour('dim');
    context.fillText(`${drift > 0 ? '+' : drift < 0 ? '−' : ''}${grouped(Math.abs(drift))}`, LEFT - 6, y);
  }
  context.textAlign = 'center';
  context.textBaseline = 'alphabetic';
  for (const retired of ticks(0, last, tickStep((width - LEFT) / last, 110))) {
    const x = xOf(plot, retired);
    context.fillStyle = colour('grid');
    context.fillRect(Math.round(x), TOP, 1, height - BOTTOM - TOP);
    context.fillStyle = colour('dim');
    const half = context.measureText(grouped(retired)).width / 2;
    context.fillText(grouped(retired), Math.max(LEFT + half, Math.min(width - half - 2, x)), height - 5);
  }
}

/** @param onGo gets the instructions retired in A at the place that the user points to */
export function DriftPlot({ onGo }: { readonly onGo: (retired: number) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const read = [pairCount.value, differences.value, place.value] as const;
  useEffect(() => {
    draw(canvas.current!);
  }, [...read]);
  useEffect(() => {
    const observer = new ResizeObserver(() => draw(canvas.current!));
    observer.observe(canvas.current!);
    return () => observer.disconnect();
  }, []);
  const go = (event: MouseEvent): void => {
    const { width } = canvas.current!.getBoundingClientRect();
    const last = pairs.count > 0 ? pairs.value('retiredA', pairs.count - 1) : 0;
    onGo(Math.max(0, Math.min(1, (event.offsetX - LEFT) / (width - LEFT))) * last);
  };
  return (
    <figure class="drift">
      <figcaption>cycles that B is behind A, by instructions retired in A</figcaption>
      <canvas
        ref={canvas}
        aria-label="cycles that B is behind A along the program"
        onPointerDown={go}
        onPointerMove={(event) => {
          if (event.buttons & 1) go(event);
        }}
      />
    </figure>
  );
}
