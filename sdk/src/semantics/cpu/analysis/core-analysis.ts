/** Everything that is measured of one core, fed by one scan over the trace. */
import type { FrameCursor } from '../../../format/frame.js';
import type { LoadedSegment, Trace } from '../../../reader/index.js';
import type { StorageState } from '../../../state/storage-state.js';
import { CatalogCheckpoints } from '../../common/catalog-checkpoint.js';
import type { CpuCore } from '../cores.js';
import { CounterStats } from './counter-stats.js';
import { FlushStats } from './flush-stats.js';
import { Histogram } from './histogram.js';
import { INSTRUCTION_CLASSES } from './instruction-class.js';
import { BufferStats } from './occupancy.js';
import { type PipelineOptions, PipelineStats } from './pipeline.js';
import { CYCLE_COUNTERS, checksOf, counterNamed, RETIRED_COUNTERS, ratiosOf } from './ratios.js';
import type {
  BufferFigures,
  CoreReport,
  CounterFigures,
  InstructionReport,
  MixEntry,
  SeriesReport,
  StallReport,
} from './report.js';
import { StallStats } from './stall-stats.js';
import { topDownOf } from './top-down.js';
import type { CycleWindow } from './window.js';

/** Called with the cursor on an op or event that concerns the core. */
export type Handler = (cursor: FrameCursor) => void;

export class CoreAnalysis {
  readonly pipeline: PipelineStats | null;
  /** Of the pipeline and the buffers, in this order. */
  private readonly checkpoints: readonly (CatalogCheckpoints | null)[];
  readonly stalls: StallStats | null;
  /** Of a core whose trace follows no instructions. */
  private readonly looseFlushes: FlushStats;
  readonly buffers: readonly BufferStats[];
  readonly counters: readonly CounterStats[];

  /** @param before state in front of the range */
  constructor(
    trace: Trace,
    readonly core: CpuCore,
    readonly window: CycleWindow,
    before: StorageState,
    options: PipelineOptions,
  ) {
    const stall = core.events.get('stall');
    this.pipeline = core.entities ? new PipelineStats(core, core.entities, window, options) : null;
    this.stalls = stall ? new StallStats(stall, window) : null;
    this.looseFlushes = new FlushStats(core.events.get('flush'), window);
    this.buffers = core.buffers.map((def) => new BufferStats(def, window, before));
    const catalogs = [...(core.entities && this.pipeline ? [core.entities.def] : []), ...core.buffers];
    this.checkpoints = catalogs.map((def) => CatalogCheckpoints.of(trace, def));
    this.counters = core.counters.map((def) => new CounterStats(def, window, before));
  }

  /** In the first frame of a segment: storages may have been replaced by snapshots. */
  continueFrom(segment: LoadedSegment): void {
    const followers = [...(this.pipeline ? [this.pipeline] : []), ...this.buffers];
    followers.forEach((follower, index) => {
      const checkpoints = this.checkpoints[index];
      if (checkpoints) follower.continueFrom(checkpoints.at(segment));
    });
  }

  /** By storage id and event type. */
  handlers(ops: (Handler | undefined)[], events: (Handler | undefined)[]): void {
    const { core, pipeline, stalls, looseFlushes } = this;
    if (pipeline && core.entities) ops[core.entities.def.storageId] = (cursor) => pipeline.op(cursor);
    core.buffers.forEach(({ storageId }, index) => {
      const buffer = this.buffers[index];
      ops[storageId] ??= (cursor) => buffer.op(cursor);
    });
    core.counters.forEach(({ storageId }, index) => {
      const counter = this.counters[index];
      ops[storageId] ??= (cursor) => counter.op(cursor);
    });
    const on = (name: 'stage_transition' | 'flush' | 'stall', handler: Handler): void => {
      const event = core.events.get(name);
      if (event) events[event.def.eventTypeId] = handler;
    };
    if (pipeline) on('stage_transition', (cursor) => pipeline.onStage(cursor));
    on('flush', (cursor) => {
      if (pipeline) pipeline.onFlush(cursor);
      else if (this.window.inRange) looseFlushes.add(cursor);
    });
    if (stalls) on('stall', (cursor) => stalls.event(cursor));
  }

