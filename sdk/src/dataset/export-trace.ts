/** Exports one trace: every unit of it into every table that is wanted. */
import { basename, join, resolve } from 'node:path';
import { UscopeError } from '../base/errors.js';
import { isHttpUrl } from '../reader/http-url.js';
import type { Trace } from '../reader/index.js';
import type { CpuCore } from '../semantics/cpu/index.js';
import type { Destination } from './files/part-files.js';
import type { TableName } from './layout.js';
import { PageBudget } from './parquet/table-rows.js';
import { damagedSegments, type Gap } from './raw/gaps.js';
import { Cycles, type RawSink, rawPass } from './raw/raw-pass.js';
import { type CountedUnit, type Unit, unitsOf } from './raw/units.js';
import type { StagedFiles } from './staged-files.js';
import { blocksWithGaps, outcomeOf } from './tables/blocks-with-gaps.js';
import { CountersSink } from './tables/counters.js';
import { CyclesSink } from './tables/cycles.js';
import { EventsSink } from './tables/events.js';
import { writeGaps } from './tables/gaps.js';
import { InstructionsTable } from './tables/instructions.js';
import { OccupancySink } from './tables/occupancy.js';
import { RetiredCounts } from './tables/retired.js';
import { SlotsSink } from './tables/slots.js';
import { StagesTable } from './tables/stages.js';
import { StallsSink } from './tables/stalls.js';
import { writeTraceRow } from './tables/traces.js';
import { TransactionsTable } from './tables/transactions.js';

export interface TraceExport {
  readonly file: string;
  readonly tables: readonly TableName[];
  readonly window: number;
  readonly tags: Readonly<Record<string, string>>;
  /** Only tables that the run did not have: it is described already. */
  readonly isAdding: boolean;
  /** Names of partitions that other traces of the run have taken. */
  readonly usedNames: Set<string>;
  /** Of each table, to which those of the trace are added. */
  readonly rows: Record<string, number>;
  readonly onProgress: (fraction: number) => void;
}

/** Tables that the instructions are followed for, and those that ops and events are read for. */
const FOLLOWED: readonly TableName[] = ['instructions', 'stages', 'cycles', 'traces'];
const RAW: readonly TableName[] = ['events', 'slots', 'counters', 'stalls', 'occupancy', 'cycles'];

/** @throws UscopeError READER_RANGE: the trace has cycles that tables cannot hold exactly; READER_*, FORMAT_*, DATASET_* */
export async function exportTrace(
  staged: StagedFiles,
  trace: Trace,
  request: TraceExport,
): Promise<{ cores: number; instructions: number; gaps: number }> {
  const to: Destination = {
    scratch: staged.path,
    budget: new PageBudget(),
    rows: request.rows,
    partOf: (table, core, key) => staged.partOf(table, core, key),
  };
  const work = new TraceWork(to, trace, request);
  try {
    return await work.run();
  } finally {
    work.close();
  }
}

/** The last time of which columns have the cycle exactly, in cycles. */
const MAX_CYCLES = BigInt(Number.MAX_SAFE_INTEGER);

/** @throws UscopeError READER_RANGE */
function requireExactCycles({ totalTimePs }: Trace, { name, periodPs, storages, events }: Unit): void {
  if (totalTimePs / periodPs <= MAX_CYCLES || storages.length + events.length === 0) return;
  throw new UscopeError(
    'READER_RANGE',
    `the trace ends in cycle ${totalTimePs / periodPs} of "${name}": tables have exact cycles up to 2^53 - 1 only; events, timeline and find work beyond`,
  );
}

class TraceWork {
  private readonly units: CountedUnit[];
  /** By segment. */
  private readonly gaps = new Map<number, Gap>();
  private readonly ends = new Map<string, readonly number[]>();
  private readonly retired = new Map<string, RetiredCounts>();
  private instructions = 0;

  constructor(
    private readonly to: Destination,
    private readonly trace: Trace,
    private readonly request: TraceExport,
  ) {
    this.units = unitsOf(trace).map((unit) => {
      requireExactCycles(trace, unit);
      const named = { ...unit, name: this.nameOf(unit.name) };
      return { unit: named, cycles: new Cycles(unit.periodPs) };
    });
  }

