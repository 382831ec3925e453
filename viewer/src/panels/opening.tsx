/** What is under way before there is a picture. */
import { useEffect, useState } from 'preact/hooks';
import { isAwaited, progress } from '../page/opening.js';
import { problems } from '../page/problems.js';
import { origin, state } from '../page/store.js';

/** Shown from then on: most traces are there sooner. */
const PATIENCE_MS = 250;

/** A file of another format is being converted. */
export function Converting() {
  const shown = progress.value;
  if (!shown) return null;
  const percent = Math.floor(shown.part * 100);
  return (
    <main class="welcome" aria-live="polite">
      <h1>{shown.name}</h1>
      <p>Converting from {shown.format}</p>
      <progress class="long" value={shown.part} max={1} aria-label="part of the conversion that is done" />
      <p class="dim">{percent} %</p>
    </main>
  );
}

/** The trace has been requested, and nothing of it is here yet. */
export function Loading() {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isLate || state.value || problems.value.some(({ isFatal }) => isFatal)) return null;
  return (
    <div class="loading" role="status">
      {isAwaited.value ? 'nothing is recorded yet in' : 'opening'} {origin.value?.name}
      <progress aria-label="the trace is being opened" />
    </div>
  );
}
