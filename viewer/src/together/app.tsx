/** Several traces of one run on one time axis: a lane for each core, the network between them. */
import { ProblemLine } from '../panels/advice-text.js';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { AXIS_HEIGHT } from '../drawing/settings.js';
import { applyLink, hookOf } from '../framed/viewer-hook.js';
import { grouped, timeText } from '../model/ticks.js';
import { followHandoff } from './follow.js';
import type { Step } from './journey.js';
import { HEIGHTS, type LaneRef, linkOf } from './lanes.js';
import { expanded, infos, journey, lanes, notice, problems, time, touched, traces, gutter } from './store.js';
import { TimeSync } from './time-sync.js';

const sync = new TimeSync((window) => {
  time.value = window;
});
const elements = new Map<string, HTMLIFrameElement>();
const frameOf = (key: string): HTMLIFrameElement | null => elements.get(key) ?? null;
const light = matchMedia('(prefers-color-scheme: light)');
const theme = (): string => (light.matches ? 'light' : 'dark');

function toggle(lane: LaneRef): void {
  if (lane.kind !== 'core') return;
  const next = new Set(expanded.value);
  if (!next.delete(lane.key)) next.add(lane.key);
  expand(next);
}

function expand(next: ReadonlySet<string>): void {
  expanded.value = next;
  for (const lane of lanes()) {
    const frame = frameOf(lane.key);
    const hook = frame && hookOf(frame);
    if (lane.kind !== 'core' || !hook) continue;
    const link = new URLSearchParams(hook.link());
    link.set('form', next.has(lane.key) ? 'auto' : 'strip');
    applyLink(frame, link);
  }
}

const step = (direction: 1 | -1): void => {
  const all = lanes();
  const lane = all.find(({ key }) => key === touched.value) ?? null;
  const networks = all.filter(({ kind }) => kind === 'network');
  void followHandoff(direction, lane, networks, frameOf, sync, document.documentElement.clientWidth);
};

/** Also where a frame has the focus. */
function onKey(event: KeyboardEvent): void {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if ((target as Element | null)?.matches?.('input, textarea, select')) return;
  const lane = lanes().find((one) => one.key === touched.value);
  // The viewer has other uses for all letters.
  if (key === 'F8') step(event.shiftKey ? -1 : 1);
  else if (key === 'F9' && event.shiftKey) expandAll();
  else if (key === 'F9' && lane) toggle(lane);
  else return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

function expandAll(): void {
  const cores = lanes().filter(({ kind }) => kind === 'core');
  expand(new Set(expanded.value.size < cores.length ? cores.map(({ key }) => key) : []));
}

export function App() {
  useEffect(() => {
    addEventListener('keydown', onKey, true);
    const opening = setInterval(collectInfos, 200);
    return () => clearInterval(opening);
  }, []);
  return (
    <div class="page">
      <Bar />
      {problems.value.map((problem) => (
        <ProblemLine key={problem.code} problem={problem} />
      ))}
      <div class="lanes">
        {lanes().map((lane, index) => (
          <Lane key={lane.key} lane={lane} hasAxis={index === 0} />
        ))}
        <Band />
      </div>
    </div>
  );
}

/** What the frames have opened meanwhile. */
function collectInfos(): void {
  const found = new Map(infos.value);
  for (const lane of lanes()) {
    const frame = frameOf(lane.key);
    const info = frame && hookOf(frame)?.info();
    if (info && !found.has(lane.trace.url)) found.set(lane.trace.url, info);
  }
  if (found.size !== infos.value.size) infos.value = found;
}

function Bar() {
  const way = journey.value;
  const window = time.value;
  return (
    <header class="bar">
      <b>µScope</b>
      <span class="names">{traces.map(({ name }) => name).join(', ')}</span>
      <button type="button" title="Shift+F9" onClick={expandAll}>
        {expanded.value.size > 0 ? 'collapse or expand all' : 'expand all'}
      </button>
      <button type="button" title="Shift+F8" aria-label="step before" onClick={() => step(-1)}>
        ‹
      </button>
      <button type="button" title="F8" onClick={() => step(1)}>
        follow the request ›
      </button>
      <span class="fill" role="status">
        {notice.value}
        {way && `, ${durationText(way.steps[way.at]!)}`}
      </span>
      <span class="dim">{window && `from ${timeText(Math.max(0, window.fromPs), 1)}`}</span>
    </header>
  );
}

/** Three digits or more. */
const durationText = ({ fromPs, toPs }: Step): string => timeText(toPs - fromPs, (toPs - fromPs) / 100);

function Lane({ lane, hasAxis }: { readonly lane: LaneRef; readonly hasAxis: boolean }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const isExpanded = expanded.value.has(lane.key);
  useEffect(() => {
    elements.set(lane.key, frame.current!);
    sync.use([...elements].map(([key, element]) => ({ key, element })));
    return () => {
      elements.delete(lane.key);
      sync.use([...elements].map(([key, element]) => ({ key, element })));
    };
  }, []);
  // Another address would load the page again: the page that is there takes what changes later.
  const src = useMemo(
    () =>
      `index.html?trace=${encodeURIComponent(lane.trace.url)}&picture${linkOf(lane, isExpanded, theme(), gutter)}`,
    [lane.kind, lane.core],
  );
  const isNetwork = lane.kind === 'network';
  const shown = isNetwork ? HEIGHTS.network : isExpanded ? HEIGHTS.expanded : HEIGHTS.collapsed;
  // The axis of the first lane is that of all: the others show theirs where their instructions are shown.
  const isCut = !hasAxis && !isExpanded;
  const height = `${shown + AXIS_HEIGHT}px`;
  return (
    <section class={`lane ${lane.kind}${isExpanded ? ' expanded' : ''}${touched.value === lane.key ? ' touched' : ''}`}>
      <h2 style={{ width: `${gutter}px`, top: isCut || isExpanded || isNetwork ? '0' : `${AXIS_HEIGHT}px` }}>
        <button type="button" aria-expanded={isExpanded} disabled={isNetwork} onClick={() => toggle(lane)}>
          {isNetwork ? '◆' : isExpanded ? '▾' : '▸'} {lane.name}
        </button>
        {lane.kind === 'core' && !isExpanded && <small>retired, in flight, stalls, squashed</small>}
      </h2>
      <iframe
        ref={frame}
        title={lane.name}
        style={isNetwork ? { minHeight: height } : { height, marginTop: isCut ? `-${AXIS_HEIGHT}px` : '0' }}
        src={src}
        onLoad={({ currentTarget }) => attend(currentTarget, lane)}
      />
    </section>
  );
}

function attend({ contentWindow }: HTMLIFrameElement, { key }: LaneRef): void {
  if (!contentWindow) return;
  const touch = (): void => {
    touched.value = key;
    sync.touch(key);
  };
  for (const kind of ['pointerdown', 'wheel', 'keydown'] as const)
    contentWindow.addEventListener(kind, touch, { capture: true, passive: true });
  contentWindow.addEventListener('keydown', onKey, true);
}

/** The step that is followed, through all lanes. */
function Band() {
  const way = journey.value;
  const window = time.value;
  if (!way || !window) return null;
  const { fromPs, toPs, what } = way.steps[way.at]!;
  const left = (fromPs - window.fromPs) * window.scale;
  const width = Math.max(1, (toPs - fromPs) * window.scale);
  return (
    <div class="band" style={{ left: `${gutter}px` }}>
      <div style={{ left: `${left}px`, width: `${width}px` }} title={`${what}, ${grouped(toPs - fromPs)} ps`} />
    </div>
  );
}
