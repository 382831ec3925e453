/** The page of two runs: the drift along the program, both pipelines, and what differs. */
import { useEffect, useRef } from 'preact/hooks';
import { ProblemLine } from '../panels/advice-text.js';
import { grouped } from '../model/ticks.js';
import { AXIS_HEIGHT } from '../drawing/settings.js';
import { DifferenceList } from './difference-list.js';
import { DriftPlot } from './drift-plot.js';
import { Frames } from './frames.js';
import { goToDifference, goToRetired } from './go.js';
import {
  ALIGNMENTS,
  ARRANGEMENTS,
  alignment,
  arrangement,
  isCompared,
  isUnfinished,
  lastDrift,
  partedFor,
  notice,
  pairs,
  place,
  placeRow,
  problems,
  progress,
  threshold,
  totals,
  traces,
} from './store.js';
import { Tables } from './tables.js';

const ARRANGED: Readonly<Record<(typeof ARRANGEMENTS)[number], string>> = {
  above: 'one above the other',
  overlay: 'overlay',
  differences: 'only differences',
};
const ALIGNED: Readonly<Record<(typeof ALIGNMENTS)[number], string>> = {
  retired: 'by instruction',
  cycle: 'by cycle',
};

let frames: Frames | null = null;
const go = (direction: 1 | -1 | 'first'): void => {
  if (frames) goToDifference(frames, direction);
};

