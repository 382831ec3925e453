/** Exports one trace: every unit of it into every table that is wanted. */
import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { UscopeError } from '../base/errors.js';
import { isHttpUrl } from '../reader/http-url.js';
import type { Trace } from '../reader/index.js';
import type { Engine } from './engine/duckdb.js';
import { type Destination, writePart } from './files/part-files.js';
import type { TableName } from './layout.js';
import { damagedSegments, type Gap } from './raw/gaps.js';
import { Cycles, type RawSink, rawPass } from './raw/raw-pass.js';
import { type CountedUnit, unitsOf } from './raw/units.js';
import type { StagedFiles } from './staged-files.js';
import { blocksWithGaps } from './tables/blocks-with-gaps.js';
import { CountersSink } from './tables/counters.js';
import { CyclesSink } from './tables/cycles.js';
import { EventsSink } from './tables/events.js';
import { gapsQuery } from './tables/gaps.js';
import { InstructionsTable } from './tables/instructions.js';
import { OccupancySink } from './tables/occupancy.js';
import { RetiredTable } from './tables/retired.js';
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
  readonly threads: number | undefined;
  /** Only tables that the run did not have: it is described already. */
  readonly isAdding: boolean;
  /** Names of partitions that other traces of the run have taken. */
  readonly usedNames: Set<string>;
  readonly onProgress: (fraction: number) => void;
}

/** Of the engine, next to what our own code takes. */
const MEMORY = '128MB';
/** Tables that the instructions are followed for, and those that ops and events are read for. */
const FOLLOWED: readonly TableName[] = ['instructions', 'stages', 'cycles', 'traces'];
const RAW: readonly TableName[] = ['events', 'slots', 'counters', 'stalls', 'occupancy', 'cycles'];

export async function exportTrace(
  engine: Engine,
  staged: StagedFiles,
  trace: Trace,
  request: TraceExport,
): Promise<{ cores: number; instructions: number; gaps: number }> {
  const scratch = join(staged.path, 'scratch.duckdb');
  const spill = join(staged.path, 'spill');
  const instance = await engine.api.DuckDBInstance.create(scratch, {
    memory_limit: MEMORY,
    threads: String(request.threads ?? availableParallelism()),
    temp_directory: spill,
    preserve_insertion_order: 'true',
  });
  const connection = await instance.connect();
  let scratchTables = 0;
  const to: Destination = {
    engine,
    connection,
    partOf: (table, core, key) => staged.partOf(table, core, key),
    scratchName: () => `t${scratchTables++}`,
  };
  try {
    return await new TraceWork(to, trace, request).run();
  } finally {
    connection.closeSync();
    instance.closeSync();
    await rm(scratch, { force: true });
    await rm(spill, { recursive: true, force: true });
  }
}

class TraceWork {
  private readonly units: CountedUnit[];
  /** By segment. */
  private readonly gaps = new Map<number, Gap>();
  private readonly ends = new Map<string, readonly number[]>();
  private readonly retired = new Map<string, RetiredTable>();
  private instructions = 0;

  constructor(
    private readonly to: Destination,
    private readonly trace: Trace,
    private readonly request: TraceExport,
  ) {
    this.units = unitsOf(trace).map((unit) => {
      const named = { ...unit, name: this.nameOf(unit.name) };
      return { unit: named, cycles: new Cycles(unit.periodPs) };
    });
  }

  async run(): Promise<{ cores: number; instructions: number; gaps: number }> {
    const { trace, request, units } = this;
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
      const sinks = await this.sinks();
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
    const rows = this.wants('instructions') ? await InstructionsTable.create(to, trace, name, core) : null;
    const stages = this.wants('stages') ? await StagesTable.create(to, name, core) : null;
    const retired = this.wants('cycles') ? await RetiredTable.create(to, core) : null;
    for await (const block of blocksWithGaps(trace, core, onGap)) {
      await rows?.add(block);
      stages?.add(block);
      await stages?.files.rotate();
      retired?.add(block);
      for (let row = 0; row < block.count; row++) counted[block.flags[row] & 3]++;
      onProgress((block.segment + 1) / trace.segmentCount);
    }
    await rows?.finish();
    await stages?.files.finish();
    if (retired) this.retired.set(name, retired.close());
    this.ends.set(name, counted);
    this.instructions += counted.reduce((sum, count) => sum + count, 0);
  }

  private async sinks(): Promise<RawSink[]> {
    const { to, trace, units, request } = this;
    const sinks: (RawSink | null)[] = [];
    if (this.wants('events')) sinks.push(await EventsSink.create(to, trace, units));
    if (this.wants('slots')) sinks.push(await SlotsSink.create(to, trace, units));
    for (const unit of units) {
      if (this.wants('counters')) sinks.push(await CountersSink.create(to, unit, request.window));
      if (this.wants('stalls')) sinks.push(await StallsSink.create(to, unit));
      if (this.wants('occupancy')) {
        const total = Number(trace.totalTimePs / unit.unit.periodPs) + 1;
        sinks.push(await OccupancySink.create(to, unit, total));
      }
      if (this.wants('cycles'))
        sinks.push(await CyclesSink.create(to, unit, this.retired.get(unit.unit.name)?.table ?? null));
    }
    return sinks.filter((sink) => sink !== null);
  }

  private async transactions(onGap: (gap: Gap) => void, isWalked: boolean): Promise<void> {
    const { to, trace, units } = this;
    const networks = units.filter(({ unit }) => unit.network?.transactions);
    if (networks.length > 0 && !isWalked) for (const gap of await damagedSegments(trace)) onGap(gap);
    for (const { unit } of networks) {
      if (!unit.network) continue;
      const table = await TransactionsTable.create(to, unit.name, unit.network, unit.periodPs);
      await table.write(trace, [...this.gaps.values()]);
    }
  }

  private async describe(): Promise<void> {
    const { to, trace, units, request, ends } = this;
    const describes = this.wants('traces') || !request.isAdding;
    const gaps = [...this.gaps.values()].sort((a, b) => a.segment - b.segment);
    for (const { unit } of units) {
      if (unit.kind === 'scope' && unit.storages.length + unit.events.length === 0) continue;
      const row = await writeTraceRow(
        to.connection,
        trace,
        unit,
        isHttpUrl(request.file) ? request.file : resolve(request.file),
        ends.get(unit.name) ?? null,
        request.tags,
      );
      if (describes) await writePart(to, { table: 'traces', core: unit.name }, row);
      if (this.wants('gaps')) {
        const query = await gapsQuery(to.connection, trace, unit.periodPs, gaps);
        await writePart(to, { table: 'gaps', core: unit.name }, query);
      }
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
