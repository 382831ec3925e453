/** Questions in SQL from the page, which another room answers: what a question may be, and what ends it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isUscopeError } from '../base/errors.js';
import { bodyOf, refuse, sendJson } from './replies.js';

/** A range of time, in cycles of the clock that the page shows. */
export interface ShownTime {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** Picoseconds; 1 where the page shows no clock. */
  readonly periodPs: number;
}

export interface ViewQuestion {
  readonly sql: string;
  readonly timeoutMs: number;
  readonly shown: ShownTime | null;
  /** The tables have rows of that time only. */
  readonly isLimited: boolean;
}

/** Of one trace. */
export interface SqlAnswerer {
  /** What a question may name: plain values for the page. */
  names(): Promise<unknown>;
  /** @returns plain values for the page @throws UscopeError */
  ask(question: ViewQuestion, signal: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

/** Below the page. */
export const SQL_PATH = '/sql';

const MAX_QUESTION_BYTES = 65_536;
const MAX_TIMEOUT_MS = 3_600_000;

/** The answer to one POST of `SQL_PATH`. */
export async function answerSql(
  request: IncomingMessage,
  response: ServerResponse,
  answerer: SqlAnswerer,
): Promise<void> {
  const wanted = wantedOf(await bodyOf(request, MAX_QUESTION_BYTES));
  if (wanted === null) return refuse(response, 400, 'this is not a question');
  // A page that is closed, or cancels, ends its connection.
  const gone = new AbortController();
  const end = (): void => gone.abort();
  response.on('close', end);
  try {
    sendJson(response, await (wanted === 'names' ? answerer.names() : answerer.ask(wanted, gone.signal)));
  } catch (error) {
    if (!isUscopeError(error)) throw error;
    sendJson(response, { error: { code: error.code, detail: error.detail } });
  } finally {
    response.off('close', end);
  }
}

function wantedOf(body: string | null): ViewQuestion | 'names' | null {
  try {
    const { names, sql, timeoutMs, shown, isLimited } = JSON.parse(body ?? '') as Record<string, unknown>;
    if (names === true) return 'names';
    const isNumber = (value: unknown, most: number): value is number =>
      Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= most;
    if (typeof sql !== 'string' || !isNumber(timeoutMs, MAX_TIMEOUT_MS) || timeoutMs === 0) return null;
    const time = shown === null ? null : timeOf(shown as Record<string, unknown>);
    return time === undefined ? null : { sql, timeoutMs, shown: time, isLimited: isLimited === true };
  } catch {
    return null;
  }
}

function timeOf({ from, to, periodPs }: Record<string, unknown>): ShownTime | undefined {
  const isWhole = [from, to, periodPs].every((one) => Number.isSafeInteger(one) && Number(one) >= 0);
  return isWhole && Number(periodPs) > 0
    ? { from: Number(from), to: Number(to), periodPs: Number(periodPs) }
    : undefined;
}
