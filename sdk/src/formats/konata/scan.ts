/** The first pass over a log: what its schema needs to know, and what `info` says. */
import { isUscopeError, type UscopeError } from '../../base/errors.js';
import { NotCompiled } from '../pipeline/kernel/not-compiled.js';
import { createPipelineKernel } from '../pipeline/kernel/pipeline-kernel.js';
import { RetireType } from '../pipeline/retire-type.js';
import { Roster } from '../pipeline/roster.js';
import { CompiledScan } from './compiled-scan.js';
import type { KanataReader } from './reader.js';
import type { KanataRecord } from './types.js';
import { CycleCount, type KanataVisitor } from './visitor.js';

export interface KanataSummary {
  readonly counts: {
    begin: number;
    retired: number;
    flushed: number;
    label: number;
    stage: number;
    dependency: number;
  };
  /** Of lane 0, in the order in which they first occur. */
  readonly stages: readonly string[];
  /** Numbers of the lanes that occur. */
  readonly lanes: readonly number[];
  readonly threads: readonly number[];
  /** First and last cycle; null in a log without a single record. */
  readonly firstCycle: bigint | null;
  readonly lastCycle: bigint;
  /** Instructions in flight at a time, those that end counted until the next cycle. */
  readonly maxInFlight: number;
  /** In flight at the end. */
  readonly unfinished: number;
  /** CONVERT_TRUNCATED when the file ended early; everything before it is counted. */
  readonly cut: UscopeError | null;
}

/** Time in a log as it is read. */
export class KanataClock {
  cycle = 0n;
  first: bigint | null = null;

  /** True: the record was about time. */
  take(record: KanataRecord): boolean {
    if (record.kind === 'advance') this.cycle += record.cycles;
    else if (record.kind === 'cycle') this.cycle = record.cycle;
    else {
      this.first ??= this.cycle;
      return false;
    }
    return true;
  }
}

/**
 * @param kernel compiled code that has done nothing yet; null: without it
 * @throws UscopeError CONVERT_*, except CONVERT_TRUNCATED, which is part of the answer
 */
export async function summarize(
  reader: KanataReader,
  signal?: AbortSignal,
  kernel = createPipelineKernel(),
): Promise<KanataSummary> {
  if (!kernel) return summaryBy(new Scan(), reader, signal);
  try {
    return await summaryBy(new CompiledScan(kernel), reader, signal);
  } catch (error) {
    if (!(error instanceof NotCompiled)) throw error;
    return summaryBy(new Scan(), reader, signal);
  }
}

async function summaryBy(
  scan: Scan | CompiledScan,
  reader: KanataReader,
  signal: AbortSignal | undefined,
): Promise<KanataSummary> {
  let cut: UscopeError | null = null;
  try {
    await reader.visit(scan, signal);
  } catch (error) {
    if (!isUscopeError(error) || error.code !== 'CONVERT_TRUNCATED') throw error;
    cut = error;
  }
  return { ...scan.summary(), cut };
}

class Scan implements KanataVisitor {
  readonly isFull = false;
  private readonly clock = new CycleCount();
  private readonly roster = new Roster<true>();
  private readonly stages = new Set<string>();
  private readonly lanes = new Set<number>();
  private readonly threads = new Set<number>();
  private readonly counts = { begin: 0, retired: 0, flushed: 0, label: 0, stage: 0, dependency: 0 };
  private endedNow = 0;
  private maxInFlight = 0;

  async push(): Promise<void> {}

  cycle(cycle: number): void {
    if (cycle !== this.clock.cycle) this.endedNow = 0;
    this.clock.set(cycle);
  }

  advance(cycles: number): void {
    if (cycles !== 0) this.endedNow = 0;
    this.clock.advance(cycles);
  }

  begin(id: number, _gid: number | bigint, tid: number): void {
    this.threads.add(tid);
    this.counts.begin++;
    this.meet(id, true);
  }

  label(id: number): void {
    this.counts.label++;
    this.meet(id);
  }

  start(id: number, lane: number, stage: string): void {
    this.counts.stage++;
    this.lanes.add(lane);
    if (lane === 0) this.stages.add(stage);
    this.meet(id);
  }

  end(id: number, lane: number): void {
    this.lanes.add(lane);
    this.meet(id);
  }

  retire(id: number, _rid: number | bigint, type: number): void {
    this.meet(id);
    if (!this.roster.get(id)) return;
    this.roster.remove(id);
    this.endedNow++;
    if (type === RetireType.FLUSHED) this.counts.flushed++;
    else this.counts.retired++;
  }

  dependency(): void {
    this.counts.dependency++;
    this.clock.begin();
  }

  summary(): Omit<KanataSummary, 'cut'> {
    const { counts, clock, maxInFlight } = this;
    return {
      counts,
      stages: [...this.stages],
      lanes: [...this.lanes].sort((a, b) => a - b),
      threads: [...this.threads].sort((a, b) => a - b),
      firstCycle: clock.first === null ? null : BigInt(clock.first),
      lastCycle: BigInt(clock.cycle),
      maxInFlight,
      unfinished: this.roster.size,
    };
  }

  private meet(id: number, isBegin = false): void {
    this.clock.begin();
    if (this.roster.get(id) || !(isBegin || this.roster.isNew(id))) return;
    this.roster.add(id, true);
    this.maxInFlight = Math.max(this.maxInFlight, this.roster.size + this.endedNow);
  }
}
