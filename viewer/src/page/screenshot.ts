/** Screenshot mode: a program asks the page for one picture, once all of it is drawn. */
import { effect } from '@preact/signals';
import { currentEngine } from './current-engine.js';
import { takePicture } from './picture.js';
import { linkedCycles, showCycles } from './start.js';
import { isProgramPending, pictureSize, problems, state } from './store.js';

const isAlone = new URLSearchParams(location.search).has('picture');

/** The cycles of the link, once there is a picture; of a page that only makes a picture otherwise the whole run. */
export function beginAtCycles(): void {
  const cycles = linkedCycles;
  if (!cycles && !isAlone) return;
  const stop = effect(() => {
    if (!state.value || pictureSize.value.width === 0) return;
    queueMicrotask(() => {
      stop();
      if (cycles) showCycles(cycles);
      else currentEngine()?.run({ do: 'fit' });
      hasBegun = true;
    });
  });
}

let hasBegun = linkedCycles === null && !isAlone;

/** Nothing changes for so long: all of it is there. */
const QUIET_MS = 250;
/** The same of a trace that is damaged: a part of it never comes. */
const DAMAGED_QUIET_MS = 2000;
const STEP_MS = 50;

interface Said {
  readonly code: string;
  readonly what: string;
}

type Made = { readonly data: string; readonly problems: readonly Said[] } | Said;

/** What of the trace cannot be read. */
const damages = (): Said[] =>
  problems.value
    .filter(({ code }) => /^(FORMAT|READER)_/.test(code))
    .map(({ code, what }) => ({ code, what }));

/** Base64, once everything is drawn; or why there is no picture. */
export async function pictureWhenReady(kind: 'png' | 'svg'): Promise<Made> {
  let frame = -1;
  for (let [quiet, patience] = [0, QUIET_MS]; quiet < patience; ) {
    const fatal = problems.value.find(({ isFatal }) => isFatal);
    if (fatal) return { code: fatal.code, what: fatal.what };
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
    const shown = state.value;
    const isBusy = currentEngine()?.isBusy || isProgramPending.value;
    const isWhole = shown?.isSharp && shown.isCounted;
    patience = isWhole ? QUIET_MS : damages().length > 0 ? DAMAGED_QUIET_MS : Number.POSITIVE_INFINITY;
    quiet = hasBegun && !isBusy && shown?.frame === frame ? quiet + STEP_MS : 0;
    frame = shown?.frame ?? -1;
  }
  return { data: await base64Of(await takePicture(kind)), problems: damages() };
}

function base64Of(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error ?? new Error('the picture could not be read'));
    reader.readAsDataURL(blob);
  });
}
