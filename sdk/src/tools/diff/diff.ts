/** Compares two traces: by time, by state, by retired instruction. */
import { UscopeError } from '../../base/errors.js';
import { namesNear } from '../../base/near-names.js';
import { scopePath } from '../../format/types.js';
import type { TimeRange, Trace } from '../../reader/index.js';
import { diffRetired, type RetiredCore } from './by-retired.js';
import { diffByState } from './by-state.js';
import { diffByTime } from './by-time.js';
import { matchSchemas, type SchemaMatch, type ScopePair } from './match.js';
import type { DiffReport, RetiredCoreReport, RetiredReport, StateReport, TimeReport } from './report.js';
import type { DiffInput } from './side.js';

export interface DiffOptions {
  /** Scopes compared with each other, by their paths; by default everything, by path. */
  readonly scopes?: readonly ScopePair[] | undefined;
  /** In ps, start inclusive, end exclusive. */
  readonly range?: TimeRange | undefined;
  /** What only one has is reported but does not make them different. */
  readonly commonOnly?: boolean | undefined;
  /** By time: items of different paths may be in any order within an instant. Always so when a trace does not keep the order. */
  readonly ignoreOrder?: boolean | undefined;
  /** Items, values or instructions shown around the first difference; default 5. */
  readonly context?: number | undefined;
  /** Only the first difference is looked for. */
  readonly stopAtFirst?: boolean | undefined;
  /** Called now and then with the part that is done, 0 to 1. */
  readonly onProgress?: ((part: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export const DEFAULT_CONTEXT = 5;

/** @throws UscopeError READER_NAME for a scope a trace does not have, FORMAT_* for damage, with the name of the trace */
export async function diffTraces(
  by: 'time' | 'state',
  a: DiffInput,
  b: DiffInput,
  options: DiffOptions = {},
): Promise<DiffReport> {
  const { range = {}, context = DEFAULT_CONTEXT, stopAtFirst = false, onProgress, signal } = options;
  const notes: string[] = [];
  const scopes = scopesOf(a, b, options.scopes ?? [], notes);
  const match = matchSchemas(a.trace, b.trace, scopes);
  const common = { range, context, stopAtFirst, onProgress, signal };
  const ignoreOrder = options.ignoreOrder || !a.trace.isInterleaved || !b.trace.isInterleaved;
  if (by === 'time' && ignoreOrder && !options.ignoreOrder) {
    notes.push(
      'one of the traces does not keep the order of ops and events (format 0.1): it is not compared',
    );
  }
  const result =
    by === 'state'
      ? await diffByState(a, b, match, common)
      : await diffByTime(a, b, match, { ...common, ignoreOrder });
  return report(a, b, scopes, match, notes, result, options.commonOnly ?? false);
}

function report(
  a: DiffInput,
  b: DiffInput,
  scopes: readonly ScopePair[],
  { onlyA, onlyB, changed, storages, events }: SchemaMatch,
  notes: readonly string[],
  result: TimeReport | StateReport,
  commonOnly: boolean,
): DiffReport {
  if (storages.length + events.length === 0) {
    throw new UscopeError(
      'READER_NAME',
      'the traces have no storage and no event in common; name the scopes to compare with --core A=B',
    );
  }
  const schemaSame = commonOnly || onlyA.length + onlyB.length === 0;
  const schema = { onlyA, onlyB, changed };
  return { same: result.first === null && schemaSame, a: a.name, b: b.name, scopes, schema, notes, result };
}

/** Options of `diffRetired`, without the streams. */
export type RetiredDiffOptions = Pick<DiffOptions, 'context' | 'stopAtFirst' | 'commonOnly' | 'signal'> & {
  /** Names of `values` that are compared next to pc and machine code. */
  readonly compare: readonly string[];
  readonly onProgress?: ((instructions: number) => void) | undefined;
};

/** @param onlyA names of cores that only one trace has */
export async function diffRetiredCores(
  a: string,
  b: string,
  cores: readonly RetiredCore[],
  onlyA: readonly string[],
  onlyB: readonly string[],
  options: RetiredDiffOptions,
): Promise<DiffReport> {
  const { context = DEFAULT_CONTEXT, stopAtFirst = false, compare, onProgress, signal } = options;
  const reports: RetiredCoreReport[] = [];
  for (const core of cores) {
    reports.push(await diffRetired(core, { context, stopAtFirst, compare, onProgress, signal }));
    if (stopAtFirst && reports.at(-1)?.first) break;
  }
  const result: RetiredReport = { by: 'retired', cores: reports, onlyA, onlyB };
  const same =
    reports.every(({ first }) => first === null) &&
    (options.commonOnly === true || onlyA.length + onlyB.length === 0);
  const schema = { onlyA: [], onlyB: [], changed: [] };
  return { same, a, b, scopes: [], schema, notes: [], result };
}

/** Those asked for; where nothing is asked and each trace is of one core, these are compared whatever they are called. */
function scopesOf(
  a: DiffInput,
  b: DiffInput,
  asked: readonly ScopePair[],
  notes: string[],
): readonly ScopePair[] {
  for (const { a: inA, b: inB } of asked) {
    requireScope(a, inA);
    requireScope(b, inB);
  }
  if (asked.length > 0) return asked;
  const [onlyA, onlyB] = [onlyScope(a.trace), onlyScope(b.trace)];
  if (onlyA === null || onlyB === null || onlyA === onlyB) return [];
  notes.push(`${onlyA} of the first trace is compared with ${onlyB} of the second`);
  return [{ a: onlyA, b: onlyB }];
}

/** Path of the only scope with a protocol; null: there are none or several. */
function onlyScope({ schema }: Trace): string | null {
  const withProtocol = schema.scopes.filter(({ protocol }) => protocol !== null);
  const [only] = withProtocol;
  return withProtocol.length === 1 && only ? scopePath(schema, only.scopeId) : null;
}

function requireScope({ trace, name }: DiffInput, path: string): void {
  const paths = trace.schema.scopes.map(({ scopeId }) => scopePath(trace.schema, scopeId));
  if (paths.includes(path)) return;
  const near = namesNear(
    path,
    paths.filter((one) => one !== ''),
  );
  throw new UscopeError('READER_NAME', `the trace has no scope "${path}"; ${near}`, { file: name });
}