/** Also where a frame has the focus. */
function onKey(event: KeyboardEvent): void {
  const { target } = event;
  if (target instanceof Element && target.matches('input, textarea, select')) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isBack = event.shiftKey;
  // The viewer has other uses for all letters.
  if (event.key === 'F8') go(isBack ? -1 : 1);
  else if (event.key === 'F9') arrangement.value = next(ARRANGEMENTS, arrangement.value);
  else return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

const next = <T,>(list: readonly T[], value: T): T => list[(list.indexOf(value) + 1) % list.length]!;

export function App() {
  useEffect(() => {
    addEventListener('keydown', onKey, true);
    return () => removeEventListener('keydown', onKey, true);
  }, []);
  const isFatal = problems.value.some((one) => one.isFatal);
  return (
    <div class="page">
      <Bar />
      {problems.value.map((problem) => (
        <ProblemLine key={problem.code + problem.what} problem={problem} />
      ))}
      {!isFatal && <DriftPlot onGo={(retired) => frames && goToRetired(frames, retired)} />}
      <div class="workspace">
        <Pictures />
        <Tables />
      </div>
    </div>
  );
}

function Bar() {
  return (
    <header class="bar">
      <b>µScope</b>
      <span class="names" title={`A: ${traces.a?.name}, B: ${traces.b?.name}`}>
        <i class="a">A</i> {traces.a?.name} <i class="b">B</i> {traces.b?.name}
      </span>
      <Choice label="aligned" choices={ALIGNMENTS} titles={ALIGNED} signal={alignment} />
      <Choice label="shown" choices={ARRANGEMENTS} titles={ARRANGED} signal={arrangement} />
      <span class="go">
        <button type="button" onClick={() => go('first')}>first difference</button>
        <button type="button" title="Shift+F8" aria-label="difference before" onClick={() => go(-1)}>‹</button>
        <button type="button" title="F8" aria-label="next difference" onClick={() => go(1)}>next ›</button>
        <label title="the commands stop where B loses or gains at least this number of cycles; 0: only where the instructions differ">
          from
          <input
            type="number"
            min={0}
            value={threshold.value}
            onChange={({ currentTarget }) => {
              threshold.value = Math.max(0, Math.floor(Number(currentTarget.value)) || 0);
            }}
          />
          cycles
        </label>
      </span>
      <span class="fill" role="status">{notice.value}</span>
      <Totals />
    </header>
  );
}

function Totals() {
  const { same, differences } = totals.value;
  const percent = Math.floor(progress.value * 100);
  return (
    <span class="totals" data-compared={isCompared.value ? 'yes' : ''}>
      {isCompared.value ? '' : `${percent} %: `}
      {grouped(same)} the same, {grouped(differences)} {differences === 1 ? 'difference' : 'differences'}, B{' '}
      {lastDrift.value < 0 ? 'is faster by' : 'is slower by'} {grouped(Math.abs(lastDrift.value))} cycles
      {isCompared.value && partedFor.value > 0
        ? `, then ${grouped(partedFor.value)} of A alone`
        : ''}
      {isUnfinished.value && isCompared.value ? ' (a run continues: reload to compare more)' : ''}
    </span>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly choices: readonly T[];
  readonly titles: Readonly<Record<T, string>>;
  readonly signal: { value: T };
}

function Choice<T extends string>({ label, choices, titles, signal }: ChoiceProps<T>) {
  return (
    <label>
      {label}
      <select
        value={signal.value}
        onChange={({ currentTarget }) => {
          signal.value = currentTarget.value as T;
        }}
      >
        {choices.map((one) => (
          <option key={one} value={one}>
            {titles[one]}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The viewer remembers what the user changes in it, but for the two of this page the link says what is shown. */
const FRAME_LINK = '#v=1&panels=dock.off,counters.off,occupancy.off,events.off,values.off,transactions.off';

function Pictures() {
  const a = useRef<HTMLIFrameElement>(null);
  const b = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    const made = new Frames(
      { a: a.current!, b: b.current! },
      {
        pairs,
        alignment: () => alignment.value,
        moved: (rowA) => {
          placeRow.value = rowA;
          place.value = rowA === null ? null : pairs.map('rowA', rowA, 'retiredA');
        },
      },
    );
    frames = made;
    const stop = alignment.subscribe(() => made.align());
    // What is in the frame comes and changes its size on its own.
    const clipping = setInterval(() => b.current && clip(b.current), 250);
    return () => {
      stop();
      clearInterval(clipping);
      made.close();
      frames = null;
    };
  }, []);
  const isList = arrangement.value === 'differences';
  const { a: traceA, b: traceB } = traces;
  const theme = matchMedia('(prefers-color-scheme: light)').matches ? '&theme=light' : '';
  return (
    <main class={`pictures ${arrangement.value}`}>
      {(['a', 'b'] as const).map((side) => (
        <div key={side} class={`run ${side}${isList ? ' hidden' : ''}`}>
          <i class={side}>{side.toUpperCase()}</i>
          <iframe
            ref={side === 'a' ? a : b}
            title={`pipeline of ${side.toUpperCase()}`}
            src={`${(side === 'a' ? traceA : traceB)?.page}${FRAME_LINK}${theme}`}
            onLoad={({ currentTarget }) => attend(currentTarget, side)}
          />
        </div>
      ))}
      {isList && (
        <DifferenceList
          onGo={({ rowA, rowB }) => {
            arrangement.value = 'above';
            if (rowA >= 0) frames?.show('a', rowA);
            else frames?.show('b', rowB);
          }}
        />
      )}
    </main>
  );
}

/** Of an overlay only the pipeline of B is laid over A: doubled labels cannot be read. */
function clip(frame: HTMLIFrameElement): void {
  const isOverlay = arrangement.value === 'overlay';
  const rows = frame.contentDocument?.querySelector('canvas.rows')?.getBoundingClientRect();
  const gutter = frame.contentDocument?.querySelector('.of-gutter')?.getBoundingClientRect().right ?? 0;
  const below = rows ? frame.clientHeight - rows.bottom : 0;
  frame.style.clipPath = isOverlay && rows ? `inset(${rows.top + AXIS_HEIGHT}px 0 ${below}px ${gutter}px)` : '';
}

/** The picture that the user touches leads; the keys of this page work in it too. */
function attend({ contentWindow }: HTMLIFrameElement, side: 'a' | 'b'): void {
  if (!contentWindow) return;
  for (const kind of ['pointerdown', 'wheel', 'keydown'] as const)
    contentWindow.addEventListener(kind, () => frames?.touch(side), { capture: true, passive: true });
  contentWindow.addEventListener('keydown', onKey, true);
}
