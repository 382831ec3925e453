/** Lanes under each other on the axis of time: names in the gutter, one canvas for the pictures. */
import { effect } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { listenTrack } from '../input/track-pointer.js';
import { themeOf, type Theme } from '../model/palette.js';
import { currentEngine } from '../page/perform.js';
import { settings } from '../page/store.js';
import { pointedCycle, timeView, trackCycle, xOf } from '../page/time.js';
import { type LaneBox, LaneCanvas } from '../tracks/lane-canvas.js';

export interface Lane {
  readonly key: string;
  readonly name: string;
  /** Of the name: where it is, what it means. */
  readonly title?: string;
  /** CSS pixels. */
  readonly height: number;
  readonly colour?: (theme: Theme) => string;
  draw?(canvas: LaneCanvas, box: LaneBox): void;
  /** At a cycle: for the gutter. */
  valueAt?(cycle: number): string;
  /** For a tooltip: lines about what is at a cycle. @param slack cycles that the pointer may be off */
  describe?(cycle: number, slack: number, y: number): readonly string[];
}

export interface LanesProps {
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
    let isScheduled = false;
    const draw = (): void => {
      isScheduled = false;
      paintLanes(element, (canvas) => {
        const { lanes: shown, drawAll: all } = current.current;
        if (all) all(canvas);
        else drawLanes(canvas, shown, list.scrollTop);
      });
    };
    const schedule = (): void => {
      if (isScheduled) return;
      isScheduled = true;
      requestAnimationFrame(draw);
    };
    redraw.current = schedule;
    const stopEffect = effect(() => {
      void [timeView.value, settings.value.theme];
      schedule();
    });
    const observer = new ResizeObserver(schedule);
    observer.observe(element);
    list.addEventListener('scroll', schedule);
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
      list.removeEventListener('scroll', schedule);
      stopPointer();
      trackCycle.value = null;
    };
  }, []);
  useEffect(() => redraw.current(), [version, lanes]);

  return (
    <div class="lanes">
      <div class="lanes-scroll" ref={scroller} tabIndex={0} role="list" aria-label={title}>
        {lanes.map((lane) => (
          <LaneName key={lane.key} lane={lane} />
        ))}
      </div>
      <canvas class="lanes-plot" ref={canvas} role="img" aria-label={`${title} over time`} style={{ left: `${settings.value.gutter}px`, width: `calc(100% - ${settings.value.gutter}px)` }} />
      {hint && <p class="lanes-hint" style={{ left: `${settings.value.gutter + 12}px` }}>{hint}</p>}
      <CursorLine />
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

function LaneName({ lane }: { lane: Lane }) {
  const cycle = pointedCycle.value;
  const theme = themeOf(settings.value);
  return (
    <div class="lane-name" role="listitem" style={{ height: `${lane.height}px`, width: `${settings.value.gutter}px` }} title={lane.title ?? lane.name}>
      {lane.colour && <i class="swatch" style={{ background: lane.colour(theme) }} />}
      <span>{lane.name}</span>
      <output>{cycle === null ? '' : (lane.valueAt?.(cycle) ?? '')}</output>
    </div>
  );
}

/** The cycle under the pointer, in every track. */
export function CursorLine() {
  const cycle = pointedCycle.value;
  const view = timeView.value;
  if (cycle === null || !view) return null;
  const x = xOf(view, cycle);
  if (x < 0 || x > view.width) return null;
  const wide = view.scale >= 3;
  return (
    <div
      class={wide ? 'cursor-line wide' : 'cursor-line'}
      style={{ left: `${settings.value.gutter + Math.round(x)}px`, width: `${wide ? Math.min(view.scale, view.width - x) : 1}px` }}
    />
  );
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

function paintLanes(element: HTMLCanvasElement, draw: (canvas: LaneCanvas) => void): void {
  const view = timeView.peek();
  const context = element.getContext('2d', { alpha: false });
  if (!view || !context) return;
  const { ratio } = view;
  const width = Math.max(1, Math.round(element.clientWidth * ratio));
  const height = Math.max(1, Math.round(element.clientHeight * ratio));
  if (element.width !== width) element.width = width;
  if (element.height !== height) element.height = height;
  const theme = themeOf(settings.peek());
  const canvas = new LaneCanvas(width, height, { x: view.x, scale: view.scale * ratio, ratio }, theme);
  draw(canvas);
  canvas.paint(context);
}

function drawLanes(canvas: LaneCanvas, lanes: readonly Lane[], scrolled: number): void {
  const { width, height, grid } = canvas;
  const { ratio } = canvas.view;
  let top = -scrolled;
  for (const lane of lanes) {
    const box = { top: Math.round(top * ratio), height: Math.round((top + lane.height) * ratio) - Math.round(top * ratio) };
    top += lane.height;
    if (box.top + box.height <= 0) continue;
    if (box.top >= height) break;
    lane.draw?.(canvas, box);
    canvas.raster.fill(0, box.top + box.height - 1, width, box.top + box.height, grid);
  }
}
