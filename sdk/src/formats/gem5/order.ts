/** What a log holds, and its instructions in the order of time: the log has them in the order of their ends. */

import type { UscopeError } from '../../base/errors.js';
import { batchesOf } from '../common/batches.js';
import { untilCut } from '../common/cut.js';
import { DebugFacts, type Facts } from './debug.js';
import {
  DISPATCH_STAGE,
  GEM5_STAGES,
  Gem5Block,
  type Gem5Instruction,
  type Gem5Reader,
  type Gem5Visitor,
  RETIRE,
  STAGES,
} from './log.js';

const FIRST_SIZE = 64;
const MOST_WINDOWS = 262_144;
/** Sequence numbers that are remembered: two CPUs are not further apart. */
const RECENT = 4096;

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
  /** Instructions per entry of `leastFrom`. */
  readonly window: number;
  /** Least fetch tick of each window and all after it. */
  readonly leastFrom: Float64Array;
  /** An upper limit of the instructions in flight at a tick. */
  readonly inFlight: number;
  /** Objects of the CPUs; empty: no line names one. */
  readonly cpus: readonly string[];
  readonly maxThread: number;
  /** Lines of other debug flags about instructions; all other lines; lines of stages before the first fetch. */
  readonly debugLines: number;
  readonly otherLines: number;
  readonly earlyLines: number;
  /** Instructions that lack the line of a stage, and the first of them; null: none. */
  readonly damaged: { readonly count: number; readonly offset: number; readonly stage: string } | null;
  /** Sequence numbers come again though no line names a CPU: there are several. */
  readonly repeats: boolean;
  /** CONVERT_TRUNCATED when the file ended early. */
  readonly cut: UscopeError | null;
}

/** The first pass over a log. @throws UscopeError CONVERT_*, except CONVERT_TRUNCATED, which is part of the answer */
export async function summarize(reader: Gem5Reader, signal?: AbortSignal): Promise<Gem5Summary> {
  const scan = new Scan();
  const cut = await untilCut(async () => {
    for await (const _ of reader.visit(scan)) signal?.throwIfAborted();
  });
  return scan.summary(cut);
}

/** When an instruction ends: with its retirement, or when the last unit squashed it; Infinity: the log does not say that it ends. */
function endOf(block: Gem5Block, facts: DebugFacts): number {
  if (!block.isWhole) return Number.POSITIVE_INFINITY;
  let end = 0;
  for (let stage = 0; stage < STAGES; stage++) if (block.ticks[stage] > end) end = block.ticks[stage];
  if (block.ticks[RETIRE] > 0 || facts.taken === 0) return end;
  return Math.max(end, facts.of(facts.cpuOf(block), block)?.squashTick ?? 0);
}

class Scan implements Gem5Visitor {
  readonly isFull = false;
  private readonly facts = new DebugFacts();
  private readonly windows = new Windows();
  private instructions = 0;
  private squashed = 0;
  private unfinished = 0;
  private microOps = 0;
  private stores = 0;
  private first = Number.POSITIVE_INFINITY;
  private last = 0;
  private step = 0;
  private otherLines = 0;
  private earlyLines = 0;
  private damaged: { count: number; readonly offset: number; readonly stage: string } | null = null;
  /** By their last digits, the sequence numbers that came last. */
  private readonly recent = new Float64Array(RECENT).fill(-1);
  private repeats = false;

  instruction(block: Gem5Block): Gem5Block {
    const fetch = block.ticks[0];
    for (let stage = 0; stage < STAGES; stage++) this.tick(block.ticks[stage]);
    if (fetch < this.first) this.first = fetch;
    this.instructions++;
    this.windows.add(fetch, endOf(block, this.facts));
    this.number(Number(block.seq));
    if (!block.isWhole) this.unfinished++;
    else if (block.isSquashed) this.squashed++;
    if (block.microPc > 0) this.microOps++;
    if (block.storeTick > 0) this.stores++;
    const { lacks } = block;
    if (lacks >= 0) {
      this.damaged ??= { count: 0, offset: block.offset, stage: GEM5_STAGES[lacks] };
      this.damaged.count++;
    }
    // A CPU that is named by nothing else.
    if (block.object !== '') this.facts.cpuOf(block);
    return block;
  }

