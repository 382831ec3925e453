/** One trace in the data worker: what the page knows of it, its blocks on demand, and the pass over the whole of it. */

import * as cpu from 'uscope/cpu';
import { openIndex, type TraceIndex } from 'uscope/trace-index';
import { toldApart } from '../../../sdk/src/base/colours.js';
import type { RowBlock } from '../model/blocks.js';
import { type Growth, grown } from '../model/growth.js';
import type { SumsShape } from '../model/sums.js';
import { IndexSums } from './index-sums.js';
import type { Trace } from './library.js';
import { CodedError, describeProblem } from './problems.js';
import type { ClockInfo, CoreInfo, Diagonal, TraceInfo } from './protocol.js';
import type { QuestionContext } from './questions/question.js';
import { type Stall, toRowBlock } from './row-block.js';
import { SegmentCycles } from './segment-cycles.js';

/** Of single segments' index: as much as a picture of some million cycles looks at. */
const INDEX_BYTES = 12 * 1024 * 1024;

/** What the page shows of a trace. */
interface Choice {
  /** Name of a core; null: the first. */
  readonly core: string | null;
  /** Name of the clock of the axis, where there is no core; `time`: none. */
  readonly clock: string | null;
}

export class Session implements QuestionContext {
  private constructor(
    readonly trace: Trace,
    /** null: the trace has none. */
    readonly core: cpu.CpuCore | null,
    readonly periodPs: bigint,
    private readonly segmentCycles: SegmentCycles,
    private known: TraceInfo,
    /** Instructions in flight when the trace begins. */
    private readonly rowsAtStart: number,
    /** null: the trace has none. */
    readonly ownIndex: TraceIndex | null,
  ) {}

  /**
   * @throws UscopeError READER_NAME: no core of that name
   * @throws CodedError VIEW_EMPTY: there is nothing in it
   */
  static async open(trace: Trace, name: string, choice: Choice): Promise<Session> {
    if (trace.segmentCount === 0)
      throw new CodedError('VIEW_EMPTY', `nothing is recorded in the trace${trace.isComplete ? '' : ' yet'}`);
    const cores = cpu.findCores(trace);
    const core = cores.length === 0 ? null : cpu.findCore(trace, choice.core ?? undefined);
    const clocks = trace.schema.clocks.filter(({ periodPs }) => periodPs > 0);
    const clock = core ? knownClock(core.clock) : chosenClock(clocks, choice.clock);
    const periodPs = BigInt(clock?.periodPs ?? 1);
    const cycles = new SegmentCycles(trace, periodPs);
    await trace.segment(0);
    await cycles.follow();
    const segmentCycles = cycles.since(0);
    const lastCycle = segmentCycles.at(-1) ?? 1;
    const reasons = core?.events
      .get('stall')
      ?.fields.get('reason')
      ?.labels?.values.map(({ name }) => name);
    const columns = toldApart(reasons ?? []);
    // The last reason: those without a label or a column.
    const sums: SumsShape = { stages: core?.stages.length ?? 0, reasons: columns.length };
    const index = await openIndex(trace, { cacheBytes: INDEX_BYTES });
    const info: TraceInfo = {
      name,
      cores: cores.map(coreInfo),
      core: cores.findIndex((one) => one.scopeId === core?.scopeId),
      clocks: clocks.map(({ name, periodPs }) => ({ name, periodPs })),
      clock,
      schema: trace.schema,
      storageNames: trace.names.storageNames,
      eventNames: trace.names.eventNames,
      hasIndex: index !== null,
      segmentCycles,
      diagonal: core ? await diagonalOf(trace, core, lastCycle) : null,
      sums,
      reasons: columns,
      isComplete: trace.isComplete,
      dut: trace.dut,
    };
    const before = core ? await rowsAtStart(trace, core).catch(noneIfDamaged) : 0;
    return new Session(trace, core, periodPs, cycles, info, before, index);
  }

  /** What the page knows of the trace; another object after it has grown. */
  get info(): TraceInfo {
    return this.known;
  }

  /**
   * Looks for what a trace that is being written has got since. @returns null: there is nothing new
   * @throws UscopeError READER_CHANGED: it is another file now; READER_* where it cannot be read
   */
  async grow(): Promise<Growth | null> {
    const { trace } = this;
    if (trace.isComplete) return null;
    const { newSegments, finalized } = await trace.poll();
    if (newSegments === 0 && !finalized) return null;
    const from = this.segmentCycles.length;
    await this.segmentCycles.follow();
    const growth = { from, cycles: this.segmentCycles.since(from), isComplete: trace.isComplete };
    this.known = grown(this.known, growth);
    return growth;
  }

  /** Offset of the last segment that is known. */
  async tail(): Promise<number> {
    return (await this.trace.segment(this.trace.segmentCount - 1)).offset;
  }

