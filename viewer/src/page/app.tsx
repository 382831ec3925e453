/** The page around the picture. */
import { useEffect, useRef } from 'preact/hooks';
import { Card } from '../panels/card.js';
import { Help } from '../panels/help.js';
import { Palette } from '../panels/palette.js';
import { SearchBar } from '../panels/search-bar.js';
import { StatusLine } from '../panels/status-line.js';
import { TopBar } from '../panels/top-bar.js';
import { Overview } from '../panels/overview.js';
import { Messages, Welcome } from '../panels/messages.js';
import { listen } from '../input/pointer.js';
import { openFile } from './open.js';
import { currentEngine } from './perform.js';
import { Engine, missingFeature } from './engine.js';
import { useEngine } from './perform.js';
import {
  change,
  core,
  info,
  link,
  notice,
  origin,
  panel,
  pointer,
  problems,
  settings,
  showsDetails,
  state,
} from './store.js';

export function App() {
  const trace = origin.value;
  const isFatal = problems.value.some((problem) => problem.isFatal);
  return (
    <div class={`page ${settings.value.theme}`}>
      <TopBar />
      {trace ? <Picture key={`${trace.name}-${generation}`} /> : <Welcome onFile={openFile} />}
      {trace && <StatusLine />}
      <Messages isFatal={isFatal} />
      {panel.value === 'palette' && <Palette />}
      {panel.value === 'help' && <Help />}
      {notice.value !== null && <div class="notice" role="status">{notice.value}</div>}
    </div>
  );
}

/** A canvas can be given to a worker only once: every trace gets new ones. */
let generation = 0;
let chosenCore: string | null = link.core;
let isFirst = true;

export function restart(coreName: string | null): void {
  generation++;
  chosenCore = coreName;
  info.value = null;
  state.value = null;
  problems.value = [];
}

function Picture() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const minimap = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const lacking = missingFeature();
    if (lacking !== null) {
      const what = `this browser has no ${lacking}`;
      const advice = 'Use a current Chrome, Firefox, Edge or Safari.';
      problems.value = [{ code: 'VIEWER_BROWSER', what, advice, isFatal: true }];
      return;
    }
    const engine = new Engine({
      origin: origin.value!,
      core: chosenCore,
      canvas: canvas.current!,
      minimap: minimap.current!,
      view: isFirst ? link.view : null,
      selected: isFirst ? link.selected : null,
      at: isFirst ? link.at : null,
    });
    isFirst = false;
    useEngine(engine);
    const stop = listen(canvas.current!, () => settings.value.gutter, {
      run: (command) => engine.run(command),
      point: (at) => {
        pointer.value = at;
        engine.post({ type: 'pointer', pointer: at });
      },
      click: (at, isLabel) => {
        engine.run({ do: 'selectAt', at, align: isLabel });
      },
    });
    const unsubscribe = settings.subscribe((next) => engine.post({ type: 'settings', settings: next }));
    return () => {
      unsubscribe();
      stop();
      useEngine(null);
      engine.close();
    };
  }, []);
  return (
    <>
      <Overview canvas={minimap} />
      <main class="picture">
        <canvas ref={canvas} class="rows" aria-label={`pipeline of ${core.value?.name ?? 'the trace'}`} />
        <Splitter />
        <Hover />
        <Details />
        {panel.value === 'search' && <SearchBar />}
      </main>
    </>
  );
}

/** Between labels and plot. */
function Splitter() {
  const { gutter } = settings.value;
  const resize = (x: number): void => change({ gutter: Math.round(Math.max(60, Math.min(900, x))) });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that can be moved
    <div
      class="splitter"
      role="separator"
      aria-label="width of the labels"
      aria-orientation="vertical"
      aria-valuenow={gutter}
      aria-valuemin={60}
      aria-valuemax={900}
      tabIndex={0}
      style={{ left: `${gutter - 4}px` }}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => event.buttons === 1 && resize(event.clientX)}
      onKeyDown={(event) => {
        const step = event.key === 'ArrowLeft' ? -20 : event.key === 'ArrowRight' ? 20 : 0;
        if (step === 0) return;
        event.preventDefault();
        event.stopPropagation();
        resize(gutter + step);
      }}
    />
  );
}

/** Of the instruction under the pointer, unless it is the selected one, which has its own place. */
function Hover() {
  const at = pointer.value;
  const details = state.value?.hover?.details ?? null;
  const box = useRef<HTMLDivElement>(null);
  if (!at || !details || !state.value) return null;
  const { hover, selectedRow } = state.value;
  const isLabel = at.x < settings.value.gutter;
  const isInFlight =
    (details.born ?? 0) <= hover!.cycle && (details.endCycle === null || hover!.cycle < details.endCycle);
  if (!isLabel && !isInFlight) return null;
  if (details.row === selectedRow && showsDetails.value) return null;
  const height = box.current?.offsetHeight ?? 220;
  const width = box.current?.offsetWidth ?? 320;
  const room = { width: innerWidth, height: innerHeight - 140 };
  const left = at.x + 18 + width > room.width ? at.x - width - 14 : at.x + 18;
  const top = Math.max(0, Math.min(at.y + 16, room.height - height));
  return (
    <div ref={box} class="hover" style={{ left: `${Math.max(0, left)}px`, top: `${top}px` }} role="tooltip">
      <Card details={details} />
    </div>
  );
}

function Details() {
  const details = state.value?.selected;
  if (!details || !showsDetails.value) return null;
  return (
    <aside class="details" aria-label="selected instruction">
      <Card
        details={details}
        onRow={(row) => currentEngine()?.run({ do: 'goRow', row })}
      />
    </aside>
  );
}
