/** The whole run of a trace without cores: how many events there are, over time. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { AskError } from '../data/asker.js';
import { themeOf } from '../model/palette.js';
import type { EventColumns } from '../model/window.js';
import { currentEngine } from '../page/threads/current-engine.js';
import { info, settings } from '../page/store.js';
import { drawEventOverview, overviewWindow } from '../tracks/event-overview.js';
import { LaneCanvas } from '../tracks/lane-canvas.js';

export function EventOverview() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [found, setFound] = useState<readonly EventColumns[]>([]);
  const trace = info.value;
  useEffect(() => {
    if (!trace) return;
    const controller = new AbortController();
    const events = trace.schema.events.map(({ eventTypeId }) => eventTypeId);
    const [first, last] = [trace.segmentCycles[0] ?? 0, trace.segmentCycles.at(-1) ?? 1];
    const args = overviewWindow(events, first, last, innerWidth * devicePixelRatio);
    if (!args) return;
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

function drawAll(element: HTMLCanvasElement, found: readonly EventColumns[], from: number, to: number): void {
  const context = element.getContext('2d', { alpha: false });
  if (!context) return;
  const ratio = devicePixelRatio;
  const width = Math.max(1, Math.round(element.clientWidth * ratio));
  const height = Math.max(1, Math.round(element.clientHeight * ratio));
  element.width = width;
  element.height = height;
  const view = { x: from, scale: width / Math.max(1, to - from), ratio };
  const canvas = new LaneCanvas(width, height, view, themeOf(settings.peek()));
  drawEventOverview(canvas, found);
  canvas.paint(context);
}