  other(line: string): void {
    if (!this.facts.take(line)) this.otherLines++;
  }

  early(): void {
    this.earlyLines++;
  }

  summary(cut: UscopeError | null): Gem5Summary {
    const { instructions, squashed, unfinished, microOps, stores, facts, windows } = this;
    const range = {
      firstTick: instructions === 0 ? 0 : this.first,
      lastTick: this.last,
      tickStep: this.step,
    };
    return {
      ...{ instructions, squashed, unfinished, microOps, stores, ...range },
      ...{ window: windows.size, leastFrom: windows.leastFrom, inFlight: windows.mostInFlight },
      ...{ cpus: facts.names, maxThread: facts.maxThread, debugLines: facts.taken },
      ...{ otherLines: this.otherLines, earlyLines: this.earlyLines, damaged: this.damaged, cut },
      repeats: this.repeats && facts.names.length === 0,
    };
  }

  private number(seq: number): void {
    const place = seq % RECENT;
    if (this.recent[place] === seq) this.repeats = true;
    this.recent[place] = seq;
  }

  private tick(tick: number): void {
    if (tick <= 0) return;
    // Nearly always a multiple already.
    if (this.step === 0 || Math.floor(tick / this.step) * this.step !== tick)
      this.step = divisor(tick, this.step);
    if (tick > this.last) this.last = tick;
  }
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}

/**
 * Instructions as they come in windows: from when to when each window reaches. So the second pass knows what is complete, and how many are in
 * flight. Memory is bounded: windows become longer when there are too many.
 */
export class Windows {
  /** Instructions in a window. */
  size = FIRST_SIZE;
  private count = 0;
  private instructions = 0;
  private starts: Float64Array = new Float64Array(1024);
  private ends: Float64Array = new Float64Array(1024);

  add(start: number, end: number): void {
    if (this.instructions++ % this.size === 0) this.begin(start, end);
    const last = this.count - 1;
    if (start < this.starts[last]) this.starts[last] = start;
    if (end > this.ends[last]) this.ends[last] = end;
  }

  /** At a tick at most; all of a window count while one of it may be in flight. */
  get mostInFlight(): number {
    const starts = this.starts.slice(0, this.count).sort();
    const ends = this.ends.slice(0, this.count).sort();
    let most = 0;
    for (let started = 0, ended = 0; started < this.count; started++) {
      while (ends[ended] < starts[started]) ended++;
      most = Math.max(most, started + 1 - ended);
    }
    return Math.min(most * this.size, this.instructions);
  }

  /** By window: the least start of it and of all after it. */
  get leastFrom(): Float64Array {
    const least = this.starts.slice(0, this.count);
    for (let at = least.length - 2; at >= 0; at--) least[at] = Math.min(least[at], least[at + 1]);
    return least;
  }

  private begin(start: number, end: number): void {
    if (this.count === MOST_WINDOWS) this.merge();
    if (this.count === this.starts.length) {
      this.starts = grown(this.starts);
      this.ends = grown(this.ends);
    }
    this.starts[this.count] = start;
    this.ends[this.count++] = end;
  }

  /** Two windows become one. */
  private merge(): void {
    this.count /= 2;
    this.size *= 2;
    for (let at = 0; at < this.count; at++) {
      this.starts[at] = Math.min(this.starts[2 * at], this.starts[2 * at + 1]);
      this.ends[at] = Math.max(this.ends[2 * at], this.ends[2 * at + 1]);
    }
  }
}

function grown(values: Float64Array): Float64Array<ArrayBuffer> {
  const more = new Float64Array(2 * values.length);
  more.set(values);
  return more;
}

/** What is not a stage. */
export const Moment = {
  SQUASH: STAGES,
  LOAD: STAGES + 1,
  STORE: STAGES + 2,
  MEMORY_DONE: STAGES + 3,
} as const;
const MOST = STAGES + 4;

