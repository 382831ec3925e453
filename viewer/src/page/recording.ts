/** What the daemon that writes the trace says of it, and commands to it: of a page of `uscope view DIR` and `uscope run --view`. */
import { signal } from '@preact/signals';
import { info } from './store.js';

/** Of sdk/src/cli/view/daemons.ts. */
interface Recording {
  readonly name: string;
  readonly state: string;
  readonly itemsPerSecond: number;
  readonly unacknowledgedBytes: number;
  readonly disabled: readonly string[];
  readonly warnings: readonly string[];
}

export type Action = 'pause' | 'resume' | 'trigger' | 'disable' | 'enable';

interface Answer {
  readonly trouble: string | null;
  readonly recording: Recording | null;
}

/** null: no daemon writes the trace, or nothing is known yet. */
export const recording = signal<Recording | null>(null);
/** What became of the last command, or what keeps the daemon from answering. */
export const outcome = signal<{ readonly text: string; readonly isBad: boolean } | null>(null);

const POLL_MS = 500;

const placeOf = (name: string): string | null =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? null;
const place = placeOf('uscope-recording');
const control = placeOf('uscope-control');

/** The server takes commands; otherwise the page may only look. */
export const mayCommand = control !== null;

/** Asks while the trace is being written. @returns what ends it */
export function followRecording(): () => void {
  if (place === null) return () => undefined;
  let isWanted = true;
  const url = new URL(place, document.baseURI).href;
  const ask = async (): Promise<void> => {
    if (!isWanted) return;
    if (info.value?.isComplete) recording.value = null;
    else {
      // A server that does not answer is reported by the reader.
      const answer = await answerOf(url).catch(() => null);
      recording.value = answer?.recording ?? null;
      if (answer?.trouble) outcome.value = { text: answer.trouble, isBad: true };
    }
    if (isWanted) setTimeout(() => void ask(), POLL_MS);
  };
  void ask();
  return () => {
    isWanted = false;
  };
}

async function answerOf(url: string): Promise<Answer | null> {
  const answer = await fetch(url, { cache: 'no-store' });
  return answer.ok ? ((await answer.json()) as Answer | null) : null;
}

/** @param operand scope, or label of a mark */
export async function command(action: Action, operand: string | null): Promise<void> {
  const trace = recording.value?.name ?? null;
  outcome.value = { text: `${action}…`, isBad: false };
  try {
    const answer = await fetch(new URL(control!, document.baseURI), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ action, trace, operand }),
    });
    if (!answer.ok) outcome.value = { text: (await answer.text()).trim(), isBad: true };
    else outcome.value = summary(action, (await answer.json()) as Outcome[]);
  } catch {
    outcome.value = { text: 'VIEW_LOST: the server does not answer', isBad: true };
  }
}

interface Outcome {
  readonly outcome: string;
  readonly message: string | null;
}

function summary(action: Action, outcomes: readonly Outcome[]) {
  const other = outcomes.find((one) => one.outcome !== 'done');
  if (other) return { text: other.message ?? other.outcome, isBad: other.outcome !== 'pending' };
  return outcomes.length === 0
    ? { text: 'no daemon writes this trace now', isBad: true }
    : { text: `${action}: done`, isBad: false };
}
