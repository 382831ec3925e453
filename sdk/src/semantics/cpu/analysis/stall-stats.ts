/** Stalled cycles of a core, by reason. */

import { addTo } from '../../../base/arrays.js';
import type { FrameCursor } from '../../../format/frame.js';
import type { CoreEvent } from '../cores.js';
import { type PayloadField, payloadField, readField } from '../payload-field.js';
import { byName, LabelIndex } from './labels.js';
import type { StallReport } from './report.js';
import type { CycleWindow } from './window.js';

/** The runs of stalled cycles of one reason in a segment, as an index has counted them; cycles of the window. */
export interface StallRunCounts {
  readonly events: number;
  readonly episodes: number;
  readonly longest: number;
  readonly first: number;
  readonly last: number;
  /** Length of the first and of the last run; they may be the same. */
  readonly head: number;
  readonly run: number;
}

/** One reason. */
class Reason {
  events = 0;
  cycles = 0;
  episodes = 0;
  longest = 0;
  readonly perInterval: Float64Array;
  private last = Number.NEGATIVE_INFINITY;
  private run = 0;

  constructor(private readonly window: CycleWindow) {
    this.perInterval = window.series();
  }

  add(cycle: number): void {
    this.events++;
    if (cycle === this.last) return;
    if (cycle === this.last + 1) this.run++;
    else {
      this.episodes++;
      this.run = 1;
    }
    if (this.run > this.longest) this.longest = this.run;
    this.last = cycle;
    this.cycles++;
    this.perInterval[this.window.intervalOf(cycle)]++;
  }

  /** Adds the next segment: runs that meet at the border are one. */
  addRuns({ events, episodes, longest, first, last, head, run }: StallRunCounts): void {
    const meets = first === this.last + 1;
    const joined = meets ? this.run + head : 0;
    this.events += events;
    this.longest = Math.max(this.longest, longest, joined);
    this.run = meets && episodes === 1 ? joined : run;
    this.episodes += episodes - (meets ? 1 : 0);
    this.last = last;
  }

  addCycles(cycles: number, perInterval: Float64Array): void {
    this.cycles += cycles;
    addTo(this.perInterval, perInterval);
  }
}

export class StallStats {
  private readonly labels: LabelIndex;
  private readonly field: PayloadField | null;
  private readonly reasons: Reason[] = [];
  private cycles = 0;
  private lastCycle = Number.NEGATIVE_INFINITY;

  constructor(
    event: CoreEvent,
    private readonly window: CycleWindow,
  ) {
    this.field = payloadField(event, 'reason');
    this.labels = new LabelIndex(event.fields.get('reason')?.labels ?? null);
  }

  event(cursor: FrameCursor): void {
    const { cycle, inRange } = this.window;
    if (!inRange) return;
    const index = this.labels.of(this.field ? readField(cursor, this.field) : 0);
    this.reasonOf(index).add(cycle);
    if (cycle === this.lastCycle) return;
    this.lastCycle = cycle;
    this.cycles++;
  }

  /** Adds what an index has counted of a reason in the next segment. */
  addRuns(name: string, runs: StallRunCounts): void {
    this.reasonOf(this.labels.ofName(name)).addRuns(runs);
  }

  /** Adds the stalled cycles of the whole range that an index has counted: of each reason, and of all, where a cycle may have several. */
  addCycles(
    reasons: readonly {
      readonly name: string;
      readonly cycles: number;
      readonly perInterval: Float64Array;
    }[],
    cycles: number,
  ): void {
    for (const { name, cycles, perInterval } of reasons)
      this.reasonOf(this.labels.ofName(name)).addCycles(cycles, perInterval);
    this.cycles += cycles;
  }

  report(cycles: number): StallReport {
    const share = (part: number): number | null => (cycles > 0 ? part / cycles : null);
    const reasons = this.sorted().map(({ name, reason }) => ({
      reason: name,
      events: reason.events,
      cycles: reason.cycles,
      share: share(reason.cycles),
      episodes: reason.episodes,
      longest: reason.longest,
    }));
    return { cycles: this.cycles, share: share(this.cycles), reasons };
  }

  series(): { reason: string; cycles: number[] }[] {
    return this.sorted().map(({ name, reason }) => ({
      reason: name,
      cycles: Array.from(reason.perInterval),
    }));
  }

  private reasonOf(index: number): Reason {
    this.reasons[index] ??= new Reason(this.window);
    return this.reasons[index];
  }

  private sorted(): { name: string; reason: Reason }[] {
    return this.reasons
      .map((reason, index) => ({ name: this.labels.names[index], reason }))
      .sort((a, b) => b.reason.cycles - a.reason.cycles || byName(a.name, b.name));
  }
}
