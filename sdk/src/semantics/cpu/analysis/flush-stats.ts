/** Flushes and the instructions they squashed, by reason. */
import type { FrameCursor } from '../../../format/frame.js';
import type { CoreEvent } from '../cores.js';
import { type PayloadField, payloadField, readField } from '../payload-field.js';
import { LabelIndex } from './labels.js';
import { addTo, byName, namesOf } from './merge.js';
import type { FlushReport } from './report.js';
import type { CycleWindow } from './window.js';

interface Reason {
  flushes: number;
  squashed: number;
  firstCycle: number;
  lastCycle: number;
}

/** What was counted in a stretch. Cycles are those of the window; without any flush, the first and last are -Infinity. */
export interface FlushPart {
  readonly names: readonly string[];
  readonly reasons: readonly Readonly<Reason>[];
  readonly squashed: number;
  readonly flushes: number;
  readonly firstCycle: number;
  readonly lastCycle: number;
  readonly flushesPerInterval: Float64Array;
  readonly squashedPerInterval: Float64Array;
}

const newReason = (cycle: number): Reason => ({
  flushes: 0,
  squashed: 0,
  firstCycle: cycle,
  lastCycle: Number.NEGATIVE_INFINITY,
});

/** All that is squashed in one cycle is one flush: designs record an event per instruction. */
export class FlushStats {
  squashed = 0;
  readonly flushesPerInterval: Float64Array;
  readonly squashedPerInterval: Float64Array;
  private flushes = 0;
  private firstCycle = Number.NEGATIVE_INFINITY;
  private lastCycle = Number.NEGATIVE_INFINITY;
  private readonly labels: LabelIndex;
  private readonly field: PayloadField | null;
  private readonly reasons: Reason[] = [];

  constructor(
    event: CoreEvent | undefined,
    private readonly window: CycleWindow,
  ) {
    this.field = event ? payloadField(event, 'reason') : null;
    this.labels = new LabelIndex(event?.fields.get('reason')?.labels ?? null);
    this.flushesPerInterval = window.series();
    this.squashedPerInterval = window.series();
  }

  /** An event that squashes an instruction; in the range. */
  add(cursor: FrameCursor): void {
    const { cycle } = this.window;
    const index = this.labels.of(this.field ? readField(cursor, this.field) : 0);
    this.reasons[index] ??= newReason(cycle);
    const reason = this.reasons[index];
    const interval = this.window.intervalOf(cycle);
    reason.squashed++;
    this.squashed++;
    this.squashedPerInterval[interval]++;
    if (reason.lastCycle !== cycle) {
      reason.lastCycle = cycle;
      reason.flushes++;
    }
    if (this.lastCycle === cycle) return;
    if (this.flushes === 0) this.firstCycle = cycle;
    this.lastCycle = cycle;
    this.flushes++;
    this.flushesPerInterval[interval]++;
  }

  /** @throws NotMergeable */
  part(): FlushPart {
    const { labels, reasons, squashed, flushes, firstCycle, lastCycle } = this;
    const { flushesPerInterval, squashedPerInterval } = this;
    const names = namesOf(labels);
    return {
      names,
      reasons,
      squashed,
      flushes,
      firstCycle,
      lastCycle,
      flushesPerInterval,
      squashedPerInterval,
    };
  }

  /** Adds what the next stretch has counted: a flush in the cycle of the border is one, not two. */
  absorb(part: FlushPart): void {
    const indices = this.labels.absorb(part.names);
    part.reasons.forEach((added, i) => {
      const index = indices[i];
      this.reasons[index] ??= newReason(added.firstCycle);
      const reason = this.reasons[index];
      reason.flushes += added.flushes - (reason.lastCycle === added.firstCycle ? 1 : 0);
      reason.squashed += added.squashed;
      reason.lastCycle = added.lastCycle;
    });
    addTo(this.flushesPerInterval, part.flushesPerInterval);
    addTo(this.squashedPerInterval, part.squashedPerInterval);
    this.squashed += part.squashed;
    if (part.flushes === 0) return;
    this.flushes += part.flushes;
    if (this.lastCycle === part.firstCycle) {
      this.flushes--;
      this.flushesPerInterval[this.window.intervalOf(part.firstCycle)]--;
    }
    this.lastCycle = part.lastCycle;
  }

  /** @param retired instructions the rates refer to */
  report(retired: number | null): FlushReport {
    const perKilo = (count: number): number | null => (retired ? (count * 1000) / retired : null);
    const reasons = this.reasons
      .map(({ flushes, squashed }, index) => ({
        reason: this.labels.names[index],
        flushes,
        squashed,
        perKiloInstructions: perKilo(flushes),
        share: flushes / this.flushes,
      }))
      .sort((a, b) => b.flushes - a.flushes || byName(a.reason, b.reason));
    return { flushes: this.flushes, perKiloInstructions: perKilo(this.flushes), reasons };
  }
}