/** What happens to one instruction, in the order of time. */
class Timeline {
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

/** An instruction between its fetch and its end. */
export interface Flight {
  readonly block: Gem5Block;
  /** Number of the instruction: while it waits in the order of the log, then in that of fetches. */
  id: number;
  /** Object of its CPU; null: the log does not say. */
  cpu: string | null;
  readonly timeline: Timeline;
  /** As it was known with its block; Infinity: the log has no end. */
  end: number;
  /** What the visitor knows it by; -1: nothing yet. */
  slot: number;
}

export interface OrderVisitor {
  /** Whether `push` of the output is due. */
  readonly isFull: boolean;
  /** The same before something happens at `tick`. */
  isFullBefore(tick: number): boolean;
  born(flight: Flight): void;
  /** @param moment a stage, or one of `Moment` */
  happens(flight: Flight, tick: number, moment: number): void;
}

/** A binary heap of instructions by tick; of those of a tick the one with the lowest sequence number comes first. */
class TickHeap {
  private ticks = new Float64Array(256);
  /** Those from `size` on are left from before. */
  private readonly flights: Flight[] = [];
  private size = 0;

  /** Of the least; Infinity when there is none. */
  get next(): number {
    return this.size > 0 ? this.ticks[0] : Number.POSITIVE_INFINITY;
  }

  /** The least. There must be one. */
  get top(): Flight {
    return this.flights[0];
  }

  push(tick: number, flight: Flight): void {
    if (this.size === this.ticks.length) this.ticks = grown(this.ticks);
    let at = this.size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.isAfter(parent, tick, flight)) break;
      this.put(at, this.ticks[parent], this.flights[parent]);
      at = parent;
    }
    this.put(at, tick, flight);
  }

  pop(): Flight {
    const top = this.flights[0];
    const last = --this.size;
    if (last > 0) this.sink(this.ticks[last], this.flights[last]);
    return top;
  }

  /** The least gets a later tick. */
  delay(tick: number): void {
    this.sink(tick, this.flights[0]);
  }

  /** From the top to where it belongs. */
  private sink(tick: number, flight: Flight): void {
    let at = 0;
    for (let child = 1; child < this.size; child = 2 * at + 1) {
      const right = child + 1;
      if (right < this.size && this.isAfter(child, this.ticks[right], this.flights[right])) child = right;
      if (this.isAfter(child, tick, flight)) break;
      this.put(at, this.ticks[child], this.flights[child]);
      at = child;
    }
    this.put(at, tick, flight);
  }

  private isAfter(at: number, tick: number, flight: Flight): boolean {
    const there = this.ticks[at];
    return there > tick || (there === tick && isYounger(this.flights[at], flight));
  }

  private put(at: number, tick: number, flight: Flight): void {
    this.ticks[at] = tick;
    this.flights[at] = flight;
  }
}

/** By sequence number; those of several CPUs may have the same one. */
function isYounger(one: Flight, other: Flight): boolean {
  const [a, b] = [one.block.seq, other.block.seq];
  return a > b || (a === b && one.id > other.id);
}

/** Windows after that of an instruction which are read before it begins, since lines about it may follow. */
const LATE_WINDOWS = 8;

/** Takes a log in its order, and gives what happens in the order of time. */
export class InOrder implements Gem5Visitor {
  readonly facts = new DebugFacts();
  private readonly waiting = new TickHeap();
  private readonly flying = new TickHeap();
  private readonly unused: Flight[] = [];
  /** Its block is being filled by the reader. */
  private reserved: Flight | null = null;
  private read = 0;
  private born = 0;
  private limit = 0;

  constructor(
    private readonly summary: Gem5Summary,
    private readonly visitor: OrderVisitor,
    /** Called with lines that say nothing of an instruction. */
    private readonly onOther?: () => void,
    private readonly onEarly?: () => void,
  ) {}

  /** Room for another instruction is made by `advance`. */
  get isFull(): boolean {
    return this.visitor.isFull || this.waiting.next < this.limit;
  }

