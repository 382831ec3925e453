/** One trace in the data worker: what the page is told of it, its blocks on demand, and the pass over the whole of it. */

import * as cpu from 'uscope/cpu';
import { type AggregateShape, bucketCyclesFor, MAX_REASONS } from '../model/aggregates.js';
import type { RowBlock } from '../model/blocks.js';
import type { Trace } from './library.js';
import type { CoreInfo, TraceInfo } from './protocol.js';
import { type Stall, toRowBlock } from './row-block.js';

export class Session {
  private constructor(
    private readonly trace: Trace,
    private readonly core: cpu.CpuCore,
    private readonly periodPs: bigint,
    /** Beginning of each segment in ps, and at last the end of the trace. */
    private readonly segmentPs: readonly bigint[],
    readonly info: TraceInfo,
  ) {}

  /** @throws UscopeError READER_NAME: no core of that name */
  static async open(trace: Trace, name: string, coreName: string | null): Promise<Session | null> {
    const cores = cpu.findCores(trace);
    if (cores.length === 0) return null;
    const core = cpu.findCore(trace, coreName ?? undefined);
    const periodPs = core.periodPs > 0n ? core.periodPs : 1n;
    const segments = await trace.segments();
    const endPs = trace.totalTimePs + periodPs;
    const segmentPs = [...segments.map(({ timeStartPs }) => timeStartPs), endPs];
    const segmentCycles = Float64Array.from(segmentPs, (time) => Number(time / periodPs));
    const lastCycle = segmentCycles.at(-1) ?? 1;
    const bucketCycles = bucketCyclesFor(lastCycle);
    const reasons = core.events
      .get('stall')
      ?.fields.get('reason')
      ?.labels?.values.map(({ name }) => name);
    const named = (reasons ?? []).slice(0, MAX_REASONS);
    const shape: AggregateShape = {
      bucketCycles,
      buckets: Math.floor(lastCycle / bucketCycles) + 1,
      stages: core.stages.length,
      // The last one: reasons without a label or a column.
      reasons: named.length + 1,
    };
    const info: TraceInfo = {
      name,
      cores: cores.map(coreInfo),
      core: cores.findIndex((one) => one.scopeId === core.scopeId),
      segmentCycles,
      anchors: await anchorsOf(trace, core, lastCycle),
      aggregates: shape,
      reasons: [...named, 'other'],
      isComplete: trace.isComplete,
      dut: trace.dut,
    };
    return new Session(trace, core, periodPs, segmentPs, info);
  }

  get segmentCount(): number {
    return this.segmentPs.length - 1;
  }

  get lastCycle(): number {
    return this.info.segmentCycles.at(-1) ?? 0;
  }

  /** Index of a stall reason among those aggregated. */
  readonly reasonOf = (name: string): number => {
    const index = this.info.reasons.indexOf(name);
    return index < 0 ? this.info.reasons.length - 1 : index;
  };

  /**
   * The instructions born in one segment.
   * @param firstRow -1: it is found out
   */
  async block(segment: number, firstRow: number, signal: AbortSignal): Promise<RowBlock> {
    const { trace, core } = this;
    const block = await cpu.blockOf(trace, core, segment, { signal, lookback: 1 });
    const stalls = await this.stalls(this.segmentPs[segment]!, this.segmentPs[segment + 1]!);
    signal.throwIfAborted();
    return toRowBlock(trace, core, block, stalls, firstRow, this.periodPs);
  }

  private async stalls(from: bigint, to: bigint): Promise<Stall[]> {
    const stalls: Stall[] = [];
    if (!this.core.events.has('stall')) return stalls;
    for await (const stall of cpu.stalls(this.trace, this.core, { from, to })) stalls.push(stall);
    return stalls;
  }
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

/** From the births that the summary counts; null where there is none, or where it counts several cores together. */
async function anchorsOf(trace: Trace, core: cpu.CpuCore, lastCycle: number): Promise<TraceInfo['anchors']> {
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
