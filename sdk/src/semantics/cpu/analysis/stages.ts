/** How long instructions stay in each stage. */
import { type CpuCore, NO_STAGE as LEFT_ALL } from '../cores.js';
import { Histogram, type HistogramCounts } from './histogram.js';
import { LabelIndex } from './labels.js';
import type { StageReport } from './report.js';

/** No stage has been entered. */
export const NO_STAGE = -1;

interface StageStats {
  readonly name: string;
  readonly latency: Histogram;
  squashed: number;
  unknown: number;
}

/** What an index has counted of a stage in a segment. */
export interface StageCounts {
  readonly latency: HistogramCounts;
  readonly squashed: number;
}

/** Stages by index: first those of the core, in pipeline order, then values that are none of them, as they come. */
export class Stages {
  private readonly stats: StageStats[];
  private readonly unlisted: LabelIndex;
  private readonly known = new Map<number, number>();

  constructor(private readonly core: CpuCore) {
    this.stats = core.stages.map(newStage);
    this.unlisted = new LabelIndex(core.events.get('stage_transition')?.fields.get('stage')?.labels ?? null);
  }

  /** Index of an event's value. */
  of(value: number): number {
    return this.known.get(value) ?? this.learn(value);
  }

  /** A visit ended by moving on or retiring. @param cycles NaN: it began before what is looked at */
  left(stage: number, cycles: number): void {
    if (stage === NO_STAGE) return;
    // Only a file whose times run backwards has a visit of negative length, and that is refused before.
    if (cycles >= 0) this.stats[stage].latency.add(cycles);
    else this.stats[stage].unknown++;
  }

  /** A visit ended by a flush. */
  cut(stage: number): void {
    if (stage !== NO_STAGE) this.stats[stage].squashed++;
  }

  /** @param counts of the stages of the core, in pipeline order */
  addCounted(counts: readonly StageCounts[]): void {
    for (const [index, { latency, squashed }] of counts.entries()) {
      this.stats[index].latency.addCounted(latency);
      this.stats[index].squashed += squashed;
    }
  }

  report(): StageReport[] {
    return this.stats.map(({ name, latency, squashed, unknown }) => ({
      stage: name,
      latency: latency.distribution(),
      squashed,
      unknown,
    }));
  }

  private learn(value: number): number {
    const listed = this.core.stageOf(value);
    if (listed === LEFT_ALL) return NO_STAGE;
    if (listed >= 0) {
      this.known.set(value, listed);
      return listed;
    }
    const index = this.core.stages.length + this.unlisted.of(value);
    this.stats[index] ??= newStage(this.unlisted.names[index - this.core.stages.length]);
    return index;
  }
}

function newStage(name: string): StageStats {
  return { name, latency: new Histogram(), squashed: 0, unknown: 0 };
}
