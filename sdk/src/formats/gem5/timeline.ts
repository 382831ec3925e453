/** What happens to one instruction, in the order of time. */
import { DISPATCH_STAGE, type Gem5Block, RETIRE, STAGES } from './block.js';
import type { DebugFacts, Facts } from './facts.js';

/** What is no stage. */
export const Moment = {
  SQUASH: STAGES,
  LOAD: STAGES + 1,
  STORE: STAGES + 2,
  MEMORY_DONE: STAGES + 3,
} as const;
const MOST = STAGES + 4;

export class Timeline {
  readonly ticks = new Float64Array(MOST);
  readonly moments = new Uint8Array(MOST);
  count = 0;
  /** The next one that happens. */
  at = 0;
  /** What other debug flags say of it; null: nothing. */
  facts: Facts | null = null;

  /** @param end of the instruction; Infinity: it has none */
  fill(block: Gem5Block, end: number, facts: DebugFacts, cpu: string | null): void {
    this.count = 0;
    this.at = 0;
    this.facts = facts.taken === 0 ? null : facts.takeOut(cpu, block, block.tick(DISPATCH_STAGE));
    this.add(block.ticks[0], 0);
    for (let stage = 1; stage < RETIRE; stage++)
      if (block.ticks[stage] > 0) this.add(block.ticks[stage], stage);
    if (this.facts) this.addFacts(block, end, this.facts);
    if (block.ticks[RETIRE] > 0) this.add(Math.max(end, block.ticks[RETIRE]), RETIRE);
    // The log does not say when it was squashed unless a unit does: not before the last thing that it did.
    else if (block.isWhole) this.add(end, Moment.SQUASH);
  }

  private addFacts(block: Gem5Block, end: number, { load, store, memoryDoneTick }: Facts): void {
    const within = (tick: number): number => Math.min(end, Math.max(block.ticks[0], tick));
    if (load) this.add(within(load.tick), Moment.LOAD);
    if (store) this.add(within(store.tick), Moment.STORE);
    if (memoryDoneTick > 0) this.add(within(memoryDoneTick), Moment.MEMORY_DONE);
  }

  /** After all that is not later. */
  private add(tick: number, moment: number): void {
    let at = this.count++;
    for (; at > 0 && this.ticks[at - 1] > tick; at--) {
      this.ticks[at] = this.ticks[at - 1];
      this.moments[at] = this.moments[at - 1];
    }
    this.ticks[at] = tick;
    this.moments[at] = moment;
  }
}
