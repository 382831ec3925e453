/**
 * Gathers the trace summary (TSUM, docs/reference/format.md#trace-summary) of a trace with the cpu protocol's conventions while it is written: instructions fetched and
 * counters, per bucket of cycles. Cycles are absolute: time divided by the period of the scope's clock. Nothing of a clock with unknown
 * period (0) is summed.
 */
import { buildDensityLevels, buildMipmap, type TraceSummary } from '../../format/tsum.js';
import { Action, isCounterStorage, qualifiedName, type Schema, type StorageDef } from '../../format/types.js';
import { clockOfScope } from '../../schema/clock.js';
import type { CycleSums, Summarizer } from '../frames/summarizer.js';
import { Accumulator, type Source } from './accumulator.js';
import { FAN_OUT } from './buckets.js';

const MAX_BUCKETS = 65_536;
/** Bound of all counters together; many counters get fewer buckets each. */
const MAX_COUNTER_BYTES = 128 * 1024 * 1024;
const COUNTER_BUCKET_BYTES = 24;

/** Name of the storage whose slots are the instructions in flight. */
const ENTITIES = 'entities';

export interface SummarizerLimits {
  /** Buckets after which the interval grows by the fan-out. */
  readonly maxBuckets?: number;
}

/** Makes the summarizer of a trace; to be given to a writer as its `summarizer`. */
export function createCpuSummarizer(schema: Schema, limits: SummarizerLimits = {}): Summarizer {
  return new CpuSummarizer(schema, limits);
}

/** A watched storage. */
interface WatchedSource extends Source {
  readonly storage: StorageDef;
}

class CpuSummarizer implements Summarizer {
  readonly watched: Uint8Array;
  readonly cycleSums: CycleSums;
  /** The action that counts, by storage id: SET of an entity, ADD of a counter, 0 none. */
  private readonly actionOf: Uint8Array;
  private readonly sourceOf: Uint16Array;
  private readonly sources: readonly WatchedSource[];
  private readonly accumulator: Accumulator;
  private births = 0;
  /** Of the frame being received. */
  private frameBirths = 0;

  constructor(
    private readonly schema: Schema,
    limits: SummarizerLimits,
  ) {
    const count = schema.storages.length;
    this.watched = new Uint8Array(count);
    this.actionOf = new Uint8Array(count);
    this.sourceOf = new Uint16Array(count);
    this.sources = schema.storages.flatMap((storage) => sourceFor(schema, storage) ?? []);
    this.sources.forEach(({ storage, kind }, index) => {
      this.watched[storage.storageId] = 1;
      this.actionOf[storage.storageId] = kind === 'counter' ? Action.ADD : Action.SET;
      this.sourceOf[storage.storageId] = index;
    });
    const counters = this.sources.filter((source) => source.kind === 'counter').length;
    const periods = schema.clocks.map((clock) => clock.periodPs);
    this.accumulator = new Accumulator(this.sources, periods, bucketLimit(limits.maxBuckets, counters));
    this.cycleSums = this.sumsOf(periods);
  }

  private sumsOf(periods: readonly number[]): CycleSums {
    const { accumulator, sources, actionOf } = this;
    return {
      fields: sources.map(({ storage: { storageId }, kind, clockId }) => ({
        storageId,
        field: 0,
        action: actionOf[storageId] as Action,
        counts: kind === 'density',
        periodPs: periods[clockId]!,
      })),
      addBucket: (index, firstCycle, minLo, minHi, maxLo, maxHi, sumLo, sumHi) => {
        if (sources[index]!.kind === 'density') this.births += sumLo + sumHi * 2 ** 32;
        accumulator.addBucket(index, firstCycle, minLo, minHi, maxLo, maxHi, sumLo, sumHi);
      },
      takeOpenCycle: (index) => {
        const open = accumulator.takeOpenCycle(index);
        // Handed back in a bucket later, and counted again then.
        if (open && sources[index]!.kind === 'density') this.births -= Number(open.sum);
        return open;
      },
    };
  }

  watchedAction(storageId: number, field: number): Action | 0 {
    return field === 0 ? (this.actionOf[storageId] as Action | 0) : 0;
  }

  op(action: Action, storageId: number, _slot: number, field: number, lo: number, hi: number): void {
    if (field !== 0 || action !== this.actionOf[storageId]) return;
    // A SET of an entity's first field is a birth, on a free slot or not; its value is the id.
    if (action === Action.SET) {
      this.frameBirths++;
      this.accumulator.add(this.sourceOf[storageId]!, 1, 0);
    } else this.accumulator.add(this.sourceOf[storageId]!, lo, hi);
  }

  endFrame(timeLo: number, timeHi: number): void {
    this.births += this.frameBirths;
    this.frameBirths = 0;
    this.accumulator.endFrame(timeLo, timeHi);
  }

  abortFrame(): void {
    this.frameBirths = 0;
    this.accumulator.abortFrame();
  }

  finish(): TraceSummary {
    const { accumulator, sources } = this;
    const { density, counters } = accumulator.levels();
    const names = counterNames(this.schema, sources);
    return {
      baseIntervalCycles: accumulator.intervalCycles,
      fanOut: FAN_OUT,
      totalInstructions: BigInt(this.births),
      density: buildDensityLevels(density, FAN_OUT),
      counters: sources.flatMap(({ storage }, index) => {
        const level = counters[index];
        if (!level) return [];
        return [
          { name: names.get(storage)!, storageId: storage.storageId, levels: buildMipmap(level, FAN_OUT) },
        ];
      }),
    };
  }
}

function sourceFor(schema: Schema, storage: StorageDef): WatchedSource | undefined {
  const clock = clockOfScope(schema, storage.scopeId);
  if (!clock || clock.periodPs === 0) return undefined;
  if (isCounterStorage(storage)) return { storage, kind: 'counter', clockId: clock.clockId };
  if (storage.name !== ENTITIES || storage.fields.length === 0) return undefined;
  return { storage, kind: 'density', clockId: clock.clockId };
}

function bucketLimit(wanted = MAX_BUCKETS, counters: number): number {
  const affordable = Math.floor(MAX_COUNTER_BYTES / (COUNTER_BUCKET_BYTES * Math.max(counters, 1)));
  return Math.max(FAN_OUT, Math.min(wanted, affordable));
}

/** Each counter's storage name, with its scope path where another counter has the same. */
function counterNames(schema: Schema, sources: readonly WatchedSource[]): Map<StorageDef, string> {
  const counters = sources.filter((source) => source.kind === 'counter').map((source) => source.storage);
  const uses = new Map<string, number>();
  for (const { name } of counters) uses.set(name, (uses.get(name) ?? 0) + 1);
  return new Map(
    counters.map((def) => [def, uses.get(def.name) === 1 ? def.name : qualifiedName(schema, def)]),
  );
}