  async run(): Promise<{ cores: number; instructions: number; gaps: number }> {
    const { trace, request, units } = this;
    // A damaged list of segments is not a gap in one.
    await trace.firstSegmentReaching(0n);
    const onGap = (gap: Gap): void => void this.gaps.set(gap.segment, gap);
    const wantsFollowed = FOLLOWED.some((table) => this.wants(table));
    const wantsRaw = RAW.some((table) => this.wants(table));
    const followed = wantsFollowed ? units.filter(({ unit }) => unit.core?.entities) : [];
    const passes = followed.length + (wantsRaw ? 1 : 0);
    let done = 0;
    const onProgress = (fraction: number): void => request.onProgress((done + fraction) / passes);
    for (const unit of followed) {
      await this.follow(unit, onGap, onProgress);
      done++;
    }
    if (wantsRaw) {
      const sinks = this.sinks();
      await rawPass(trace, { clocks: units.map(({ cycles }) => cycles), sinks, onGap, onProgress });
    }
    if (this.wants('transactions')) await this.transactions(onGap, followed.length > 0 || wantsRaw);
    await this.describe();
    return {
      cores: units.filter(({ unit }) => unit.core).length,
      instructions: this.instructions,
      gaps: this.gaps.size,
    };
  }

  close(): void {
    for (const counts of this.retired.values()) counts.close();
  }

  private wants(table: TableName): boolean {
    return this.request.tables.includes(table);
  }

  private async follow(
    { unit: { name, core } }: CountedUnit,
    onGap: (gap: Gap) => void,
    onProgress: (fraction: number) => void,
  ): Promise<void> {
    const { trace, to } = this;
    if (!core) return;
    const counted = [0, 0, 0, 0];
    const rows = this.wants('instructions') ? new InstructionsTable(to, trace, name, core) : null;
    const stages = this.wants('stages') ? new StagesTable(to, name, core) : null;
    const retired = this.wants('cycles') ? this.retiredOf(name, core) : null;
    for await (const block of blocksWithGaps(trace, core, onGap)) {
      await rows?.add(block);
      stages?.add(block);
      await stages?.files.rotate();
      retired?.add(block);
      for (let row = 0; row < block.count; row++) counted[outcomeOf(block, row)]++;
      onProgress((block.segment + 1) / trace.segmentCount);
    }
    await rows?.finish();
    await stages?.files.finish();
    this.ends.set(name, counted);
    this.instructions += counted.reduce((sum, count) => sum + count, 0);
  }

  private retiredOf(name: string, core: CpuCore): RetiredCounts {
    const counts = new RetiredCounts(core, join(this.to.scratch, `retired-${this.retired.size}`));
    this.retired.set(name, counts);
    return counts;
  }

  private sinks(): RawSink[] {
    const { to, trace, units, request } = this;
    const sinks: (RawSink | null)[] = [];
    if (this.wants('events')) sinks.push(EventsSink.create(to, trace, units));
    if (this.wants('slots')) sinks.push(SlotsSink.create(to, trace, units));
    for (const unit of units) {
      if (this.wants('counters')) sinks.push(CountersSink.create(to, unit, request.window));
      if (this.wants('stalls')) sinks.push(StallsSink.create(to, unit));
      if (this.wants('occupancy')) {
        const total = Number(trace.totalTimePs / unit.unit.periodPs) + 1;
        sinks.push(OccupancySink.create(to, unit, total));
      }
      if (this.wants('cycles'))
        sinks.push(CyclesSink.create(to, unit, this.retired.get(unit.unit.name) ?? null));
    }
    return sinks.filter((sink) => sink !== null);
  }

  private async transactions(onGap: (gap: Gap) => void, isWalked: boolean): Promise<void> {
    const { to, trace, units } = this;
    const networks = units.filter(({ unit }) => unit.network?.transactions);
    if (networks.length > 0 && !isWalked) for (const gap of await damagedSegments(trace)) onGap(gap);
    for (const { unit } of networks) {
      if (!unit.network) continue;
      const table = new TransactionsTable(to, unit.name, unit.network, unit.periodPs);
      await table.write(trace, [...this.gaps.values()]);
    }
  }

  private async describe(): Promise<void> {
    const { to, trace, units, request, ends } = this;
    const describes = this.wants('traces') || !request.isAdding;
    const gaps = [...this.gaps.values()].sort((a, b) => a.segment - b.segment);
    for (const { unit } of units) {
      if (unit.kind === 'scope' && unit.storages.length + unit.events.length === 0) continue;
      const file = isHttpUrl(request.file) ? request.file : resolve(request.file);
      if (describes) await writeTraceRow(to, trace, unit, file, ends.get(unit.name) ?? null, request.tags);
      if (this.wants('gaps')) await writeGaps(to, unit.name, trace, unit.periodPs, gaps);
    }
  }

  private nameOf(name: string): string {
    const { usedNames, file } = this.request;
    const unique = usedNames.has(name) ? `${basename(file).replace(/\.uscope$/, '')}.${name}` : name;
    if (usedNames.has(unique))
      throw new UscopeError('DATASET_RUN', `the run has the core "${unique}" twice`, { file });
    usedNames.add(unique);
    return unique;
  }
}
