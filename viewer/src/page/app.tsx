/** The page around the picture. */
import { useEffect, useRef } from 'preact/hooks';
import { Card } from '../panels/card.js';
import { Help } from '../panels/dialogs/help.js';
import { Palette } from '../panels/dialogs/command-palette.js';
import { SearchBar } from '../panels/search-bar.js';
import { StatusLine } from '../panels/status-line.js';
import { TopBar } from '../panels/top-bar.js';
import { Overview } from '../panels/overview.js';
import { Messages, Welcome } from '../panels/messages.js';
import { Converting, Loading } from '../panels/opening.js';
import { progress } from './opening.js';
import { listen } from '../input/pointer.js';
import { Dock } from '../panels/dock/dock.js';
import { Splitter } from '../panels/splitter.js';
import { Tracks } from '../panels/tracks/tracks.js';
import { isShown, trackSize } from './layout.js';
import { openFile } from './open.js';
import { startFeed } from './questions/window-feed.js';
import { Engine, missingFeature } from './threads/engine.js';
import { useEngine } from './threads/current-engine.js';
import { takeAt } from './places/place-drag.js';
import { places } from './places/places.js';
import { start } from './start.js';
import {
  change,
  core,
  info,
  MAX_GUTTER,
  MIN_GUTTER,
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
    <div class={`page ${settings.value.theme}${state.value ? '' : ' blank'}`}>
      <TopBar />
      {progress.value ? (
        <Converting />
      ) : trace ? (
        <div class="workspace">
          <Picture key={`${trace.name}-${start.value.generation}`} />
          <Dock />
        </div>
      ) : (
        <Welcome onFile={openFile} isFatal={isFatal} />
      )}
      {trace && <footer class="status">{info.value && state.value ? <StatusLine /> : isFatal ? '' : 'opening the trace…'}</footer>}
      <Messages isFatal={isFatal} />
      {panel.value === 'palette' && <Palette />}
      {panel.value === 'help' && <Help />}
      {notice.value !== null && <div class="notice" role="status">{notice.value}</div>}
    </div>
  );
}

function Picture() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const minimap = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const lacking = missingFeature();
    if (lacking !== null) {
      const what = `this browser has no ${lacking}`;
      const advice = 'Use a current Chrome, Firefox, Edge or Safari.';
      problems.value = [{ code: 'VIEW_BROWSER', what, advice, isFatal: true }];
      return;
    }
    const engine = new Engine({
      origin: origin.value!,
      canvas: canvas.current!,
      minimap: minimap.current!,
      ...start.peek(),
    });
    useEngine(engine);
    const stop = listen(canvas.current!, () => settings.value.gutter, {
      run: (command) => engine.run(command),
      point: (at) => {
        pointer.value = at;
        engine.post({ type: 'pointer', pointer: at });
      },
      take: takeAt,
      click: (at, isLabel) => {
        engine.run({ do: 'selectAt', at, align: isLabel });
      },
    });
    const stopFeed = startFeed();
    const unsubscribe = [
      settings.subscribe((next) => engine.post({ type: 'settings', settings: next })),
      places.subscribe((next) => engine.post({ type: 'places', places: next })),
    ];
    return () => {
      stopFeed();
      for (const one of unsubscribe) one();
      stop();
      useEngine(null);
      engine.close();
    };
  }, []);
  const hasCore = info.value === null || info.value.core >= 0;
  const hasRows = hasCore && isShown('pipeline');
  return (
    <div class="column" style={{ '--gutter-width': `${settings.value.gutter}px` }}>
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
          min={MIN_GUTTER}
          max={MAX_GUTTER}
          direction={1}
          onResize={(x) => change({ gutter: Math.round(Math.max(MIN_GUTTER, Math.min(MAX_GUTTER, x))) })}
          left={settings.value.gutter - 4}
        />
        <Loading />
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