  private made: TraceIndex | null = null;
  private resolveIndex: (index: TraceIndex | null) => void = () => undefined;
  private readonly indexed = new Promise<TraceIndex | null>((resolve) => {
    this.resolveIndex = resolve;
  });

  /** Where the trace has none it is made: the promise waits for that. */
  index(): Promise<TraceIndex | null> {
    return this.indexed;
  }

  /** What there is of it now. */
  indexNow(): TraceIndex | null {
    return this.made ?? this.ownIndex;
  }

  /** null: there is none to be had. */
  useIndex(index: TraceIndex | null): void {
    this.made = index;
    this.resolveIndex(index);
  }

  get segmentCount(): number {
    return this.segmentCycles.length;
  }

  get lastCycle(): number {
    return this.info.segmentCycles.at(-1) ?? 0;
  }

  /** null: the index does not count this core. */
  sumsOf(index: TraceIndex): IndexSums | null {
    const { core, info, rowsAtStart } = this;
    return core && IndexSums.of(index, core, info.sums, info.reasons, rowsAtStart);
  }

  /**
   * The instructions born in one segment.
   * @param firstRow -1: it is found out where that is quick
   */
  async block(segment: number, firstRow: number, signal: AbortSignal): Promise<RowBlock> {
    const { trace, core } = this;
    if (!core) throw new Error('the trace has no core');
    const startPs = await this.startPs(segment);
    const numbering = firstRow < 0 ? 'cheap' : 'never';
    const block = await cpu.blockOf(trace, core, segment, { signal, lookback: 1, numbering });
    const stalls = await this.stalls(core, startPs, await this.startPs(segment + 1));
    signal.throwIfAborted();
    return toRowBlock(trace, core, block, stalls, firstRow, this.periodPs, startPs);
  }

  /** Of the segment after the last: where the trace ends. */
  private async startPs(segment: number): Promise<bigint> {
    const { trace, periodPs } = this;
    if (segment >= this.segmentCount) return trace.totalTimePs + periodPs;
    return (await trace.segment(segment)).timeStartPs;
  }

  private async stalls(core: cpu.CpuCore, from: bigint, to: bigint): Promise<Stall[]> {
    const stalls: Stall[] = [];
    if (!core.events.has('stall')) return stalls;
    for await (const stall of cpu.stalls(this.trace, core, { from, to })) stalls.push(stall);
    return stalls;
  }
}

/** The damage is reported when the segment is to be shown; what follows it is shown all the same. */
function noneIfDamaged(error: unknown): number {
  if (describeProblem(error).code.startsWith('FORMAT_')) return 0;
  throw error;
}

const knownClock = (clock: ClockInfo | null | undefined): ClockInfo | null =>
  clock && clock.periodPs > 0 ? { name: clock.name, periodPs: clock.periodPs } : null;

/** By default the fastest: its cycles can all be distinguished. */
function chosenClock(clocks: readonly ClockInfo[], name: string | null): ClockInfo | null {
  if (name === 'time') return null;
  const named = clocks.find((clock) => clock.name === name);
  const [fastest] = [...clocks].sort((a, b) => a.periodPs - b.periodPs);
  return knownClock(named ?? fastest);
}

function coreInfo(core: cpu.CpuCore): CoreInfo {
  return {
    name: core.name,
    stages: core.stages,
    periodPs: Number(core.periodPs),
    clock: core.clock?.name ?? null,
    isa: core.isa ?? null,
    xlen: core.xlen,
  };
}

/** A trace that begins in the middle of a run has rows that are not born in it. */
async function rowsAtStart(trace: Trace, core: cpu.CpuCore): Promise<number> {
  if (!core.entities || trace.segmentCount === 0) return 0;
  const { raw } = await trace.stateBefore(0);
  return raw.occupied[core.entities.def.storageId] ?? 0;
}

/** From the births that the summary counts; null where there is none, or where it counts several cores together. */
async function diagonalOf(trace: Trace, core: cpu.CpuCore, lastCycle: number): Promise<Diagonal | null> {
  const name = core.entities?.def.name;
  if (trace.session === null || core.periodPs === 0n) return null;
  if (trace.schema.storages.filter((storage) => storage.name === name).length !== 1) return null;
  const density = await trace.density();
  if (!density || density.births.length === 0 || density.intervalCycles === 0) return null;
  const cycles = new Float64Array(density.births.length + 1);
  const rows = new Float64Array(density.births.length + 1);
  density.births.forEach((births, bucket) => {
    cycles[bucket + 1] = Math.min(lastCycle, (bucket + 1) * density.intervalCycles);
    rows[bucket + 1] = rows[bucket]! + births;
  });
  return { cycles, rows };
}
