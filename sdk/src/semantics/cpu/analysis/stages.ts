/** How long instructions stay in each stage. */
import { type CpuCore, NO_STAGE as LEFT_ALL } from '../cores.js';
import { Histogram, type HistogramPart } from './histogram.js';
import { LabelIndex } from './labels.js';
import { namesOf } from './merge.js';
import type { StageReport } from './report.js';

/** No stage has been entered. */
export const NO_STAGE = -1;

interface StageStats {
  readonly name: string;
  readonly latency: Histogram;
  squashed: number;
  unknown: number;
}

/** Stages by index: first those of the core, in pipeline order, then values that are none of them, as they come. */
/** What was counted in a stretch; `unlisted`: names of the stages behind those of the core. */
export interface StagesPart {
  readonly unlisted: readonly string[];
  readonly stats: readonly {
    readonly latency: HistogramPart;
    readonly squashed: number;
    readonly unknown: number;
  }[];
}

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

  /** @throws NotMergeable */
  part(): StagesPart {
    const stats = this.stats.map(({ latency, squashed, unknown }) => ({
      latency: latency.part(),
      squashed,
      unknown,
    }));
    return { unlisted: namesOf(this.unlisted), stats };
  }

  absorb({ unlisted, stats }: StagesPart): void {
    const listed = this.core.stages.length;
    const indices = this.unlisted.absorb(unlisted);
    stats.forEach(({ latency, squashed, unknown }, i) => {
      const index = i < listed ? i : listed + indices[i - listed];
      this.stats[index] ??= newStage(unlisted[i - listed]);
      const sum = this.stats[index];
      sum.latency.absorb(latency);
      sum.squashed += squashed;
      sum.unknown += unknown;
    });
  }

  /** A stage as another analysis of the core knows it too: the index of one of the core's, the name of any other; null: none. */
  keyOf(index: number): number | string | null {
    if (index === NO_STAGE) return null;
    const listed = this.core.stages.length;
    return index < listed ? index : this.unlisted.names[index - listed];
  }

  indexOf(key: number | string | null): number {
    if (key === null) return NO_STAGE;
    if (typeof key === 'number') return key;
    const index = this.core.stages.length + this.unlisted.absorb([key])[0];
    this.stats[index] ??= newStage(key);
    return index;
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
