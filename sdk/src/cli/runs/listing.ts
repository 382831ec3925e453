/** The traces in a directory, grouped by the run they belong to. */
import { lstat, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { UscopeError } from '../../base/errors.js';
import { CORE_PROPERTY, RUN_ID_PROPERTY, START_TIME_PROPERTY } from '../../format/dut.js';
import { NO_CORE, SessionStatus } from '../../format/session-chunk.js';
import { MERGE_KEY } from '../../tools/merge/index.js';
import { isLocked } from '../../writer/output/path-lock.js';
import { describeError } from '../common/io.js';
import { statusName } from '../common/schema-json.js';
import { readTraceHead, type TraceHead } from './trace-head.js';

/** `live`: being written now. `unfinished`: its writer is gone. */
export type TraceState = 'complete' | 'live' | 'unfinished' | 'damaged';

export interface ListedTrace {
  /** Below the directory, without `.uscope`. */
  readonly name: string;
  readonly path: string;
  readonly state: TraceState;
  /** How its session ended, as in `info --json`; null: file of another writer, or damaged. */
  readonly status: string | null;
  /** What is wrong with it, or missing; null: nothing. */
  readonly reason: string | null;
  readonly runId: string | null;
  /** Unix ms, of the run; null: unknown. */
  readonly startTimeMs: number | null;
  readonly core: number | null;
  /** Made of other traces (`uscope merge`), as it names them; null: recorded. */
  readonly mergeOf: string | null;
  readonly totalTimePs: bigint | null;
  /** Of the first clock with a period, that of the last frame. */
  readonly lastCycle: bigint | null;
  readonly segments: number | null;
  readonly bytes: number;
  readonly lost: bigint | null;
  readonly rejected: bigint | null;
}

export interface ListedRun {
  /** 32 hex digits; null: traces that say nothing of a run. */
  readonly id: string | null;
  /** Unix ms. */
  readonly startTimeMs: number | null;
  readonly traces: readonly ListedTrace[];
}

const SUFFIX = '.uscope';
const NO_RUN = '0'.repeat(32);

/**
 * All traces below a directory, the runs in the order of their start. Of each file only header, preamble and tail are read, and none
 * keeps the others from being listed.
 * @param onTrouble called with directories that cannot be read
 * @param options `links: false`: links to files are left out
 * @throws UscopeError READER_OPEN when the directory itself cannot be read
 */
export async function listRuns(
  directory: string,
  onTrouble: (text: string) => void,
  { links = true }: { readonly links?: boolean } = {},
): Promise<ListedRun[]> {
  const runs = new Map<string | null, ListedTrace[]>();
  for (const path of await traceFiles(directory, onTrouble, links)) {
    const trace = await listTrace(directory, path);
    runs.set(trace.runId, [...(runs.get(trace.runId) ?? []), trace]);
  }
  return [...runs].map(([id, traces]) => runOf(id, traces)).sort(byStart);
}

function runOf(id: string | null, traces: readonly ListedTrace[]): ListedRun {
  const starts = traces.flatMap(({ startTimeMs }) => (startTimeMs === null ? [] : [startTimeMs]));
  const startTimeMs = starts.reduce<number | null>((least, ms) => Math.min(least ?? ms, ms), null);
  return { id, startTimeMs, traces: [...traces].sort(byCore) };
}

function byStart(a: ListedRun, b: ListedRun): number {
  // Traces of no run come last.
  if ((a.id === null) !== (b.id === null)) return a.id === null ? 1 : -1;
  return (a.startTimeMs ?? 0) - (b.startTimeMs ?? 0);
}

function byCore(a: ListedTrace, b: ListedTrace): number {
  const difference = (a.core ?? Number.MAX_SAFE_INTEGER) - (b.core ?? Number.MAX_SAFE_INTEGER);
  return difference || a.name.localeCompare(b.name, 'en', { numeric: true });
}

/** Paths of all files that are called traces. Links to directories are not followed: they may lead in circles. */
async function traceFiles(
  directory: string,
  onTrouble: (text: string) => void,
  links: boolean,
): Promise<string[]> {
  const found: string[] = [];
  const waiting = [directory];
  for (let current = waiting.pop(); current !== undefined; current = waiting.pop()) {
    try {
      for (const entry of await readdir(current, { withFileTypes: true })) {
        const path = join(current, entry.name);
        if (entry.isDirectory()) waiting.push(path);
        else if (entry.name.endsWith(SUFFIX) && (entry.isFile() || (links && entry.isSymbolicLink())))
          found.push(path);
      }
    } catch (cause) {
      const detail = `the directory cannot be read: ${(cause as Error).message}`;
      if (current === directory) throw new UscopeError('READER_OPEN', detail, { file: directory }, { cause });
      onTrouble(`${detail} (${current})`);
    }
  }
  return found.sort();
}

async function listTrace(directory: string, path: string): Promise<ListedTrace> {
  const name = relative(directory, path).slice(0, -SUFFIX.length);
  try {
    return await described(name, path, await readTraceHead(path));
  } catch (error) {
    return { ...unknown(name, path), bytes: await sizeOf(path), reason: reasonOf(error) };
  }
}

async function described(name: string, path: string, head: TraceHead): Promise<ListedTrace> {
  const { header, preamble, totalTimePs, bytes } = head;
  const { session } = preamble;
  const dut = new Map(preamble.dut);
  const periodPs = preamble.schema.clocks.find((clock) => clock.periodPs > 0)?.periodPs ?? 0;
  const state = await stateOf(path, head);
  const runId = dut.get(RUN_ID_PROPERTY) ?? (session && Buffer.from(session.runId).toString('hex'));
  return {
    name,
    path,
    state,
    status: session && statusName(session),
    reason: reasonFor(state, head),
    runId: runId === NO_RUN ? null : runId,
    startTimeMs: startOf(dut.get(START_TIME_PROPERTY)) ?? (session && Number(session.startTimeMs)),
    core:
      coreOf(dut.get(CORE_PROPERTY)) ?? (session && session.coreIndex !== NO_CORE ? session.coreIndex : null),
    mergeOf: dut.get(MERGE_KEY) ?? null,
    totalTimePs,
    lastCycle: periodPs > 0 ? totalTimePs / BigInt(periodPs) : null,
    segments: header.numSegments,
    bytes,
    lost: session?.lost ?? null,
    rejected: session?.rejected ?? null,
  };
}

async function stateOf(path: string, { isComplete, damage }: TraceHead): Promise<TraceState> {
  if (!isComplete && (await isLocked(path))) return 'live';
  if (damage) return 'damaged';
  return isComplete ? 'complete' : 'unfinished';
}

function reasonFor(state: TraceState, head: TraceHead): string | null {
  if (state === 'damaged') return head.damage && reasonOf(head.damage);
  return state === 'unfinished' ? 'its writer is gone: uscope recover finalizes it' : lossOf(head);
}

/** Why a finalized trace does not hold everything; null when it does. */
function lossOf({ isComplete, preamble: { session } }: TraceHead): string | null {
  if (!session || !isComplete) return null;
  const { lost, rejected, status } = session;
  const parts = [
    ...(status === SessionStatus.CLIENT_LOST ? ['its client did not close it'] : []),
    ...(lost > 0n ? [`${lost} items lost`] : []),
    ...(rejected > 0n ? [`${rejected} rejected`] : []),
  ];
  return parts.length > 0 ? parts.join(', ') : null;
}

function unknown(name: string, path: string): ListedTrace {
  const nothing = {
    status: null,
    runId: null,
    startTimeMs: null,
    core: null,
    mergeOf: null,
    totalTimePs: null,
    lastCycle: null,
  };
  const more = { segments: null, bytes: 0, lost: null, rejected: null, reason: null };
  return { name, path, state: 'damaged', ...nothing, ...more };
}

function reasonOf(error: unknown): string {
  return error instanceof UscopeError
    ? describeError(new UscopeError(error.code, error.detail))
    : String(error);
}

async function sizeOf(path: string): Promise<number> {
  return lstat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

function startOf(text: string | undefined): number | null {
  const ms = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

function coreOf(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : null;
}
