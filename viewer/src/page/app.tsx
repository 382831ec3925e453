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
import { AXIS_HEIGHT } from '../drawing/settings.js';
import { listen } from '../input/pointer.js';
import { Dock } from '../panels/dock.js';
import { Splitter } from '../panels/splitter.js';
import { Tracks } from '../panels/tracks.js';
import { isShown, trackSize } from './layout.js';
import { openFile } from './open.js';
import { Engine, missingFeature } from './engine.js';
import { useEngine } from './perform.js';
import { rowHeight } from '../model/view.js';
import {
  change,
  core,
  info,
  link,
  notice,
  origin,
  panel,
  pictureSize,
  pointer,
  problems,
  settings,
  state,
} from './store.js';

export function App() {
  const trace = origin.value;
  const isFatal = problems.value.some((problem) => problem.isFatal);
  return (
    <div class={`page ${settings.value.theme}`}>
      <TopBar />
      {trace ? (
        <div class="workspace">
          <Picture key={`${trace.name}-${generation}`} />
          <Dock />
        </div>
      ) : (
        <Welcome onFile={openFile} />
      )}
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

let chosenClock: string | null = null;

/** Opens the trace again. @param clock of the axis, of a trace without cores */
export function restart(coreName: string | null, clock: string | null = null): void {
  generation++;
  chosenCore = coreName;
  chosenClock = clock;
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
      clock: chosenClock,
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
      click: ({ y }, isLabel) => {
        const view = state.value?.view;
        if (!view || y < AXIS_HEIGHT || state.value?.form !== 'classic') return;
        const row = Math.floor(view.y + (y - AXIS_HEIGHT) / rowHeight(view));
        if (row < 0 || row >= state.value.rows) return;
        engine.run({ do: 'select', row });
        if (isLabel) engine.run({ do: 'align', row });
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
  const hasCore = info.value === null || info.value.core >= 0;
  const hasRows = hasCore && isShown('pipeline');
  return (
    <div class="column">
      <div class={isShown('overview') ? 'overview-place' : 'hidden'} style={{ height: `${trackSize('overview')}px` }}>
        <Overview canvas={minimap} />
      </div>
      <main class={hasRows ? 'picture' : 'picture only-axis'}>
        <canvas ref={canvas} class="rows" aria-label={`pipeline of ${core.value?.name ?? 'the trace'}`} />
        <Splitter
          class="of-gutter"
          label="width of the labels"
          kind="column"
          value={settings.value.gutter}
          min={60}
          max={900}
          direction={1}
          onResize={(x) => change({ gutter: Math.round(Math.max(60, Math.min(900, x))) })}
          left={settings.value.gutter - 4}
        />
        {hasRows && <Hover />}
        {panel.value === 'search' && <SearchBar />}
      </main>
      <Tracks fills={!hasRows} />
    </div>
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
  if (details.row === selectedRow && isShown('inspector')) return null;
  const height = box.current?.offsetHeight ?? 220;
  const width = box.current?.offsetWidth ?? 320;
  const room = pictureSize.value;
  const left = at.x + 18 + width > room.width ? at.x - width - 14 : at.x + 18;
  const top = Math.max(0, Math.min(at.y + 16, room.height - height));
  return (
    <div ref={box} class="hover" style={{ left: `${Math.max(0, left)}px`, top: `${top}px` }} role="tooltip">
      <Card details={details} />
    </div>
  );
}
