/** Questions to the server of `uscope view`, which has the engine. */
import type { SqlNames } from './words.js';

/** Of sdk/src/cli/view/served-sql.ts. */
export interface SqlAnswer {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number | boolean | null)[])[];
  /** Cycle of the clock shown; null: the row is of no cycle. */
  readonly places: readonly (number | null)[];
  /** The column that they are of; -1: none. */
  readonly placeColumn: number;
  readonly isCut: boolean;
}

/** Of sdk/src/cli/view/server/sql-requests.ts. */
export interface SqlQuestion {
  readonly sql: string;
  readonly timeoutMs: number;
  readonly shown: { readonly from: number; readonly to: number; readonly periodPs: number } | null;
  readonly isLimited: boolean;
}

const place = document.querySelector<HTMLMetaElement>('meta[name="uscope-sql"]')?.content ?? null;

/** Why this page cannot ask; null: it can. */
export const obstacle: string | null =
  place === null
    ? 'SQL is answered by the server of the command. Open the trace with “uscope view FILE” (without --read-only and --no-token), or ask with “uscope sql FILE”.'
    : null;

export class SqlError extends Error {}

/** @throws SqlError what the server says, with a code; the signal's reason */
export const askSql = (question: SqlQuestion, signal: AbortSignal): Promise<SqlAnswer> =>
  answerTo<SqlAnswer>(question, signal);

/** @throws SqlError as `askSql` */
export const askNames = (signal: AbortSignal): Promise<SqlNames> =>
  answerTo<SqlNames>({ names: true }, signal);

async function answerTo<T>(body: unknown, signal: AbortSignal): Promise<T> {
  const answer = await fetch(new URL(place!, document.baseURI).href, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  }).catch((error: unknown) => {
    throw signal.aborted ? error : new SqlError('VIEW_LOST: the server does not answer');
  });
  if (!answer.ok) throw new SqlError((await answer.text()).trim());
  const value = (await answer.json()) as T | { error: { code: string; detail: string } };
  if (typeof value === 'object' && value !== null && 'error' in value)
    throw new SqlError(`${value.error.code}: ${value.error.detail}`);
  return value as T;
}
