/** The instructions of a log in the order of time: the log has them in the order of their ends. */
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { Heap } from '../pipeline/heap.js';
import type { Gem5Reader } from './reader.js';
import { GEM5_STAGES, type Gem5Instruction } from './types.js';

/** Instructions per entry of the list that the first pass makes: a number each. */
const BLOCK = 1024;
const RETIRE = GEM5_STAGES.length - 1;

export interface Gem5Summary {
  readonly instructions: number;
  readonly squashed: number;
  /** Not ended as far as the log tells. */
  readonly unfinished: number;
  readonly microOps: number;
  readonly stores: number;
  readonly firstTick: number;
  readonly lastTick: number;
  /** Greatest common divisor of all ticks: the clock period, as far as the log tells; 0 for an empty log. */
  readonly tickStep: number;
  /** Least fetch tick of each block and all after it. */
  readonly leastFrom: readonly number[];
  /** Instructions that lack the line of a stage, and the first of them; null: none. */
  readonly damaged: { readonly count: number; readonly offset: number; readonly stage: string } | null;
  /** CONVERT_TRUNCATED when the file ended early. */
  readonly cut: UscopeError | null;
}

/** @throws UscopeError CONVERT_*, except CONVERT_TRUNCATED, which is part of the answer */
export async function summarize(reader: Gem5Reader): Promise<Gem5Summary> {
  const scan = new Scan();
  let cut: UscopeError | null = null;
  try {
    for await (const batch of reader.batches()) for (const one of batch) scan.take(one);
  } catch (error) {
    if (!isUscopeError(error) || error.code !== 'CONVERT_TRUNCATED') throw error;
    cut = error;
  }
  return scan.summary(cut);
}

class Scan {
  private instructions = 0;
  private squashed = 0;
  private unfinished = 0;
  private microOps = 0;
  private stores = 0;
  private first = Number.POSITIVE_INFINITY;
  private last = 0;
  private step = 0;
  private readonly least: number[] = [];
  private damaged: { count: number; readonly offset: number; readonly stage: string } | null = null;

  take(one: Gem5Instruction): void {
    const { ticks } = one;
    const fetch = ticks[0] ?? 0;
    for (const tick of ticks) {
      if (tick === 0) continue;
      // Nearly always a multiple already.
      if (this.step === 0 || tick % this.step !== 0) this.step = divisor(tick, this.step);
      if (tick > this.last) this.last = tick;
      if (tick >= fetch) continue;
      throw new UscopeError(
        'CONVERT_FORMAT',
        `instruction ${one.seq} is in a stage at tick ${tick}, before its fetch at ${fetch}`,
        {
          offset: one.offset,
        },
      );
    }
    this.first = Math.min(this.first, fetch);
    const block = Math.floor(this.instructions++ / BLOCK);
    this.least[block] = Math.min(this.least[block] ?? fetch, fetch);
    if (!one.isWhole) this.unfinished++;
    else if (ticks[RETIRE] === 0) this.squashed++;
    if (one.lacks !== null) {
      this.damaged ??= { count: 0, offset: one.offset, stage: GEM5_STAGES[one.lacks]! };
      this.damaged.count++;
    }
    if (one.microPc > 0) this.microOps++;
    if (one.storeTick > 0) this.stores++;
  }

  summary(cut: UscopeError | null): Gem5Summary {
    const { instructions, squashed, unfinished, microOps, stores } = this;
    const leastFrom = this.least.slice();
    for (let block = leastFrom.length - 2; block >= 0; block--) {
      leastFrom[block] = Math.min(leastFrom[block] ?? 0, leastFrom[block + 1] ?? 0);
    }
    const firstTick = instructions === 0 ? 0 : this.first;
    const range = { firstTick, lastTick: this.last, tickStep: this.step };
    const { damaged } = this;
    return { instructions, squashed, unfinished, microOps, stores, ...range, leastFrom, damaged, cut };
  }
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}

/** What happens to an instruction at a tick. */
export interface Gem5Event {
  readonly time: number;
  readonly instruction: Gem5Instruction;
  /** Number of the instruction, in the order of fetches. */
  readonly id: number;
  /** Index into GEM5_STAGES; -1: it is squashed. */
  readonly stage: number;
}

/**
 * All that happens, in the order of time. Memory is that of the instructions in flight and of as many as the log has them out of order.
 * @throws UscopeError as `Gem5Reader.batches`, after everything before the cut
 */
export async function* inOrder(reader: Gem5Reader, summary: Gem5Summary): AsyncGenerator<Gem5Event[]> {
  const waiting = new Heap<{ time: number; one: Gem5Instruction }>();
  const events = new Heap<Gem5Event>();
  let read = 0;
  let id = 0;
  let failure: unknown;
  const until = (time: number): Gem5Event[] => {
    const batch: Gem5Event[] = [];
    while (waiting.next < time) {
      const { one } = waiting.pop() ?? {};
      if (!one) break;
      drain(events, one.ticks[0] ?? 0, batch);
      for (const event of eventsOf(one, id++)) events.push(event);
    }
    drain(events, Math.min(time, waiting.next), batch);
    return batch;
  };
  try {
    for await (const batch of reader.batches()) {
      for (const one of batch) {
        waiting.push({ time: one.ticks[0] ?? 0, one });
        if (++read % BLOCK !== 0) continue;
        const ready = until(summary.leastFrom[read / BLOCK] ?? Number.POSITIVE_INFINITY);
        if (ready.length > 0) yield ready;
      }
    }
  } catch (error) {
    failure = error;
  }
  yield until(Number.POSITIVE_INFINITY);
  if (failure !== undefined) throw failure;
}

/** Events before `time`. */
function drain(events: Heap<Gem5Event>, time: number, batch: Gem5Event[]): void {
  while (events.next < time) {
    const event = events.pop();
    if (event) batch.push(event);
  }
}

function eventsOf(instruction: Gem5Instruction, id: number): Gem5Event[] {
  const { ticks, isWhole } = instruction;
  const reached = ticks.flatMap((time, stage) =>
    time > 0 || stage === 0 ? [{ time, instruction, id, stage }] : [],
  );
  if (!isWhole || (ticks[RETIRE] ?? 0) > 0) return reached;
  // The log does not say when it was squashed: not before the last thing that it did.
  return [...reached, { time: Math.max(...ticks), instruction, id, stage: -1 }];
}
