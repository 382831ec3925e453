/**
 * A waveform to µScope by a map, in one pass: pieces of the file are read, clock edges found, and at each of them the recorders sample. A pipe
 * will do, since only the beginning is kept until the periods of the clocks are known.
 */

import { UscopeError } from '../../../base/errors.js';
import { MAX_PERIOD_PS } from '../../../schema/limits.js';
import { createSegmentIndexer } from '../../../trace-index/recording/segment-indexer.js';
import { type TraceStats, TraceWriter } from '../../../writer/index.js';
import { createCpuSummarizer } from '../../../writer/summary/cpu-summarizer.js';
import type { ConversionContext, TraceTarget } from '../../common/foreign-format.js';
import { checkpointIntervalFor } from '../../common/trace-frames.js';
import { ChangeReader, type StepListener } from '../read/changes.js';
import type { VcdHeader, VcdSignal } from '../read/header.js';
import { codeTable, nextPiece, type SignalStore, storeFor } from '../read/signal-store.js';
import { type Probe, type Recorder, Run } from '../sampling/run.js';
import { ClockProbe } from './clock-probe.js';
import type { ClockPlan, WavePlan } from './map.js';

export interface WaveResult {
  readonly stats: TraceStats;
  /** Why the file counts as cut; null: it ends where a change ends. */
  readonly cut: string | null;
}

/** Cycles between checkpoints, at least. */
const CYCLES_PER_CHECKPOINT = 4000;
const ITEMS_PER_CYCLE = 5;
const MAX_TIME_PS = 2n ** 64n - 1n;

/**
 * @param planFor the plan of the map for signals that are declared so
 * @throws UscopeError CONVERT_*, WRITER_*, SCHEMA_*
 */
export async function waveToUscope(
  header: VcdHeader,
  planFor: (signals: readonly VcdSignal[]) => WavePlan,
  pieces: AsyncIterator<Uint8Array>,
  target: TraceTarget,
  context: ConversionContext,
): Promise<WaveResult> {
  const declared = [...header.signals, ...header.vectors];
  const first = planFor(declared);
  const probe = new ClockProbe(header, first);
  const beginning = await probe.read(pieces);
  const corrected = probe.corrected(declared);
  const plan = corrected ? planFor(corrected) : first;
  const periods = probe.periods();
  tellUnmeasured(plan.clocks, periods, probe, context);
  const writer = await TraceWriter.create({
    ...target,
    checkpointIntervalPs:
      target.checkpointIntervalPs ??
      intervalFor(plan.clocks.map((_, index) => periods[index] || probe.distance(index))),
    ...plan.schema(periods),
    summarizer: createCpuSummarizer,
    index: createSegmentIndexer,
    signal: context.signal,
  });
  try {
    const sampler = new Sampler(header, plan, writer, context);
    const reader = new ChangeReader(codeTable(header, plan.followed), sampler.run.store, sampler, header.end);
    for (const piece of beginning) await take(reader, sampler, piece, writer, context);
    let damage: string | null = probe.damage;
    while (damage === null) {
      const next = await nextPiece(pieces);
      if (next === null) break;
      if (typeof next === 'string') damage = next;
      else await take(reader, sampler, next, writer, context);
    }
    const cutAt = reader.finish();
    sampler.end();
    header.oddities.addTo(context.report);
    reader.oddities.addTo(context.report);
    const stats = await writer.close();
    return {
      stats,
      cut: damage ?? (cutAt === null ? null : `the file ends inside a change at offset ${cutAt}`),
    };
  } catch (error) {
    await writer.discard();
    throw error;
  }
}

async function take(
  reader: ChangeReader,
  sampler: Sampler,
  piece: Uint8Array,
  writer: TraceWriter,
  context: ConversionContext,
): Promise<void> {
  context.signal?.throwIfAborted();
  reader.feed(piece);
  if (sampler.isBehind) await writer.ready();
  sampler.isBehind = false;
}

function intervalFor(periods: readonly number[]): bigint {
  const longest = periods.reduce((most, period) => Math.max(most, Math.ceil(period)), 1);
  return checkpointIntervalFor(
    BigInt(longest) * BigInt(CYCLES_PER_CHECKPOINT),
    CYCLES_PER_CHECKPOINT * ITEMS_PER_CYCLE,
  );
}

