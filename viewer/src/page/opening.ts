/** A trace that is being made: the server converts it, and the page asks how far it is. */
import { signal } from '@preact/signals';
import type { TraceOrigin } from '../data/protocol.js';
import { adviceFor } from './advice.js';
import { addProblem } from './problems.js';

interface Progress {
  readonly name: string;
  /** Of the format that it is converted from. */
  readonly format: string;
  readonly part: number;
}

/** null: nothing is being made. */
export const progress = signal<Progress | null>(null);

/** The trace is there, and nothing is recorded in it yet. */
export const isAwaited = signal(false);

/** The server's answer, sdk/src/cli/view/server/server.ts. */
type Status =
  | { readonly state: 'converting'; readonly format: string; readonly part: number }
  | { readonly state: 'ready'; readonly isCut: boolean }
  | { readonly state: 'failed'; readonly code: string; readonly what: string };

const POLL_MS = 250;
/** A server that does not answer so often in a row has ended. */
const MAX_FAILURES = 4;

/** @returns the trace is there; false: it never will be, which is shown */
export async function untilMade(statusUrl: string, { name }: TraceOrigin): Promise<boolean> {
  let failures = 0;
  for (;;) {
    const status = await ask(statusUrl);
    if (status === null && ++failures >= MAX_FAILURES) return lost();
    if (status !== null) {
      failures = 0;
      if (status.state !== 'converting') return finished(status, name);
      progress.value = { name, format: status.format, part: status.part };
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function ask(url: string): Promise<Status | null> {
  try {
    const answer = await fetch(url, { cache: 'no-store' });
    return answer.ok ? ((await answer.json()) as Status) : null;
  } catch {
    return null;
  }
}

function finished(status: Exclude<Status, { state: 'converting' }>, name: string): boolean {
  progress.value = null;
  if (status.state === 'failed') {
    const { code, what } = status;
    addProblem({ code, what, advice: adviceFor(code), isFatal: true });
    return false;
  }
  if (status.isCut) {
    const what = `${name} ends early: what precedes its end is shown.`;
    addProblem({ code: 'CONVERT_TRUNCATED', what, advice: adviceFor('CONVERT_TRUNCATED'), isFatal: false });
  }
  return true;
}

function lost(): false {
  progress.value = null;
  const what = 'The server ended before it had converted the trace.';
  addProblem({ code: 'VIEW_LOST', what, advice: adviceFor('VIEW_LOST'), isFatal: true });
  return false;
}
