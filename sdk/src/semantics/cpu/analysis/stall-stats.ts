/** Stalled cycles of a core, by reason. */
import type { FrameCursor } from '../../../format/frame.js';
import type { CoreEvent } from '../cores.js';
import { type PayloadField, payloadField, readField } from '../payload-field.js';
import { LabelIndex } from './labels.js';
import { addTo, byName, namesOf } from './merge.js';
import type { StallReport } from './report.js';
import type { CycleWindow } from './window.js';

/** Of one reason in a stretch; cycles of the window. */
interface ReasonPart {
  readonly events: number;
  readonly cycles: number;
  readonly episodes: number;
  readonly longest: number;
  readonly first: number;
  readonly last: number;
  /** Length of the first and of the last run of stalled cycles; they may be the same. */
  readonly headRun: number;
  readonly run: number;
  readonly perInterval: Float64Array;
}

/** What was counted in a stretch; without any stall, the first and last cycles are -Infinity. */
export interface StallPart {
  readonly names: readonly string[];
  readonly reasons: readonly ReasonPart[];
  readonly cycles: number;
  readonly firstCycle: number;
  readonly lastCycle: number;
}

/** One reason. */
class Reason {
  events = 0;
  cycles = 0;
  episodes = 0;
  longest = 0;
  readonly perInterval: Float64Array;
  private first = Number.NEGATIVE_INFINITY;
  private last = Number.NEGATIVE_INFINITY;
  private headRun = 0;
  private run = 0;

  constructor(private readonly window: CycleWindow) {
    this.perInterval = window.series();
  }

  add(cycle: number): void {
    this.events++;
    if (cycle === this.last) return;
    if (cycle === this.last + 1) this.run++;
    else {
      if (this.episodes === 0) this.first = cycle;
      this.episodes++;
      this.run = 1;
    }
    if (this.episodes === 1) this.headRun = this.run;
    if (this.run > this.longest) this.longest = this.run;
    this.last = cycle;
    this.cycles++;
    this.perInterval[this.window.intervalOf(cycle)]++;
  }

  part(): ReasonPart {
    const { events, cycles, episodes, longest, first, last, headRun, run, perInterval } = this;
    return { events, cycles, episodes, longest, first, last, headRun, run, perInterval };
  }

  /** Runs that meet at the border are one; so is the cycle in which the border lies. */
  absorb(part: ReasonPart): void {
    const shared = part.first === this.last ? 1 : 0;
    const meets = shared === 1 || part.first === this.last + 1;
    const joined = meets ? this.run + part.headRun - shared : 0;
    this.events += part.events;
    this.cycles += part.cycles - shared;
    addTo(this.perInterval, part.perInterval);
    if (shared === 1) this.perInterval[this.window.intervalOf(part.first)]--;
    this.longest = Math.max(this.longest, part.longest, joined);
    this.run = meets && part.episodes === 1 ? joined : part.run;
    this.episodes += part.episodes - (meets ? 1 : 0);
    this.last = part.last;
  }
}

export class StallStats {
  private readonly labels: LabelIndex;
  private readonly field: PayloadField | null;
  private readonly reasons: Reason[] = [];
  private cycles = 0;
  private firstCycle = Number.NEGATIVE_INFINITY;
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
    this.reasons[index] ??= new Reason(this.window);
    this.reasons[index].add(cycle);
    if (cycle === this.lastCycle) return;
    if (this.cycles === 0) this.firstCycle = cycle;
    this.lastCycle = cycle;
    this.cycles++;
  }

  /** @throws NotMergeable */
  part(): StallPart {
    const { cycles, firstCycle, lastCycle } = this;
    const reasons = this.reasons.map((reason) => reason.part());
    return { names: namesOf(this.labels), reasons, cycles, firstCycle, lastCycle };
  }

  /** Adds what the next stretch has counted. */
  absorb(part: StallPart): void {
    const indices = this.labels.absorb(part.names);
    part.reasons.forEach((added, i) => {
      const index = indices[i];
      this.reasons[index] ??= new Reason(this.window);
      this.reasons[index].absorb(added);
    });
    if (part.cycles === 0) return;
    this.cycles += part.cycles - (part.firstCycle === this.lastCycle ? 1 : 0);
    this.lastCycle = part.lastCycle;
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

  private sorted(): { name: string; reason: Reason }[] {
    return this.reasons
      .map((reason, index) => ({ name: this.labels.names[index], reason }))
      .sort((a, b) => b.reason.cycles - a.reason.cycles || byName(a.name, b.name));
  }
}
