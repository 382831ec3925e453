/** Follows a trace that is being written, until it is finalized. Between two looks at its header nothing runs. */
import { setTimeout as delay } from 'node:timers/promises';
import { isUscopeError } from '../../base/errors.js';
import { SessionStatus } from '../../format/session-chunk.js';
import type { Trace } from '../../reader/index.js';
import { openTraceFile } from '../../reader/node.js';
import { ExitCode } from './io.js';
import { statusName } from './schema-json.js';

export interface FollowOptions {
  /** Between two looks. */
  readonly intervalMs: number;
  /** Gives up when nothing new has come for so long; undefined: never. */
  readonly timeoutMs?: number | undefined;
}

export const DEFAULT_INTERVAL_MS = 200;

/** How it ended: the trace was finalized, nothing new came for the timeout, or the caller has what it wanted. */
export type FollowEnd = 'finalized' | 'timeout' | 'stopped';

/**
 * Calls `onNews` after each look that found new segments or the finalization; `false` from it ends the following.
 * @throws UscopeError READER_CHANGED when the file is replaced by another one, FORMAT_* for damage
 */
export async function follow(
  trace: Trace,
  { intervalMs, timeoutMs }: FollowOptions,
  onNews: () => Promise<boolean>,
): Promise<FollowEnd> {
  let lastNews = performance.now();
  while (!trace.isComplete) {
    const { newSegments, finalized } = await trace.poll();
    if (newSegments > 0 || finalized) {
      lastNews = performance.now();
      if (!(await onNews())) return 'stopped';
    } else if (timeoutMs !== undefined && performance.now() - lastNews >= timeoutMs) {
      return 'timeout';
    }
    if (!trace.isComplete) await delay(intervalMs);
  }
  return 'finalized';
}

/** What a trace is called while nobody has written it yet. */
const NOT_YET = new Set(['READER_OPEN', 'FORMAT_TRUNCATED']);

/** Waits until a file is there and has its preamble. False: it was not there in time. @throws UscopeError for a file that is not a trace */
export async function waitForTrace(path: string, { intervalMs, timeoutMs }: FollowOptions): Promise<boolean> {
  const started = performance.now();
  for (;;) {
    try {
      await (await openTraceFile(path)).close();
      return true;
    } catch (error) {
      if (!isUscopeError(error) || !NOT_YET.has(error.code)) throw error;
    }
    if (timeoutMs !== undefined && performance.now() - started >= timeoutMs) return false;
    await delay(intervalMs);
  }
}

/** How a finalized trace ended, for people, and the exit status that says so. */
export function describeEnd(trace: Trace): { readonly text: string; readonly exitCode: number } {
  const { session, totalTimePs } = trace;
  const end = `the trace is finalized at ${totalTimePs} ps`;
  if (!session) return { text: end, exitCode: ExitCode.OK };
  const { lost, rejected, status } = session;
  const loss = lost > 0n || rejected > 0n ? `, lost ${lost}, rejected ${rejected}` : '';
  const isWhole = loss === '' && status !== SessionStatus.CLIENT_LOST;
  return {
    text: `${end}; session ${statusName(session).replace('_', ' ')}${loss}`,
    exitCode: isWhole ? ExitCode.OK : ExitCode.LOSS,
  };
}
