/** Searches a trace: instructions by disassembly, annotation or address, and events by type and fields. */
import { UscopeError } from '../../base/errors.js';
import { rangeBounds } from '../../reader/arguments.js';
import type { Trace } from '../../reader/index.js';
import { type CpuCore, findCores } from '../cpu/cores.js';
import { EventSearch } from './event-search.js';
import { type Found, type FoundInstruction, InstructionSearch } from './instruction-search.js';
import { type Pattern, type PatternOptions, parsePattern } from './pattern.js';
import type { SearchCall } from './search-call.js';

export interface FindOptions extends PatternOptions, SearchCall {
  /** In ps, start inclusive, end exclusive; default: the whole trace. An instruction lies where it is born. */
  readonly from?: number | bigint | undefined;
  readonly to?: number | bigint | undefined;
  /** Only what belongs to these cores. */
  readonly cores?: readonly CpuCore[] | undefined;
}

/**
 * What a pattern finds, in order of time: some at once, also none. See `parsePattern` for what a pattern may be.
 * @throws UscopeError READER_PATTERN, READER_NAME (no such event, none with these fields; no core that records instructions),
 *   READER_RANGE (a range that is none; numbers are asked for that the trace does not have), FORMAT_*
 */
export async function* find(
  trace: Trace,
  pattern: string,
  options: FindOptions = {},
): AsyncGenerator<readonly Found[]> {
  const wanted = parsePattern(pattern, options);
  const [term] = wanted.terms;
  const { from, to } = rangeBounds({ from: options.from, to: options.to });
  const range = { from: from < 0n ? 0n : from, to };
  const cores = options.cores ?? findCores(trace);
  const scopes = options.cores ? options.cores.map(({ scopeId }) => scopeId) : null;
  if (wanted.finds === 'events' && term.kind === 'event') {
    yield* new EventSearch(trace, term, cores, scopes).search(range, options);
  } else {
    const searched = cores.filter(({ entities }) => entities !== null);
    if (searched.length === 0) {
      throw new UscopeError('READER_NAME', 'the trace follows no instructions: only events can be searched');
    }
    const searches = searchesOf(trace, searched, wanted, scopes);
    yield* byTime(searches.map((search) => search.search(range, options)));
  }
  options.progress?.(1);
}

/** Of the cores that have the events named. @throws UscopeError READER_NAME: none has them */
function searchesOf(
  trace: Trace,
  cores: readonly CpuCore[],
  pattern: Pattern,
  scopes: readonly number[] | null,
): InstructionSearch[] {
  const problems: unknown[] = [];
  const searches = cores.flatMap((core) => {
    try {
      return [new InstructionSearch(trace, core, pattern, scopes)];
    } catch (error) {
      if (!(error instanceof UscopeError) || error.code !== 'READER_NAME') throw error;
      problems.push(error);
      return [];
    }
  });
  if (searches.length === 0) throw problems[0];
  return searches;
}

/** What several searches find, each in order of time, in order of time. */
async function* byTime(
  searches: readonly AsyncGenerator<readonly FoundInstruction[]>[],
): AsyncGenerator<readonly FoundInstruction[]> {
  if (searches.length === 1) {
    yield* searches[0];
    return;
  }
  const heads: { rest: FoundInstruction[]; search: (typeof searches)[number] }[] = [];
  try {
    for (const search of searches) heads.push({ rest: [], search });
    for (;;) {
      for (const head of [...heads]) if (!(await fill(head))) heads.splice(heads.indexOf(head), 1);
      if (heads.length === 0) return;
      const merged: FoundInstruction[] = [];
      while (heads.every(({ rest }) => rest.length > 0)) {
        const earliest = heads.reduce((best, head) =>
          timeOf(head.rest[0]) < timeOf(best.rest[0]) ? head : best,
        );
        merged.push(earliest.rest.shift() as FoundInstruction);
      }
      yield merged;
    }
  } finally {
    for (const search of searches) await search.return(undefined);
  }
}

const timeOf = ({ timePs }: FoundInstruction): bigint => timePs ?? -1n;

/** False: there is nothing more. */
async function fill(head: {
  rest: FoundInstruction[];
  search: AsyncGenerator<readonly FoundInstruction[]>;
}): Promise<boolean> {
  while (head.rest.length === 0) {
    const { done, value } = await head.search.next();
    if (done) return false;
    head.rest = [...value];
  }
  return true;
}
