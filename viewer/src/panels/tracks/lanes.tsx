/** Lanes under each other on the axis of time: names in the gutter, one canvas for the pictures. */
import { effect } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { listenTrack } from '../../input/track-pointer.js';
import { themeOf } from '../../model/palette.js';
import { currentEngine } from '../../page/perform.js';
import { settings } from '../../page/store.js';
import { chosenCursor, chosenCycle, cursors, range } from '../../page/places/places.js';
import { type TimeView, xOf } from '../../model/time-view.js';
import { pointedCycle, timeView, trackCycle } from '../../page/time.js';
import type { Raster } from '../../drawing/raster.js';
import { drawLanes, type Lane } from '../../tracks/lane.js';
import { LaneCanvas } from '../../tracks/lane-canvas.js';
import { drawNever, drawSoon } from './draw-turns.js';

interface LanesProps {
  readonly title: string;
  readonly lanes: readonly Lane[];
  /** Changes when the lanes must be drawn again. */
  readonly version: unknown;
  /** Instead of lanes, or above them. */
  readonly hint?: string | null;
  /** Draws one picture instead of that of each lane. */
  readonly draw?: (canvas: LaneCanvas) => void;
}

interface Tip {
  readonly x: number;
  readonly y: number;
  readonly lines: readonly string[];
}

export function Lanes({ title, lanes, version, hint, draw: drawAll }: LanesProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [tip, setTip] = useState<Tip | null>(null);
  const current = useRef({ lanes, drawAll });
  current.current = { lanes, drawAll };
  const redraw = useRef<() => void>(() => undefined);

  useLayoutEffect(() => {
    const element = canvas.current!;
    const list = scroller.current!;
    // Asking the elements while something else has changed would make the browser lay out the page in the middle of drawing.
    let scrolled = 0;
    const box = { width: 0, height: 0 };
    const raster: RasterKept = { kept: null };
    const draw = (): void => {
      paintLanes(element, box, raster, (canvas) => {
        const { lanes: shown, drawAll: all } = current.current;
        if (all) all(canvas);
        else drawLanes(canvas, shown, scrolled);
      });
    };
    const schedule = (): void => drawSoon(draw);
    redraw.current = schedule;
    const stopEffect = effect(() => {
      void [timeView.value, settings.value.theme];
      schedule();
    });
    const observer = new ResizeObserver(([entry]) => {
      Object.assign(box, { width: entry!.contentRect.width, height: entry!.contentRect.height });
      schedule();
    });
    observer.observe(element);
    const hasScrolled = (): void => {
      scrolled = list.scrollTop;
      schedule();
    };
    list.addEventListener('scroll', hasScrolled);
    const stopPointer = listenTrack(element, {
      gutter: () => settings.value.gutter,
      run: (command) => currentEngine()?.run(command),
      scroll: (dy) => {
        const before = list.scrollTop;
        list.scrollTop += dy;
        return list.scrollTop !== before;
      },
      point: (at) => {
        const view = timeView.peek();
        trackCycle.value = at && view ? view.x + at.x / view.scale : null;
        currentEngine()?.post({ type: 'pointer', pointer: at && { x: settings.value.gutter + at.x, y: 20 } });
        setTip(at && view ? tipAt(element, at, view.x + at.x / view.scale, 4 / view.scale, current.current.lanes, list.scrollTop) : null);
      },
    });
    return () => {
      stopEffect();
      observer.disconnect();
      list.removeEventListener('scroll', hasScrolled);
      drawNever(draw);
      stopPointer();
      trackCycle.value = null;
    };
  }, []);
  useEffect(() => redraw.current(), [version, lanes]);

  return (
    <div class="lanes">
      <div class="lanes-scroll" ref={scroller} tabIndex={0} role="list" aria-label={title} onKeyDown={scrollWithKeys}>
        {lanes.map((lane) => (
          <LaneName key={lane.key} lane={lane} />
        ))}
      </div>
      <canvas class="lanes-plot" ref={canvas} role="img" aria-label={`${title} over time`} />
      {hint && <p class="lanes-hint">{hint}</p>}
      <Lines />
      {tip && tip.lines.length > 0 && (
        <div class="track-tip" role="tooltip" style={{ left: `${tip.x + 12}px`, top: `${Math.max(4, Math.min(tip.y + 12, innerHeight - tip.lines.length * TIP_LINE - 20))}px` }}>
          {tip.lines.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity
            <div key={index}>{line}</div>
          ))}
        </div>
      )}
    </div>
  );
}

