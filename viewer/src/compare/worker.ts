/** The thread that compares two runs: it reads both, a segment of each in turn, and reports what it finds while it reads. */
import { analyzePerformance, type CpuCore, findCore, findCores } from 'uscope/cpu';
import { ElfSymbols } from 'uscope/program';
import { begun, openTrace, sourceOf, type Trace } from '../data/library.js';
import { CodedError, describeProblem } from '../data/problems.js';
import type { Problem, TraceOrigin } from '../data/protocol.js';
import { threadScope } from '../model/thread-scope.js';
import { Comparison } from './comparison.js';
import type { Side } from './costs.js';
import type { CompareReport, CompareRequest, Difference } from './protocol.js';
import type { RetiredColumns, RetiredQueue } from './retired-queue.js';
import { retiredColumns } from './retired-source.js';

const scope = threadScope('compare-data.js');
const CACHE_BYTES = 16 * 1024 * 1024;
/** Between two reports of progress. */
const REPORT_MS = 200;
const MAX_COST_LINES = 500;

const post = (report: CompareReport, transfer: Transferable[] = []): void =>
  scope.postMessage(report, transfer);
const problem = (one: Problem): void => post({ type: 'problem', problem: one });

interface Run {
  readonly side: Side;
  readonly trace: Trace;
  readonly core: CpuCore;
}

async function open(side: Side, origin: TraceOrigin, name: string | null): Promise<Run> {
  const trace = await openTrace(sourceOf(origin, problem), { cacheBytes: CACHE_BYTES });
  await begun(trace);
  const isThere = findCores(trace).length > 0;
  post({
    type: 'opened',
    side,
    core: isThere ? findCore(trace, name ?? undefined).name : null,
    isComplete: trace.isComplete,
  });
  if (!isThere)
    throw new CodedError(
      'VIEW_NO_CORE',
      `${origin.name} has no scope with the protocol cpu, so there are no instructions to compare`,
    );
  return { side, trace, core: findCore(trace, name ?? undefined) };
}

async function compare(request: CompareRequest): Promise<void> {
  const runs = await Promise.all([open('a', request.a, request.coreA), open('b', request.b, request.coreB)]);
  await align(runs, request.elf === null ? null : await functionsOf(request.elf));
  for (const { side, trace, core } of runs) {
    const { cores } = await analyzePerformance(trace, { cores: [core.name], points: 0 });
    post({ type: 'statistics', side, report: cores[0] ?? null });
  }
}

type FunctionOf = (pc: bigint) => string | null;

/** null: its functions are not known, which is reported. */
async function functionsOf(url: string): Promise<FunctionOf | null> {
  try {
    const answer = await fetch(url);
    if (!answer.ok) throw new CodedError('READER_OPEN', `the program: the server answers ${answer.status}`);
    const symbols = ElfSymbols.parse(new Uint8Array(await answer.arrayBuffer()));
    return (pc) => symbols.find(pc)?.name ?? null;
  } catch (error) {
    problem(describeProblem(error));
    return null;
  }
}

async function align([a, b]: readonly [Run, Run], functionOf: FunctionOf | null): Promise<void> {
  let found: Difference[] = [];
  const comparison = new Comparison(a.core, {
    pairs: (columns, count) =>
      post(
        { type: 'pairs', columns, count },
        Object.values(columns).map(({ buffer }) => buffer as ArrayBuffer),
      ),
    difference: (one) => found.push(one),
  });
  const readers = [
    new Reader(comparison.a, retiredColumns(a.trace, a.core, comparison.statics), endCycle(a)),
    new Reader(comparison.b, retiredColumns(b.trace, b.core, comparison.statics), endCycle(b)),
  ] as const;
  const report = (): void => {
    post({ type: 'differences', list: found });
    found = [];
    const part = (readers[0].part + readers[1].part) / 2;
    post({ type: 'progress', part, totals: comparison.totals() });
    const functions = functionOf && comparison.functionCosts(functionOf);
    post({ type: 'costs', lines: comparison.costLines(MAX_COST_LINES), functions });
  };
  for (let reported = performance.now(); !comparison.run(); ) {
    await Promise.all(readers.map((reader) => reader.fill()));
    if (performance.now() - reported < REPORT_MS) continue;
    reported = performance.now();
    report();
  }
  report();
  post({ type: 'compared', totals: comparison.totals() });
}

const endCycle = ({ trace, core }: Run): number =>
  Number(trace.totalTimePs) / Math.max(1, Number(core.periodPs));

/** Instructions that a queue holds before more of them are read. */
const WANTED = 4096;

class Reader {
  /** Of the trace, 0 to 1. */
  part = 0;

  constructor(
    private readonly queue: RetiredQueue,
    private readonly source: AsyncGenerator<RetiredColumns>,
    private readonly endCycle: number,
  ) {}

  async fill(): Promise<void> {
    const { queue } = this;
    while (!queue.isEnded && queue.length < WANTED) {
      const { value, done } = await this.source.next();
      if (done) {
        queue.isEnded = true;
        this.part = 1;
      } else {
        queue.push(value);
        const last = value.cycles[value.count - 1];
        if (last !== undefined && this.endCycle > 0) this.part = Math.min(1, last / this.endCycle);
      }
    }
  }
}

scope.onmessage = ({ data }: MessageEvent<CompareRequest>) => {
  compare(data).catch((error) => problem({ ...describeProblem(error), isFatal: true }));
};
