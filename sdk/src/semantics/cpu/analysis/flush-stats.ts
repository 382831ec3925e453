/** Flushes and the instructions they squashed, by reason. */

import { addTo } from '../../../base/arrays.js';
import type { FrameCursor } from '../../../format/frame.js';
import type { CoreEvent } from '../cores.js';
import { type PayloadField, payloadField, readField } from '../payload-field.js';
import { byName, LabelIndex } from './labels.js';
import type { FlushReport } from './report.js';
import type { CycleWindow } from './window.js';

interface Reason {
  flushes: number;
  squashed: number;
  lastCycle: number;
}

/** What an index has counted. */
export interface FlushCounts {
  readonly reasons: readonly { readonly name: string; readonly flushes: number; readonly squashed: number }[];
  readonly flushes: number;
  readonly squashed: number;
  readonly flushesPerInterval: Float64Array;
  readonly squashedPerInterval: Float64Array;
}

const newReason = (): Reason => ({ flushes: 0, squashed: 0, lastCycle: Number.NEGATIVE_INFINITY });

/** All that is squashed in one cycle is one flush: designs record an event per instruction. */
export class FlushStats {
  squashed = 0;
  readonly flushesPerInterval: Float64Array;
  readonly squashedPerInterval: Float64Array;
  private flushes = 0;
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
    this.reasons[index] ??= newReason();
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
    this.lastCycle = cycle;
    this.flushes++;
    this.flushesPerInterval[interval]++;
  }

  addCounted({ reasons, flushes, squashed, flushesPerInterval, squashedPerInterval }: FlushCounts): void {
    for (const added of reasons) {
      const index = this.labels.ofName(added.name);
      this.reasons[index] ??= newReason();
      const reason = this.reasons[index];
      reason.flushes += added.flushes;
      reason.squashed += added.squashed;
    }
    this.flushes += flushes;
    this.squashed += squashed;
    addTo(this.flushesPerInterval, flushesPerInterval);
    addTo(this.squashedPerInterval, squashedPerInterval);
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