  instruction(block: Gem5Block): Gem5Block {
    const flight = this.reserved?.block === block ? this.reserved : flightWith(block);
    flight.end = endOf(block, this.facts);
    flight.id = this.read++;
    this.waiting.push(block.ticks[0], flight);
    const { window, leastFrom } = this.summary;
    if (this.read % window === 0)
      this.limit = leastFrom[Math.max(0, this.read / window - LATE_WINDOWS)] ?? this.limit;
    this.reserved = this.unused.pop() ?? flightWith(new Gem5Block());
    return this.reserved.block;
  }

  other(line: string): void {
    if (!this.facts.take(line)) this.onOther?.();
  }

  early(): void {
    this.onEarly?.();
  }

  /** What is known to be complete, until the output is full. @returns whether something is left */
  advance(): boolean {
    return this.until(this.limit);
  }

  /** After the last instruction. @returns whether something is left */
  finish(): boolean {
    return this.until(Number.POSITIVE_INFINITY);
  }

  private until(limit: number): boolean {
    const { waiting, flying, visitor } = this;
    for (;;) {
      const isBirth = waiting.next < flying.next;
      const tick = isBirth ? waiting.next : flying.next;
      if (tick >= limit) return false;
      if (visitor.isFullBefore(tick)) return true;
      if (isBirth) this.begin(waiting.pop());
      else this.step(flying.top, tick);
    }
  }

  private begin(flight: Flight): void {
    const { block, timeline } = flight;
    flight.id = this.born++;
    flight.slot = -1;
    flight.cpu = this.facts.taken === 0 && block.object === '' ? null : this.facts.cpuOf(block);
    timeline.fill(block, flight.end, this.facts, flight.cpu);
    this.visitor.born(flight);
    this.happen(flight, timeline.ticks[0]);
    if (timeline.at < timeline.count) this.flying.push(timeline.ticks[timeline.at], flight);
    else this.unused.push(flight);
  }

  private step(flight: Flight, tick: number): void {
    const { timeline } = flight;
    this.happen(flight, tick);
    if (timeline.at < timeline.count) this.flying.delay(timeline.ticks[timeline.at]);
    else {
      this.flying.pop();
      this.unused.push(flight);
    }
  }

  private happen(flight: Flight, tick: number): void {
    const { timeline } = flight;
    while (timeline.at < timeline.count && timeline.ticks[timeline.at] === tick)
      this.visitor.happens(flight, tick, timeline.moments[timeline.at++]);
  }
}

function flightWith(block: Gem5Block): Flight {
  return { block, id: 0, cpu: null, timeline: new Timeline(), end: 0, slot: -1 };
}

/**
 * Visits a log in the order of time. Yields when the visitor is full, and now and then. Memory is that of the instructions in flight and of as many
 * as the log has them out of order.
 * @throws UscopeError as `Gem5Reader.visit`, after everything before the cut
 */
export async function* visitInOrder(reader: Gem5Reader, order: InOrder): AsyncGenerator<void> {
  let failure: unknown;
  try {
    for await (const _ of reader.visit(order)) {
      while (order.advance()) yield;
      yield;
    }
  } catch (error) {
    failure = error;
  }
  while (order.finish()) yield;
  if (failure !== undefined) throw failure;
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

/** Events in a batch of `inOrder`. */
const BATCH = 4096;

/** Stages and squashes in the order of time, as objects. @throws UscopeError as `visitInOrder` */
export async function* inOrder(reader: Gem5Reader, summary: Gem5Summary): AsyncGenerator<Gem5Event[]> {
  const batch: Gem5Event[] = [];
  const copies = new Map<number, Gem5Instruction>();
  const isFull = (): boolean => batch.length >= BATCH;
  const visitor: OrderVisitor = {
    get isFull() {
      return isFull();
    },
    isFullBefore: isFull,
    born: ({ id, block }) => void copies.set(id, block.copy()),
    happens: ({ id, timeline }, time, moment) => {
      const instruction = copies.get(id)!;
      if (moment < STAGES) batch.push({ time, instruction, id, stage: moment });
      else if (moment === Moment.SQUASH) batch.push({ time, instruction, id, stage: -1 });
      if (timeline.at === timeline.count) copies.delete(id);
    },
  };
  yield* batchesOf(visitInOrder(reader, new InOrder(summary, visitor)), batch);
}