function tellUnmeasured(
  clocks: readonly ClockPlan[],
  periods: readonly number[],
  probe: ClockProbe,
  context: ConversionContext,
): void {
  clocks.forEach(({ signal }, index) => {
    if (periods[index] > 0) return;
    const distance = probe.distance(index);
    context.onWarning?.(
      distance === 0
        ? `the clock ${signal.path} does not rise twice in the beginning of the file: its period is recorded as unknown; the map can say period: 1 ns`
        : `the clock ${signal.path} has a period of ${distance} ps, and a trace holds whole ones from 1 to ${MAX_PERIOD_PS} ps: it is recorded as unknown, and the trace has no cycles; --opt unit=1ns says what a unit of the file is`,
    );
  });
}

interface Domain {
  readonly clock: number;
  readonly word: number;
  readonly bit: number;
  readonly scopes: readonly {
    readonly reset: Probe | null;
    readonly isLow: boolean;
    readonly recorders: readonly Recorder[];
  }[];
}

/** Finds the edges and lets the recorders sample. */
class Sampler implements StepListener {
  readonly run: Run;
  isBehind = false;
  private readonly domains: readonly Domain[];
  private readonly numerator: number;
  private readonly denominator: number;
  private readonly edges;
  private lastPs: number | bigint = 0;
  private isDeclared = false;

  constructor(
    { numerator, denominator }: VcdHeader,
    private readonly plan: WavePlan,
    writer: TraceWriter,
    private readonly context: ConversionContext,
  ) {
    this.numerator = numerator;
    this.denominator = denominator;
    const store = storeFor(plan.followed);
    this.run = new Run(store, writer, context.report);
    this.edges = context.report.kept(
      'clock edges',
      'the times at which signals are sampled, before the edge',
    );
    this.domains = plan.clocks.map(({ signal, scopes }) => ({
      clock: signal.signal,
      word: store.offsets[signal.signal] + (signal.from >>> 5),
      bit: signal.from & 31,
      scopes: scopes.map(({ reset, recorders }) => ({
        reset: reset && this.run.probe(reset.part),
        isLow: reset?.isLow ?? false,
        recorders: recorders.map((make) => make(this.run)),
      })),
    }));
  }

  step(time: number): void {
    const { domains, run } = this;
    const { store } = run;
    for (let i = 0; i < domains.length; i++) {
      const domain = domains[i];
      if (store.isDirty[domain.clock] === 1 && rises(store, domain)) this.edge(domain, time);
    }
    this.closeFrame(time);
    store.settle();
  }

  dumping(isOn: boolean, time: number): void {
    if (isOn) return;
    this.run.timePs = this.psOf(Math.max(time, 0));
    this.context.report.approximated('times without dump ($dumpoff)', 'nothing is recorded until $dumpon')
      .count++;
    this.gap();
    this.closeFrame(time);
  }

  /** What is open ends, at the last time of the file. */
  end(): void {
    this.run.timePs = this.lastPs;
    this.gap();
    this.run.open();
    this.run.close();
  }

  private gap(): void {
    for (const { scopes } of this.domains)
      for (const { recorders } of scopes) for (const recorder of recorders) recorder.gap?.();
  }

  private edge({ scopes }: Domain, time: number): void {
    const { run } = this;
    run.timePs = this.psOf(time);
    if (!this.isDeclared) {
      this.plan.transactions.declare(run);
      this.isDeclared = true;
    }
    this.edges.count++;
    for (const { reset, isLow, recorders } of scopes) {
      // An unknown reset counts as reset.
      const isReset = reset !== null && (reset.isUnknown() || (reset.low() !== 0) !== isLow);
      for (let i = 0; i < recorders.length; i++) recorders[i].edge(isReset);
    }
  }

  private closeFrame(time: number): void {
    this.lastPs = this.psOf(Math.max(time, 0));
    if (!this.run.close()) this.isBehind = true;
  }

  private psOf(time: number): number | bigint {
    const { numerator, denominator } = this;
    const ps = denominator === 1 ? time * numerator : Math.floor((time * numerator) / denominator);
    if (Number.isSafeInteger(ps)) return ps;
    const exact = (BigInt(time) * BigInt(numerator)) / BigInt(denominator);
    if (exact <= MAX_TIME_PS) return exact;
    throw new UscopeError(
      'CONVERT_UNSUPPORTED',
      `the time ${time} is above 2^64 ps; --opt unit=1ns says what a unit of the file is`,
    );
  }
}

/** A change from 0 to 1: x and z are not edges, nor is a value that the file begins with. */
function rises(store: SignalStore, { word, bit }: Domain): boolean {
  const was = ((store.bits[word] | store.unknown[word]) >>> bit) & 1;
  return was === 0 && (((store.nextBits[word] & ~store.nextUnknown[word]) >>> bit) & 1) === 1;
}