/** Where there is more than fits, keys that scroll do so; else they move the picture as everywhere. */
function scrollWithKeys(event: KeyboardEvent): void {
  const list = event.currentTarget as HTMLElement;
  const scrolls = /^(ArrowUp|ArrowDown|PageUp|PageDown)$/.test(event.key) && !event.ctrlKey && !event.altKey;
  if (scrolls && list.scrollHeight > list.clientHeight) event.stopPropagation();
}

function LaneName({ lane }: { lane: Lane }) {
  const cycle = pointedCycle.value ?? chosenCycle.value;
  const theme = themeOf(settings.value);
  return (
    <div class="lane-name" role="listitem" style={{ height: `${lane.height}px` }} title={lane.title ?? lane.name}>
      {lane.colour && <i class="swatch" style={{ background: lane.colour(theme) }} />}
      <span>{lane.name}</span>
      <output>{cycle === null ? '' : (lane.valueAt?.(cycle) ?? '')}</output>
    </div>
  );
}

/** The cycle under the pointer, the cursors and the range, in every track. */
function Lines() {
  const view = timeView.value;
  if (!view) return null;
  const cycle = pointedCycle.value;
  const chosen = range.value;
  return (
    <>
      {chosen && <Line view={view} from={chosen.from} to={chosen.to} class="range-line" />}
      {cursors.value.map(({ id, cycle: at }) => (
        <Line key={id} view={view} from={at} to={at} class={id === chosenCursor.value ? 'place-line chosen' : 'place-line'} />
      ))}
      {cycle !== null && (
        <Line view={view} from={cycle} to={view.scale >= 3 ? cycle + 1 : cycle} class={view.scale >= 3 ? 'cursor-line wide' : 'cursor-line'} />
      )}
    </>
  );
}

/** From the beginning of a cycle to that of another one, at least a pixel. */
function Line({ view, from, to, class: name }: { view: TimeView; from: number; to: number; class: string }) {
  const left = Math.max(0, Math.round(xOf(view, from)));
  const right = Math.min(view.width, Math.max(left + 1, Math.round(xOf(view, to))));
  if (xOf(view, to) < 0 || left >= right) return null;
  return <div class={name} style={{ left: `calc(var(--gutter-width) + ${left}px)`, width: `${right - left}px` }} />;
}

function laneAt(lanes: readonly Lane[], y: number): { lane: Lane; y: number } | null {
  let top = 0;
  for (const lane of lanes) {
    if (y < top + lane.height) return { lane, y: y - top };
    top += lane.height;
  }
  return null;
}

/** Room that a tooltip takes, CSS pixels. */
const TIP_WIDTH = 300;
const TIP_LINE = 15;

function tipAt(element: HTMLElement, at: { x: number; y: number }, cycle: number, slack: number, lanes: readonly Lane[], scrolled: number): Tip | null {
  const found = laneAt(lanes, at.y + scrolled);
  const lines = found?.lane.describe?.(cycle, slack, found.y) ?? [];
    if (lines.length === 0) return null;
  const box = element.getBoundingClientRect();
  return { x: Math.min(box.left + at.x, innerWidth - TIP_WIDTH), y: box.top + at.y, lines };
}

/** Of the last picture: drawn into again while the size stays. */
interface RasterKept {
  kept: Raster | null;
}

function paintLanes(element: HTMLCanvasElement, box: { width: number; height: number }, raster: RasterKept, draw: (canvas: LaneCanvas) => void): void {
  const view = timeView.peek();
  const context = element.getContext('2d', { alpha: false });
  if (!view || !context || box.width === 0) return;
  const { ratio } = view;
  const width = Math.max(1, Math.round(box.width * ratio));
  const height = Math.max(1, Math.round(box.height * ratio));
  if (element.width !== width) element.width = width;
  if (element.height !== height) element.height = height;
  const theme = themeOf(settings.peek());
  const canvas = new LaneCanvas(width, height, { x: view.x, scale: view.scale * ratio, ratio }, theme, raster.kept);
  raster.kept = canvas.raster;
  draw(canvas);
  canvas.paint(context);
}
