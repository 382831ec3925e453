/** The whole run of a trace without cores: how many events there are, over time. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { AskError } from '../data/asker.js';
import { fillOf, pixelOf, themeOf } from '../model/palette.js';
import { type EventColumns, MAX_COLUMNS } from '../model/window.js';
import { currentEngine } from '../page/current-engine.js';
import { info, settings } from '../page/store.js';
import { LaneCanvas, ratesOfPixels } from '../tracks/lane-canvas.js';

/** Left free above, CSS pixels. */
const TOP = 4;

export function EventOverview() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [found, setFound] = useState<readonly EventColumns[]>([]);
  const trace = info.value;
  useEffect(() => {
    if (!trace) return;
    const controller = new AbortController();
    const [from, to] = [Math.floor(trace.segmentCycles[0] ?? 0), Math.ceil(trace.segmentCycles.at(-1) ?? 1)];
    const step = Math.max(1, Math.ceil((to - from) / Math.min(MAX_COLUMNS, innerWidth * devicePixelRatio)));
    const events = trace.schema.events.map(({ eventTypeId }) => eventTypeId);
    if (to <= from || events.length === 0) return;
    const args = { from, to, step, events, counters: [], buffers: [], values: [] };
    currentEngine()
      ?.ask('window', args, controller.signal)
      .then((answer) => setFound(answer.events))
      .catch((error: unknown) => {
        // The tracks say what is wrong.
        if (!(error instanceof AskError) && !controller.signal.aborted) throw error;
      });
    return () => controller.abort();
  }, [trace]);
  useEffect(() => {
    const element = canvas.current!;
    const draw = (): void => {
      if (trace) drawAll(element, found, trace.segmentCycles[0] ?? 0, trace.segmentCycles.at(-1) ?? 1);
    };
    draw();
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    return () => observer.disconnect();
  }, [found, trace, settings.value]);
  return <canvas ref={canvas} class="event-overview" role="img" aria-label="overview of the run: events over time" />;
}

/** Stacked; what is rare has a pixel all the same. */
function drawAll(element: HTMLCanvasElement, found: readonly EventColumns[], from: number, to: number): void {
  const context = element.getContext('2d', { alpha: false });
  if (!context) return;
  const ratio = devicePixelRatio;
  const width = Math.max(1, Math.round(element.clientWidth * ratio));
  const height = Math.max(1, Math.round(element.clientHeight * ratio));
  element.width = width;
  element.height = height;
  const theme = themeOf(settings.peek());
  const view = { x: from, scale: width / Math.max(1, to - from), ratio };
  const canvas = new LaneCanvas(width, height, view, theme);
  const rates = found.map((events) => ratesOfPixels(events, events.counts, view, width));
  let most = 0;
  for (let x = 0; x < width; x++) most = Math.max(most, rates.reduce((sum, one) => sum + one[x]!, 0));
  const room = height - found.length - Math.round(TOP * ratio);
  const pixels = found.map((_, index) => pixelOf(fillOf(theme, index)));
  for (let x = 0; x < width && most > 0; x++) {
    let bottom = height;
    rates.forEach((rate, index) => {
      if (rate[x]! === 0) return;
      const part = Math.max(1, Math.round((room * rate[x]!) / most));
      canvas.raster.fill(x, bottom - part, x + 1, bottom, pixels[index]!);
      bottom -= part;
    });
  }
  canvas.paint(context);
}
