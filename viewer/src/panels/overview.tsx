/** The whole run, with a frame around what is on the screen. */
import type { RefObject } from 'preact';
import { currentEngine } from '../page/perform.js';
import { OverviewMarks } from './place-marks.js';
import { EventOverview } from './event-overview.js';
import { whyNoSums } from '../model/sums.js';
import { info, pictureSize, settings, state } from '../page/store.js';

const LABEL = 'overview of the run: retired instructions per cycle, stalls and flushes';

export function Overview({ canvas }: { canvas: RefObject<HTMLCanvasElement | null> }) {
  const go = (event: PointerEvent): void => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const trace = info.value;
    if (!trace || !state.value) return;
    const first = trace.segmentCycles[0]!;
    const cycles = trace.segmentCycles.at(-1)! - first;
    const cycle = first + ((event.clientX - box.left) / box.width) * cycles;
    currentEngine()?.run({ do: 'goCycle', cycle });
  };
  return (
    <div
      class="overview"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        go(event);
      }}
      onPointerMove={(event) => event.buttons === 1 && go(event)}
    >
      <canvas ref={canvas} aria-label={LABEL} />
      {info.value !== null && info.value.core < 0 && <EventOverview />}
      <OverviewMarks />
      <Window />
      <Reading />
    </div>
  );
}

/** What is missing, while the trace is read for it. */
function Reading() {
  const shown = state.value;
  const trace = info.value;
  if (!shown || !trace || trace.core < 0 || shown.hasOverview) return null;
  const text = !shown.isCounted
    ? `reading the trace for the overview: ${Math.floor(shown.progress * 100)} %`
    : `no overview: ${whyNoSums(trace.cores[trace.core]!.periodPs)}`;
  return <div class="reading">{text}</div>;
}

function Window() {
  const trace = info.value;
  const shown = state.value;
  if (!trace || !shown) return null;
  const first = trace.segmentCycles[0]!;
  const cycles = Math.max(1, trace.segmentCycles.at(-1)! - first);
  const plotWidth = Math.max(1, pictureSize.value.width - settings.value.gutter);
  const left = Math.max(0, Math.min(1, (shown.view.x - first) / cycles));
  const right = Math.max(0, Math.min(1, (shown.view.x + plotWidth / shown.view.scale - first) / cycles));
  return <div class="window" style={{ left: `${left * 100}%`, width: `max(3px, ${(right - left) * 100}%)` }} />;
}