  report(withSeries: boolean): CoreReport {
    this.pipeline?.finish();
    for (const { meter } of this.buffers) meter.finish();
    const { core, window, pipeline } = this;
    const deltas = this.counterReports(null, null);
    const clocked = counterNamed(deltas, CYCLE_COUNTERS);
    const isCounted = clocked !== undefined && isNear(Number(clocked.delta), window.cycles);
    const cycles = isCounted ? Number(clocked.delta) : window.cycles;
    const committed = counterNamed(deltas, RETIRED_COUNTERS);
    const retired = pipeline?.retired ?? (committed ? Number(committed.delta) : null);
    const flushes = this.flushStats.report(retired);
    const stalls = this.stalls?.report(cycles) ?? { cycles: 0, share: cycles > 0 ? 0 : null, reasons: [] };
    const mix = this.mix();
    return {
      core: core.name,
      clock: core.clock?.name ?? null,
      periodPs: window.periodPs,
      isa: core.isa ?? null,
      fromCycle: window.fromCycle,
      toCycle: window.toCycle,
      clockCycles: window.cycles,
      cycles,
      cyclesCounter: isCounted ? clocked.counter : null,
      instructions: this.instructions(cycles, retired, committed?.counter ?? null),
      flushes,
      stalls,
      stages: pipeline?.stages.report() ?? [],
      lifetime: (pipeline?.lifetime ?? new Histogram()).distribution(),
      buffers: this.bufferReports(),
      counters: this.counterReports(cycles, retired),
      mix,
      ratios: ratiosOf(deltas, mix, flushes, retired),
      topDown: topDownOf(deltas, cycles, window.toCycle),
      checks: this.checks(deltas, stalls, cycles),
      series: withSeries ? this.series() : null,
    };
  }

  private get flushStats(): FlushStats {
    return this.pipeline?.flushes ?? this.looseFlushes;
  }

  private instructions(cycles: number, retired: number | null, counter: string | null): InstructionReport {
    const { pipeline } = this;
    const { squashed } = this.flushStats;
    const ended = (pipeline?.retired ?? 0) + squashed;
    return {
      ipc: retired !== null && cycles > 0 ? retired / cycles : null,
      cpi: retired ? cycles / retired : null,
      retired,
      retiredFrom: pipeline ? 'instructions' : counter === null ? null : { counter },
      fetched: pipeline?.fetched ?? 0,
      squashed,
      lost: pipeline?.lost ?? 0,
      inFlightAtStart: pipeline?.inFlightAtStart ?? 0,
      inFlightAtEnd: pipeline?.inFlight.level ?? 0,
      squashedShare: pipeline && ended > 0 ? squashed / ended : null,
      retiredPerCycle: pipeline?.widths.report() ?? [],
    };
  }

  private bufferReports(): BufferFigures[] {
    const inFlight = this.pipeline ? [this.pipeline.inFlight] : [];
    return [...inFlight, ...this.buffers.map(({ meter }) => meter)].map((meter) => meter.report());
  }

  private counterReports(cycles: number | null, retired: number | null): CounterFigures[] {
    return this.counters.map(({ name, start, end }) => {
      const delta = end - start;
      return {
        counter: name,
        start,
        end,
        delta,
        perCycle: cycles ? Number(delta) / cycles : null,
        perKiloInstructions: retired ? (Number(delta) * 1000) / retired : null,
      };
    });
  }

  private mix(): MixEntry[] {
    const counts = this.pipeline?.mix;
    if (!counts) return [];
    const total = counts.reduce((sum, count) => sum + count, 0);
    return INSTRUCTION_CLASSES.map((kind, index) => ({
      kind,
      count: counts[index],
      share: counts[index] / total,
    }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count);
  }

  private checks(counters: readonly CounterFigures[], stalls: StallReport, cycles: number) {
    const { core, pipeline } = this;
    return checksOf(counters, {
      cycles,
      retired: pipeline?.retired ?? null,
      fetched: pipeline?.fetched ?? null,
      squashed: this.flushStats.squashed,
      flushes: core.events.has('flush') ? this.flushStats.report(null) : null,
      stalls: core.events.has('stall') ? stalls : null,
    });
  }

  private series(): SeriesReport {
    const { window, pipeline, flushStats } = this;
    const indices = Array.from({ length: window.cycles > 0 ? window.intervals : 0 }, (_, index) => index);
    const lengths = indices.map((index) => window.lengthOf(index));
    const values = (array: Float64Array): number[] => indices.map((index) => array[index]);
    const retired = pipeline?.retiredPerInterval ?? this.committedPerInterval();
    const meters = [...(pipeline ? [pipeline.inFlight] : []), ...this.buffers.map(({ meter }) => meter)];
    return {
      intervalCycles: window.intervalCycles,
      start: indices.map((index) => index * window.intervalCycles),
      cycles: lengths,
      ipc: indices.map((index) => retired[index] / lengths[index]),
      squashed: values(flushStats.squashedPerInterval),
      flushes: values(flushStats.flushesPerInterval),
      stalls: this.stalls?.series() ?? [],
      buffers: meters.map((meter) => ({ buffer: meter.name, mean: meter.means() })),
      counters: this.counters.map(({ name, deltas }) => ({ counter: name, delta: values(deltas) })),
    };
  }

  private committedPerInterval(): Float64Array {
    const named = RETIRED_COUNTERS.map((name) => this.counters.find((counter) => counter.name === name));
    return named.find((counter) => counter !== undefined)?.deltas ?? this.window.series();
  }
}

/** The last frame of a trace may hold only what the cycle before it led to: the core has then run one cycle less than the trace covers. */
function isNear(counted: number, clockCycles: number): boolean {
  return counted > 0 && Math.abs(counted - clockCycles) <= 1;
}
